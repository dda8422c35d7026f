#!/bin/sh
# The binary interface of the library: what a compiled program depends on.
#
#   tools/abi.sh check [LIBRARY]    compares LIBRARY with tests/abi/npgnn-0.abi; fails where a compiled program would break
#   tools/abi.sh freeze [LIBRARY]   makes the interface of LIBRARY the one to compare with
#
# LIBRARY must have debugging information; without the argument it is built in build-abi/. Freezing also copies the public
# header to tests/abi/npgnn-0.h, which tests/abi/abi_0.c is compiled against. Freeze once at the first release, then only where
# functions were added (CONTRIBUTING.md). Skipped (77) where abigail-tools is missing.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
command=${1-} library=${2-}
dump=$root/tests/abi/npgnn-0.abi

command -v abidiff >/dev/null || {
    echo 'abidiff is missing: install abigail-tools'
    exit 77
}
if [ -z "$library" ]; then
    [ -f "$root/build-abi/build.ninja" ] || meson setup "$root/build-abi" "$root" -Dbuildtype=debugoptimized >&2
    ninja -C "$root/build-abi" npgnn >&2
    library=$(find "$root/build-abi" -maxdepth 1 -name 'libnpgnn.so.*' -type f ! -name '*.symbols')
fi

# describe FILE: the functions and types of the public header, and nothing that depends on the machine or on the libraries that ours uses.
describe()
{
    abidw --headers-dir "$root/include" --drop-private-types --exported-interfaces-only --no-corpus-path --no-comp-dir-path \
        --no-show-locs --no-elf-needed --no-write-default-sizes --no-parameter-names --out-file "$1" "$library"
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

case $command in
check)
    # A struct that carried its own size when the interface was frozen may grow at its end. (Without type_kind the typedef of that
    # name would match, and any change would pass.)
    sized=$(awk '/^typedef struct npgnn_/ { name = $3 } /^    size_t size;/ { print name }' "$root/tests/abi/npgnn-0.h" | paste -sd '|')
    printf '[suppress_type]\n  type_kind = struct\n  name_regexp = ^(%s)$\n  has_data_member_inserted_at = end\n' "$sized" >"$folder/grow"
    describe "$folder/now"
    status=0
    abidiff --no-added-syms --suppressions "$folder/grow" "$dump" "$folder/now" || status=$?
    [ $status -eq 0 ] || {
        echo "The interface has changed in a way that breaks compiled programs. Undo that, or see \"Releases\" in CONTRIBUTING.md."
        exit 1
    }
    ;;
freeze)
    describe "$dump"
    cp "$root/include/npgnn/npgnn.h" "$root/tests/abi/npgnn-0.h"
    echo "wrote $dump and npgnn-0.h beside it: $(wc -c <"$dump") bytes"
    ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
