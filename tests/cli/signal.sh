# A signal stops a training, which saves what it has.
stop_with()
{
    npgnn train synthetic:nodes=200 -o "$1.safetensors" --iterations 100000000 --threads 1 --log "$1.jsonl" --quiet &
    job=$!
    # it is under way when a validation has reached the log
    for _ in $(seq 600); do
        [ ! -s "$1.jsonl" ] && kill -0 $job || break
        sleep 0.1
    done
    kill -s "$1" $job
    status "$2" wait $job
    npgnn info "$1.safetensors" | grep -c '^trained on'
}
stop_with INT 130 2>words
stop_with TERM 143 2>>words
sed -E 's/after [0-9]+ iterations/after N iterations/' words
