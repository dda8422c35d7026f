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

# A second signal ends the program at once, in the middle of an iteration: there is no model. (Shells tell of that in words of
# their own.)
npgnn train synthetic:nodes=12000 -o second.safetensors --loss exact --threads 1 --log second.jsonl --quiet &
job=$!
wait_for second.jsonl $job
kill -s INT $job
kill -s TERM $job
status 143 wait $job 2>/dev/null

# One that waits, and one that seldom looks: both leave no half of a file.
mkfifo pipe
npgnn predict INT.safetensors synthetic:nodes=200 --pairs pipe -o scores.tsv 2>/dev/null &
job=$!
exec 9>pipe # from here on it waits for pairs
kill -s TERM $job
status 143 wait $job 2>/dev/null
exec 9>&-
rm pipe
npgnn eval synthetic:nodes=20000,words=100 --method deepwalk --threads 1 --json walks.json --quiet 2>/dev/null &
job=$!
sleep 1
kill -s INT $job
status 130 wait $job 2>/dev/null
ls
