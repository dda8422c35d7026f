# Checkpoints: saving, resuming, and what is refused.
data=synthetic:nodes=200,seed=3
network='--keep-best on --input-dropout 0.5 --loss sampled' # all that can be added to the paper's
hashes() { sed -E 's/[0-9a-f]{16}/HASH/g' >&2; }
npgnn train $data -o whole $network --iterations 40 --seed 7 --quiet

note saved and resumed
npgnn train $data -o first $network --iterations 40 --seed 7 --checkpoint c --checkpoint-every 15 --quiet
cmp whole first
npgnn train $data -o second --resume c 2>&1 | grep 'resuming'
cmp whole second
npgnn train $data -o second --resume c.prev --checkpoint other $network --iterations 40 --seed 7 --threads 1 --quiet
cmp whole second
ls

note a training that differs from the checkpoint
status 1 npgnn train $data -o second --resume c --iterations 41
status 1 npgnn train $data -o second --resume c --seed 8
status 1 npgnn train $data -o second --resume c --preset default
{ status 1 npgnn train synthetic:nodes=200,seed=4 -o second --resume c; } 2>&1 | hashes
{ status 1 npgnn train $data -o second --resume c --val 0.1; } 2>&1 | hashes

note damage
head -c 5000 c >cut
status 1 npgnn train $data -o second --resume cut
cp c.prev cut.prev
status 1 npgnn train $data -o second --resume cut
status 1 npgnn train $data -o second --resume absent
status 1 npgnn train $data -o second --resume whole

note usage
status 2 npgnn train $data -o second --checkpoint c --checkpoint-every 0
status 2 npgnn train $data -o second --checkpoint c --checkpoint-every 5x
status 2 npgnn train $data -o second --checkpoint c --checkpoint-every 1.5
status 2 npgnn train $data -o second --checkpoint-every 5m
status 1 npgnn train $data -o second --checkpoint absent/c

note a signal
npgnn train $data -o third --iterations 100000000 --threads 1 --checkpoint d --log log --quiet 2>words &
job=$!
for _ in $(seq 600); do
    [ ! -s log ] && kill -0 $job || break
    sleep 0.1
done
kill -s TERM $job
status 143 wait $job
sed -E 's/after [0-9]+/after N/' words
