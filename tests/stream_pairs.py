#!/usr/bin/env python3
"""stream_pairs.py NPGNN: a million pairs through a pipe take no more memory than a few."""
import os
import subprocess
import sys
import tempfile

NPGNN = os.path.realpath(sys.argv[1])
DATA = "synthetic:nodes=300,seed=2"


def feed(pipe, count):
    """Writes that many pairs, a block at a time."""
    block = "".join(f"{i % 300}\t{(7 * i + 1) % 300}\n" for i in range(10000)).encode()
    for _ in range(count // 10000):
        pipe.write(block)
    pipe.flush()


def peak_of(process):
    """In bytes, while it runs: what wait4 says would begin with the memory of this program."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def peak(model, count):
    """The most memory that predicting so many pairs took, when all but the last few were through."""
    command = [NPGNN, "predict", model, DATA, "--pairs", "-", "--threads", "2"]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out)
        feed(process.stdin, count)
        most = peak_of(process)
        process.stdin.close()
        assert process.wait() == 0, f"status {process.returncode}"
        out.seek(0)
        lines = sum(block.count(b"\n") for block in iter(lambda: out.read(1 << 20), b""))
    assert lines == count, f"{lines} lines for {count} pairs"
    return most


if not os.path.exists("/proc/self/status"):
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    model = os.path.join(folder, "model.safetensors")
    subprocess.run([NPGNN, "train", DATA, "-o", model, "--iterations", "2", "--val", "0", "--quiet"], check=True)
    fewer, more = peak(model, 600000), peak(model, 1000000)
print(f"600,000 pairs: {fewer / 1e6:.1f} MB; 1,000,000 pairs: {more / 1e6:.1f} MB")
sys.exit(more > fewer + 2e6)
