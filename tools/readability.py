#!/usr/bin/env python3
"""readability.py [FOLDER...]: how long functions are and how much is commented, for the .c and .h files of the folders.

Prints one row of a Markdown table:
  function lines      lines from the opening to the closing brace in column 1, both excluded: median / 90th percentile
  comment-only lines  of all lines that are not blank
  inside functions    lines of function bodies that are a comment or end with one, of all that are not blank
  called once         static functions in .c files whose name occurs once in the file besides definition and declarations, as a
                      call; those whose address is taken alone (bodies of parallel loops, tables) are left out
and, with --list, the longest functions.
"""
import pathlib
import re
import sys


def comment_mask(text):
    """The text with everything outside comments blanked, and with everything inside comments and strings blanked."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    comments, code, last = [], [], 0
    blank = lambda part: re.sub(r"[^\n]", " ", part)
    for match in pattern.finditer(text):
        comments.append(blank(text[last : match.start()]))
        code.append(text[last : match.start()])
        is_comment = match[0].startswith("/")
        comments.append(match[0] if is_comment else blank(match[0]))
        code.append(blank(match[0]) if is_comment else blank(match[0])[:-2] + '""')
        last = match.end()
    comments.append(blank(text[last:]))
    code.append(text[last:])
    return "".join(comments).split("\n"), "".join(code).split("\n")


def functions(code):
    """(name, is_static, first, last): line numbers of the body."""
    found, start = [], None
    for number, line in enumerate(code):
        if line == "{":
            start = number
        elif line.startswith("}") and start is not None:
            head, at = "", start - 1
            while at >= 0 and code[at].strip() and not code[at].startswith(("}", "#", "{")) and not code[at].rstrip().endswith(";"):
                head = code[at] + " " + head
                at -= 1
            name = re.search(r"(\w+)\s*\(", head)
            if name and not re.match(r"\s*(typedef|struct|enum|union)\b[^(]*$", head):
                found.append((name[1], bool(re.search(r"\bstatic\b", head)), start + 1, number))
            start = None
    return found


def main():
    arguments = [a for a in sys.argv[1:] if a != "--list"]
    lengths, lines, comment_lines, inside, inside_commented, statics, once = [], 0, 0, 0, 0, 0, 0
    for folder in arguments or ["src", "include"]:
        for path in sorted(pathlib.Path(folder).rglob("*.[ch]")):
            comments, code = comment_mask(path.read_text())
            for comment, rest in zip(comments, code):
                lines += bool(comment.strip() or rest.strip())
                comment_lines += bool(comment.strip() and not rest.strip())
            text = "\n".join(code)
            for name, static, first, last in functions(code):
                lengths.append((last - first, f"{path}: {name}"))
                for comment, rest in zip(comments[first:last], code[first:last]):
                    inside += bool(comment.strip() or rest.strip())
                    inside_commented += bool(comment.strip())
                if static and path.suffix == ".c":
                    uses = len(re.findall(rf"\b{name}\b", text))
                    declared = len(re.findall(rf"^static [^\n;{{]*\b{name}\([^;{{]*\)\s*[;{{]", text, re.M))
                    calls = len(re.findall(rf"\b{name}\s*\(", text)) - declared
                    if calls > 0 or uses - declared == 0:
                        statics += 1
                        once += calls == 1 and uses - declared == 1
    lengths.sort()
    counts = [length for length, _ in lengths]
    print(f"| {counts[len(counts) // 2]} / {counts[len(counts) * 9 // 10]} | {100 * comment_lines / lines:.1f} % | "
          f"{100 * inside_commented / inside:.1f} % | {100 * once / statics:.0f} % ({once} of {statics}) |")
    if "--list" in sys.argv:
        for length, name in lengths[-15:]:
            print(length, name)


main()
