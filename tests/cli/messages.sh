# What the program says of files as people have them, and of options that have no effect.
printf 'a,b\nb,c\nc,d\nd,a\na,c\n' >links.csv
awk 'BEGIN { for (i = 0; i < 60; i++) { print i, (i + 1) % 60, 1 + i % 3; print i, (7 * i + 3) % 60, 2 } }' >ring.txt

note encodings and other formats
iconv -f UTF-8 -t UTF-16 links.csv >utf16.csv
iconv -f UTF-8 -t UTF-16LE links.csv >unmarked.csv
status 1 npgnn info utf16.csv
status 1 npgnn info unmarked.csv
status 1 npgnn info --edges links.csv --features utf16.csv
printf 'caf\351,b\nb,c\nc,d\nd,caf\351\n' >latin1.csv
npgnn convert latin1.csv -o latin1 2>&1 | sed 's/; fingerprint.*//'
printf '\357\273\277a,b\nb,c\n' >marked.csv
npgnn convert marked.csv -o marked 2>&1 | sed 's/; fingerprint.*//'
python3 -c "
import zipfile
with zipfile.ZipFile('links.zip', 'w') as z: z.write('links.csv')
with zipfile.ZipFile('links.xlsx', 'w') as z: z.writestr('[Content_Types].xml', ''); z.writestr('xl/workbook.xml', '')"
status 1 npgnn info links.zip
status 1 npgnn info links.xlsx

note quotes
printf 'a,"b\nb,c\n' >open.csv
status 1 npgnn info open.csv
status 1 npgnn info open.csv --skip-bad-rows
printf 'a,b\n"b"x,c\nc,d\n' >stray.csv
status 1 npgnn info stray.csv
npgnn info stray.csv --skip-bad-rows | grep -E '^edges|skipped'
printf 'source,target,remark\na,b,"one\ntwo, three"\nb,c,"4"\nc\n' >broken_lines.csv
status 1 npgnn info broken_lines.csv
npgnn info broken_lines.csv --skip-bad-rows | grep -E '^nodes|^edges|skipped'
printf '"New York" Paris\nParis "Rio"\n"5 inches\n' >blanks.txt
status 1 npgnn info blanks.txt --skip-bad-rows --source 3
npgnn info blanks.txt | grep -E '^nodes'
printf 'id,x\na,"1"2\nb,3\n' >stray_table.csv
status 1 npgnn info --edges links.csv --features stray_table.csv

note ids that look like missing values
printf 'a,b\nb,NA\nNA,c\nc,\n' >missing.csv
status 1 npgnn info missing.csv
npgnn info missing.csv --skip-bad-rows | grep -E '^nodes|missing|skipped'
printf 'id,x\na,1\nb,2\nnull,3\n' >missing_id.csv
npgnn info --edges links.csv --features missing_id.csv | grep 'missing value'

note rows and cells that cannot be used
printf 'title\na,b,2\nb,c,x\nc,d,-1\nd,e,3\n' >rows.csv
npgnn info rows.csv --weighted --skip-bad-rows | grep -E '^nodes|^edges|skipped'
printf 'id,x,y\na,1,1\nb,2\nc,three,1\nd,4,0\na,5,1\ne,1,0\nf,2,1\ng,3,0\nh,4,1\ni,4,1\nj,5,0\nk,6,1\nl,7,1\n' >cells.csv
npgnn info --edges links.csv --features cells.csv --skip-bad-rows | grep -E 'skipped|as missing:|^nodes'
printf 'A list of friends\na,b\nb,c\n' >title.csv
npgnn info title.csv --skip-bad-rows | grep -E 'skipped'
printf '[{"source": "a", "target": "b"}, {"source": "a"}, {"source": "b", "target": "c"}]' >array.json
status 1 npgnn info array.json
npgnn info array.json --skip-bad-rows | grep 'skipped'

note pairs
printf '\357\273\277a;b\n"b",c\nx,y\na,a\nb,d\n' >pairs.csv
status 1 npgnn predict --method katz links.csv --pairs pairs.csv -q
npgnn predict --method common-neighbors links.csv --pairs pairs.csv --skip-bad-rows
printf 'a,b,1\nb,c,1\nb,d,0\nc,b,0\n' >both.csv
status 1 npgnn test universal ring.txt --pairs utf16.csv
status 1 npgnn test universal links.csv --pairs both.csv
printf 'from,to,label\na,b,1\nb,d,0\nd,b,0\n' >twice.csv
status 1 npgnn test universal links.csv --pairs twice.csv
npgnn test universal links.csv --pairs twice.csv --skip-bad-rows 2>&1 | grep -E 'skipped|given before|^[0-9]* link'
status 2 npgnn test universal links.csv --pairs twice.csv --skip-bad-rows --negative-ratio 2 -q

note new nodes
printf 'id,x\na,1\nb,2\nc,3\nd,5\n' >table.csv
printf 'id,x\ne,1\nb,2\n' >new.csv
status 1 npgnn predict --method cosine --edges links.csv --features table.csv --new-features new.csv --top 1 -q

note edges besides DATA
status 1 npgnn info links.csv --edges ring.txt
npgnn convert --edges links.csv --features table.csv -o folder -q
npgnn info folder --edges missing.csv --skip-bad-rows | grep -E '^nodes|^features'
status 1 npgnn info folder --edges links.csv --features table.csv
status 1 npgnn info links.csv --ignore x
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n' >matrix.mtx
status 1 npgnn info matrix.mtx --source 1

note weights that are not used
npgnn train ring.txt --weighted --preset best --iterations 1 -o best.safetensors 2>&1 | grep weights
npgnn predict best.safetensors ring.txt --top 1 --for 0 | wc -l
npgnn info best.safetensors | grep '^trained on'
npgnn predict best.safetensors ring.txt --weight 3 --top 1 --for 0 2>&1 | grep weights
npgnn predict --method katz ring.txt --weighted --top 1 --for 0 2>&1 | grep weights
npgnn eval ring.txt --weighted --preset universal --seeds 2 2>&1 | grep weights
npgnn eval ring.txt --weighted --method gae --seeds 1 2>&1 | grep weights || true
npgnn compare ring.txt --weighted --methods katz,pagerank,gae --seeds 1 2>&1 | grep weights
npgnn train synthetic:nodes=100,words=100 --iterations 2 -o net.safetensors -q
status 1 npgnn predict net.safetensors synthetic:nodes=100,words=100 --weighted --top 1
status 1 npgnn predict net.safetensors synthetic:nodes=100,words=100 --normalize --top 1

note options without effect
unused() { status 2 npgnn "$@" 2>words; head -n 1 words >&2; }
unused eval synthetic --method cosine --preset best
unused eval synthetic --method katz --iterations 5
unused eval synthetic --method cosine --preset universal
unused eval synthetic --preset universal --hidden 8
unused eval synthetic --preset best --hidden 8
unused eval synthetic --preset best --profile
unused eval synthetic --method cosine --log log
unused eval synthetic --method cnp --preset best
unused eval synthetic --method cnp --no-latent
unused eval synthetic --curves
unused eval synthetic --train-nodes 0.3
unused eval synthetic --protocol few-shot --test 0.2
unused eval synthetic --protocol inductive --known-links 0.5
unused eval synthetic --split file --negative-ratio 2
unused compare synthetic --methods best,katz --hidden 8
unused compare synthetic --methods cosine,katz --known-links 0.5
unused train synthetic -o m --preset best --kl-weight 2
unused train synthetic -o m --preset best --resume file
unused train synthetic -o m --split file --val 0.1
unused predict universal synthetic --pairs file --for 1
unused predict universal synthetic --pairs file --min-prob 0.1
unused predict --method katz synthetic --top 1 --samples 3
unused predict --method katz synthetic --top 1 --explain
unused predict universal synthetic --top 1 --format jsonl --header
unused predict --method katz synthetic --top 1 --raw
unused predict universal synthetic --top 1 --raw --link-rate 0.5
unused train synthetic -o m --loss exact --pairs-per-node 64
unused train synthetic -o m --no-latent --samples 3
unused train synthetic -o m --lr-horizon 5
unused eval synthetic --preset authors --no-sample-latent --kl-weight 2
unused eval synthetic --method cnp --samples 3
unused compare synthetic --methods default,katz --no-latent --samples 3
unused info universal --weighted
unused adapt synthetic --model file --train-nodes 0.2
unused adapt synthetic --model file --hidden 8
unused adapt synthetic --model file -o out --seeds 2
npgnn eval ring.txt --method katz --seeds 1 --seed 2 -q | head -n 1 | cut -d, -f 1-3
npgnn eval synthetic:nodes=100,words=100 --method cnp --iterations 2 --seeds 1 -q | head -n 1 | cut -d, -f 1-3

note decimal commas and ids that resemble each other
printf 'von;nach;gewicht\nAnna;bob;1,5\nBob;anna;2\nbob;"anna ";0,25\n' >german.csv
npgnn info german.csv --source von --target nach --weight gewicht | grep -E '^nodes|^edges|^-'
printf 'id;preis;jahr;leer;\nAnna;3,50;2001;;\nBob;1.000;2002;;\nbob;12,25;2003;;\nanna;0,5;;;\n' >tabelle.csv
npgnn info --edges german.csv --source von --target nach --features tabelle.csv | grep -E 'preis|jahr|commas'
printf 'id\tn\nAnna\t1,234\nBob\t2,345\n' >thousands.tsv
npgnn info --edges german.csv --source von --target nach --features thousands.tsv | grep -E "'n'|commas"
printf 'Nr;Preis;Preis;;\nAnna;7,25;$1,000;;\nBob;8,5;$2,500;;\nbob;1,5;$3,000;;\n' >ende.csv
npgnn info --edges german.csv --source von --target nach --features ende.csv | grep -E '^[0-9]|^- ende'
printf ',user,age\n7,a,1\n8,b,2\n9,c,4\n' >index.csv
npgnn info --edges links.csv --features index.csv | grep -E 'number|^- index'
printf ',size,age\n0,1,3\n1,2,2\n2,3,1\n' >unnamed.csv
npgnn info --edges ring.txt --features unnamed.csv | grep -E '^nodes|^- unnamed'
printf 'id,x\n1,5\n2,6\n' >ints.csv
printf '1.0,2.0\n2.0,1.0\n' >floats.csv
status 1 npgnn info --edges floats.csv --features ints.csv
# with 1.5 in the column, a point is no separator of thousands, and 3,5 is no number
printf 'id;preis\nAnna;1.234\nBob;1.5\nbob;3,5\n' >mixed.csv
status 1 npgnn info --edges german.csv --source von --target nach --features mixed.csv --column preis:raw

note a comma within a name
printf 'src,dst\na,b\nSmith, John,c\nb,c\n' >comma.csv
status 1 npgnn info comma.csv
npgnn info comma.csv --skip-bad-rows | grep -E '^edges|^-'
printf 'src,dst,\na,b,\nc,d,,,\n' >trailing.csv
npgnn info trailing.csv | grep '^edges'

note lists of neighbours, columns of files that have none, weights that are not there
printf 'a,b,c,d\nb,c\nc,d,a\n' >neighbours.csv
npgnn info neighbours.csv | grep '^-'
printf 'a,b,2,x\nb,c,1,y\n' >four.csv
npgnn info four.csv --weighted | grep '^-'
status 1 npgnn info synthetic --source a
status 1 npgnn info debian-python --bipartite
printf '1 1:2\n0 2:1\n1 1:1\n' >matrix.svm
status 1 npgnn info --edges ring.txt --features matrix.svm --column 1:number
npgnn info synthetic --weighted | grep '^-'
printf 'a,b\na,b\nb,c\n' >twice.csv
npgnn info twice.csv --weighted | grep -E '^edges|^-'

note nodes at the median
printf 'id;größe\na;1,5\nb;2\nc;2,5\n' >sizes.csv
npgnn info --edges twice.csv --features sizes.csv | grep -E 'no features|^größe'

note graphs that procedures are not made for
status 1 npgnn eval synthetic --split authors --seeds 1 --iterations 3
# all links are those of one node, and each is the only one of another
{ echo id,a,b && seq 0 41 | awk '{ print $1 "," $1 * 7 % 11 "," $1 * 5 % 13 }'; } >star.csv
seq 1 14 | sed 's/^/0,/' >rays.csv
for seed in 1 28 33 49 60; do
    npgnn predict universal --edges rays.csv --features star.csv --top 1 --for 1 --seed $seed --quiet | wc -l
done
# with some seeds the hub is hidden, and no pair that touches it is a non-link
{ cat rays.csv && seq 1 14 | awk '{ print $1 "," $1 % 14 + 1 }'; } >wheel.csv
for seed in 1 28 33; do
    npgnn predict universal --edges wheel.csv --features star.csv --top 1 --for 1 --seed $seed --quiet | grep -c nan || true
done
