# Wrong usage: exit status 2, nothing on standard output, and a message that says what to do.
status 2 npgnn
status 2 npgnn trian synthetic
status 2 npgnn frobnicate
status 2 npgnn help frobnicate
status 2 npgnn train
status 2 npgnn train synthetic
status 2 npgnn train synthetic -o
status 2 npgnn train synthetic -o m.safetensors --iteratons 5
status 2 npgnn train synthetic -o m.safetensors --unlike-anything-known
status 2 npgnn train synthetic -o m.safetensors --hidden many
status 2 npgnn train synthetic -o m.safetensors --encoder-output=cubic
status 2 npgnn train synthetic -o m.safetensors --preset fancy
status 2 npgnn train synthetic -o m.safetensors --no-latent=1
status 2 npgnn train synthetic -o m.safetensors --val 2
status 2 npgnn train synthetic -o m.safetensors --val nan
status 2 npgnn train synthetic -o m.safetensors --seed -1
status 2 npgnn train synthetic -o m.safetensors -x
status 2 npgnn eval
status 2 npgnn eval synthetic --protocol sideways
status 2 npgnn eval synthetic --seeds 0
status 2 npgnn eval synthetic --seeds 3x
status 2 npgnn eval synthetic --threads 99999999999999999999
status 2 npgnn eval synthetic again
status 2 npgnn eval -- synthetic --seeds
status 2 npgnn predict
status 2 npgnn predict model.safetensors
status 2 npgnn predict model.safetensors synthetic
status 2 npgnn info synthetic --quiet=yes
ls
