#!/bin/sh
# Prints the version of npgnn, MAJOR.MINOR.PATCH, from the public header. Fails where the header's text does not match its numbers.
set -eu
header=$(dirname "$0")/../include/npgnn/npgnn.h
version=$(awk '/^#define NPGNN_VERSION_(MAJOR|MINOR|PATCH) [0-9]+$/ { text = text dot $3; dot = "." } END { print text }' "$header")
grep -qx "#define NPGNN_VERSION \"$version\"" "$header" || {
    echo "npgnn.h: NPGNN_VERSION is not \"$version\", as NPGNN_VERSION_MAJOR, _MINOR and _PATCH say" >&2
    exit 1
}
echo "$version"
