# --profile: the seconds of each step, on standard error.
note profile of a training
npgnn train synthetic:nodes=300 -o model.safetensors --iterations 3 --quiet --profile

note profile of an evaluation
npgnn eval synthetic:nodes=300 --seeds 2 --iterations 3 --quiet --profile >/dev/null
