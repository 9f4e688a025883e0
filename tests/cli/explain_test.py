"""wavesmith explain: the decision, its reason, and the kernels with who has them."""

import json
import unittest

from cli import HAVE_COMPILER, CliTest

CALL = ("explain", "--target", "gfx942", "--head-dim", "64x64", "--heads", "2")
LONG = (*CALL, "--q-len", "2048", "--scales", "dynamic")


class Explain(CliTest):
    def explain(self, *args, **env):
        return self.json("explain", *args, **env)

    def test_one_sequence(self):
        report = self.explain(*CALL, "--q-len", "600", "--scales", "dynamic", "--splits", "1")
        self.assertEqual((report["path"], report["rule"]), ("bf16", "short-prompt"))
        self.assertEqual(report["values"]["q_len"], 600)
        self.assertIn(
            {"variable": "q_len", "value": "1024", "path": "fp8", "rule": "long-prompt"},
            report["flips"],
        )
        (kernel,) = report["kernels"]
        self.assertIn("attention_bf16", kernel["name"])
        self.assertFalse(self.cache.exists(), "explaining compiled something")

    def test_context(self):
        report = self.explain(*LONG, "--context", "5000")
        self.assertEqual((report["path"], report["rule"]), ("bf16", "context-not-enabled"))
        self.assertEqual(report["values"]["context_len"], 5000)
        report = self.explain(*LONG, "--context", "5000", "--fp8-context", "--path", "fp8")
        self.assertEqual((report["path"], report["rule"]), ("fp8", "explicit"))

    def test_score_functions(self):
        # Both paths have them, and a window changes what the call needs.
        scores = ("--window", "100", "--soft-cap", "30", "--sink", "--causal")
        report = self.explain(*CALL, "--lens", "5:5,2000:2000", "--scales", "unit", *scores)
        attention = [k["spec"] for k in report["kernels"] if k["spec"].startswith("attention")]
        self.assertEqual(len(attention), 2)
        for spec in attention:
            self.assertIn("softcap=1 window=1 sink=1", spec)

    def test_mixed_batch(self):
        report = self.explain(*CALL, "--lens", "5:5,2000:2000,5:5", "--scales", "dynamic")
        self.assertEqual((report["path"], report["rule"], report["values"]), ("mixed", None, None))
        self.assertEqual([s["sequences"] for s in report["sequences"]], [[0, 2], [1]])
        self.assertEqual([s["path"] for s in report["sequences"]], ["bf16", "fp8"])
        kinds = [k["name"].split("_")[1] for k in report["kernels"]]
        self.assertIn("quantize", kinds)
        self.assertEqual(kinds.count("attention"), 2)

    def test_f16_inputs(self):
        call = (*CALL, "--dtype", "f16", "--scales", "dynamic", "--splits", "2", "--lens")
        report = self.explain(*call, "5:5,2000:2000")
        self.assertEqual([s["path"] for s in report["sequences"]], ["f16", "fp8"])
        flips = [f["path"] for s in report["sequences"] for f in s["flips"]]
        self.assertIn("f16", flips)
        self.assertNotIn("bf16", flips)
        specs = "\n".join(k["spec"] for k in report["kernels"])
        for words in ("dtype=f16", "f16out=1", "input=f16", "output=f16"):
            self.assertIn(words, specs)
        self.assertNotIn("bf16", specs)
        report = self.explain(*call, "2000:2000", "--path", "f16")
        self.assertEqual((report["path"], report["rule"]), ("f16", "explicit"))

    @unittest.skipUnless(HAVE_COMPILER, "needs the compiler")
    def test_providers(self):
        call = ("--target", "gfx942", "--head-dim", "64x64", "--heads", "2")
        lens = ("--lens", "33:33", "--splits", "1")

        def provider(**env):
            (kernel,) = self.explain("explain", *call, *lens, **env)["kernels"]
            return kernel["provider"]

        self.assertEqual(provider(), "jit")
        self.assertEqual(provider(WAVESMITH_JIT="forbid"), "missing")
        self.assertEqual(provider(WAVESMITH_COMPILER_LIBRARY="/nowhere/c.so"), "missing")
        run = self.json("run", "run", "--dtype", "bf16", *call, *lens)
        self.assertEqual(provider(WAVESMITH_JIT="forbid"), "disk")
        (kernel,) = self.explain("explain", *call, *lens)["kernels"]
        self.assertEqual([kernel["key"]], [k["key"] for k in run["kernels"]])

    def test_policies(self):
        report = self.explain(*LONG, "--policy", "fp8-context-786432")
        self.assertEqual((report["path"], report["policy"]["name"]), ("bf16", "fp8-context-786432"))
        rule = {"name": "never", "path": "refuse", "reason": "closed on Sundays"}
        file = self.dir / "mine.json"
        file.write_text(
            json.dumps({"schema": "wavesmith-policy-1", "name": "mine", "rules": [rule]})
        )
        for args, env in (((), {"WAVESMITH_POLICY": str(file)}), (("--policy", str(file)), {})):
            report = self.explain(*LONG, *args, **env)
            self.assertEqual((report["path"], report["reason"]), ("refuse", "closed on Sundays"))
            self.assertEqual((report["kernels"], report["workspace_bytes"]), ([], 0))

    def test_fp8_needs_scales(self):
        report = self.explain(*CALL, "--q-len", "4096", "--path", "fp8")
        self.assertEqual(report["path"], "refuse")
        self.assertIn("no scales", report["reason"])

    @unittest.skipUnless(HAVE_COMPILER, "needs the compiler")
    def test_text(self):
        code, out, err = self.wavesmith(*LONG)
        self.assertEqual(code, 0, err)
        for words in ("path       fp8", "long-prompt", "q_len 1023 gives bf16", "(jit,"):
            self.assertIn(words, out)

    def test_bad_input(self):
        self.refused(CALL, "--q-len", "--lens")
        self.refused([*LONG, "--lens", "1:1"], "--lens", "exclude")
        self.refused([*LONG, "--policy", "best"], "--policy", "best", "default")
        self.refused([*LONG, "--path", "fast"], "--path", "fast", "bf16")
        self.refused([*LONG, "--path", "f16"], "--path", "f16", "bf16, fp8")
        self.refused([*LONG, "--dtype", "fp8"], "--dtype", "fp8", "bf16, f16")
        self.refused([*CALL, "--q-len", "9", "--scales", "some"], "--scales", "some", "dynamic")
        self.refused([*CALL, "--q-len", "9", "--rotate", "3"], "--rotate", "--scales")
        self.refused([*LONG, "--context", "-1"], "--context", "-1")
        self.refused([*LONG, "--window", "near"], "--window", "near")
        self.refused([*LONG, "--soft-cap", "0"], "soft cap", "0.001")


if __name__ == "__main__":
    unittest.main()
