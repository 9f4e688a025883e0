"""Every kernel that this build makes passes its verification, for every target."""

import unittest

from cli import HAVE_COMPILER, CliTest


@unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
class VerifyAll(CliTest):
    def test_every_kernel(self):
        kernels = "attention,combine_splits,merge_states,quantize,quantize_concat,amax"
        args = ("--targets", "gfx942,gfx950", "--kernels", kernels, "--dtypes", "bf16,fp8")
        built = self.json("build", "build", *args, "-o", "all", "--verify")["kernels"]
        self.assertGreater(len(built), 150)
        self.assertTrue(all(kernel["verified"] for kernel in built))
        rotated = ("--kernels", "quantize,quantize_concat,amax", "--rotation", "9")
        args = ("--targets", "gfx942,gfx950", *rotated, "-o", "rotated", "--verify")
        self.assertGreater(len(self.json("build", "build", *args)["kernels"]), 50)


if __name__ == "__main__":
    unittest.main()
