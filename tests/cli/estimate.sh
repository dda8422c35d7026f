# --estimate: memory and time are printed, and the command is not run.
data=synthetic:nodes=200,seed=3
words() { sed -E 's/[0-9][0-9.e+]* (us|ms|s|min|h|MB|GB)/N/g; s/N N/N/g'; }

note train
npgnn train $data --estimate --threads 1 | words
npgnn train $data --estimate --threads 2 -o never.safetensors --log never.log --iterations 100000 | words

note eval
npgnn eval $data --estimate --threads 1 --seeds 7 --iterations 100 --save-split never.tsv | words
npgnn eval $data --estimate --threads 1 --method vgae | words
npgnn eval $data --estimate --threads 1 --seeds 2 --iterations 50 --json - |
    sed -E 's/("[a-z_]*(bytes|seconds)": )[0-9.e+-]+/\1N/'

note predict
npgnn train $data -o model.safetensors --iterations 5 --quiet
npgnn predict model.safetensors $data --estimate --threads 1 --top 3 -o never.tsv | words
npgnn predict model.safetensors $data --estimate --threads 1 --top-links 3 --from 1 --from 2 | sed 's/ (.*//' | words
printf '1 2\n3 4\n' | npgnn predict model.safetensors $data --estimate --threads 1 --pairs - | sed 's/ (.*//' | words

note adapt
npgnn adapt $data --estimate --threads 1 --seeds 2 --iterations 50 --no-keep-best --no-calibrate | words
status 2 npgnn adapt $data --estimate --model model.safetensors -o never.safetensors

note the same errors as the command itself
status 1 npgnn train missing --estimate 2>/dev/null
printf '1 nobody\n' | status 1 npgnn predict model.safetensors $data --estimate --pairs -
status 1 npgnn eval $data --estimate --test 0.9 --val 0.9
ls
