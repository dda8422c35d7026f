"""Interrupts calls at random moments: interrupts.py COUNT anywhere|start|other. Ends with status 0 if the process has survived
COUNT KeyboardInterrupts, every interrupted call has ended, and the next ones work."""

from __future__ import annotations

import _thread
import faulthandler
import mmap
import os
import random
import signal
import sys
import time
from typing import Any

import numpy as np

import npgnn

wanted, how = int(sys.argv[1]), sys.argv[2]
kind = signal.SIGUSR1 if how == "other" else signal.SIGINT  # "other": a handler of the caller's own, which may end the wait
shared = memoryview(mmap.mmap(-1, 16)).cast("q")  # the current round, and the latest that is over


def send() -> None:
    """Sends one interrupt or a burst in each round, and later others: Python drops what a destructor raises."""
    signal.signal(kind, signal.SIG_IGN)
    random.seed(1)
    parent, current = os.getppid(), 0
    while os.getppid() == parent and (latest := shared[0]) >= 0:
        if latest == current:
            time.sleep(1e-4)
            continue
        current = latest
        time.sleep(random.random() ** 3 * 0.02)
        for _ in range(random.choice((1, 1, 1, 2, 5, 20))):
            os.kill(parent, kind)
            time.sleep(random.choice((0, 0, 1e-5, 1e-4, 1e-3)))
        while shared[0] == current != shared[1] and os.getppid() == parent:
            time.sleep(0.02)
            os.kill(parent, kind)


sender = os.fork()
if sender == 0:
    send()
    os._exit(0)

MOST = 1 if how == "other" else 5  # interrupts that raise within PAUSE, for `survive` to catch
PAUSE = 0.015
most, allowed, latest, raised, slowest = 0, 0, 0.0, 0, 0.0


def interrupt(number: int, frame: object) -> None:
    """Raises what Python's own handler raises, but not more often than `survive` can catch."""
    global allowed, latest, raised
    if time.monotonic() > latest + PAUSE:
        allowed = most
    if allowed > 0:
        allowed, latest, raised = allowed - 1, time.monotonic(), raised + 1
        raise KeyboardInterrupt


def start(*arguments: Any) -> int:
    """Starts a thread, during which an interrupt arrives."""
    begin(*arguments)
    interrupt(kind, None)
    return 0


faulthandler.dump_traceback_later(120 + wanted // 2, exit=True)  # what hangs, ends
signal.signal(kind, interrupt)
begin = _thread.start_new_thread
if how == "start":
    _thread.start_new_thread = start
graph = npgnn.Graph("synthetic:nodes=300,seed=2")
pairs = graph.links[np.random.default_rng(1).integers(len(graph), size=20000)]
endless = npgnn.LinkPredictor("default", iterations=10**6, patience=0, n_jobs=2)
model = npgnn.LinkPredictor("universal", n_jobs=2).fit(graph)
expected = model.decision_function(pairs)
model.recommend(k=1), graph.features  # imports pandas and scipy: what an interrupted import leaves behind is not ours
jobs = [
    lambda: endless.fit(graph),
    lambda: endless.fit(npgnn.Graph(np.array(graph.links), graph.features)),
    lambda: model.with_graph(graph).predict_proba(pairs),
    lambda: model.recommend(k=3),
    lambda: npgnn.evaluate(graph, method="deepwalk", seeds=10**4, n_jobs=2),
]


def play() -> None:
    """A round: calls until the exception of an interrupt arrives."""
    global slowest
    job, since = random.choice(jobs), time.monotonic()
    shared[0] += 1
    try:
        while True:
            job()
    finally:
        shared[1], slowest = shared[0], max(slowest, time.monotonic() - since)


def survive(depth: int) -> None:
    """Plays rounds. An interrupt between two instructions of this function is caught one level up."""
    while raised < wanted:
        try:
            survive(depth - 1) if depth else play()
        except KeyboardInterrupt:
            pass


most = MOST
survive(4 * MOST)
most, allowed, shared[0] = 0, 0, -1
os.waitpid(sender, 0)
assert signal.getsignal(kind) is interrupt
while npgnn._c._running:  # a call that the handler of another signal has left
    assert how == "other"
    time.sleep(1e-3)
assert np.array_equal(model.decision_function(pairs), expected)
assert np.array_equal(npgnn.LinkPredictor("universal").fit(graph).decision_function(pairs), expected)
print(f"{raised} interrupts, the slowest call ended after {slowest:.2f} s")
