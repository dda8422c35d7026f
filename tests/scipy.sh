#!/bin/sh
# scipy.sh PROGRAM: files written by NumPy and SciPy give the same graph as a plain edge list. Skipped where they are not
# installed.
set -eu
program=$1
python=
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import numpy, scipy.sparse' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" - "$folder" <<'PYTHON'
import sys
import numpy as np
import scipy.sparse as sp
folder = sys.argv[1]
rng = np.random.default_rng(1)
n, f = 60, 40
links = sp.triu(sp.random(n, n, 0.08, random_state=1, format='csr'), 1).tocsr()
links.data[:] = 1
x = sp.random(n, f, 0.1, random_state=2, format='csr', dtype=np.float32)
rows, cols = links.nonzero()
with open(f'{folder}/edges.tsv', 'w') as out:
    for u, v in zip(rows, cols):
        out.write(f'{u}\t{v}\n')
np.save(f'{folder}/features.npy', x.toarray())
for kind in ('csr', 'csc', 'coo'):
    sp.save_npz(f'{folder}/{kind}.npz', links.asformat(kind), compressed=kind != 'csc')
    sp.save_npz(f'{folder}/x_{kind}.npz', x.asformat(kind))
both = (links + links.T).tocsr()
np.savez_compressed(f'{folder}/set.npz', adj_data=both.data, adj_indices=both.indices, adj_indptr=both.indptr,
                    adj_shape=both.shape, attr_data=x.data, attr_indices=x.indices, attr_indptr=x.indptr,
                    attr_shape=x.shape, labels=rng.integers(0, 3, n),
                    class_names=np.array(['a', 'b', 'c'], dtype=object))
two = sp.random(7, 5, 0.4, random_state=3, format='csr')
sp.save_npz(f'{folder}/two.npz', two)
np.savez(f'{folder}/two_list.npz', edge_index=np.stack(two.nonzero()), x=np.ones((7, 2)))
np.savez(f'{folder}/list.npz', edge_index=np.stack([rows, cols]), x=x.toarray())
np.savez(f'{folder}/fortran.npz', edges=np.stack([rows, cols]).T, features=np.asfortranarray(x.toarray().astype('>f8')))
PYTHON

fingerprint() { "$program" info "$@" --json 2>/dev/null | sed -n 's/.*"fingerprint": "\([0-9a-f]*\)".*/\1/p'; }
expected=$(fingerprint "$folder")
[ -n "$expected" ]
failed=0
check()
{
    what=$1
    shift
    got=$(fingerprint "$@") || true
    [ "$got" = "$expected" ] || {
        echo "$what: '$got' is not '$expected'"
        failed=1
    }
}
for kind in csr csc coo; do
    check "$kind" "$folder/$kind.npz" --features "$folder/x_$kind.npz"
done
check 'benchmark set' "$folder/set.npz"
check 'list of edges' "$folder/list.npz"
check 'Fortran order' "$folder/fortran.npz"
# a rectangular matrix: rows and columns are the two sides
"$program" info "$folder/two.npz" --bipartite | grep -q 'two sides *7 sources, 5 targets' || {
    echo 'two.npz: not two sides of 7 and 5 nodes'
    failed=1
}
for file in two.npz two_list.npz; do
    options=--bipartite
    [ $file = two.npz ] && options=
    if "$program" info "$folder/$file" $options >/dev/null 2>&1; then
        echo "$file: accepted"
        failed=1
    fi
done
exit $failed
