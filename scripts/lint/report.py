"""Runs one check over the tree and turns its problems into lines and an exit code."""

import pathlib
import sys

from tree import ROOT, files


def main(check):
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    problems = check(root, files(root))
    for line in problems:
        print(line)
    sys.exit(1 if problems else 0)
