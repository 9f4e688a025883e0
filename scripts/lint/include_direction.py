"""Who may include whom. The table is that of docs/architecture.md; the first matching row counts.

Also: include paths start at the repository root (in examples/, which are copied out of it, beside
the file), and LLVM and MLIR stay inside compiler/ and
dialects/.
"""

import re

from tree import CXX, read

# folder: (folders it may include besides itself, outside libraries by include prefix)
_SUPPORT = ("runtime/support",)
_JSON = _SUPPORT + ("runtime/json",)
_SPEC = _SUPPORT + ("runtime/spec",)
_OBJECT = _SPEC + ("runtime/json", "runtime/codeobject")
_PROVIDER = _OBJECT + ("runtime/provider",)
_BUNDLE = _PROVIDER + ("runtime/bundle",)
_CACHE = _BUNDLE + ("runtime/cache",)
_HIP = _SUPPORT + ("runtime/hip",)
_DISPATCH = _CACHE + _HIP + ("runtime/scales", "runtime/dispatch")
_RUNTIME = _DISPATCH + (
    "runtime/verify",
    "runtime/numerics",
    "runtime/exec",
    "runtime/session",
    "runtime/judge",
    "runtime/capi",
    "include",
)
_COMPILER = ("dialects", "compiler")
_LLVM = ("llvm/", "mlir/", "lld/")

TABLE = {
    "runtime/support": ((), ("fmt/", "openssl/")),
    "runtime/json": (_SUPPORT, ("fmt/", "nlohmann/")),
    "runtime/spec": (_SUPPORT, ("fmt/",)),
    "runtime/codeobject": (_SPEC + _JSON, ("fmt/", "nlohmann/")),
    "runtime/provider": (_OBJECT, ("fmt/",)),
    "runtime/bundle": (_PROVIDER + _JSON, ("fmt/", "nlohmann/")),
    "runtime/cache": (_BUNDLE, ("fmt/", "hiredis/", "nlohmann/")),
    "runtime/hip": (_SUPPORT, ("fmt/", "hip/")),
    "runtime/scales": (_SPEC + _JSON, ("fmt/", "nlohmann/")),
    "runtime/dispatch": (_CACHE + _HIP + _JSON + ("runtime/scales",), ("fmt/", "nlohmann/", "sqlite3")),
    "runtime/verify": (_DISPATCH, ("fmt/",)),
    # The emulator's float helpers, so that the model's bits are the emulator's.
    "runtime/numerics": (_DISPATCH + ("runtime/verify", "emulator/isa", "emulator/lanes"), ("fmt/",)),
    "runtime/exec": (_OBJECT + _HIP + _JSON, ("fmt/", "nlohmann/")),
    "runtime/session": (_DISPATCH + ("runtime/verify", "runtime/exec"), ("fmt/", "nlohmann/")),
    "runtime/judge": (_RUNTIME, ("fmt/",)),
    "runtime/capi": (_DISPATCH + ("include",), ("fmt/", "nlohmann/")),
    "include": ((), ()),
    "emulator/hip": (_OBJECT + ("emulator",), ("fmt/", "hip/", "nlohmann/")),
    "emulator": (_SUPPORT + ("runtime/codeobject",), ("fmt/",)),
    "dialects": ((), _LLVM + ("fmt/",)),
    "compiler": (_PROVIDER + _COMPILER, _LLVM + ("fmt/",)),
    "tools/wavesmith-opt": (_RUNTIME + _COMPILER, _LLVM + ("fmt/",)),
    "tools/wavesmith-verify": (_RUNTIME, ("fmt/",)),
    "tools/wavesmith-compile": (_RUNTIME + _COMPILER, ("fmt/",)),
    "tools": (_RUNTIME + ("emulator",), ("fmt/", "CLI/", "nlohmann/", "amd_comgr/")),
    "tests": (
        _RUNTIME + ("emulator", "tests") + _COMPILER,
        _LLVM + ("fmt/", "nlohmann/", "hip/", "gtest/", "gmock/", "openssl/", "sqlite3", "wavesmith/"),
    ),
    "bench": (
        _RUNTIME + ("emulator", "tests", "bench") + _COMPILER,
        _LLVM + ("fmt/", "nlohmann/", "hip/", "benchmark/"),
    ),
    "examples": ((), ("hip/", "wavesmith/")),
}

_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
# Headers of outside libraries have a folder or one of these names; the rest is the system's.
_OUTSIDE = re.compile(
    r"^(llvm|mlir|lld|clang|fmt|openssl|hiredis|nlohmann|hip|CLI|amd_comgr|gtest|"
    r"gmock|benchmark|wavesmith)[-/]|^sqlite3"
)


def _inside(path, folders):
    return any(path == f or path.startswith(f + "/") for f in folders)


def check(root, names):
    known = {str(n) for n in names}
    problems = []
    for name in names:
        if name.suffix not in CXX:
            continue
        text = read(name, root)
        folder = next((f for f in TABLE if _inside(str(name), (f,))), None)
        if folder is None:
            problems.append(f"{name}:1: no row for this folder in the include table")
            continue
        allowed, outside = TABLE[folder]
        for match in _INCLUDE.finditer(text):
            where = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
            quoted, path = match.group(1) == '"', match.group(2)
            if _OUTSIDE.match(path):
                if not path.startswith(outside):
                    problems.append(
                        f"{where}: {folder}/ may not include <{path}>"
                        f" (outside libraries here: {', '.join(outside) or 'none'})"
                    )
            elif quoted:
                beside = str(name.parent / path)
                if folder == "examples" and beside in known:
                    path = beside
                generated = path.endswith(".inc") and path not in known
                if path not in known and not generated:
                    problems.append(f'{where}: "{path}" is no path from the repository root')
                elif not _inside(path, allowed + (folder,)):
                    problems.append(
                        f'{where}: {folder}/ may not include "{path}"'
                        f" (it may use: {', '.join(allowed) or 'nothing'})"
                    )
    return problems


if __name__ == "__main__":
    from report import main

    main(check)
