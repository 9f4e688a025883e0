"""What docs/cli.md and docs/launch-json.md show can be typed as it stands."""

import json
import re
import shlex
import unittest

import calibrations
import schema
from cli import DATA, HAVE_COMPILER, HAVE_LLVM, CliTest
from exec_test import npy

DOCS = schema.SCHEMAS.parent


def blocks(page, language=""):
    text = (DOCS / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


@unittest.skipUnless(HAVE_COMPILER and HAVE_LLVM, "needs the compiler and llvm-mc")
class Docs(CliTest):
    def setUp(self):
        super().setUp()
        self.assemble((DATA / "scale.s").read_text())
        (self.dir / "in.npy").write_bytes(npy([float(i) for i in range(128)]))
        calibrations.write_ours(self.dir / "shards")
        (launch,) = blocks("launch-json.md", "json")
        json.loads(launch)
        (self.dir / "launch.json").write_text(launch)

    def test_commands(self):
        commands = [
            line
            for block in blocks("cli.md")
            for line in block.splitlines()
            if line.startswith("wavesmith ")
        ]
        self.assertGreaterEqual(len(commands), 3)
        for command in commands:
            with self.subTest(command):
                code, _, err = self.wavesmith(*shlex.split(command)[1:])
                self.assertEqual((code, err), (0, ""))
        self.assertEqual((self.dir / "out.bin").stat().st_size, 512)

    def test_variables(self):
        """Every variable that is read stands in docs/cli.md, and no other does."""
        env = (DOCS.parent / "runtime" / "support" / "Env.cpp").read_text()
        read = set(re.findall(r'Variable\{"(WAVESMITH_\w+)"', env))
        documented = set(re.findall(r"WAVESMITH_\w+", (DOCS / "cli.md").read_text()))
        self.assertEqual(documented, read)


if __name__ == "__main__":
    unittest.main()
