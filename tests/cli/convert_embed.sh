# npgnn convert and npgnn embed.
data=synthetic:nodes=100,seed=3
npgnn convert $data -o folder
ls folder
npgnn info $data --json - --quiet | grep fingerprint >one
npgnn info folder --json - --quiet | grep fingerprint >two
cmp one two && echo the same graph
status 1 npgnn convert $data -o folder
status 2 npgnn convert $data
status 1 npgnn convert $data -o -
status 1 npgnn convert $data -o graph.npz
status 1 npgnn convert $data -o Graph.CSV
npgnn convert $data -o GRAPH.NPG --quiet
test -f GRAPH.NPG && echo a file

# weights are kept with --weighted
printf 'source\ttarget\tweight\na\tb\t2\nb\tc\t0.5\n' >links.tsv
printf 'id,one,two\na,1,0\nb,0,1\nc,1,1\n' >x.csv
npgnn convert links.tsv --features x.csv --weighted -o weighted
cat weighted/edges.tsv weighted/nodes.txt weighted/columns.txt
npgnn info weighted | grep edges
npgnn info weighted --weighted --quiet | grep edges

# a model stores whether it was trained with weights
npgnn train weighted --weighted --iterations 2 --val 0 --output-size 3 -o model.safetensors --quiet
npgnn embed model.safetensors weighted -o nodes.tsv
cut -f 1 nodes.tsv
npgnn embed model.safetensors weighted -o nodes.npy
cat nodes.npy.names
npgnn embed model.safetensors weighted -o - --format word2vec --quiet | cut -d ' ' -f 1
npgnn embed model.safetensors weighted -o nodes.vec --quiet
head -n 1 nodes.vec

# the inner product of two rows is the score
printf 'a c\n' | npgnn predict model.safetensors weighted --pairs - --raw --samples 0 | tail -n 1 >score
python3 - <<'PYTHON'
import struct
rows = {l.split('\t')[0]: [float(x) for x in l.split('\t')[1:]] for l in open('nodes.tsv')}
score = float(open('score').read().split()[2])
inner = sum(x * y for x, y in zip(rows['a'], rows['c']))
print('the score is the inner product' if abs(score - inner) < 1e-4 else (score, inner))
data = open('nodes.npy', 'rb').read()
length = struct.unpack('<H', data[8:10])[0]
values = struct.unpack('<9f', data[10 + length:])
print('the same numbers in .npy' if abs(values[6] - rows['c'][0]) < 1e-6 and length % 64 == 54 else values)
PYTHON
status 2 npgnn embed model.safetensors weighted
status 1 npgnn embed absent.safetensors weighted -o nodes.npy
