"""Every kernel that `targets --kernels` lists compiles, passes its gates and its verification."""

import json
import unittest

from cli import HAVE_COMPILER, CliTest

EVERY = ("--dtypes", "bf16,f16,fp8", "--lse", "both", "--scores", "all", "--kernels", "all")


@unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
class VerifyAll(CliTest):
    def build(self, *args):
        """Spec keys of the kernels that were built, all of them verified."""
        process = self.start("build", *args, "-o", "all", "--verify", "--json")
        code, out, err = self.finish(process, timeout=2 * 3600)
        self.assertEqual(code, 0, err)
        built = json.loads(out)["kernels"]
        self.assertEqual([k["name"] for k in built if not k["verified"]], [])
        return {k["spec_key"] for k in built}

    def test_every_kernel(self):
        for target in self.json("targets", "targets", "--kernels")["targets"]:
            with self.subTest(target["name"]):
                built = self.build("--targets", target["name"], *EVERY)
                rotated = ("--kernels", "quantize,quantize_concat,amax,histogram", "--rotation", "1")
                built |= self.build("--targets", target["name"], *rotated)
                self.assertEqual(built, {k["spec_key"] for k in target["kernels"]})


if __name__ == "__main__":
    unittest.main()
