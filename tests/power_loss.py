#!/usr/bin/env python3
"""power_loss.py NPGNN RECORDER JOURNAL: no power loss leaves a file that is neither the old nor the new version.

Runs npgnn with the recorder of tests/power_recorder.c, then replays every prefix of what it recorded. For each prefix it builds the
states that the disk may be in afterwards:

- Names. Changes of a folder that was not synced since may be lost, from the last one backwards: file systems keep their order.
- Contents. What a file got since its last sync may be there or not, or be torn: cut at any sector, or with any sector full of
  zeros.

A model must be the old or the new one; so must a checkpoint, and FILE.prev a complete earlier one. A journal must open, and have
all records that were synced, and nothing but the first records that were written.
"""
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

SECTOR = 512
npgnn, recorder, journal = map(os.path.abspath, sys.argv[1:4])


def torn(durable, current):
    """The contents that a file may have, of which `durable` is on disk."""
    if durable == current:
        return [current]
    found = [durable, current]
    start = 0  # the first byte that is not on disk
    while start < min(len(durable), len(current)) and durable[start] == current[start]:
        start += 1
    for at in range(start - start % SECTOR, len(current), SECTOR):
        found.append(current[: max(at, start)])
        begin, end = max(at, start), min(at + SECTOR, len(current))
        found.append(current[:begin] + bytes(end - begin) + current[end:])
    found.append(current[: (start + len(current)) // 2])
    found.append(current[:start] + bytes(len(current) - start))
    return found


class Disk:
    """What is on disk for certain, and what is not yet."""

    def __init__(self, folder):
        self.names = {p.name: p.stat().st_ino for p in folder.iterdir()}
        self.durable = {p.stat().st_ino: p.read_bytes() for p in folder.iterdir()}
        self.current = dict(self.durable)
        self.pending = []  # changes of names

    def apply(self, line, snapshots):
        word, *rest = line.rstrip("\n").split(" ")
        base = os.path.basename
        if word in ("data", "sync"):
            content = (snapshots / rest[1]).read_bytes()
            self.current[int(rest[0])] = content
            self.durable.setdefault(int(rest[0]), b"")
            if word == "sync":
                self.durable[int(rest[0])] = content
        elif word in ("create", "link"):
            self.current.setdefault(int(rest[0]), b"")
            self.durable.setdefault(int(rest[0]), b"")
            self.pending.append((None, base(rest[1]), int(rest[0])))
        elif word == "rename":
            self.pending.append((base(rest[1]), base(rest[2]), int(rest[0])))
        elif word == "unlink":
            self.pending.append((base(rest[0]), None, None))
        elif word == "folder":
            self.names = self.names_after(len(self.pending))
            self.pending = []

    def names_after(self, changes):
        names = dict(self.names)
        for gone, new, inode in self.pending[:changes]:
            names.pop(gone, None)
            if new:
                names[new] = inode
        return names

    def states(self, name):
        """The contents that may be under this name; None: there is no such file."""
        for changes in range(len(self.pending) + 1):
            inode = self.names_after(changes).get(name)
            if inode is None:
                yield None
            else:
                yield from torn(self.durable[inode], self.current[inode])


def record(folder, command):
    """Runs a command in the folder and yields the disk after each prefix of what it did."""
    with tempfile.TemporaryDirectory() as log:
        disk = Disk(folder)
        run = dict(os.environ, LD_PRELOAD=recorder, POWER_LOG=log, POWER_WATCH=str(folder) + "")
        subprocess.run(command, cwd=folder, env=run, check=True, stdout=subprocess.DEVNULL)
        lines = (pathlib.Path(log) / "log").read_text().splitlines()
        yield disk, ""
        for line in lines:
            disk.apply(line, pathlib.Path(log))
            yield disk, line


def fail(what, line, content):
    size = "missing" if content is None else f"{len(content)} bytes"
    sys.exit(f"after '{line}', {what} may be broken: {size}")


def check_model(folder):
    """Replaces a model. Returns how many states there were."""
    count = 0
    model = folder / "model"
    train = [npgnn, "train", "synthetic:nodes=100", "--quiet", "-o", str(model), "--iterations"]
    subprocess.run([*train, "1"], check=True)
    old = model.read_bytes()
    steps = list(snapshot_states(record(folder, [*train, "2"]), ["model"]))
    new = model.read_bytes()
    assert old != new
    for line, states in steps:
        for content in states["model"]:
            count += 1
            if content not in (old, new):
                fail("a model", line, content)
    if set(steps[-1][1]["model"]) != {new}:
        sys.exit("the program ended before the new model was on disk for certain")
    predict = [npgnn, "predict", str(model), "synthetic:nodes=100", "--top-links", "1", "--quiet"]
    subprocess.run(predict, check=True, stdout=subprocess.DEVNULL)
    return count


def snapshot_states(steps, names):
    """The states are listed while the disk is at that step."""
    for disk, line in steps:
        yield line, {name: list(dict.fromkeys(disk.states(name))) for name in names}


def check_checkpoints(folder):
    """Writes a checkpoint after each of some iterations. Every state has a complete one, and none but complete ones."""
    count = 0
    command = [npgnn, "train", "synthetic:nodes=100", "--quiet", "-o", str(folder / "other"), "--iterations", "5"]
    command += ["--checkpoint", str(folder / "point"), "--checkpoint-every", "1"]
    complete, certain = set(), False
    steps = list(snapshot_states(record(folder, command), ["point", "point.prev"]))
    # a complete version is what its sync had: the last content that is the only one possible
    for _, states in steps:
        for name in states:
            if len(states[name]) == 1 and states[name][0]:
                complete.add(states[name][0])
    for content in complete:
        path = folder / "try"
        path.write_bytes(content)
        resume = [npgnn, "train", "synthetic:nodes=100", "--quiet", "-o", str(folder / "third"), "--resume", str(path)]
        subprocess.run(resume, check=True)
        for made in folder.glob("try*"):
            made.unlink()
    if len(complete) < 5:
        sys.exit(f"only {len(complete)} complete checkpoints were recorded")
    for line, states in steps:
        for name, content in itertools.chain.from_iterable(((n, c) for c in states[n]) for n in states):
            count += 1
            if content is not None and content not in complete:
                fail(f"the checkpoint {name}", line, content)
        if certain and None in states["point"]:
            fail("the checkpoint", line, None)
        certain = certain or None not in states["point"]
    return count


def check_journal(folder):
    """Appends to a journal. It opens in every state, with all records that were synced."""
    path = folder / "journal"
    contents, least = [], {}
    for disk, line in record(folder, [journal, "write", str(path)]):
        synced = disk.durable.get(disk.names.get("journal"), b"").count(b"\n") - 1
        for content in disk.states("journal"):
            if content is not None and least.get(content, -2) < synced:
                if content not in least:
                    contents.append((content, line))
                least[content] = synced
    files = []
    for i, (content, _) in enumerate(contents):
        files.append(folder / f"state{i}")
        files[-1].write_bytes(content)
    answers = subprocess.run([journal, "read", *map(str, files)], check=True, capture_output=True, text=True)
    for (content, line), answer in zip(contents, answers.stdout.splitlines(), strict=True):
        if not answer.isdigit() or int(answer) < least[content]:
            sys.exit(f"after '{line}', a journal with {least[content]} synced records: {answer}")
    return len(contents)


def main():
    for check in (check_model, check_checkpoints, check_journal):
        with tempfile.TemporaryDirectory() as folder:
            print(f"{check.__name__}: {check(pathlib.Path(folder))} states")


main()
