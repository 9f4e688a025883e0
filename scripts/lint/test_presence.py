"""What is declared has a test: each pass a lit file, each row of an instruction table a mention
under tests/emulator."""

import re

from tree import read

# Rows that only the table-driven tests cover (encoding, disassembly), none that executes them. The
# list may only shrink: a name on it that a test executes, or that no table has, is a problem.
ROWS_WITHOUT_A_TEST = "scripts/lint/rows_without_a_test.txt"

_PASS = re.compile(r'"(wavesmith-[a-z0-9-]+)"')
_ROW = re.compile(r"^\s*[A-Z][A-Z0-9_]*\(\s*([a-z][a-z0-9_]+)\s*,", re.M)
_FORM = re.compile(r"_(e32|e64|sdwa|dpp)$")
_WORD = re.compile(r"[a-z][a-z0-9_]+")


def _texts(root, names, folder, suffixes):
    return [
        (n, read(n, root) or "")
        for n in names
        if str(n).startswith(folder) and n.suffix in suffixes
    ]


def _instructions(root, names):
    """Where each row of the tables stands, and every word that the emulator's tests hold."""
    words, rows = set(), {}
    suffixes = {".s", ".cpp", ".def", ".inc", ".txt"}
    for folder in ("tests/emulator/", "tests/unit/emulator/"):
        for _, text in _texts(root, names, folder, suffixes):
            words.update(_FORM.sub("", word) for word in _WORD.findall(text))
    for name, text in _texts(root, names, "emulator/", {".def"}):
        for match in _ROW.finditer(text):
            rows[match.group(1)] = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
    return rows, words


def prune(root, names):
    """Takes the rows that have a test by now, or are gone, off the list."""
    rows, words = _instructions(root, names)
    path = root / ROWS_WITHOUT_A_TEST
    keep = [row for row in path.read_text().split() if row in rows and row not in words]
    path.write_text("".join(row + "\n" for row in sorted(keep)))


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

    rows, words = _instructions(root, names)
    path = root / ROWS_WITHOUT_A_TEST
    exempt = set(path.read_text().split()) if path.is_file() else set()
    for row, where in rows.items():
        if row not in words and row not in exempt:
            problems.append(f"{where}: no test under tests/emulator/ names {row}")
    for row in sorted(exempt):
        if row in words or row not in rows:
            why = "a test names it now" if row in words else "no table has it"
            problems.append(
                f"{ROWS_WITHOUT_A_TEST}:1: remove {row} ({why}): scripts/check.sh --fix"
            )
    return problems


if __name__ == "__main__":
    import sys

    from report import main
    from tree import ROOT, files

    if sys.argv[1:] == ["--prune"]:
        prune(ROOT, files())
    else:
        main(check)
