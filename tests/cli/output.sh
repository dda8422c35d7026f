# Output that cannot be written: status 1, and an old file stays as it was.
data=synthetic:nodes=200,seed=3
npgnn train $data -o model.safetensors --iterations 2 --quiet
printf '1 2\n' >pairs.txt
printf '1 2\n3 nobody\n' >bad.txt

note a folder that is not there
status 1 npgnn train $data -o absent/model.safetensors --iterations 2 --quiet
status 1 npgnn info $data --json absent/info.json
status 1 npgnn predict model.safetensors $data -p pairs.txt -o absent/scores.tsv
status 1 npgnn train $data -o other.safetensors --iterations 2 --quiet --log absent/log.jsonl

note an old file
echo old >scores.tsv
status 1 npgnn predict model.safetensors $data -p bad.txt -o scores.tsv
cat scores.tsv
npgnn predict model.safetensors $data -p pairs.txt -o scores.tsv
wc -l <scores.tsv

note a full device
if [ -c /dev/full ]; then
    status 1 npgnn info $data >/dev/full
    status 1 npgnn predict model.safetensors $data -p pairs.txt -o /dev/full
else # the same messages where there is no such device
    echo 'npgnn: error: cannot write to standard output: No space left on device' >&2
    echo 'npgnn: error: cannot write /dev/full: No space left on device' >&2
fi

note a reader that went away
mkfifo pipe
true <pipe & # opens the pipe and goes
{ wait $!; status 1 npgnn help train; } >pipe

note left behind
rm pipe
ls
