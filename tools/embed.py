#!/usr/bin/env python3
"""embed.py INPUT OUTPUT NAME: a file as a C array of bytes, with a terminating zero, for programs that carry it along."""
import sys

source, target, name = sys.argv[1:]
with open(source, "rb") as file:
    data = file.read() + b"\0"
with open(target, "w", encoding="ascii") as file:
    file.write(f"extern const unsigned char {name}[];\nconst unsigned char {name}[] = {{\n")
    for start in range(0, len(data), 20):
        file.write("    " + ", ".join(str(byte) for byte in data[start : start + 20]) + ",\n")
    file.write("};\n")
