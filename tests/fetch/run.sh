#!/bin/sh
# run.sh NPGNN SERVER.py: npgnn fetch, built with tests/fetch/table.c, against a server that misbehaves in many ways. In every case, a
# file that exists is complete and correct.
set -eu
npgnn=$(realpath "$1") server=$(realpath "$2")
command -v python3 >/dev/null || exit 77
folder=$(mktemp -d /dev/shm/npgnn.XXXXXX 2>/dev/null || mktemp -d)
servers=
stop() { for pid in $servers; do kill "$pid" 2>/dev/null || true; done; rm -rf "$folder"; }
trap stop EXIT
mkdir "$folder/served" "$folder/data" "$folder/half"
cd "$folder/served"
unset NPGNN_DATA http_proxy https_proxy HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY
export XDG_CACHE_HOME="$folder/cache"
data=$folder/data/sets
failed=0

fail() { echo "FAILED: $*"; failed=1; }

# serve PORT-FILE [CERTIFICATE KEY]
serve()
{
    python3 "$server" "$@" &
    servers="$servers $!"
    for _ in $(seq 100); do
        [ ! -f "$1" ] || return 0
        sleep 0.1
    done
    echo 'the server does not start'
    exit 1
}

# fetch STATUS WORDS OPTION...: the command ends with this status and says these words.
fetch()
{
    expected=$1 saying=$2 got=0
    shift 2
    timeout 50 "$npgnn" fetch toy --data-dir "$folder/data" --timeout 1 "$@" 2>"$folder/said" || got=$?
    [ "$got" -eq "$expected" ] || { fail "status $got instead of $expected: $*"; cat "$folder/said"; }
    grep -qF "$saying" "$folder/said" || { fail "does not say '$saying': $*"; cat "$folder/said"; }
}

clear() { rm -rf "$data"; }
is_right() { for name in toy.bin toy.txt; do cmp -s "$name" "$data/$name" || fail "$name is not right: $*"; done; }
has_no() { for name; do [ ! -e "$data/$name" ] || fail "$name is there"; done; }

serve "$folder/port"
http=http://127.0.0.1:$(cat "$folder/port")

echo '== servers that behave'
for manner in good no-range cut moved; do
    clear
    fetch 0 'downloaded 2 files' --mirror "$http/$manner"
    is_right "$manner"
    has_no toy.bin.part toy.txt.part
done
fetch 0 'already' --mirror "$http/missing"
fetch 0 'downloaded 2 files' --mirror "$http/good/" --fresh

echo '== servers that misbehave, without and with existing files'
while read -r manner status words; do
    clear
    fetch "$status" "$words" --mirror "$http/$manner"
    has_no toy.bin toy.txt
    fetch 0 'downloaded' --mirror "$http/good"
    is_right "after $manner"
    fetch "$status" "$words" --mirror "$http/$manner" --fresh
    is_right "in spite of $manner"
done <<'MANNERS'
missing 1 404
cut-once 1 503
short 1 the transfer ended early
wrong 1 has the wrong checksum
endless 1 larger than the expected 300000 bytes
stalled 1 1000 of 300000 bytes are stored
dripping 1 bytes are stored
mute 1 cannot download
to-file 1 cannot download
to-ftp 1 cannot download
in-circles 1 cannot download
MANNERS
rm -f "$data/toy.txt"
fetch 1 'cannot download' --mirror "http://127.0.0.1:9/closed"
cmp toy.bin "$data/toy.bin" || fail 'a file that was right is gone'

echo '== continuing a download'
part() { clear; mkdir -p "$data"; head -c "$1" toy.bin >"$data/toy.bin.part"; }
for manner in good no-range; do
    part 100000
    fetch 0 'downloaded 2 files' --mirror "$http/$manner"
    is_right "$manner, continued"
    part 300000
    fetch 0 'downloaded 2 files' --mirror "$http/$manner"
    is_right "$manner, complete but for its name"
    part 100000
    printf xxx >>"$data/toy.bin.part"
    fetch 0 'downloaded 2 files' --mirror "$http/$manner"
    is_right "$manner, from a part of something else"
    part 300000
    printf x >>"$data/toy.bin.part"
    fetch 0 'downloaded 2 files' --mirror "$http/$manner"
    is_right "$manner, from a part that is too long"
done
# what is asked for is the rest, and no more: this server has nothing else
part 250000
cp toy.txt "$data"
fetch 0 'downloaded 1 file' --mirror "$http/only-rest"
is_right 'the rest'
# a file that went bad on disk is replaced
printf x >>"$data/toy.bin"
fetch 0 'downloaded 1 file' --mirror "$http/good"
is_right 'after damage'

echo '== a signal'
clear
"$npgnn" fetch toy --data-dir "$folder/data" --mirror "$http/stalled" --timeout 30 2>"$folder/said" &
pid=$!
for _ in $(seq 100); do
    [ ! -s "$data/toy.bin.part" ] || break
    sleep 0.1
done
fetch 1 'another process is downloading' --mirror "$http/good"
kill -INT $pid
got=0
wait $pid || got=$?
[ $got -eq 130 ] || { fail "status $got after an interrupt"; cat "$folder/said"; }
[ "$(wc -c <"$data/toy.bin.part")" -eq 1000 ] || fail 'the part is gone'
fetch 0 'downloaded' --mirror "$http/good"
is_right 'after an interrupt'

echo '== folders'
clear
fetch 0 'downloaded 2 files' --mirror "$folder/served"
is_right 'from a folder'
fetch 0 'downloaded 2 files' --mirror . --fresh
printf 'a small fil\n' >"$folder/half/toy.txt"
cp toy.bin "$folder/half"
rm "$data/toy.txt"
fetch 1 'has the wrong checksum' --mirror "$folder/half"
has_no toy.txt toy.txt.part
yes | head -c 1000000 >"$folder/half/toy.txt"
fetch 1 'has the wrong checksum' --mirror "$folder/half"
rm "$folder/half/toy.txt"
fetch 1 'cannot read' --mirror "$folder/half"
has_no toy.txt
fetch 2 'must be a folder or a URL' --mirror "file://$folder/served"
fetch 2 'must be a folder or a URL' --mirror "ftp://127.0.0.1"

echo '== folders and links'
clear
mkdir -p "$data/toy.bin.part"
fetch 1 'toy.bin.part' --mirror "$http/good"
clear
mkdir -p "$data"
ln -s "$folder/elsewhere" "$data/toy.bin.part"
fetch 1 'toy.bin.part' --mirror "$http/good"
[ ! -e "$folder/elsewhere" ] || fail 'wrote through a link'
clear
if (trap '' XFSZ; ulimit -f 100; timeout 20 "$npgnn" fetch toy --data-dir "$folder/data" --mirror "$http/good" 2>"$folder/said"); then
    fail 'a full disk went unnoticed'
fi
grep -qF 'cannot write' "$folder/said" || { fail 'a full disk'; cat "$folder/said"; }
has_no toy.bin
"$npgnn" fetch toy --mirror "$http/good" --quiet
cmp toy.bin "$folder/cache/npgnn/sets/toy.bin" || fail 'not in the cache folder'
NPGNN_DATA=$folder/own "$npgnn" fetch toy --mirror "$http/good" --quiet
cmp toy.bin "$folder/own/sets/toy.bin" || fail 'not in the data folder'
(unset XDG_CACHE_HOME; HOME=$folder/home "$npgnn" fetch toy --mirror "$http/good" --quiet)
cmp toy.bin "$folder/home/.cache/npgnn/sets/toy.bin" || fail 'not in the cache folder at home'
if (unset XDG_CACHE_HOME HOME; "$npgnn" fetch toy --mirror "$http/good" 2>"$folder/said"); then fail 'went nowhere'; fi
grep -qF 'give one with --data-dir' "$folder/said" || fail 'did not say that there is no folder'
NPGNN_DATA=$folder/own "$npgnn" fetch --list | grep -q '^toy .* downloaded ' || fail 'not listed'
"$npgnn" fetch --list --data-dir "$folder/nowhere" | grep -q '^toy .* missing ' || fail 'listed'

echo '== a proxy'
clear
http_proxy=$http fetch 0 'downloaded 2 files' --mirror http://nowhere.invalid/good
is_right 'by a proxy'

echo '== an untrusted certificate'
clear
if openssl req -x509 -newkey rsa:2048 -nodes -keyout "$folder/key" -out "$folder/cert" -days 2 -subj /CN=localhost \
    -addext subjectAltName=IP:127.0.0.1 2>/dev/null; then
    serve "$folder/tls" "$folder/cert" "$folder/key"
    fetch 1 'certificate' --mirror "https://127.0.0.1:$(cat "$folder/tls")/good"
    has_no toy.bin toy.bin.part
fi

exit $failed
