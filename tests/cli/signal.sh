# A signal stops a training, which saves what it has.

# wait_for FILE JOB: until something is in FILE; a job that is under way has logged a validation.
wait_for()
{
    for _ in $(seq 600); do
        [ ! -s "$1" ] && kill -0 "$2" || break
        sleep 0.1
    done
}

stop_training()
{
    npgnn train synthetic:nodes=200 -o "$1.safetensors" --iterations 100000000 --threads 1 --log "$1.jsonl" --quiet &
    job=$!
    wait_for "$1.jsonl" $job
    kill -s "$1" $job
    status "$2" wait $job
    npgnn info "$1.safetensors" | grep -c '^trained on'
}
stop_training INT 130 2>words
stop_training TERM 143 2>>words
sed -E 's/after [0-9]+ iterations/after N iterations/' words

# An evaluation tells what it has, but leaves no JSON that would pass for the whole.
npgnn eval synthetic:nodes=200 --iterations 100000000 --threads 1 --log eval.jsonl --json eval.json --quiet &
job=$!
wait_for eval.jsonl $job
kill -s INT $job
status 130 wait $job
ls
