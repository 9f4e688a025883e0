"""Shared by the client tests: a Python environment with the pinned packages, and the binaries.

A test script calls enter() first. It makes the environment in the build tree when it is not there,
or exits with SKIPPED and the reason, and starts the script again in it.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77  # CTest's SKIP_RETURN_CODE
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BINARY = os.environ.get("WAVESMITH_BINARY", "")
HIP = os.environ.get("WAVESMITH_HIP", "")  # the front, under the name libamdhip64.so
SCRATCH = pathlib.Path(os.environ.get("WAVESMITH_CLIENTS_DIR", "/tmp/wavesmith-clients"))


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


# What pip says when it reaches no index, whatever stands between.
UNREACHABLE = ("Retrying (Retry", "from versions: none", "ProxyError", "ConnectionError")


def make_environment(folder, requirements):
    """Installs the requirements from PyPI; returns why that is impossible here, or None."""
    shutil.rmtree(folder, ignore_errors=True)
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(folder / "bin/pip"), "install", "--quiet", "--disable-pip-version-check",
         "--retries", "1", "--only-binary", ":all:", "-r", str(requirements)],
    ):  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode:
            said = done.stderr + done.stdout
            lines = said.strip().splitlines()
            reason = f"{' '.join(command[:3])}: {lines[-1] if lines else 'failed'}"
            if "venv" in command:
                return f"they have no place: {reason}"
            if any(sign in said for sign in UNREACHABLE):
                return f"no package index answers: {reason}"
            # The index answered: the pinned versions are at fault, which somebody must mend.
            shutil.rmtree(folder, ignore_errors=True)
            sys.exit(f"error: {reason}")
    return None


def enter(packages="requirements"):
    """Goes on in an environment with the packages of PACKAGES.txt; each file has its own."""
    requirements = HERE / f"{packages}.txt"
    folder = SCRATCH / ("venv" if packages == "requirements" else packages)
    if pathlib.Path(sys.prefix) == folder:
        return
    if not BINARY or not HIP:
        skip("WAVESMITH_BINARY and WAVESMITH_HIP are not set: run through ctest")
    SCRATCH.mkdir(parents=True, exist_ok=True)
    stamp = folder / "requirements.txt"
    wanted = requirements.read_text()
    # Tests run side by side; one makes the environment and the others wait for it.
    with open(SCRATCH / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != wanted:
            reason = make_environment(folder, requirements)
            if reason:
                shutil.rmtree(folder, ignore_errors=True)
                skip(f"the packages of {requirements.name} cannot be installed: {reason}")
            stamp.write_text(wanted)
    # Both clients look for the library under its own name: hip-python in $ROCM_PATH/lib.
    library = SCRATCH / "rocm/lib/libamdhip64.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    replacement = library.with_name(f"{os.getpid()}")
    replacement.symlink_to(HIP)
    replacement.replace(library)
    env = {**os.environ, "ROCM_PATH": str(SCRATCH / "rocm"), "TRITON_LIBHIP_PATH": HIP}
    python = str(folder / "bin/python")
    os.execve(python, [python, *sys.argv], env)
