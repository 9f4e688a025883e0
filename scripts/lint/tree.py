"""The files of the repository as every check sees them: git's, or all when git is absent."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
_SKIP = {".git", "build", ".cache", "__pycache__"}
CXX = {".h", ".cpp", ".c", ".def", ".inc"}


def files(root=ROOT):
    """Paths relative to the root, sorted. A new file counts before it is committed."""
    try:
        listed = (
            subprocess.run(
                ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
                check=True,
                capture_output=True,
            )
            .stdout.decode()
            .split("\0")
        )
        names = [pathlib.Path(n) for n in listed if n]
        if names:
            return sorted(n for n in names if (root / n).is_file())
    except (OSError, subprocess.CalledProcessError):
        pass
    found = []
    for path in root.rglob("*"):
        name = path.relative_to(root)
        if path.is_file() and not _SKIP.intersection(name.parts):
            found.append(name)
    return sorted(found)


def read(name, root=ROOT):
    """The text of a file, or None when it is not text."""
    try:
        return (root / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
