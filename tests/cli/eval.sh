# Splitting, training and testing.
data=synthetic:nodes=300,seed=3
for protocol in transductive inductive few-shot; do
    note $protocol
    npgnn eval $data --protocol $protocol --seeds 2 --iterations 5 --quiet
done

note the untrained guess
npgnn eval $data --method cosine --seeds 1 --quiet

note a split that is kept
npgnn eval $data --seeds 1 --iterations 5 --quiet --save-split split.tsv --json first.json >/dev/null
npgnn eval $data --seeds 1 --iterations 5 --quiet --split split.tsv --json second.json >/dev/null
for file in first second; do
    grep -E '"(auc|ap|split_hash)"' $file.json >$file.txt
done
cmp first.txt second.txt

note progress where there is no terminal
npgnn eval $data --seeds 1 --iterations 5 2>&1 >/dev/null | grep -c 'iteration 5/5'
