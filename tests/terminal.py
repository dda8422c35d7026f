#!/usr/bin/env python3
"""terminal.py NPGNN: runs the program on a terminal, and looks at what remains on the screen: nothing of the progress line."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

try:
    for end in os.openpty():
        os.close(end)
except OSError as why:  # a chroot without /dev/pts
    print(f"skipped: no terminal can be made: {why}")
    sys.exit(77)

PROGRAM = sys.argv[1]
LIMIT = 120  # seconds for a run
SEARCH = "predict universal synthetic:nodes=3000 --top-links 2"
BAR = re.compile(r"\[[#.]+\]|s left|it/s|\d+/\d+ nodes")
failures = 0


class Screen:
    """A terminal that breaks long lines into rows, and breaks them anew when its width changes, as most of them do."""

    def __init__(self, width):
        self.width, self.lines, self.line, self.column = width, [""], 0, 0

    def write(self, text):
        for part in re.findall(r"\033\[[0-9;?]*[A-Za-z]|.", text, re.DOTALL):
            row = self.column - self.column % self.width  # where the row of the cursor begins
            if part == "\r":
                # after the last column of a row, the cursor waits there
                self.column = row if row < self.column or row == 0 else row - self.width
            elif part == "\n":
                self.line, self.column = self.line + 1, 0
                self.lines += [""] * (self.line == len(self.lines))
            elif part == "\033[A" and self.column >= self.width:
                self.column -= self.width
            elif part == "\033[A":
                self.line -= 1
            elif part in ("\033[J", "\033[K"):
                self.lines[self.line] = self.lines[self.line][: self.column]
                if part == "\033[J":
                    del self.lines[self.line + 1 :]
            elif part[0] >= " " or part == "\t":
                old = self.lines[self.line].ljust(self.column)
                self.lines[self.line] = old[: self.column] + part + old[self.column + 1 :]
                self.column += 1
            else:
                raise ValueError(f"the terminal does not know {part!r}")

    def text(self):
        return "\n".join(self.lines)


class Run:
    """Runs the program with stdout and stderr on a terminal, but for those that are given."""

    def __init__(self, arguments, width=100, then=None, term="xterm", background=False, **streams):
        """then: is called with this object when the line is there for the first time."""
        self.terminal, slave = pty.openpty()
        self.screen, self.shown, self.raw = Screen(width), False, ""
        self.resize(width)
        environment = {**os.environ, "TERM": term}

        def begin():  # the terminal controls a session, of which the program is a job
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            if background:
                if os.fork():  # the leader, which is in the foreground
                    os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
                os.setpgid(0, 0)

        self.program = program = subprocess.Popen(
            [PROGRAM, *arguments.split()], stdin=slave, stdout=streams.get("stdout", slave),
            stderr=streams.get("stderr", slave), env=environment, preexec_fn=begin,
        )
        os.close(slave)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            ready = select.select([self.terminal], [], [], 0.1)[0]
            try:
                text = os.read(self.terminal, 65536).decode() if ready else ""
            except OSError:  # all other ends are closed
                break
            self.raw += text
            self.screen.write(text)
            if BAR.search(self.screen.text()) and not self.shown:
                self.shown = True
                if then:
                    then(self)
        else:
            program.kill()
        self.status = program.wait()
        os.close(self.terminal)

    def resize(self, width):
        self.screen.width = width
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))


def check(what, fine, run):
    global failures
    if not fine:
        failures += 1
        print(f"FAILED: {what}; status {run.status}, the screen:\n{run.screen.text()}\nwritten: {run.raw[-600:]!r}")


def clean(what, run, lines=None, status=0):
    """The line was there, and of it nothing is left."""
    check(f"{what}: the progress line is shown", run.shown, run)
    check(f"{what}: the progress line is erased", not BAR.search(run.screen.text()), run)
    check(f"{what}: status {status}", run.status == status, run)
    if lines is not None:
        rest = [line for line in run.screen.lines if line]
        check(f"{what}: {lines} lines remain", len(rest) == lines and run.screen.lines[:lines] == rest, run)


clean("search", Run(SEARCH), 2)
for term in ("dumb", ""):
    run = Run(SEARCH, term=term)
    check(f"TERM='{term}': no line is redrawn", "\r" not in run.raw.replace("\r\n", "") and "\033" not in run.raw, run)
clean("narrow window", Run(SEARCH, width=24), 2)
clean("window that becomes narrower", Run(SEARCH, then=lambda run: run.resize(17)), 2)
clean("window of one column", Run(SEARCH, then=lambda run: run.resize(1)))
clean("results to a pipe", Run(SEARCH, stdout=subprocess.DEVNULL), 0)
clean("interrupt", Run(SEARCH, then=lambda run: run.program.send_signal(signal.SIGINT)), 0, status=130)
clean("Ctrl-C, which the terminal shows", Run(SEARCH, width=40, then=lambda run: os.write(run.terminal, b"\x03")), 0, status=130)
run = Run(SEARCH, stderr=subprocess.DEVNULL)
check("results to a terminal alone", not run.shown and run.screen.text().count("\n") == 2, run)
run = Run(SEARCH, background=True)
check("in the background", not run.shown and "\033" not in run.raw and run.screen.text().count("\n") == 2, run)
TRAIN = "synthetic:nodes=600 --iterations 400"
clean("log", Run(f"eval {TRAIN} --seeds 1 --log -"))
with tempfile.TemporaryDirectory() as folder:
    there = os.path.join(folder, "there")
    os.mkdir(there)
    run = Run(f"train {TRAIN} -o {folder}/m --checkpoint {there}/c --checkpoint-every 200", then=lambda run: os.rmdir(there))
    clean("error message", run, status=1)
    check("error message: it is there", f"npgnn: error: {there}/c: cannot write" in run.screen.text(), run)
sys.exit(failures > 0)
