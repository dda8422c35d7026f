# npgnn eval.
data=synthetic:nodes=300,seed=3
for protocol in transductive inductive few-shot inductive-hidden production paper-inductive paper-few-shot random-links; do
    note $protocol
    npgnn eval $data --protocol $protocol --seeds 2 --iterations 5 --quiet
done

note sparse graphs
for i in $(seq 60); do echo "a$i b$i"; done >matching.txt
status 1 npgnn eval matching.txt --method katz --seeds 1 --quiet
npgnn eval matching.txt --method katz --seeds 1 --quiet --protocol random-links --json random.json | sed -n '$p'
grep -c '"emptied_[a-z_]*": [0-9]' random.json
for i in $(seq 60); do echo "$i $((i * 7 % 60 + 61))"; echo "$i $((i * i % 60 + 1))"; done >sparse.txt
npgnn eval sparse.txt --method katz --seeds 1 --test 0.4 --save-split sparse.tsv >/dev/null
grep -c untested sparse.tsv
sed 1i'# protocol: random-links' sparse.tsv | grep -v untested >random.tsv
npgnn eval sparse.txt --method katz --seeds 1 --quiet --split random.tsv | tail -1

note a baseline without training
npgnn eval $data --method cosine --seeds 1 --quiet

note a split that is saved and used again
npgnn eval $data --seeds 1 --iterations 5 --quiet --save-split split.tsv --json first.json >/dev/null
npgnn eval $data --seeds 1 --iterations 5 --quiet --split split.tsv --json second.json >/dev/null
for file in first second; do
    grep -E '"(auc|ap|split_hash)"' $file.json >$file.txt
done
cmp first.txt second.txt

note progress without a terminal
npgnn eval $data --seeds 1 --iterations 5 2>&1 >/dev/null | grep -c 'iteration 5/5'

note hard negatives and intervals
npgnn eval $data --method cosine --seeds 2 --quiet --negatives hard --bootstrap 100 --json hard.json
grep -c '"hard_[a-z0-9]*": 0[.]' hard.json
grep -A 9 '"interval": {' hard.json
npgnn eval $data --method cosine --seeds 1 --quiet --json plain.json >plain
grep -e '"hard_mrr"' -e '"interval"' plain.json

note the ratio of negatives
npgnn eval $data --method cosine --seeds 1 --quiet --negative-ratio 5 --save-split five.tsv >/dev/null
awk '$1 == "test" { count[$4]++ } END { print count[0] / count[1] }' five.tsv
npgnn eval $data --method cosine --seeds 1 --quiet --negative-ratio full --save-split full.tsv >/dev/null
awk '$1 == "test" { count[$4]++ } END { print int(count[0] / count[1]) }' full.tsv
npgnn eval $data --method cosine --seeds 1 --quiet --split five.tsv | sed -n 1p
status 2 npgnn eval $data --negative-ratio 0.5
status 2 npgnn eval $data --negative-ratio most
status 1 npgnn eval $data --method cosine --quiet --negative-ratio 1000

note a split that leaks is refused
for protocol in transductive production; do
    npgnn eval $data --method cosine --seeds 1 --quiet --protocol $protocol --save-split good.tsv >/dev/null
    awk -F '\t' -v OFS='\t' '{ print } $1 == "test" && $4 == 1 && !done { print "val", $3, $2, 1; done = 1 }' \
        good.tsv >twice.tsv
    status 1 npgnn eval $data --method cosine --quiet --split twice.tsv 2>words
    grep -c '^npgnn: error: twice.tsv:.*: the pair occurs twice: it is also on line' words
done
sed '/^test-node/d' good.tsv >unheld.tsv
status 1 npgnn eval $data --method cosine --quiet --split unheld.tsv 2>words
sed -E 's/[0-9]+ - [0-9]+/PAIR/' words

note ranks among all nodes
npgnn eval $data --method cosine --seeds 2 --quiet --negatives all --json all.json
grep -c '"full_[a-z0-9_]*": [0-9]' all.json
grep '"full_mrr"' plain.json | sort -u
