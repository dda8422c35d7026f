# What is in a graph, and what reading it merged.
npgnn info synthetic:nodes=300,seed=7 | grep '^nodes'

note a graph with doubles
printf 'a b\nb a\na b\na a\nb c\n' >edges.txt
printf 'a 1 0\nb 0 1\nc 1 1\n' >features.txt
npgnn info --edges edges.txt | grep -v fingerprint
npgnn info edges.txt | grep -v fingerprint >by_name
npgnn info --edges edges.txt | grep -v fingerprint | cmp - by_name

note the same fingerprint every time
npgnn info synthetic:nodes=300,seed=7 -t 1 >first
npgnn info synthetic:nodes=300,seed=7 -t 2 | cmp - first
