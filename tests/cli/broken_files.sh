# Broken files: the message names the file and the line, and nothing is left behind.
data=synthetic:nodes=200,seed=3
npgnn train $data -o model.safetensors --iterations 2 --quiet

note pairs
printf '1 2\n3 nobody\n' >unknown.txt
status 1 npgnn predict model.safetensors $data --pairs unknown.txt
printf '1 2\n\n7\n' >single.txt
status 1 npgnn predict model.safetensors $data --pairs single.txt --output scores.tsv
printf '1 2 3\n' >triple.txt
status 1 npgnn predict model.safetensors $data --pairs triple.txt
status 1 npgnn predict model.safetensors $data --pairs absent.txt
printf '1 nobody\n' | status 1 npgnn predict model.safetensors $data --pairs -

note names that would control a terminal
printf '1 \033]0;title\007\033[2J\302\233\377x\n' >control.txt
status 1 npgnn predict model.safetensors $data --pairs control.txt

note models
head -c 300 model.safetensors >cut.safetensors
status 1 npgnn info cut.safetensors 2>words
grep -c '^npgnn: error: .*cut.safetensors' words
printf 'not a model' >text.safetensors
status 1 npgnn predict text.safetensors $data --pairs unknown.txt 2>words
grep -c '^npgnn: error: .*text.safetensors' words
status 1 npgnn info absent.safetensors

note weights that are finite, but too large
npgnn train $data -o huge.safetensors --no-latent --iterations 2 --quiet
printf '1 2\n3 4\n' >pairs.txt
size=$(wc -c <huge.safetensors)
# the last tensor is b2; 0x7F7F7F7F is 3.4e38
printf '\177%.0s' 1 2 3 4 5 6 7 8 | dd of=huge.safetensors bs=1 seek=$((size - 8)) conv=notrunc 2>words
status 1 npgnn predict huge.safetensors $data --pairs pairs.txt
status 1 npgnn predict huge.safetensors $data --pairs pairs.txt --format jsonl
status 1 npgnn predict huge.safetensors $data --top 2
status 1 npgnn embed huge.safetensors $data -o embedding.npy

note graphs
printf '1 2\n3\n' >edges.txt
status 1 npgnn info --edges edges.txt 2>words
grep -c '^npgnn: error: edges.txt:2: ' words
status 1 npgnn train no-such-graph -o other.safetensors 2>words
grep -c '^npgnn: error: ' words
status 1 npgnn info synthetic:nodes=minus 2>words
grep -c '^npgnn: error: ' words

note left behind
rm words
ls
