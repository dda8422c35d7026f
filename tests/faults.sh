#!/bin/sh
# faults.sh NPGNN CALL...: each of these calls that writes fails in turn, and files may grow to any size but the full one: a file that was there is
# still there and whole, the error says what could not be written, the status is 1, and nothing is left behind. NPGNN is the copy of
# the program with faults.c in it.
set -eu
program=$(realpath "$1")
shift
# in memory where that is possible: what fails is decided here, not by the disk
parent=/tmp
[ ! -w /dev/shm ] || parent=/dev/shm
folder=$(mktemp -d "$parent/npgnn-faults-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
graph=synthetic:nodes=100,words=100
printf '1 2\n3 4\n' >pairs

# With --val, one checkpoint is written while training: after a failure there is no later one that succeeds.
train() { "$program" train $graph --val 0.05 --iterations 4 --threads 1 --quiet "$@"; }

# run COMMAND SEED, in the folder of its files. Each writes some of: m(odel), c(heckpoint), l(og), s(plit), j(son), p(redictions), g(raph).
run()
{
    case $1 in
    train) train -o m --seed "$2" --checkpoint c --checkpoint-every 3 --log l ;;
    eval) "$program" eval $graph --seed "$2" --seeds 1 --iterations 2 --threads 1 --quiet --save-split s --curves --json j ;;
    predict) "$program" predict ../model$2 $graph --pairs ../pairs -o p ;;
    info) "$program" info $graph,seed="$2" --json j ;;
    convert) "$program" convert $graph,seed="$2" --quiet -o g.npg ;;
    esac
}

fail()
{
    echo "$command with $fault: $*"
    cat err
    exit 1
}

# A checkpoint is whole when the training that it is of can go on; both names of one are looked at.
check_checkpoint()
{
    for file in work/c work/c.prev; do
        [ -f $file ] || [ $file != work/c ] || fail 'the checkpoint is gone'
        [ ! -f $file ] || { train -o resumed --resume $file --checkpoint spare && { cmp -s resumed model1 || cmp resumed model2; }; } ||
            fail "$file cannot be resumed"
    done
}

# After a run that was disturbed: either it did not matter and every file is the new one, or some are still the old ones. JSON has times
# in it, so that it only has to be whole; a log is written as it comes.
check()
{
    case $status in
    0) grep -q . err && fail 'an error, but status 0' ;;
    1) grep -q '^npgnn: error: .*cannot write' err || fail 'no clear error' ;;
    *) fail "status $status" ;;
    esac
    for name in $(cd old && ls); do
        case $name in
        l | c | c.prev) ;;
        j) [ "$(tail -c 2 work/j)" = '}' ] || fail "$name is not whole" ;;
        *) cmp -s new/"$name" work/"$name" || { [ "$status" -eq 1 ] && cmp -s old/"$name" work/"$name"; } ||
            fail "$name is neither old nor new" ;;
        esac
    done
    [ $command != train ] || check_checkpoint
    left=$(find work -name '?.*' ! -name c.prev ! -name g.npg)
    [ -z "$left" ] || fail "left behind: $left"
}

# disturbed: runs the command anew over the files of an older run; true where the fault struck.
disturbed()
{
    rm -rf work struck
    cp -R old work
    status=0
    (cd work && run $command 2) >out 2>err || status=$?
    [ -L struck ] || [ $status -ne 0 ]
}

for seed in 1 2; do
    train -o model$seed --seed $seed
done
NPGNN_FAULT_LOG=$folder/struck
export NPGNN_FAULT_LOG
faults=0
for command in train eval predict info convert; do
    rm -rf old new
    mkdir old new
    (cd old && run $command 1 >../out)
    (cd new && run $command 2 >../out)
    for call; do
        for k in $(seq 100); do
            NPGNN_FAULT=$call:$k
            export NPGNN_FAULT
            fault=$NPGNN_FAULT
            disturbed || break
            unset NPGNN_FAULT
            check
            faults=$((faults + 1))
        done
        unset NPGNN_FAULT
    done
    blocks=1 # of 512 or of 1024 bytes, as the shell counts them
    while :; do
        fault="a limit of $blocks blocks"
        rm -rf work
        cp -R old work
        status=0
        (cd work && ulimit -f $blocks && run $command 2) >out 2>err || status=$?
        [ $status -ne 0 ] || break
        check
        faults=$((faults + 1)) blocks=$((blocks + 1 + blocks / 4))
    done
done
echo "$faults faults"
