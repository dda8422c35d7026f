# The best partners and links: against sorting all pairs, in every format, for some nodes only.
data=synthetic:nodes=120,seed=3
npgnn train $data -o model.safetensors --preset best --iterations 20 --quiet

# all pairs, in both orders, best first: by score, then by node
awk 'BEGIN { for (u = 0; u < 120; u++) for (v = 0; v < 120; v++) if (u != v) print u "\t" v }' >all.tsv
npgnn predict model.safetensors $data --pairs all.tsv --raw | sort -t "$(printf '\t')" -k3,3gr -k1,1n -k2,2n >ranked.tsv
# best K: the first K of each node, in the order of the nodes
best() { awk -F '\t' -v k="$1" '++seen[$1] <= k' ranked.tsv | sort -t "$(printf '\t')" -k1,1n -s; }

note as sorting all pairs
npgnn predict model.safetensors $data --top 7 --exclude none --raw >top.tsv
best 7 | cut -f 1,3 >wanted.tsv # not the partner: scores that differ in the seventh digit print the same
cut -f 1,3 top.tsv | diff - wanted.tsv && echo same partners
npgnn predict model.safetensors $data --top-links 30 --exclude none --raw >links.tsv
awk -F '\t' '$1 < $2' ranked.tsv | head -n 30 | cut -f 3 >wanted.tsv
cut -f 3 links.tsv | diff - wanted.tsv && echo same links

note known links are marked, or left out
awk -F '\t' '{ print $4 }' top.tsv | sort | uniq -c | awk '{ print $2 }'
npgnn predict model.safetensors $data --top 7 | awk -F '\t' '$4 != 0 { exit 1 }'
npgnn predict model.safetensors $data --top 7 --threads 1 >one.tsv
npgnn predict model.safetensors $data --top 7 --threads 3 | cmp - one.tsv

note some nodes only
printf '# a list\n5\n\n 17\n5\n' >from.txt
npgnn predict model.safetensors $data --top 2 --for from.txt --for 3 | cut -f 1 | uniq -c | awk '{ print $1, $2 }'
printf '%s\n' 40 41 42 43 >to.txt
npgnn predict model.safetensors $data --top 9 --from from.txt --to to.txt --exclude none | wc -l
npgnn predict model.safetensors $data --top 9 --from 5 --to to.txt --exclude none | cut -f 2 | sort -n | xargs
npgnn predict model.safetensors $data --top-links 5 --min-prob 1 | wc -l

note draws
npgnn predict model.safetensors $data --top 1 --for 8 --samples 5 | awk -F '\t' '{ print NF }'

npgnn predict model.safetensors $data --top 20 --for 8 --samples 5 --rank-by lower-bound |
    awk -F '\t' 'NR > 1 && $5 > last { exit 1 } { last = $5 } END { print NR, "by the lower end" }'
status 2 npgnn predict model.safetensors $data --top 1 --rank-by lower-bound

note formats
cat >edges.csv <<'CSV'
"a, ""b""",plain
plain,tab	in it
plain,back\slash
CSV
printf 'id,x,y\n"a, ""b""",1,0\nplain,0,1\ntab\tin it,1,1\nback\\slash,2,1\nlatin-\351,1,2\n' >features.csv
npgnn train --edges edges.csv --features features.csv -o named.safetensors --iterations 3 --val 0 --quiet
for format in tsv csv jsonl; do
    npgnn predict named.safetensors --edges edges.csv --features features.csv --top 4 --for plain --exclude none \
        --format $format | sort | sed 's/[0-9]\.[0-9]*/P/' | tr '\351' '?'
done
npgnn predict named.safetensors --edges edges.csv --features features.csv --top-links 1 --raw --samples 2 --format csv |
    sed 's/-*[0-9]*\.[0-9]*/S/' | tr '\351' '?'

note more than there are
npgnn predict model.safetensors $data --top 1000000000 --for 9 --exclude none | wc -l
npgnn predict model.safetensors $data --top-links 1000000000 --exclude none | wc -l

note names with blanks
printf 'plain\ta, "b"\n' | npgnn predict named.safetensors --edges edges.csv --features features.csv --pairs - | cut -f 1,2

note new nodes
printf 'id,x,y\nnew-1,0,1\nnew-2,2,1\n' >new.csv
again() { npgnn predict named.safetensors --edges edges.csv --features features.csv --new-features new.csv "$@"; }
again --top 9 --for new-1 | cut -f 2 | sort | tr '\351' '?'
again --top-links 3 --from new.csv --to new-2 2>/dev/null || echo a file of features is no list
printf '%s\n' new-1 new-2 >new.txt
again --top-links 9 --for new.txt --to new.txt | cut -f 1,2
# new-2 has the features of back\slash, new-1 those of plain
printf 'new-1\tnew-2\nplain\tback\\slash\n' | again --pairs - --raw | awk -F '\t' '{ print NR, $3 == last; last = $3 }'

note new nodes that do not fit
printf 'id,x,y\nplain,0,1\n' >new.csv
status 1 again --top 1
printf 'id,x,z\nnew-1,0,1\n' >new.csv
status 1 again --top 1
printf '0.5,0.5,0.5\n' >new.csv
status 1 again --top 1
rm new.csv
status 1 again --top 1

note wrong
status 2 npgnn predict model.safetensors $data
status 2 npgnn predict model.safetensors $data --top 3 --pairs all.tsv
status 2 npgnn predict model.safetensors $data --for 3 --pairs all.tsv
status 2 npgnn predict model.safetensors $data --top 0
status 1 npgnn predict model.safetensors $data --top 3 --for nobody
printf '3\n\n999\n' >bad.txt
status 1 npgnn predict model.safetensors $data --top 3 --to bad.txt
status 1 npgnn predict model.safetensors $data --top 3 --for 3 -o missing/file.tsv
