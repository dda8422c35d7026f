# Outputs that are no plain files: devices and FIFOs are written to, links are followed, permissions are kept.
data=synthetic:nodes=200,seed=3
train() { npgnn train $data --iterations 2 --quiet "$@"; }
train -o plain.model
npgnn eval $data --seeds 1 --iterations 2 --quiet --save-split plain.split >/dev/null
printf '1 2\n3 4\n' >pairs
npgnn predict plain.model $data -p pairs -o plain.scores

# kind FILE: the first letter of its permissions, as ls shows it.
kind() { ls -ld "$1" | cut -c 1; }
# mode FILE: its permissions.
mode() { ls -ld "$1" | cut -c 2-10; }

note a device stays one
# A device of our own where we may make and use one; otherwise the system's, unless a fault would replace it.
null=/dev/null
if mknod null c 1 3 2>/dev/null && : 2>/dev/null >null; then
    null=null
fi
if [ $null = null ] || [ ! -w /dev ]; then
    train -o $null
    train -o model --checkpoint $null --checkpoint-every 1 --log $null
    npgnn eval $data --seeds 1 --iterations 2 --quiet --save-split $null --json $null >/dev/null
    npgnn predict plain.model $data -p pairs -o $null
    npgnn embed plain.model $data -o $null --format npy --quiet
    [ -c $null ]
    ls $null.* 2>/dev/null || true
fi
rm -f null

note a FIFO with a reader
mkfifo fifo
through() { cat fifo >got & "$@"; wait $!; }
through train -o fifo
cmp plain.model got
through npgnn eval $data --seeds 1 --iterations 2 --quiet --save-split fifo >/dev/null
cmp plain.split got
through npgnn predict plain.model $data -p pairs -o fifo
cmp plain.scores got
through npgnn info $data --json fifo
grep -c '"nodes": 200' got
kind fifo

note a FIFO whose reader goes away
awk 'BEGIN { for (i = 0; i < 10000; i++) print i % 200, (7 * i + 1) % 200 }' >many # more than a pipe holds
true <fifo &
status 1 npgnn predict plain.model $data -p many -o fifo
wait $!

note a FIFO without a reader ends by a signal
# stopped SIGNAL COMMAND...: sends the signal once the command sleeps in the opening of the FIFO.
stopped()
{
    signal=$1
    shift
    npgnn "$@" 2>/dev/null &
    job=$!
    for _ in $(seq 300); do
        ! grep -q '^wait_for_partner\|^fifo_open' /proc/$job/wchan 2>/dev/null || break
        sleep 0.1
    done
    kill -s "$signal" $job
}
stopped TERM train $data --iterations 2 --quiet -o fifo
status 143 wait $job 2>/dev/null
stopped TERM predict plain.model $data -p pairs -o fifo
status 143 wait $job 2>/dev/null
rm fifo

note descriptors of the program
if [ -e /dev/stdout ] && [ -e /proc/self/fd ]; then
    echo before >got
    train -o /dev/stdout >>got
    npgnn predict plain.model $data -p pairs -o /dev/fd/3 3>>got
    (echo before; cat plain.model plain.scores) | cmp - got
    train -o /dev/stdout | cmp plain.model
    npgnn embed plain.model $data -o /dev/stdout --format npy --quiet >got
    ls /dev/stdout.* 2>/dev/null || true
fi

note links are followed
mkdir folder
echo old >folder/there
ln -s folder/there link
ln -s link second
ln -s folder/new dangling
train -o second
npgnn predict plain.model $data -p pairs -o dangling
kind second
kind link
kind dangling
cmp plain.model folder/there
cmp plain.scores folder/new
train -o second --checkpoint dangling --checkpoint-every 1
train -o second --checkpoint dangling --checkpoint-every 1
ls folder
ln -s loop loop
status 1 train -o loop

note permissions are kept
for output in model split scores json; do
    echo old >$output
    chmod 640 $output
done
train -o model
npgnn eval $data --seeds 1 --iterations 2 --quiet --save-split split --json json >/dev/null
npgnn predict plain.model $data -p pairs -o scores
for output in model split scores json; do
    echo "$output $(mode $output)"
done
(umask 027 && npgnn predict plain.model $data -p pairs -o new)
echo "new $(mode new)"

note a folder is refused
status 1 train -o folder

note left behind
ls
