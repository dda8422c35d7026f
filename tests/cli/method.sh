# predict --method: scores and the best links by methods that need no model.
cat >small.edges <<'END'
a c
b c
a d
b d
d e
END

note searches
npgnn predict --method common-neighbors small.edges --top-links 3 --header
npgnn predict --method common-neighbors small.edges --top 1 --for a --format jsonl
npgnn predict small.edges -m resource-allocation --top 3 --for e --exclude none
npgnn predict --method common-neighbors --edges small.edges --top 2 --for b --to a

note pairs
printf 'a b\nc e\na e\n' | npgnn predict --method common-neighbors small.edges --pairs - --format csv
npgnn predict --method vgae synthetic:nodes=100,words=100 --top-links 2 --quiet >once
npgnn predict --method vgae synthetic:nodes=100,words=100 --top-links 2 --quiet --threads 1 | cmp - once

note wrong usage
status 2 npgnn predict --method katz
status 2 npgnn predict --method katz universal small.edges --top 1
status 2 npgnn predict --method katz small.edges --top 1 --min-prob 0.5
status 2 npgnn predict --method katz small.edges --top 1 --explain
status 2 npgnn predict universal --top 1
status 1 npgnn predict --method universal small.edges --top 1
status 1 npgnn predict --method nonsense small.edges --top 1
status 1 npgnn predict --method cosine small.edges --top 1 --for z

note a broken line comes after the answers before it
printf 'a b\nc d\nzz d\na e\n' >broken
status 1 npgnn predict --method common-neighbors small.edges --pairs broken
status 1 npgnn predict --method common-neighbors small.edges --pairs broken -o none.tsv
test ! -e none.tsv
