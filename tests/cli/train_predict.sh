# npgnn train and npgnn predict: files, standard input and standard output.
data=synthetic:nodes=200,seed=3
npgnn train $data -o model.safetensors --iterations 30 --val 0.05 --validate-every 10 2>words
tail -n 1 words | sed 's/[0-9][0-9]* /N /g'

printf '# two names a line\n1 2\n3,4\n\n5\t6\n' >pairs.txt
note probabilities
npgnn predict model.safetensors $data --pairs pairs.txt | tee scores.tsv
awk -F '\t' '!($3 >= 0 && $3 <= 1) { exit 1 }' scores.tsv
npgnn predict model.safetensors $data --pairs - <pairs.txt | cmp - scores.tsv
npgnn predict model.safetensors $data --pairs=pairs.txt --output=file.tsv
cmp file.tsv scores.tsv

note draws and raw scores
npgnn predict model.safetensors $data -p pairs.txt --samples 5 --seed 4 | 
    awk -F '\t' '{ print NF, ($4 > 0), ($5 < $3 && $3 < $6) }'
npgnn predict model.safetensors $data -p pairs.txt --raw >raw.tsv
# for lists of pairs, log-odds at two link rates differ by those of the rates, whatever the score
npgnn predict model.safetensors $data -p pairs.txt --link-rate 0.5 >half.tsv
npgnn predict model.safetensors $data -p pairs.txt --link-rate 0.9 >most.tsv
paste half.tsv most.tsv | awk -F '\t' '{ d = log($3 / (1 - $3)) - log($6 / (1 - $6)) + log(9); if (!(d * d < 1e-6)) exit 1 }'
status 2 npgnn predict model.safetensors $data -p pairs.txt --link-rate 1

note an uncalibrated model
npgnn train $data -o blind.safetensors --iterations 5 --val 0 --no-calibrate --quiet
npgnn info blind.safetensors | grep '^probabilities'
npgnn info model.safetensors | grep '^probabilities'
npgnn predict blind.safetensors $data -p pairs.txt --link-rate 0.5 >blind.tsv
npgnn predict blind.safetensors $data -p pairs.txt --raw >raw.tsv
# the probability is the sigmoid of the score
paste raw.tsv blind.tsv | awk -F '\t' '{ d = 1 / (1 + exp(-$3)) - $6; if (!(d * d < 1e-9)) exit 1 }'

note the model stores how features were prepared
npgnn train $data -o normal.safetensors --normalize --iterations 5 --val 0 --no-calibrate --quiet
npgnn info normal.safetensors | grep '^features' | sed 's/[0-9][0-9]*/N/'

note the options of a model
npgnn info model.safetensors | grep -E '^  (iterations|hidden|seed) '

note no latent
npgnn train $data -o plain.safetensors --no-latent --epochs 4 --seed 9 --quiet
npgnn info plain.safetensors | grep -E '^  (iterations|latent|seed) '

note another graph with the same feature columns
npgnn predict model.safetensors synthetic:nodes=200,seed=4 -p pairs.txt | wc -l

note the latent variable encoded from its own graph, and from another
npgnn predict normal.safetensors $data -p pairs.txt >normal.tsv
npgnn predict normal.safetensors $data -p pairs.txt --context $data | cmp - normal.tsv
npgnn predict model.safetensors $data -p pairs.txt --context synthetic:nodes=200,seed=4 >context.tsv
cut -f 1,2 scores.tsv >names
cut -f 1,2 context.tsv | cmp - names
status 1 cmp -s context.tsv scores.tsv
status 1 npgnn predict model.safetensors $data -p pairs.txt --context synthetic:nodes=200,words=150
status 1 npgnn predict model.safetensors $data -p pairs.txt --context ./nowhere

note another number of feature columns
status 1 npgnn predict model.safetensors synthetic:nodes=200,words=50 -p pairs.txt 2>words
wc -l <words

note trained on all links, with iterations and calibration found in a rehearsal
npgnn train $data -o rehearsed.safetensors --keep-best on --val 0 --iterations 20 --quiet --log log.jsonl
npgnn info rehearsed.safetensors | grep -cE '^probabilities  calibrated'
# the options are those that were given; what training found is beside them
npgnn info rehearsed.safetensors | grep -E '^  (keep-best|iterations) '
grep -c '"rehearsal":true' log.jsonl

note what is for networks only
status 2 npgnn train $data -o tuned.safetensors --preset best --val 0.2
status 2 npgnn train $data -o tuned.safetensors --preset best --checkpoint c
ls tuned.safetensors c 2>/dev/null || true
