# Help goes to standard output. `npgnn help COMMAND` and `npgnn COMMAND --help` print the same.
note overview
npgnn --help
npgnn help >overview
npgnn --help | cmp - overview

# The model options come from the library: only their place is checked here, and some of their names below.
for command in demo fetch info convert train pretrain predict serve embed adapt eval compare test reproduce; do
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
