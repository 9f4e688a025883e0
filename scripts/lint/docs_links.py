"""Links in Markdown lead somewhere; paths of the repository that a page names exist."""

import re

from tree import read

_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
# `folder/File.ext` of one of our folders; a name in capitals stands for what the reader will write.
_PATH = re.compile(
    r"`((?:compiler|dialects|docs|emulator|runtime|scripts|templates|tests|tools)/[\w./-]+\.\w+)`"
)
_EXAMPLES = {"compiler/passes/FuseScales.cpp", "tests/lit/passes/FuseScales.mlir"}


def check(root, names):
    problems = []
    for name in names:
        if name.suffix != ".md":
            continue
        text = read(name, root)
        for match in _LINK.finditer(text):
            target = match.group(1)
            if "://" not in target and not (root / name.parent / target).exists():
                line = text.count("\n", 0, match.start()) + 1
                problems.append(f"{name}:{line}: link to {target}, which is not there")
        for match in _PATH.finditer(text):
            target = match.group(1)
            if (root / target).exists() or target in _EXAMPLES or "NAME" in target:
                continue
            line = text.count("\n", 0, match.start()) + 1
            problems.append(f"{name}:{line}: names {target}, which is not there")
    return problems


if __name__ == "__main__":
    from report import main

    main(check)
