#!/bin/sh
# completion.sh NPGNN COMPLETION: checks what bash offers for incomplete command lines.
set -eu
command -v bash >/dev/null || exit 77
program=$(realpath "$1") completion=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/place" "$folder/place/data"
ln -s "$program" "$folder/bin/npgnn"
touch "$folder/place/graph.tsv"
cd "$folder/place"
PATH=$folder/bin:$PATH
export PATH

# offers EXPECTED WORD...: the words of the line, the last one being completed, must offer EXPECTED (in any order).
cat >"$folder/driver.bash" <<'BASH'
. "$1"
failed=0
offers()
{
    local expected=$1 got
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _npgnn
    got=$(printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ')
    if [[ ${got% } != "$expected" ]]; then
        printf 'after "%s": offered "%s" instead of "%s"\n' "$*" "${got% }" "$expected"
        failed=1
    fi
}
offers 'train' npgnn tr
offers '--help --version' npgnn --
offers 'adapt compare convert demo embed eval fetch help info predict pretrain reproduce serve test train' npgnn help ''
offers '--learning-rate' npgnn train --learn
offers '--no-calibrate --no-keep-best --no-latent --no-process --no-sample-latent' npgnn eval --no-
offers 'few-shot' npgnn eval synthetic --protocol f
offers 'inductive inductive-hidden' npgnn eval synthetic -p i
offers 'default' npgnn train --preset d
offers 'graph.tsv' npgnn train --edges g
offers 'data' npgnn train --data-dir ''
offers 'data' npgnn fetch --mirror ''
offers 'citeseer cora pubmed' npgnn fetch ''
offers '--mirror' npgnn fetch cora --mi
offers 'data graph.tsv' npgnn info ''
offers 'graph.tsv' npgnn eval --no-latent g
offers '' npgnn train --hidden ''
exit $failed
BASH
bash "$folder/driver.bash" "$completion"
