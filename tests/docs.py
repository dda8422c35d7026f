#!/usr/bin/env python3
"""Runs the commands of a document: docs.py NPGNN DOCUMENT.

Every ```sh block is run, in order, in one folder with the tables of examples/ and `npgnn` on the path; a ```text block after it is what it must
print, where `...` stands for anything within a line. A line that only has `...` stands for any number of lines. A ```csv
block with a name (```csv papers.csv) is a file that the reader has.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(\w+)[ ]?(\S*)\n(.*?)^```$", re.M | re.S)


def pattern(expected):
    """The regular expression of a text block."""
    lines = []
    for line in expected.splitlines(keepends=True):
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*?".join(re.escape(part) for part in line.split("...")))
    return re.compile("".join(lines))


def blocks(text):
    for match in BLOCK.finditer(text):
        yield match.group(1), match.group(2), match.group(3), text.count("\n", 0, match.start()) + 1


def run(document, folder, environment):
    """Returns how many commands were run; exits at the first that does not do what the document says."""
    printed, count = "", 0
    with open(document, encoding="utf-8") as file:
        text = file.read()
    for kind, name, content, line in blocks(text):
        if kind == "csv" and name:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        elif kind == "sh":
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", content], cwd=folder, env=environment, encoding="utf-8",
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            printed, count = done.stdout, count + 1
            if done.returncode != 0:
                sys.exit(f"{document}:{line}: exit status {done.returncode}\n{content}\n{done.stdout}{done.stderr}")
        elif kind == "text" and not pattern(content).fullmatch(printed):
            sys.exit(f"{document}:{line}: the document says\n{content}\nbut it printed\n{printed}")
    return count


def main():
    program, document = sys.argv[1:]
    examples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples")
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(examples):
            if name.endswith(".csv"):
                shutil.copy(os.path.join(examples, name), folder)
        environment = dict(os.environ, LC_ALL="C", XDG_CACHE_HOME=folder,
                           PATH=os.path.dirname(os.path.abspath(program)) + os.pathsep + os.environ["PATH"])
        count = run(document, folder, environment)
    if count == 0:
        sys.exit(f"{document}: no commands in it")
    print(f"{document}: {count} commands do what it says")


main()
