#!/bin/sh
# sized_calls.sh HEADER TEST: every public call that takes structs with a size stands in the table of test_sized.c, with those
# structs in the order of its arguments.
set -eu
text=$(sed 's,/\*.*\*/,,' "$1" | tr '\n' ' ')
sized=$(printf '%s' "$text" | grep -o 'typedef struct npgnn_[a-z_]* *{ *size_t size;' | sed 's/typedef struct npgnn_\([a-z_]*\).*/\1/')
[ "$(printf '%s\n' "$sized" | wc -l)" -ge 15 ] || {
    echo "found only these structs with a size in $1:" $sized
    exit 1
}
missing=$(
    for name in $sized; do
        grep -q "^ *X($name)" "$2" || echo "X($name) in STRUCTS"
    done
    printf '%s' "$text" | grep -o 'NPGNN_API [a-z_0-9 *]*([^;]*)' | while read -r call; do
        uses=
        for type in $(printf '%s' "${call#*(}" | grep -o 'npgnn_[a-z_]* \*[a-z]' | sed 's/npgnn_\([a-z_]*\) .*/\1/'); do
            for name in $sized; do
                [ "$type" != "$name" ] || uses="$uses${uses:+ }$name"
            done
        done
        name=$(printf '%s' "${call%%(*}" | sed 's/.*npgnn_//')
        [ -z "$uses" ] || grep -qF "CALL($name, \"$uses\")" "$2" || echo "CALL($name, \"$uses\")"
    done
)
[ -z "$missing" ] || {
    echo "missing in tests/test_sized.c:"
    echo "$missing"
    exit 1
}
