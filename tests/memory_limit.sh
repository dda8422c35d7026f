#!/bin/sh
# memory_limit.sh NPGNN: under a limit on memory (ulimit -v) every command ends quickly, with a result or a clear error. OpenBLAS
# by itself would try for ever to get its buffers.
set -eu
npgnn=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
data=synthetic:nodes=300,seed=3

fail()
{
    echo "$*"
    cat err.txt
    exit 1
}

# limited KBYTES STATUS NPGNN'S ARGUMENTS...
limited()
{
    limit=$1 wanted=$2 got=0
    shift 2
    (
        ulimit -v "$limit"
        exec timeout 60 "$npgnn" "$@"
    ) >out.txt 2>err.txt || got=$?
    [ "$got" -eq "$wanted" ] || fail "limit $limit, npgnn $*: status $got instead of $wanted"
}

# Too little for BLAS: an error that says so, from every command that needs it.
refused()
{
    limited 180000 1 "$@"
    grep -q 'not enough memory.*BLAS.*ulimit -v' err.txt || fail "npgnn $*: unclear"
}

# What needs no BLAS.
for arguments in --version --help 'help train' 'train --help' "info $data"; do
    # shellcheck disable=SC2086 # a list of words
    limited 180000 0 $arguments
done
limited 180000 2 train
limited 180000 2 nonsense

"$npgnn" train $data -q --iterations 10 -o model
"$npgnn" train $data -q --iterations 10 --preset best -o best
printf '0 1\n2 3\n' >pairs.txt

refused train $data -q --iterations 10 --threads 4 -o new
[ ! -e new ] || fail 'a model was left behind'
refused train $data -q --iterations 10 --preset best -o new
refused train $data -q --val 0 --iterations 10 -o new
refused predict model $data --pairs pairs.txt
refused predict model $data --top 3
refused predict best $data --top 3
refused embed model $data -o embedding.npy
refused demo -q
refused adapt $data -q --iterations 5
refused adapt $data -q --model model -o new
for method in npgnn cnp vgae gae sage sc; do
    refused eval $data -q --method $method
done
limited 180000 0 eval $data -q --method katz

# Enough for one buffer of BLAS, not for four: calls wait for one another, and the model is the same.
"$npgnn" train $data -q --iterations 10 -o free
for limit in 400000 600000 900000; do
    limited $limit 0 train $data -q --iterations 10 --threads 4 -o new
    cmp free new || fail "limit $limit: another model"
done

# A signal ends a training here as anywhere.
(
    ulimit -v 400000
    exec "$npgnn" train $data -q --iterations 100000000 --threads 4 --log log.jsonl -o new
) 2>err.txt &
job=$!
for _ in $(seq 600); do
    [ ! -s log.jsonl ] && kill -0 $job || break
    sleep 0.1
done
kill -s TERM $job
# no output of its own: a `sleep` that outlives its subshell would keep the pipe open that a test runner reads
(
    sleep 30
    kill -s KILL $job
) >/dev/null 2>&1 &
watch=$!
got=0
wait $job || got=$?
kill $watch 2>/dev/null || :
[ $got -eq 143 ] || fail "SIGTERM: status $got instead of 143"
