#!/bin/sh
# mpi.sh NPGNN MODULE FAULTY ITERATION bits|jobs|volume|faults|differ: work in several processes, started by mpirun on this
# machine. FAULTY is the program with faults.c in it, ITERATION that of bench/iteration.c. Skipped (77) where the module was not built or there is no mpirun.
set -eu
npgnn=$(realpath "$1") module=$2 faulty=$(realpath "$3") iteration=$(realpath "$4") part=$5
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in containers
export OMPI_MCA_mpi_yield_when_idle=1 # who waits gives its core to the others
export RES_OPTIONS='timeout:1 attempts:1' # where the name of the machine cannot be resolved, every start waits for that
export OMPI_MCA_btl=self,vader OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none # one machine, few cores
[ -e "$module" ] && command -v mpirun >/dev/null || {
    echo 'MPI is missing: install libopenmpi-dev and openmpi-bin'
    exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "$*"; [ ! -e err ] || cat err; exit 1; }
limit=120
processes() { p=$1; shift; timeout $limit mpirun --oversubscribe -n "$p" "$@"; }

# same WHAT RANKS COMMAND ARGUMENT...: the file of one process with two threads, and of so many processes with one thread each.
same()
{
    what=$1 ranks=$2
    shift 2
    "$npgnn" "$@" -o one.out -t 2 -q
    for p in $ranks; do
        processes "$p" "$npgnn" "$@" -o several.out -t 1 -q 2>err || fail "$what in $p processes fails"
        cmp one.out several.out || fail "$what: $p processes give another result than one"
    done
}

# same_report WHAT RANKS COMMAND ARGUMENT...: the same for --json; what depends on the machine does not count.
same_report()
{
    what=$1 ranks=$2
    shift 2
    "$npgnn" "$@" --json one.json -t 2 -q >out
    for p in $ranks; do
        processes "$p" "$npgnn" "$@" --json several.json -t 1 -q >out 2>err || fail "$what in $p processes fails"
        python3 - one.json several.json <<'PYTHON' || fail "$what: $p processes give another result than one"
import json, sys
machine = {'train_seconds', 'seconds', 'threads', 'peak_rss_bytes', 'processes', 'bytes_sent', 'bytes_received'}
def result(x):
    if isinstance(x, dict):
        return {key: result(value) for key, value in x.items() if key not in machine}
    return [result(value) for value in x] if isinstance(x, list) else x
sys.exit(result(json.load(open(sys.argv[1]))) != result(json.load(open(sys.argv[2]))))
PYTHON
    done
}

# refused WORDS P ARGUMENT...: ends with an error of one line that has these words, and writes no model.
refused()
{
    words=$1 p=$2
    shift 2
    rm -f refused.model
    ! processes "$p" "$@" >out 2>err || fail "not refused: $*"
    grep -q "^npgnn: error: .*$words" err || fail "no message with \"$words\": $*"
    [ "$(grep -c '^npgnn: ' err)" -eq 1 ] || fail "more than one message: $*"
    [ ! -e refused.model ] || fail "a model was written: $*"
}

# unlike WORDS ARGUMENTS ARGUMENTS: two processes with these arguments are refused, within ten seconds of their start.
unlike()
{
    refused "$1" 2 sh -c 'date +%s >begun; if [ $OMPI_COMM_WORLD_RANK = 0 ]; then exec "$0" '"$2"'; else exec "$0" '"$3"'; fi' "$npgnn"
    seconds=$(($(date +%s) - $(cat begun)))
    [ $seconds -le 10 ] || fail "refused only after $seconds seconds: $2 and $3"
}

# victim JOB: sets victim to process 1 of this mpirun, once it has begun.
victim()
{
    victim=
    for try in $(seq 100); do
        for child in $(cat /proc/$1/task/*/children); do
            grep -qz '^OMPI_COMM_WORLD_RANK=1$' "/proc/$child/environ" 2>/dev/null && grep -q npgnn "/proc/$child/comm" && victim=$child
        done
        [ -z "$victim" ] || break
        sleep 0.1
    done
    [ -n "$victim" ] || fail 'no process 1'
    sleep 1
}

# ended JOB: the job fails, at most ten seconds after its process 1.
ended()
{
    begun=$(date +%s)
    ! wait $1 || fail 'the job survives its process'
    [ $(($(date +%s) - begun)) -le 10 ] || fail "the job ends only after $(($(date +%s) - begun)) seconds"
}

case $part in
bits)
    graph=synthetic:nodes=700,words=100
    same 'the exact loss' '1 2 3 4' train $graph --iterations 4 --val 0.05 --validate-every 2 --keep-best on
    same 'a rehearsal, then the sampled loss' '2 4' train $graph --iterations 3 --loss sampled --pairs-per-node 150
    same 'relu heads' '3' train $graph --iterations 3 --val 0.05 --preset paper-literal --context-fraction 0.5
    same 'averaged embeddings' '2' train $graph --iterations 3 --val 0.05 --preset authors --samples 2 --loss sampled --pairs-per-node 40
    # dense features and weighted links, from a mapped file
    awk 'BEGIN { for (i = 0; i < 600; i++) for (j = 1; j <= 3; j++) print i, (i * j * 7 + 13 * j) % 600, 1 + (i + j) % 4 }' >edges.txt
    awk 'BEGIN { for (i = 0; i < 600; i++) print i, sin(i), cos(i * 1.7), sin(i * i), 1 }' >features.txt
    "$npgnn" convert --edges edges.txt --features features.txt --weighted -o graph.npg 2>/dev/null
    same 'dense features and weights' '2 3' train graph.npg --iterations 3 --val 0.05
    ;;

jobs)
    # evidence and gradients of the tasks
    mkdir corpus
    "$npgnn" convert synthetic:nodes=100,words=100 -o corpus/rich.npg 2>/dev/null
    awk 'BEGIN { for (i = 0; i < 80; i++) for (j = 1; j <= 3; j++) print i, (i * j * 7 + 13 * j) % 80 }' >corpus/plain.edges
    printf '0 1\n1 2\n' >corpus/tiny.edges # gives no task
    same pretraining '4' pretrain corpus --steps 12 --checkpoint c --checkpoint-every 5
    processes 3 "$npgnn" pretrain corpus -o resumed.model -t 1 --steps 12 --resume c.prev 2>err || fail 'pretraining is not resumed'
    grep -q 'resuming after step 5 of 12' err || fail 'pretraining is resumed elsewhere'
    cmp one.out resumed.model || fail 'pretraining that is resumed: another model'

    # the folds of the links, and the chunks of a batch
    same 'the preset best' '3' train synthetic:nodes=100,words=100 --preset best --iterations 2

    # searches: of all nodes, where each pair is scored once; of some nodes; of the best links; and given pairs
    graph=synthetic:nodes=300,words=100
    "$npgnn" train $graph -o network -q --iterations 5
    printf '3\n250\n17\n18\n19\n' >nodes
    awk 'BEGIN { for (i = 0; i < 300; i++) print i, (7 * i + 1 + i % 5) % 300, i % 2 }' | awk '$1 != $2 && !seen[$1 + $2, $1 * $2]++' >labelled
    cut -d ' ' -f 1-2 labelled >pairs
    same 'a search of all nodes' '1 2 3 4' predict universal $graph --top 4
    same 'a search of some nodes' '3' predict universal $graph --top 4 --for nodes --explain
    # the same where every process has nodes: with features, without, and with two sides; from 512 nodes per process on
    large=synthetic:nodes=2100,words=100
    awk 'BEGIN { for (i = 0; i < 1600; i++) for (j = 1; j <= 3; j++) print i, (i * j * 7 + 13 * j) % 1600 }' >plain.edges
    awk 'BEGIN { for (i = 0; i < 1600; i++) for (j = 1; j <= 3; j++) print "u" i % 900, "v" (i * j * 7 + 13 * j) % 700 }' >sides.edges
    same 'a divided search of all nodes' '1 2 3 4' predict universal $large --top 4
    same 'a divided search of some nodes' '2 4' predict universal $large --top 4 --for nodes --explain
    same 'a divided search of links' '3' predict universal $large --top-links 70 --explain --format jsonl
    same 'a divided search with draws' '3' predict universal $large --top 3 --for nodes --samples 2 --rank-by lower-bound
    same 'a divided search without features' '2' predict universal --edges plain.edges --top 4
    same 'a divided search of links without features' '4' predict universal --edges plain.edges --top-links 70 --explain
    same 'a divided search of two sides' '3' predict universal --edges sides.edges --bipartite --top 3 --min-prob 0.001
    same 'a divided search of links of two sides' '2' predict universal --edges sides.edges --bipartite --top-links 70
    same 'given pairs that are explained' '3' predict universal $large --pairs pairs --explain
    same 'a search of links' '2' predict network $graph --top-links 70 --samples 2
    same 'a search with draws' '4' predict network $graph --top 3 --samples 2
    same 'given pairs' '3' predict universal synthetic:nodes=2100,words=100 --pairs pairs # sums over nodes have parts from 1024 nodes on
    same_report 'a test' '2' test universal $graph --pairs labelled --bootstrap 20
    same_report 'an evaluation' '2' eval $graph --seeds 3 --iterations 3 --bootstrap 20
    ;;

volume)
    # bytes that the first process sends and receives per iteration, from two trainings of different lengths
    graph=synthetic:nodes=1500,words=100
    "$npgnn" convert $graph -o graph.npg 2>/dev/null
    "$npgnn" convert graph.npg -o graph 2>/dev/null
    for loss in exact sampled; do
        for t in 2 6; do
            processes 3 "$npgnn" train graph.npg -o several.model -t 1 -q --val 0 --no-calibrate --loss $loss --iterations $t --json $t.json 2>err ||
                fail "$loss: training fails"
        done
        "$iteration" --data graph.npg --ranks 3 --loss $loss --iterations 4 >simulated
        python3 - "$loss" graph 2.json 6.json simulated <<'PYTHON' || fail "$loss: the volume is not that of docs/use/scale.md"
import glob, json, sys
loss, folder, *names, table = sys.argv[1:]
short, long = (json.load(open(name)) for name in names)
first = next(line.split()[2:4] for line in open(table) if line.startswith('process 0 '))
simulated = dict(zip(('bytes_sent', 'bytes_received'), map(float, first)))
n, f, h, d, g, k, ranks, block = 1500, 100, 32, 32, 64, 32, 3, 128
blocks = -(-n // block)
start = [min(n, (blocks * r // ranks) * block) for r in range(ranks + 1)]
owner = lambda node: next(r for r in range(ranks) if start[r] <= node < start[r + 1])
wants = [{} for _ in range(ranks)] # neighbours in other processes, and the links to each of them
edges = 0
for line in open(glob.glob(folder + '/edges*')[0]):
    u, v = (int(word) for word in line.split()[:2]) if line.split()[0].isdigit() else (0, 0)
    edges += u != v
    if owner(u) != owner(v):
        wants[owner(u)][v] = wants[owner(u)].get(v, 0) + 1
        wants[owner(v)][u] = wants[owner(v)].get(u, 0) + 1
def count(lists): # of the whole graph, and of a context with a tenth of the links, on average
    return len(lists), sum(1 - 0.9 ** links for links in lists)
halo, halo_context = count(list(wants[0].values()))
given, given_context = count([links for r in range(1, ranks) for v, links in wants[r].items() if owner(v) == 0])
own = start[1]
width = h + g
# docs/use/scale.md: rows of neighbours, sums, and the loss
rows, rows_context = 4 * (2 * h + k), 4 * (2 * h + 1)
sums = 4 * (-(-width // 16) * 16 * f + 2 * h + g * k + k + g)
def exact(received):
    steps = 2 # of three processes: U and its gradient visit both others, and the gradient returns
    visitors = range(1, steps + 1) if received else range(steps)
    return 4 * k * (2 * sum(start[s % ranks + 1] - start[s % ranks] for s in visitors) + own)
def sampled(received):
    share = n / ranks * (1 - 1 / ranks) # rows of this process that are in tiles of others, and back
    pilot = 2048 * (1 - 1 / ranks) * (4 * k if received else 4) # the first process fetches them
    return 2 * 4 * k * share + 4 * share + 4 * (k * k + k) + pilot
crossing = 12 * 0.1 * edges * (1 - 1 / ranks) / ranks
pair_volume = exact if loss == 'exact' else sampled
want = {'bytes_sent': given * rows + given_context * rows_context + 4 * halo_context + sums + pair_volume(0) + crossing,
        'bytes_received': halo * rows + halo_context * rows_context + 4 * given_context + sums + pair_volume(1)}
bad = 0
for key in want:
    got = (long[key] - short[key]) / (long['iterations'] - short['iterations'])
    print(f'{loss} {key}: {got:.0f} bytes per iteration, formula {want[key]:.0f}, ratio {got / want[key]:.3f}')
    bad |= abs(got / want[key] - 1) > 0.05
    bad |= abs(simulated[key] / want[key] - 1) > 0.05
sys.exit(bad)
PYTHON
    done
    ;;

faults)
    graph=synthetic:nodes=700,words=100

    # a checkpoint of two processes is resumed by three, and by one, to the same bits
    processes 2 "$npgnn" train $graph -o whole.model -t 1 -q --iterations 8 --checkpoint c --checkpoint-every 3 2>err || fail 'no checkpoint'
    for p in 3 1; do
        cp c again
        processes $p "$npgnn" train $graph -o resumed.model -t 1 --resume again --iterations 8 2>err || fail "$p processes do not resume"
        grep -q 'resuming after iteration 6 of 8' err || fail "$p processes resume elsewhere"
        cmp whole.model resumed.model || fail "resumed by $p processes: another model"
    done

    # what does not work in several processes says so, once
    refused 'npgnn embed does not work in several processes' 2 "$npgnn" embed network $graph
    refused 'method does not work in several processes' 2 "$npgnn" predict --method katz $graph --top 3
    refused 'log does not work in several processes' 2 "$npgnn" eval $graph --log log
    refused 'estimate does not work in several processes' 2 "$npgnn" train $graph --estimate -o refused.model
    refused 'divided among at most 2 processes, and there are 3' 3 "$npgnn" train synthetic:nodes=200 -o refused.model

    # faults of one process: the message names it, nothing is written, and all of them end
    printf '0 1\n1 2\n' >edges
    "$npgnn" convert $graph -o 0.npg 2>/dev/null
    "$npgnn" convert synthetic:nodes=700,words=100,seed=2 -o 1.npg 2>/dev/null
    each='exec "$0" train $OMPI_COMM_WORLD_RANK.npg -o refused.model -q'
    refused 'the graph of process 1 is not that of process 0' 2 sh -c "$each" "$npgnn"
    rm 1.npg
    refused 'process 1 of 2: .*1.npg' 2 sh -c "$each" "$npgnn"
    "$npgnn" convert synthetic:nodes=150000 -o large.npg 2>/dev/null
    little='[ $OMPI_COMM_WORLD_RANK = 0 ] || ulimit -v 1000000
        exec "$0" train large.npg -o refused.model -q -t 1 --val 0 --no-calibrate --hidden 256 --decoder-hidden 256 --output-size 256 --samples 2 --iterations 1'
    refused 'process 1 of 2: .*memory' 2 sh -c "$little" "$npgnn"
    cp "$faulty" "$module" . # the module is looked for beside the program
    full='[ $OMPI_COMM_WORLD_RANK != 0 ] || export NPGNN_FAULT=rename:1
        exec ./npgnn-faulty train 0.npg -o refused.model -q -t 1 --iterations 2'
    refused 'refused.model: .*No space left' 2 sh -c "$full"

    # a process that is killed ends the job within seconds, and mpirun names it
    mpirun --oversubscribe -n 3 "$npgnn" train $graph -o killed.model -t 1 -q --iterations 1000000 2>err &
    job=$!
    victim $job
    kill -9 "$victim"
    ended $job
    grep -q 'rank 1 .*signal 9' err || fail 'nobody says which process died'
    [ ! -e killed.model ] || fail 'a model was written'
    ;;

differ)
    # processes that are not started alike: one sentence names the one, and all end
    limit=40
    "$npgnn" convert synthetic:nodes=700,words=100 -o graph.npg 2>/dev/null
    train='train graph.npg -o refused.model -q -t 1 --iterations 2'
    search='predict universal graph.npg --top 2 -q -t 1 -o refused.model'
    unlike 'process 1 of 2: unknown option --nothing' "$train" "$train --nothing"
    unlike 'process 0 of 2: unknown option --nothing' "$train --nothing" "$train"
    unlike 'process 0 of 2: unknown option --nothing' "$train --nothing" "$train --nothing"
    unlike 'process 1 of 2: no command given' "$train" ''
    unlike 'process 1 of 2: npgnn --version does not work in several' "$train" '--version'
    unlike 'process 1 of 2: npgnn info does not work in several' "$train" 'info graph.npg'
    unlike 'the command of process 1 is not that of process 0' "$train" "$search"
    unlike '--seed of process 1 is not that of process 0' "$train" "$train --seed 2"
    unlike '--preset of process 1 is not that of process 0' "$train --preset best" "$train"
    unlike '--resume of process 1 is not that of process 0' "$train" "$train --resume c"
    unlike '--explain of process 1 is not that of process 0' "$search" "$search --explain"
    processes 2 sh -c 'exec "$0" '"$train"' -t $(($OMPI_COMM_WORLD_RANK + 1)) --data-dir $OMPI_COMM_WORLD_RANK' "$npgnn" 2>err || fail 'threads may differ'

    # other programs
    mkdir other bare
    cp "$faulty" "$module" .
    LC_ALL=C sed "s/$("$npgnn" --version | cut -d ' ' -f 2)/7.7.7/g" npgnn-faulty >other/npgnn-faulty
    chmod +x other/npgnn-faulty
    cp "$module" other
    cp npgnn-faulty bare # without the module
    npgnn=$folder/npgnn-faulty
    elsewhere='if [ $OMPI_COMM_WORLD_RANK = 1 ]; then exec "$1"/npgnn-faulty '$train'; else exec "$0" '$train'; fi'
    refused 'the version of npgnn of process 1 is not that of process 0' 2 sh -c "$elsewhere" "$npgnn" other
    refused 'process 1 of 2: cannot work in several processes: .*npgnn-mpi.so' 2 sh -c "$elsewhere" "$npgnn" bare
    refused 'process 0 of 2: cannot work in several processes: .*npgnn-mpi.so' 2 bare/npgnn-faulty $train

    # a signal to one process ends all of them, also while the others are at work that takes minutes
    "$npgnn" convert synthetic:nodes=20000 -o large.npg 2>/dev/null
    timeout 60 mpirun --oversubscribe -n 2 "$npgnn" train large.npg --preset best -o refused.model -q -t 1 2>err &
    job=$!
    for try in $(seq 100); do
        launcher=$(cat /proc/$job/task/*/children)
        [ -z "$launcher" ] || break
        sleep 0.1
    done
    victim $launcher
    kill -INT "$victim"
    ended $job
    [ ! -e refused.model ] || fail 'a model was written'

    # variables that are inherited from a process of mpirun: there is nobody else to speak
    inherited() # RANK WORDS ARGUMENT...
    {
        rank=$1 words=$2 file=alone-$1-$(echo "$3 $4" | tr -d ' ')
        shift 2
        ! env OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=4 "$npgnn" "$@" >"$file" 2>&1 || fail "$* succeeds in process $rank"
        ! env PMI_RANK=$rank PMI_SIZE=4 "$npgnn" "$@" >"$file.pmi" 2>&1 || fail "$* succeeds in MPICH's process $rank"
        grep -q "^npgnn: error: process $rank of 4: .*OMPI_COMM_WORLD_SIZE says.*$words" "$file" || fail "$* does not say why it fails: $(cat "$file")"
        grep -q "^npgnn: error: process $rank of 4: .*PMI_SIZE says.*$words" "$file.pmi" || fail "$* does not say why it fails: $(cat "$file.pmi")"
    }
    inherited 0 'unset that variable' --version ''
    inherited 0 'unset that variable' train --help
    inherited 0 'MPI finds 1' $train
    inherited 1 'unset that variable' info graph.npg &
    inherited 1 'MPI finds 1' $train # otherwise each process would write the model
    wait $! || exit 1
    [ ! -e refused.model ] || fail 'a model was written'
    for launched in PMI_RANK=1 'PMI_RANK=1 PMI_SIZE=1' 'PMI_RANK=x PMI_SIZE=4' OMPI_COMM_WORLD_RANK=1; do
        env $launched "$npgnn" info graph.npg >out 2>err || fail "$launched: one process does not work"
        grep -q nodes out || fail "$launched: nothing is printed"
    done
    ;;
esac
