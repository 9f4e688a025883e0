"""What is declared has a test: each pass a lit file, each row of an instruction table a mention
under tests/emulator."""

import re

from tree import read

_PASS = re.compile(r'"(wavesmith-[a-z0-9-]+)"')
_ROW = re.compile(r"^\s*[A-Z][A-Z0-9_]*\(\s*([a-z][a-z0-9_]+)\s*,", re.M)
_WORD = re.compile(r"[a-z][a-z0-9_]+")


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

    words = set()
    for _, text in _texts(root, names, "tests/emulator/", {".s", ".cpp", ".def", ".inc", ".txt"}):
        words.update(_WORD.findall(text))
    for name, text in _texts(root, names, "emulator/", {".def"}):
        for match in _ROW.finditer(text):
            if match.group(1) not in words:
                line = text.count("\n", 0, match.start()) + 1
                problems.append(
                    f"{name}:{line}: no test under tests/emulator/ names {match.group(1)}"
                )
    return problems


if __name__ == "__main__":
    from report import main

    main(check)
