"""The command ``npgnn`` of a Python environment: becomes the program that lies in the package."""

import os
import sys


def main() -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "npgnn", "npgnn")
    os.execv(program, [program, *sys.argv[1:]])
