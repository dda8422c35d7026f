# Models learnt across graphs: npgnn pretrain, and predict, test, info and eval with its model and with 'universal'.
data=synthetic:nodes=200,seed=3

note a corpus
mkdir graphs
for seed in 1 2; do
    npgnn convert synthetic:nodes=100,words=100,seed=$seed -o graphs/net-$seed --quiet
done
python3 - <<'PY'
with open('graphs/ring.edges', 'w') as file:
    for i in range(60):
        file.write(f'{i} {(i + 1) % 60}\n{i} {(i * i + 3) % 60}\n')
PY
echo 'what these graphs are' >graphs/README.md
npgnn pretrain graphs -o ours.safetensors --steps 3 2>notes
grep -o 'learnt from.*' notes
npgnn pretrain graphs -o again.safetensors --steps 3 --threads 1 --quiet
cmp ours.safetensors again.safetensors
npgnn pretrain graphs -o other.safetensors --steps 3 --seed 2 --quiet
status 1 cmp -s ours.safetensors other.safetensors

note progress and JSON
grep -c 'KL' notes || true
grep -c 'iteration 3/3  loss' notes
npgnn pretrain graphs -o again.safetensors --steps 3 --quiet --json summary.json --log steps.jsonl
python3 -c "
import json
print(sorted(json.load(open('summary.json'))))
print([json.loads(line)['kl'] for line in open('steps.jsonl')])
"

note checkpoints
npgnn pretrain graphs -o again.safetensors --steps 3 --quiet --checkpoint at.checkpoint --checkpoint-every 2
cmp ours.safetensors again.safetensors
rm again.safetensors
npgnn pretrain graphs -o again.safetensors --steps 3 --resume at.checkpoint --threads 1 2>&1 | grep resuming
cmp ours.safetensors again.safetensors
status 1 npgnn pretrain graphs -o again.safetensors --steps 4 --resume at.checkpoint
status 1 npgnn pretrain graphs -o again.safetensors --steps 3 --resume ours.safetensors
status 2 npgnn pretrain graphs -o again.safetensors --checkpoint-every 2

note other files in the corpus
cp graphs/ring.edges graphs/ring-2.txt
echo 'not a graph' >graphs/README.txt
npgnn pretrain graphs -o more.safetensors --steps 1 2>&1 | grep -o 'learnt from.*'
printf '0 1\n1\n' >graphs/broken.txt
status 1 npgnn pretrain graphs -o more.safetensors --steps 1
npgnn pretrain graphs -o more.safetensors --steps 1 --skip-broken 2>&1 | grep -e skipped -e learnt
rm graphs/broken.txt graphs/ring-2.txt graphs/README.txt

note info
npgnn info ours.safetensors | cut -c 1-15
npgnn info universal >described
npgnn info ours.safetensors --json - >ours.json
python3 -c "
import json
j = json.load(open('ours.json'))
assert j['across_graphs'] is True and j['steps'] == 3 and j['parameters'] > 1000, j
"

note predict
printf '0 1\n5 9\n' >pairs
for model in ours.safetensors universal; do
    npgnn predict $model $data --pairs pairs --quiet >scored.tsv
    wc -l <scored.tsv
    npgnn predict $model $data --pairs pairs --quiet --threads 1 | cmp - scored.tsv
    npgnn predict $model graphs/ring.edges --top 2 --quiet | head -n 3 | wc -l
done
npgnn predict universal $data --top 3 --samples 4 --quiet | wc -l

note too few links
printf 'a b\nb c\n' >tiny.edges
echo 'a c' | npgnn predict universal tiny.edges --pairs - | wc -l

note test
printf '0 1\n2 3\n4 5\n6 7\n' >tested
npgnn test universal graphs/ring.edges --pairs tested --quiet >/dev/null
npgnn test ours.safetensors graphs/ring.edges --pairs tested --quiet >/dev/null

note eval
npgnn eval $data --preset universal --seeds 1 --quiet --json eval.json >/dev/null
npgnn eval $data --method smoothed-cosine --seeds 1 --quiet >/dev/null
python3 -c "
import json
auc = json.load(open('eval.json'))['mean']['auc']
assert 0.6 < auc <= 1, auc
"

npgnn eval $data --preset universal --protocol production --seeds 1 --quiet | sed -n 1p
status 2 npgnn eval $data --preset universal --method cosine
status 2 npgnn eval $data --preset universal --iterations 5
status 2 npgnn eval $data --method universal
status 2 npgnn train $data --preset universal -o none.safetensors

note reproduce
npgnn reproduce --preset universal --datasets $data --seeds 1 --quiet --json tables.json --html tables.html >/dev/null
python3 -c "
import json
cells = json.load(open('tables.json'))['cells']
print([cell['label'] for cell in cells if cell['method'] in ('universal', 'npgnn')])
print(all(cell['n'] == 1 for cell in cells))
"
status 2 npgnn reproduce --preset universal --table ablation --datasets $data

note embed
npgnn embed universal $data -o nodes.npy
wc -l <nodes.npy.names
npgnn embed universal $data -o nodes.tsv --quiet --threads 1
npgnn embed ours.safetensors $data -o - --format word2vec --quiet | head -n 1
npgnn embed universal graphs/ring.edges -o ring.vec
npgnn train $data --preset best --iterations 1 -o best.safetensors --quiet
npgnn embed best.safetensors $data -o best.vec
npgnn embed universal tiny.edges -o tiny.tsv
cut -f 1 tiny.tsv
python3 - <<'PY'
import struct
rows = [[float(x) for x in line.split('\t')[1:]] for line in open('nodes.tsv')]
data = open('nodes.npy', 'rb').read()
(length,) = struct.unpack('<H', data[8:10])
values = struct.unpack(f'<{200 * 48}f', data[10 + length:])
print(len(rows), {len(row) for row in rows})
print(all(abs(x - y) <= 1e-6 * abs(x) for x, y in zip(values, sum(rows, []))))
PY

note what it cannot do
status 1 npgnn adapt $data --model ours.safetensors --seeds 1 --quiet

note wrong usage
status 2 npgnn pretrain
status 2 npgnn pretrain graphs
status 2 npgnn pretrain graphs -o x.safetensors --steps 0
status 1 npgnn pretrain absent -o x.safetensors 2>notes
grep -o 'absent: no such file or folder' notes
mkdir empty
status 1 npgnn pretrain empty -o x.safetensors
status 1 npgnn pretrain tiny.edges -o x.safetensors
echo '0' >graphs/broken.edges
status 1 npgnn pretrain graphs -o x.safetensors --steps 2
test ! -e x.safetensors
npgnn pretrain graphs -o x.safetensors --steps 2 --skip-broken 2>notes
grep -o 'skipped broken.edges' notes
grep -o 'learnt from.*' notes
head -c 1000 ours.safetensors >cut.safetensors
status 1 npgnn predict cut.safetensors $data --pairs pairs
