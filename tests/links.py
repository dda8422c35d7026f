#!/usr/bin/env python3
"""Checks the links of the documentation: links.py ROOT.

- A relative link in a Markdown file must lead to a file or folder that exists.
- An anchor (#section, PAGE.md#section) must be a heading of the page.
- A path of a page or picture in the folder docs, in any text file, must exist.

Prints every broken one with its file and line, and fails where there is one.
"""
import functools
import os
import re
import sys

FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
PATH = re.compile(r"(?<![\w/.-])docs/[\w./-]+\.(?:md|svg)")
SKIPPED = {".git", "subprojects", "__pycache__", "abi", "build-wheel", "dist"}  # abi: files as they were long ago
TEXT = (".c", ".h", ".md", ".py", ".sh", ".build", ".1", ".yml", ".yaml", ".txt", ".cff", ".in", ".js")


def is_build(folder):
    return os.path.exists(os.path.join(folder, "build.ninja")) or os.path.exists(os.path.join(folder, "meson-private"))


def sources(root):
    """Every text file of the project, build folders left out."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not is_build(os.path.join(folder, f)))
        for name in sorted(names):
            if name.endswith(TEXT) or name in ("run", ".clang-tidy"):
                yield os.path.join(folder, name)


def prose(text):
    """The text with code blanked out, so that line numbers stay: fenced blocks and `code`."""
    lines, fenced = [], False
    for line in text.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
            line = ""
        lines.append("" if fenced else line)
    # Inline code can be the text of a link, so only code that itself looks like a link is blanked out.
    return re.sub(r"`[^`\n]*\]\([^`\n]*`", lambda code: " " * len(code.group(0)), "\n".join(lines))


def slug(heading):
    """The anchor of a heading, as GitHub makes it."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower()))


@functools.lru_cache(maxsize=None)
def anchors(path):
    """The anchors of a Markdown file; a heading that occurs again has -1, -2... appended."""
    seen = {}
    with open(path, encoding="utf-8") as file:
        for line in prose(file.read()).split("\n"):
            match = HEADING.match(line)
            if match:
                seen.setdefault(slug(match.group(1)), []).append(line)
    return {f"{name}-{i}" if i else name for name, lines in seen.items() for i in range(len(lines))}


def check_link(path, target):
    """What is wrong with a link in the file `path`; None where nothing is."""
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return None
    name, _, anchor = target.partition("#")
    there = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
    if not os.path.exists(there):
        return f"no such file: {target}"
    if anchor and there.endswith(".md") and anchor not in anchors(there):
        return f"no such heading: {target}"
    return None


def check_file(root, path):
    """How many links a file has, and what is wrong with them: "FILE:LINE: PROBLEM"."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    count, problems = 0, []

    def note(content, match, problem):
        if problem:
            line = content.count("\n", 0, match.start()) + 1
            problems.append(f"{os.path.relpath(path, root)}:{line}: {problem}")

    for match in PATH.finditer(text):
        count += 1
        if not os.path.exists(os.path.join(root, match.group(0))):
            note(text, match, f"no such file: {match.group(0)}")
    if path.endswith(".md"):
        visible = prose(text)
        for match in LINK.finditer(visible):
            count += 1
            note(visible, match, check_link(path, match.group(1)))
    return count, problems


def main():
    root = os.path.abspath(sys.argv[1])
    links, broken = 0, []
    for path in sources(root):
        count, problems = check_file(root, path)
        links += count
        broken += problems
    print("\n".join(broken) if broken else f"{links} links resolve")
    if links == 0:
        sys.exit(f"no links found in {root}")
    sys.exit(1 if broken else 0)


main()
