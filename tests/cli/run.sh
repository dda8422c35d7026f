#!/bin/sh
# run.sh NPGNN CASE.sh: runs a test case in an empty folder and compares its output with CASE.out and CASE.err. Numbers with a
# decimal point, and the spaces before them, are replaced by #. NPGNN_UPDATE=1 writes the two files instead.
#
# A case is a shell script. It may use:
#   npgnn ARGUMENT...          the program
#   status N COMMAND...        COMMAND must end with status N
#   note TEXT                  prints a heading to both outputs
#   $EXAMPLES                  the folder examples/ of the sources
# The exit status of the script must be 0; 77 skips the case.
set -u
program=$(realpath "$1") case=$(realpath "$2")
expected=${case%.sh}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/place"
ln -s "$program" "$folder/bin/npgnn"

cat >"$folder/prelude.sh" <<'PRELUDE'
set -eu
status()
{
    wanted=$1 got=0
    shift
    "$@" || got=$?
    [ "$got" -eq "$wanted" ] || { echo "status $got instead of $wanted: $*" >&2; exit 1; }
}
note()
{
    echo "== $*"
    echo "== $*" >&2
}
PRELUDE

(
    unset NPGNN_DATA
    PATH=$folder/bin:$PATH XDG_CACHE_HOME=$folder/cache LC_ALL=C EXAMPLES=${case%/*}/../../examples
    export PATH XDG_CACHE_HOME LC_ALL EXAMPLES
    cd "$folder/place" && cat "$folder/prelude.sh" "$case" | sh -s >"$folder/out" 2>"$folder/err"
)
code=$?
[ $code -ne 77 ] || exit 77

for stream in out err; do
    sed -E 's/ *-?[0-9]+\.[0-9]+(e[-+]?[0-9]+)?/ #/g' "$folder/$stream" >"$folder/$stream.masked"
    if [ -n "${NPGNN_UPDATE-}" ]; then
        cp "$folder/$stream.masked" "$expected.$stream"
    fi
    diff -u "$expected.$stream" "$folder/$stream.masked" || code=1
done
exit $code
