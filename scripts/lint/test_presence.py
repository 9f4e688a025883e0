"""What is declared has a test: each pass a lit file. (Rows of an instruction table:
tests/emulator/rows/CoverageTest.cpp.)"""

import re

from tree import read

_PASS = re.compile(r'"(wavesmith-[a-z0-9-]+)"')


def _texts(root, names, folder, suffixes):
    return [
        (n, read(n, root) or "")
        for n in names
        if str(n).startswith(folder) and n.suffix in suffixes
    ]


def check(root, names):
    problems = []

    lit = "\n".join(
        t
        for _, t in _texts(root, names, "tests/", {".mlir"})
        + _texts(root, names, "templates/", {".mlir"})
        if "RUN:" in t
    )
    for name, text in _texts(root, names, "compiler/", {".cpp", ".h", ".td"}):
        for match in re.finditer(
            r"getArgument\(\)[^;]*?" + _PASS.pattern + r"|Pass<" + _PASS.pattern, text, re.S
        ):
            flag = match.group(1) or match.group(2)
            if not re.search(r"(?<![\w-])-*" + re.escape(flag) + r"(?![\w-])", lit):
                problems.append(f"{name}:1: pass {flag} has no lit file under tests/ that runs it")
    return problems


if __name__ == "__main__":
    from report import main

    main(check)
