# Help goes to standard output and is the same by both roads.
note overview
npgnn --help
npgnn help >overview
npgnn --help | cmp - overview

# The list of model options is the library's: its place is checked, and that each key appears.
for command in demo info train eval predict reproduce bench adapt convert embed test fetch; do
    note "$command"
    npgnn help "$command" >page
    npgnn "$command" --help | cmp - page
    sed '/^Model and training:/,/^$/{/^ /d}' page
done

note model options
npgnn help train | grep -cE '^      --(hidden|latent|no-latent|iterations|epochs|learning-rate|no-keep-best) '
npgnn help train | grep -e '--encoder-output'

note version
npgnn --version | sed 's/[0-9.]*$/VERSION/'
