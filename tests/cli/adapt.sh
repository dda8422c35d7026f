# npgnn adapt: measuring on two parts of a graph, measuring on another graph, and saving.
data=synthetic:nodes=300,seed=3

# The signs of the differences are not checked.
mask() { sed 's/splits* [0-9a-f]*/split HASH/; s/+/ /g'; }

note two parts
npgnn adapt $data --iterations 5 --seeds 2 --quiet --json adapt.json >table
mask <table
python3 - <<'PY'
import json
j = json.load(open('adapt.json'))
assert j['train_nodes'] == 0.3 and j['context_nodes'] == 0.7 and not j['grow'] and j['model'] is None
for way in 'old_z', 'new_z', 'from_scratch':
    assert len(j[way]['seeds']) == 2 and 0 < j[way]['mean']['auc'] < 1
difference = j['new_z']['mean']['auc'] - j['old_z']['mean']['auc']
assert abs(j['new_minus_old']['auc'] - difference) < 1e-9
assert j['shift'] > 0
PY
npgnn adapt $data --iterations 5 --seeds 2 --quiet --threads 1 | cut -c 1-62 >again
cut -c 1-62 table | cmp - again

note a graph that grows
npgnn adapt $data --iterations 5 --seeds 1 --quiet --grow --train-nodes 0.2 --context-nodes 1 | mask

note without latent variable
npgnn adapt $data --iterations 5 --seeds 1 --quiet --no-latent | tail -n 1

note another graph
npgnn train $data -o model.safetensors --iterations 5 --val 0 --no-calibrate --quiet
npgnn adapt synthetic:nodes=200,seed=4 --model model.safetensors --seeds 1 --quiet | mask

note saved
npgnn adapt synthetic:nodes=200,seed=4 --model model.safetensors -o adapted.safetensors
npgnn info adapted.safetensors | grep -c '^latent from'
echo '1 2' | npgnn predict adapted.safetensors $data --pairs - >saved.tsv
echo '1 2' | npgnn predict model.safetensors $data --pairs - --context synthetic:nodes=200,seed=4 | cmp - saved.tsv
npgnn adapt $data --model adapted.safetensors -o back.safetensors --quiet
cmp back.safetensors model.safetensors

note wrong usage
status 2 npgnn adapt $data -o model2.safetensors
status 2 npgnn adapt $data --model model.safetensors --hidden 8
status 2 npgnn adapt
status 1 npgnn adapt $data --train-nodes 0.5 --context-nodes 0.6
status 1 npgnn adapt $data --model absent.safetensors
status 1 npgnn adapt synthetic:words=150 --model model.safetensors --quiet
