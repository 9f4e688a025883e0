"""wavesmith build, killed at random moments: what it leaves behind is never wrong, and the next one goes
on from it."""

import os
import random
import shutil
import subprocess
import unittest

from cli import FINE, HAVE_COMPILER, CliTest

KILLS = int(os.environ.get("WAVESMITH_KILLS", "8"))
ARGS = ("build", "--targets", "gfx942", "--kernels", "quantize,amax", "-o", "a", "--jobs", "2")


@unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
class KilledBuild(CliTest):
    def problems(self):
        found = self.json("bundle-verify", "bundle", "verify", "a", code=FINE)["bundles"][0]
        return found["problems"]

    def test_killed_at_any_moment(self):
        self.env["WAVESMITH_CACHE_DIR"] = "off"
        folder, partial = self.dir / "a", self.dir / "a" / "manifest.partial.json"
        chance = random.Random(7)
        kills = most_kept = 0
        while kills < KILLS:
            process = self.start(*ARGS)
            try:
                process.communicate(timeout=chance.uniform(0, 0.6))
                self.assertEqual(process.returncode, FINE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                kills += 1
            if (folder / "manifest.json").exists():
                self.assertEqual(self.problems(), [])
                shutil.rmtree(folder)  # from the beginning
            elif partial.exists():
                most_kept = max(most_kept, len(list(folder.glob("*.co"))))
        built = self.json("build", *ARGS)
        self.assertEqual(self.problems(), [])
        self.assertEqual(len(os.listdir(folder)), len(built["kernels"]) + 1, "nothing is left over")
        # Nothing is compiled again that one of them had finished.
        self.assertEqual(self.json("build", *ARGS)["kept"], len(built["kernels"]))
        if KILLS > 50:
            self.assertGreater(most_kept, 0, "all were killed before the first object")


if __name__ == "__main__":
    unittest.main()
