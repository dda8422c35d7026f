# Searches by candidates: against the exact search, for any number of threads, and what they say of themselves.
data=synthetic:nodes=400,seed=3

note all nodes are candidates: nothing is missed
npgnn predict universal $data --top 5 --search exact --raw -q | cut -f 1,3 >exact.tsv
npgnn predict universal $data --top 5 --search candidates --candidates 400 --raw -q | cut -f 1,3 | cmp - exact.tsv
npgnn predict universal $data --top-links 50 --search exact --raw -q | cut -f 3 >exact-links.tsv
npgnn predict universal $data --top-links 50 --search candidates --candidates 400 --raw -q | cut -f 3 | cmp - exact-links.tsv

note what is printed is what --pairs prints, for any number of threads
npgnn predict universal $data --top 5 --search candidates --candidates 40 -t 1 -q >few.tsv
npgnn predict universal $data --top 5 --candidates 40 -t 3 -q | cmp - few.tsv
cut -f 1,2 few.tsv >pairs.tsv
cut -f 1-3 few.tsv >expected.tsv
npgnn predict universal $data --pairs pairs.tsv -q | cmp - expected.tsv

note it says how good it is
npgnn predict universal $data --top 5 --search candidates -o some.tsv 2>&1 | grep -o 'candidates: 256 per node; they contain'
npgnn predict universal $data --top 5 --search candidates --for 7 2>&1 | grep -c candidates || true
npgnn predict universal $data --top 5 2>&1 | grep -c candidates: || true

note a shop
awk 'BEGIN { print "user,item"; for (u = 0; u < 300; u++) for (i = 0; i < 5; i++) print "u" u ",i" (u * 7 + i * i * 3) % 120 }' >shop.csv
npgnn predict universal shop.csv --bipartite --top 3 --search candidates -q >shop.tsv
awk -F '\t' 'substr($1, 1, 1) == substr($2, 1, 1) { exit 1 }' shop.tsv && echo from one side to the other

note refused
npgnn train $data --preset default -o model.safetensors --iterations 5 -q
status 1 npgnn predict model.safetensors $data --top 3 --search candidates
status 2 npgnn predict universal $data --pairs pairs.tsv --search candidates
status 2 npgnn predict --method adamic-adar $data --top 3 --candidates 10
status 2 npgnn predict universal $data --top 3 --search exact --candidates 10
status 2 npgnn predict universal $data --top 3 --search fast
status 2 npgnn predict universal $data --top 3 --candidates 0
