# npgnn bench and --profile. Times are masked; numbers of nodes, edges and threads are not.
note tables
npgnn bench --threads 2 --nodes 3000 --seconds 0.01 | sed -E 's/ +[0-9]+ %$/ #/; s/ +[0-9]+$/ #/'

note one graph, as JSON
npgnn bench --data synthetic:nodes=300 --loss sampled --iterations 2 --threads 1 --json >bench.json
grep -E '"(data|nodes|edges|loss|threads|iterations|pairs, forward and backward)"' bench.json

note several processes, simulated
npgnn bench --data synthetic:nodes=300 --ranks 3 --iterations 2 --json >bench.json
grep -E '"(processes|bytes_sent|bytes_received)"' bench.json
npgnn bench --data synthetic:nodes=300 --ranks 2 | sed -E 's/(seconds +).*/\1#/; s/latency: .*/latency: #/'

note profile of a training
npgnn train synthetic:nodes=300 -o model.safetensors --iterations 3 --quiet --profile

note profile of an evaluation
npgnn eval synthetic:nodes=300 --seeds 2 --iterations 3 --quiet --profile >/dev/null

note wrong usage
status 2 npgnn bench --nodes 0
status 2 npgnn bench --ranks 4
status 1 npgnn bench --data synthetic:nodes=300 --ranks 30
status 1 npgnn bench --data synthetic:nodes=3
status 2 npgnn bench synthetic
