#!/bin/sh
# packages.sh RUN: which packages the script ./run installs, how, and what it says where it cannot. In a folder of its own, with
# stand-ins for dpkg-query, apt-get, sudo, id, meson and ninja.
set -eu
run=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/a project"
cp "$run" "$folder/a project/run"
cd "$folder/a project"
for tool in sh env cat date dirname grep mkdir rm tr; do
    ln -s "$(command -v $tool)" "$folder/bin/$tool"
done
export FOLDER="$folder"

# stand_in NAME: a program of that name, from standard input.
stand_in() { { echo '#!/bin/sh'; cat; } >"$folder/bin/$1" && chmod +x "$folder/bin/$1"; }
stand_in id <<'SH'
cat "$FOLDER/uid"
SH
stand_in dpkg-query <<'SH'
for package; do :; done # the last argument
grep -qx "$package" "$FOLDER/absent" || echo installed
SH
stand_in apt-get <<'SH'
echo "apt-get $*" >>"$FOLDER/calls"
[ ! -f "$FOLDER/offline" ] || exit 100
SH
stand_in meson <<'SH'
mkdir -p "$2" && echo >"$2/build.ninja"
SH
stand_in ninja </dev/null

# expect STATUS UID WORDS ARGUMENT...: ./run as that user ends with the status and says the words.
expect()
{
    status=$1 words=$3 got=0
    echo "$2" >"$folder/uid"
    shift 3
    : >"$folder/calls"
    rm -rf build
    (PATH=$folder/bin && export PATH && ./run "$@") >"$folder/said" 2>&1 || got=$?
    [ "$got" -eq "$status" ] && grep -qF -- "$words" "$folder/said" && return
    echo "status $got instead of $status, or it does not say '$words': ./run $*"
    cat "$folder/said"
    exit 1
}
called() { grep -qx "$1" "$folder/calls" || { echo "no call of '$1', but:"; cat "$folder/calls"; exit 1; }; }
not_called() { [ ! -s "$folder/calls" ] || { echo 'calls that should not be:'; cat "$folder/calls"; exit 1; }; }
install='apt-get install -q -y --no-install-recommends'

: >"$folder/absent"
expect 0 1000 'the program is build/npgnn' build
not_called
expect 0 1000 'the program is build/npgnn' --no-install build
not_called

echo libopenblas-pthread-dev >"$folder/absent" # there is another one
expect 0 0 'the program is build/npgnn' build
not_called
echo libopenblas-openmp-dev >>"$folder/absent"
expect 0 0 'installing what is missing to build npgnn: libopenblas-pthread-dev' build
called "$install libopenblas-pthread-dev"

printf 'zlib1g-dev\nlibexpat1-dev\n' >"$folder/absent"
expect 0 0 'installing what is missing to build npgnn: zlib1g-dev libexpat1-dev' build
called 'apt-get update -q'
called "$install zlib1g-dev libexpat1-dev"
expect 1 0 'packages are missing to build npgnn: zlib1g-dev libexpat1-dev (and --no-install was given)' --no-install build
not_called
expect 1 1000 'as root, run: apt-get install zlib1g-dev libexpat1-dev' build
not_called
echo >"$folder/offline"
expect 1 0 'apt-get cannot install: zlib1g-dev libexpat1-dev (no network?)' build
rm "$folder/offline"

stand_in sudo <<'SH'
echo sudo >>"$FOLDER/calls"
exec "$@"
SH
expect 0 1000 'the program is build/npgnn' build
called sudo
called "$install zlib1g-dev libexpat1-dev"
