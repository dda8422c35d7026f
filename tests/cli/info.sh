# npgnn info: a graph, what was merged while reading it, and a model.
npgnn info synthetic:nodes=300,seed=7 | grep '^nodes'

note duplicate and reversed edges
printf 'a b\nb a\na b\na a\nb c\n' >edges.txt
printf 'a 1 0\nb 0 1\nc 1 1\n' >features.txt
npgnn info --edges edges.txt | grep -v fingerprint
npgnn info edges.txt | grep -v fingerprint >by_name
npgnn info --edges edges.txt | grep -v fingerprint | cmp - by_name

note the output does not depend on the number of threads
npgnn info synthetic:nodes=300,seed=7 -t 1 >first
npgnn info synthetic:nodes=300,seed=7 -t 2 | cmp - first

note what a model can do
npgnn train synthetic:nodes=200,seed=3 -o model.safetensors --iterations 3 --quiet
npgnn info model.safetensors | sed -n '1,/^$/p' | sed 's/rate of [0-9.e-]*/rate of R/'
npgnn info model.safetensors >by_name
cp model.safetensors any-name
npgnn info any-name | cmp - by_name # a model is known by what is in it, too
npgnn train synthetic:nodes=200,seed=3 -o plain.safetensors --iterations 3 --val 0 --no-latent --quiet
npgnn info plain.safetensors | sed -n '1,/^$/p' | sed 's/rate of [0-9.e-]*/rate of R/'
printf 'id,red,green\na,1,0\nb,0,1\nc,1,1\n' >features.csv
npgnn train edges.txt --features features.csv -o named.safetensors --iterations 3 --val 0 --no-sample-latent --quiet
npgnn info named.safetensors | sed -n '1,/^$/p' | sed 's/rate of [0-9.e-]*/rate of R/'

# a graph on which nothing can be learnt: tuning is not kept, and the program says so
awk 'BEGIN { for (x = i = 1; i <= 450; i++) { x = x * 16807 % 2147483647; u = x % 150; x = x * 16807 % 2147483647; print u, x % 150 } }' >random.txt
npgnn train random.txt --preset best -o untuned.safetensors 2>&1 | grep '^npgnn: note: tuning'
npgnn info untuned.safetensors | sed -n '1,/^tuning/p' | sed 's/^parameters.*/parameters     N/'
npgnn info untuned.safetensors --json - | grep -c '"tuned": false'
