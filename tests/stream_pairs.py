#!/usr/bin/env python3
"""stream_pairs.py NPGNN: a million pairs through a pipe take no more memory than a few; and each line is answered as it comes while
the pipe stays open."""
import os
import select
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


def answer(process, question):
    """What the program says to some lines, while its input stays open."""
    process.stdin.write(question.encode())
    process.stdin.flush()
    text = b""
    while text.count(b"\n") < question.count("\n"):
        ready, _, _ = select.select([process.stdout], [], [], 60)
        assert ready, f"no answer to {question!r}"
        text += os.read(process.stdout.fileno(), 1 << 16)
    return text.decode()


def converse(model):
    """Questions one by one, some of them in two halves."""
    command = [NPGNN, "predict", model, DATA, "--pairs", "-", "--quiet"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    questions = ["3\t17\n", "4\t8\n5\t9\n", "17\t3\n"]
    answers = [answer(process, question) for question in questions]
    process.stdin.write(b"2\t")
    process.stdin.flush()
    answers.append(answer(process, "6\n"))
    rest, _ = process.communicate(b"1\t2")  # the last line has no end
    assert process.returncode == 0
    asked = "".join(questions) + "2\t6\n1\t2"
    at_once = subprocess.run(command, input=asked.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
    assert "".join(answers) + rest.decode() == at_once, (answers, rest, at_once)
    print(f"{len(answers)} questions answered while the input was open")


if not os.path.exists("/proc/self/status"):
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    model = os.path.join(folder, "model.safetensors")
    subprocess.run([NPGNN, "train", DATA, "-o", model, "--iterations", "2", "--val", "0", "--quiet"], check=True)
    converse(model)
    converse("universal")
    fewer, more = peak(model, 600000), peak(model, 1000000)
print(f"600,000 pairs: {fewer / 1e6:.1f} MB; 1,000,000 pairs: {more / 1e6:.1f} MB")
sys.exit(more > fewer + 2e6)
