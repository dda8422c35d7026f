# The same bits for any number of threads.
for threads in 1 2 3; do
    npgnn train synthetic:nodes=300,seed=5 -o model$threads.safetensors --iterations 15 --threads $threads --quiet
done
cmp model1.safetensors model2.safetensors
cmp model1.safetensors model3.safetensors

npgnn train synthetic:nodes=300,seed=5 -o other.safetensors --iterations 15 --seed 2 --quiet
status 1 cmp -s model1.safetensors other.safetensors

for threads in 1 3; do
    npgnn train synthetic:nodes=300,seed=5 -o sampled$threads.safetensors --loss sampled --iterations 15 -qt $threads
done
cmp sampled1.safetensors sampled3.safetensors

for threads in 1 3; do
    npgnn train synthetic:nodes=300,seed=5 -o best$threads.safetensors --preset best --iterations 15 -qt $threads
done
cmp best1.safetensors best3.safetensors

note kernels
NPGNN_KERNELS=baseline npgnn train synthetic:nodes=300,seed=5 -o baseline.safetensors --iterations 40 --checkpoint checkpoint --checkpoint-every 15 --quiet
grep -ac '"numerics":"baseline, OpenBLAS' checkpoint
status 1 env NPGNN_KERNELS=avx1 npgnn predict universal synthetic:nodes=300,seed=5 --top 1 2>&1 | sed "s/best is '[^']*'/best is B/"
