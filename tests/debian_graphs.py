#!/usr/bin/env python3
"""debian_graphs.py TOOL: an update of the package lists that failed is repeated by the next run of tools/debian_graphs.py, and one that
succeeded is not."""
import importlib.util
import sys
import tempfile

spec = importlib.util.spec_from_file_location("debian_graphs", sys.argv[1])
tool = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(tool)
updates = []


def apt(folder, *words):
    if "update" in words:
        updates.append(words)
        if len(updates) == 1:
            raise OSError("no network")
    return ""


tool.apt = apt
with tempfile.TemporaryDirectory() as folder:
    try:
        tool.fetch(folder, "http://mirror.example/")
    except OSError:
        pass
    assert tool.fetch(folder, "http://mirror.example/") == {}
    assert len(updates) == 2, "an update that failed was not repeated"
    tool.fetch(folder, "http://mirror.example/")
    assert len(updates) == 2, "an update that succeeded was repeated"
