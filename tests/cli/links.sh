# Edge files as people have them: headers, chosen columns, bad rows, line ends, ids that look like comments.
nodes() { npgnn info --quiet "$@" | grep -E '^(nodes|edges)' | cut -d, -f1 | tr -s ' ' | paste -sd ' '; }
ring() { awk -v header="$1" -v FS=, 'BEGIN { if (header != "") print header; for (i = 0; i < 12; i++) print "n" i ",n" (i + 1) % 12 }'; }

note common headers above names are no link
for header in source,target user,item user_id,item_id customer,product follower,followee from_id,to_id a,b id_1,id_2; do
    ring $header >edges.csv
    echo "$header: $(nodes edges.csv)"
done
npgnn info edges.csv | grep header
ring a,b >edges.csv
npgnn info edges.csv | grep header
echo "no header: $(ring '' >edges.csv && nodes edges.csv)"
echo "a first link between ids that recur: $(ring n3,n7 >edges.csv && nodes edges.csv)"
echo "--data-header no: $(ring a,b >edges.csv && nodes edges.csv --data-header no)"
printf 'x0,y0\nx1,y1\nx2,y2\nx3,y3\n' >pairs.csv
echo "ids that never recur: $(nodes pairs.csv)"

note columns by name and by number
printf 'link_id,source,target,year\n100,a,b,2001\n101,b,c,2002\n102,c,a,2003\n' >named.csv
nodes named.csv
nodes named.csv --source 2 --target 3
nodes named.csv --source link_id --target target
status 1 npgnn info named.csv --weighted
status 1 npgnn info named.csv --source nothing
npgnn info named.csv --weight year | grep -c ' weighted'
printf 'user_id,item_id,rating,timestamp\n1,10,4.5,880000000\n2,10,1,880000001\n2,11,3,880000002\n' >ratings.csv
npgnn info ratings.csv --weighted | grep -c ' weighted'
printf ',source,target\n0,a,b\n1,b,c\n' >pandas.csv
nodes pandas.csv
printf ',klant,produkt\n0,a,b\n1,b,c\n2,c,a\n' >pandas.csv
nodes pandas.csv

note rows that cannot be used
printf 'source,target\na,b\n,c\nb,c\nc\nc,a\n' >bad.csv
status 1 npgnn info bad.csv
npgnn info bad.csv --skip-bad-rows | grep -E '^edges|skipped'
printf 'source,target,weight\na,b,1\nb,c,heavy\nc,a,2\n' >heavy.csv
status 1 npgnn info heavy.csv --weighted
npgnn info heavy.csv --weighted --skip-bad-rows | grep -E '^nodes|^edges|skipped'

note line ends and comments
printf 'a,b\rb,c\rc,a\r' >cr.csv
nodes cr.csv
printf '# a comment\n#cats,dogs\ndogs,%%5\n# another\n%%5,#cats\n' >marks.csv
nodes marks.csv
printf '#cats dogs\n# not asked\n%%5 dogs\n' >asked.txt
npgnn predict universal --edges marks.csv --pairs asked.txt --raw 2>/dev/null | cut -f 1,2

note other formats
printf '[{"source": "a", "target": "b"},\n {"source": "b", "target": "c"}]\n' >array.jsonl
nodes array.jsonl
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 1\n2 3 0\n3 1 2\n' >zero.mtx
nodes zero.mtx
npgnn info zero.mtx | grep zeros
printf 'PAR1xxxx' >table.parquet
status 1 npgnn info table.parquet
printf 'PK\003\004..........................archive/data.pkl' >graph.pt
status 1 npgnn info graph.pt

note options that would replace each other
status 2 npgnn info --edges named.csv --features a.csv --features b.csv

note times are numbers, or dates in one order
dates() { rm -rf out && npgnn convert --edges "$1" --time d -o out && tail -n +2 out/edges.tsv | tr "\t" " " | paste -sd ";"; }
printf 'from,to,d\na,b,01/31/2021\nb,c,02/28/2021\nc,d,03/04/2021\nd,e,05/01/2021\n' >month.csv
dates month.csv
printf 'from,to,d\na,b,03/04/2021\nb,c,05/01/2021\nc,d,31/03/2021\n' >day.csv
dates day.csv
printf 'from,to,d\na,b,03/04/2021\nb,c,05/01/2021\nc,d,03/31/2021\n' >late.csv
dates late.csv
printf 'from,to,d\na,b,03/04/2021\nb,c,05/01/2021\n' >either.csv
dates either.csv
printf 'from,to,d\na,b,01/22/2021\nb,c,25/06/2021\n' >both.csv
status 1 npgnn info both.csv --time d
printf 'from,to,d\na,b,2021-01-22\nb,c,20210131\n' >mixed.csv
status 1 npgnn info mixed.csv --time d

note pairs that cannot be links
printf 'a b\n' | npgnn predict universal late.csv --pairs - --quiet | cut -f 1,2
printf 'a b\na a\n' >self.txt
status 1 npgnn predict universal late.csv --pairs self.txt --quiet
printf 'u,i\n1,10\n2,10\n2,11\n3,11\n3,12\n1,12\n' >two.csv
printf '1 2\n' >side.txt
status 1 npgnn predict --method three-steps two.csv --bipartite --pairs side.txt --quiet

note a split has its own protocol
status 2 npgnn eval synthetic --split authors --protocol inductive
status 2 npgnn compare synthetic --methods katz,cosine --split authors --test 0.3
