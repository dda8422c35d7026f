#!/bin/sh
# version.sh VERSION NPGNN: the program, the changelog and the citation name the version that the build took from the header.
set -eu
version=$1 program=$2
root=$(dirname "$0")/..

fail() { echo "$1 does not name version $version"; exit 1; }

[ "$("$root/tools/version.sh")" = "$version" ] || { echo "the build is of version $version; reconfigure it"; exit 1; }
[ "$("$program" --version | head -n 1)" = "npgnn $version" ] || fail 'npgnn --version'
[ "$(sed -n 's/^## \([0-9.]*\).*/\1/p' "$root/CHANGELOG.md" | head -n 1)" = "$version" ] || fail CHANGELOG.md
grep -qx "version: $version" "$root/CITATION.cff" || fail CITATION.cff
