#!/bin/sh
# kill.sh NPGNN: trainings that are killed (SIGKILL) at random times and resumed end with the same bytes as an uninterrupted
# one. NPGNN_KILLS is the number of kills, NPGNN_SEED the seed of the times.
set -eu
program=$(realpath "$1") kills=${NPGNN_KILLS:-50} seed=${NPGNN_SEED:-$$}
echo "NPGNN_SEED=$seed"
# in memory where that is possible: what is tested is the order of the steps, not the disk
parent=/tmp
[ ! -w /dev/shm ] || parent=/dev/shm
folder=$(mktemp -d "$parent/npgnn-kill-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# The ways to train: exact with validation; sampled with the best kept; the same after a rehearsal.
ways=3
train()
{
    model=$1 way=$2
    shift 2
    case $way in
    0) set -- --loss exact "$@" ;;
    1) set -- --keep-best on --input-dropout 0.5 --loss sampled "$@" ;;
    2) set -- --keep-best on --input-dropout 0.5 --loss sampled --val 0 "$@" ;;
    esac
    exec "$program" train synthetic:nodes=200,words=100 -o "$model" --iterations 100 --threads 2 --quiet "$@"
}

# From the checkpoint where there is one.
go_on()
{
    if [ -f checkpoint ]; then
        train model $way --resume checkpoint --checkpoint-every 1
    else
        train model $way --checkpoint checkpoint --checkpoint-every 1
    fi
}

way=0 trainings=0 killed=0 resumed=0 attempts=0
finish()
{
    cmp whole$way model || { echo "way $way: another model after kills"; exit 1; }
    rm -f model checkpoint checkpoint.prev
    trainings=$((trainings + 1)) way=$(((way + 1) % ways))
}

start=$(date +%s.%N)
for i in $(seq 0 $((ways - 1))); do
    (train whole"$i" "$i")
done
# The seconds until each kill: up to what a training takes, and rather less.
echo "$start $(date +%s.%N)" | awk -v n=$((10 * kills)) -v seed="$seed" -v ways=$ways \
    '{ srand(seed); for (i = 0; i < n; i++) printf "%.4f\n", ($2 - $1) / ways * rand() * rand() }' >moments

while [ $killed -lt "$kills" ]; do
    attempts=$((attempts + 1))
    moment=$(sed -n ${attempts}p moments)
    [ ! -f checkpoint ] || resumed=$((resumed + 1))
    go_on &
    job=$!
    sleep "$moment" # fails when there are no more: something is wrong then
    kill -KILL $job 2>/dev/null || true
    status=0
    wait $job || status=$?
    case $status in
    137) killed=$((killed + 1)) ;;
    0) finish ;; # it was quicker
    *) exit 1 ;;
    esac
done
(go_on)
finish
left=$(find . -name 'checkpoint.*' -o -name 'model.*' | wc -l)
echo "$killed kills, $resumed resumptions, $trainings trainings, $left files left behind"
