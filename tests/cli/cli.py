"""Runs the binary and knows its contract: exit codes, one-line errors, JSON by its schema."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import schema

BINARY = pathlib.Path(os.environ.get("WAVESMITH_BINARY", "build/bin/wavesmith")).resolve()
HAVE_COMPILER = os.environ.get("WAVESMITH_HAVE_COMPILER", "1") == "1"

DATA = pathlib.Path(__file__).resolve().parent / "data"
LLVM = pathlib.Path("/usr/lib/llvm-22/bin")
HAVE_LLVM = all((LLVM / tool).is_file() for tool in ("llvm-mc", "ld.lld"))

FINE, FAILED, BAD_INPUT, ENVIRONMENT = 0, 1, 2, 3


class CliTest(unittest.TestCase):
    """A scratch directory, an own cache in it, and no variable of the caller's shell."""

    maxDiff = None

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="wavesmith-cli-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.cache = self.dir / "cache"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("WAVESMITH_")}
        self.env["WAVESMITH_CACHE_DIR"] = str(self.cache)
        self.env["WAVESMITH_DEVICE"] = "emulator"

    def start(self, *args, binary=BINARY, **env):
        return subprocess.Popen(
            [binary, *map(str, args)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.dir,
            env={**self.env, **env},
        )

    def finish(self, process, timeout=300):
        out, err = process.communicate(timeout=timeout)
        # Progress appears only where the machine is slow.
        return process.returncode, out, re.sub(r"^\[\d+/\d+\] .*\n", "", err, flags=re.M)

    def wavesmith(self, *args, **env):
        return self.finish(self.start(*args, **env))

    def json(self, name, *args, code=FINE, **env):
        """Runs with --json; the exit code, and stdout against docs/schemas/<name>.json."""
        actual, out, err = self.wavesmith(*args, "--json", **env)
        self.assertEqual(actual, code, err + out[:2000])
        document = json.loads(out)
        self.assertEqual(schema.problems(document, schema.load(name)), [])
        self.assertEqual(document["ok"], code == FINE)
        return document

    def assemble(self, text, name="k.co", target="gfx942"):
        """A code object of that assembly in the scratch directory."""
        source, relocatable, linked = (self.dir / (name + s) for s in (".s", ".o", ""))
        source.write_text(text)
        assembler = [LLVM / "llvm-mc", "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}"]
        subprocess.run(
            [*assembler, "-filetype=obj", source, "-o", relocatable],
            check=True,
        )
        subprocess.run([LLVM / "ld.lld", "-shared", relocatable, "-o", linked], check=True)
        return linked

    def refused(self, args, *words, code=BAD_INPUT, **env):
        """An error: one line on stderr that holds the words, nothing on stdout; JSON fits too."""
        actual, out, err = self.wavesmith(*args, **env)
        self.assertEqual(actual, code, err + out[:2000])
        self.assertEqual(out, "")
        self.assertEqual(err.count("\n"), 1, err)
        self.assertTrue(err.startswith("wavesmith: error: "), err)
        for word in words:
            self.assertRegex(err, re.escape(word))
        document = self.json("error", *args, code=code, **env)
        self.assertIn(document["error"]["message"], err)
        return err
