#!/bin/sh
# memory_calls.sh HEADER TEST: every public call that can fail stands in the list of test_memory.c, which tries each with allocations
# that fail and, under inject.c, with system calls that fail.
set -eu
missing=$(tr '\n' ' ' <"$1" | grep -o 'NPGNN_API [a-z_0-9 *]*([^;]*npgnn_error \*err)' |
    sed 's/NPGNN_API [a-z_0-9 *]*npgnn_\([a-z_0-9]*\)(.*/\1/' | while read -r name; do
        grep -q "CALL($name)" "$2" || echo "npgnn_$name"
    done)
[ -z "$missing" ] || {
    echo "these calls are not tested with allocations and system calls that fail; add CALL(...) to tests/test_memory.c:" $missing
    exit 1
}
