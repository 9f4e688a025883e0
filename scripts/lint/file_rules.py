"""Rules of one file: length, `#pragma once`, licence, open markers, paths of a machine."""

import hashlib
import re

from tree import CXX, read

MAX_LINES = 600
# The C interface is one header, and half of it is documentation.
_LONGER = {"include/wavesmith/wavesmith.h": 800}
_SOURCE = CXX | {".py", ".sh", ".cmake", ".td", ".mlir", ".s", ".md", ".json", ".txt", ""}
# Kernels made by another compiler or machine-readable tables are data, not source.
_DATA = re.compile(
    r"^(tests/.*\.(ll|tsv|csv|txt)|tests/.*/(data|corpus)/.*|scripts/lint/.*\.txt|LICENSE)$"
)
# C headers for others may use a guard; texts that are included once per vector width have neither.
_GUARD = re.compile(r"#pragma once\n|#ifndef (\w+_H)\n#define \1\n")
_TEXTUAL = re.compile(r"^emulator/lanes/")
_LICENCE_SHA256 = "419f8a9d5f278705335573d2fe7189e0546ca7e6cde2be609ddec20f2241d899"
_MACHINE_PATH = re.compile(r"(?<![\w.])/(work|farm|root|home/\w+|Users/\w+|tmp/[a-z]+_jobs)/")
_OPEN = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK|DO NOT SUB" r"MIT)\b")
_OTHER_LICENCE = re.compile(r"\b(GPL|all rights reserved|copyright \(c\))", re.I)


def check(root, names):
    problems = []
    for name in names:
        text = read(name, root)
        if text is None or name.suffix not in _SOURCE and name.suffix != ".ll":
            continue
        data = _DATA.match(str(name))
        lines = text.split("\n")
        limit = _LONGER.get(str(name), MAX_LINES)
        if not data and len(lines) - 1 > limit:
            problems.append(f"{name}:{limit + 1}: {len(lines) - 1} lines, the limit is {limit}")
        if text and not text.endswith("\n") and not data:
            problems.append(f"{name}:{len(lines)}: no newline at the end of the file")
        if name.suffix == ".h" and not _TEXTUAL.match(str(name)) and not _GUARD.match(text):
            problems.append(f"{name}:1: a header starts with #pragma once")
        for number, line in enumerate(lines, 1):
            if name.parts[0] != "tests" and (match := _MACHINE_PATH.search(line)):
                problems.append(f"{name}:{number}: {match.group(0)} is a path of one machine")
            if not data and name.parts[0] != "scripts" and _OPEN.search(line):
                problems.append(f"{name}:{number}: finish it or write an issue: {line.strip()}")
            if name.suffix in CXX and _OTHER_LICENCE.search(line):
                problems.append(f"{name}:{number}: the licence stands in LICENSE, not in files")
    licence = root / "LICENSE"
    if not licence.is_file():
        problems.append("LICENSE:1: missing")
    elif hashlib.sha256(licence.read_bytes()).hexdigest() != _LICENCE_SHA256:
        problems.append("LICENSE:1: is not Apache-2.0 with LLVM exceptions, word for word")
    return problems


if __name__ == "__main__":
    from report import main

    main(check)
