# npgnn test: pairs with labels, pairs without labels, and broken files.
data=synthetic:nodes=200,seed=3
npgnn train $data -o model.safetensors --iterations 30 --quiet

note labelled pairs
printf '# u v label\n1 2 1\n3,4,0\n\n5\t6\t1\n7 8 0\n' >labelled.tsv
npgnn test model.safetensors $data --pairs labelled.tsv --bootstrap 20
npgnn test model.safetensors $data --pairs - <labelled.tsv --quiet | head -n 1

note links only
printf '1 2\n5 6\n' >links.tsv
npgnn test model.safetensors $data -p links.tsv --negatives hard --negative-ratio 10 --link-rate 0.01 | head -n 11
npgnn test model.safetensors $data -p links.tsv --json - |
    grep -E '"(links|non_links|drawn|known_links|known_non_links|keep_known|hard_mrr|interval|bins|top)"'

note known links
npgnn train $data -o blind.safetensors --iterations 5 --val 0 --no-calibrate --quiet
# all pairs with node 0: some of them are links of the graph
for v in $(seq 1 199); do echo "0 $v"; done >all.tsv
npgnn test blind.safetensors $data -p all.tsv 2>words >/dev/null
sed 's/[0-9][0-9]* tested/N tested/' words
npgnn test blind.safetensors $data -p all.tsv --keep-known 2>&1 >/dev/null | sed -n 's/[0-9][0-9]* tested/N tested/p'

note errors
status 2 npgnn test model.safetensors $data
printf '1 2 1\n3 4 2\n' >bad.tsv
status 1 npgnn test model.safetensors $data -p bad.tsv
printf '1 2 1\n3 4\n' >bad.tsv
status 1 npgnn test model.safetensors $data -p bad.tsv
printf '1 2 1 0\n' >bad.tsv
status 1 npgnn test model.safetensors $data -p bad.tsv
printf '1 2 1\n1 999 0\n' >bad.tsv
status 1 npgnn test model.safetensors $data -p bad.tsv
printf '1 2 0\n' >bad.tsv
status 1 npgnn test model.safetensors $data -p bad.tsv
printf '1 2 1\n' >bad.tsv
status 1 npgnn test model.safetensors $data -p bad.tsv
printf '1 2 1\n2 1 0\n' >bad.tsv
status 1 npgnn test model.safetensors $data -p bad.tsv
status 1 npgnn test model.safetensors $data -p nowhere.tsv
status 1 npgnn test nowhere.safetensors $data -p labelled.tsv
