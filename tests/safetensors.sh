#!/bin/sh
# safetensors.sh NPGNN: the public reader of safetensors opens a model, and npgnn reads what the public writer makes of it.
# Skipped (77) where Python or its packages safetensors and numpy are missing.
set -eu
npgnn=$(realpath "$1")
python3 -c 'import safetensors.numpy' 2>/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

data=synthetic:nodes=200,words=100,seed=3
"$npgnn" train $data -o model.safetensors --iterations 5 --hidden 6 --latent-size 3 --decoder-hidden 5 --output-size 4 --quiet

python3 - <<'PYTHON'
import json
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

tensors = load_file("model.safetensors")
shapes = {name: tensor.shape for name, tensor in tensors.items()}
assert shapes == {"W1": (100, 6), "W_mu": (6, 3), "W_sigma": (6, 3), "W2": (103, 5), "b1": (5,), "W3": (5, 4), "b2": (4,),
                  "z_mean": (3,), "z_log_sigma": (3,)}, shapes
assert all(tensor.dtype == "float32" for tensor in tensors.values())
with safe_open("model.safetensors", "numpy") as file:
    metadata = file.metadata()
assert json.loads(metadata["options"])["hidden"] == "6"

# Written again, the tensors come in an order of the writer's own.
save_file(tensors, "again.safetensors", metadata)
PYTHON

printf '0 1\n7 120\n199 3\n' >pairs
"$npgnn" predict model.safetensors $data --pairs pairs >scores
"$npgnn" predict again.safetensors $data --pairs pairs | cmp - scores
