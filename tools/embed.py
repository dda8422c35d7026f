#!/usr/bin/env python3
"""embed.py INPUT OUTPUT NAME: a file as a C array of bytes, NAME, with a terminating zero, and its size without that, NAME_size."""
import sys

source, target, name = sys.argv[1:]
with open(source, "rb") as file:
    data = file.read() + b"\0"
with open(target, "w", encoding="ascii") as file:
    file.write(f"#include <stddef.h>\n\nextern const unsigned char {name}[];\nextern const size_t {name}_size;\n")
    file.write(f"const size_t {name}_size = {len(data) - 1};\nconst unsigned char {name}[] = {{\n")
    for start in range(0, len(data), 20):
        file.write("    " + ", ".join(str(byte) for byte in data[start : start + 20]) + ",\n")
    file.write("};\n")
