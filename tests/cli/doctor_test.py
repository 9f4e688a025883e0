"""wavesmith doctor and targets: what is wrong is named with a remedy; exit code 3 when `run` could
not work."""

import unittest

from cli import ENVIRONMENT, FINE, HAVE_COMPILER, CliTest


class Doctor(CliTest):
    def doctor(self, broken=(), warnings=(), **env):
        """The findings by name, when exactly these are broken or warned of."""
        broken = set(broken) | (set() if HAVE_COMPILER else {"compiler"})
        report = self.json("doctor", "doctor", code=ENVIRONMENT if broken else FINE, **env)
        found = {check["name"]: check for check in report["checks"]}
        self.assertEqual({n for n, c in found.items() if c["state"] == "broken"}, broken)
        self.assertEqual({n for n, c in found.items() if c["state"] == "warning"}, set(warnings))
        for check in found.values():
            self.assertTrue(check["detail"], check)
            if check["state"] in ("broken", "warning"):
                self.assertTrue(check["remedy"], check)
        return found

    def test_fine(self):
        found = self.doctor()
        self.assertEqual(
            set(found),
            {
                *("version", "hip", "emulator", "device", "compiler", "cache"),
                *("bundles", "remote", "policy", "dispatch"),
            },
        )
        self.assertIn(str(self.cache), found["cache"]["detail"])
        self.assertIn("gfx942", found["device"]["detail"])
        code, out, err = self.wavesmith("doctor")
        self.assertEqual((code, err), (FINE if HAVE_COMPILER else ENVIRONMENT, ""))
        self.assertRegex(out, r"(?m)^ok +emulator ")

    def test_no_compiler(self):
        self.doctor(["compiler"], WAVESMITH_COMPILER_LIBRARY="/nowhere/c.so")

    def test_jit_variable(self):
        self.doctor(["compiler"], WAVESMITH_JIT="perhaps")

    def test_bundles(self):
        bundles = f"{self.dir / 'none'}:{self.dir / 'damaged'}"
        (self.dir / "damaged").mkdir()
        (self.dir / "damaged" / "manifest.json").write_text("{}")
        found = self.doctor(warnings=["bundles"], WAVESMITH_BUNDLES=bundles)
        self.assertIn("none/manifest.json", found["bundles"]["detail"])
        self.assertIn("damaged/manifest.json", found["bundles"]["detail"])
        self.doctor(["bundles"], WAVESMITH_BUNDLE_TOOLCHAIN="all")
        if HAVE_COMPILER:
            args = ("--targets", "gfx942", "--head-dims", "64x64", "--causal", "no", "--split-kv", "no")
            self.wavesmith("build", *args, "-o", "out")
            found = self.doctor(WAVESMITH_BUNDLES=str(self.dir / "out"))
            self.assertIn("1 kernels for gfx942", found["bundles"]["detail"])

    def test_remote(self):
        found = self.doctor(warnings=["remote"], WAVESMITH_REMOTE="redis://:secret@127.0.0.1:1")
        self.assertIn("redis://127.0.0.1:1/0", found["remote"]["detail"])
        found = self.doctor(["remote"], WAVESMITH_REMOTE="redis://127.0.0.1:x")
        self.assertIn("the port is", found["remote"]["detail"])
        self.doctor(
            ["remote"],
            WAVESMITH_REMOTE="redis://127.0.0.1",
            WAVESMITH_REMOTE_TIMEOUT="soon",
        )

    def test_policy(self):
        self.assertIn("verification off", self.doctor()["policy"]["detail"])
        self.doctor(["policy"], WAVESMITH_VERIFY="perhaps")
        if HAVE_COMPILER:
            found = self.doctor(WAVESMITH_VERIFY="emulator")
            self.assertIn("which works", found["policy"]["detail"])
            self.doctor(["policy"], WAVESMITH_VERIFY="emulator", WAVESMITH_VERIFIER="/nowhere")
        found = self.doctor(WAVESMITH_JIT="forbid") if HAVE_COMPILER else {}
        self.assertIn("forbidden", found.get("policy", {}).get("detail", "forbidden"))

    def test_dispatch(self):
        self.assertIn("policy default", self.doctor()["dispatch"]["detail"])
        found = self.doctor(["dispatch"], WAVESMITH_POLICY="no-such")
        self.assertIn("no-such", found["dispatch"]["detail"])
        found = self.doctor(WAVESMITH_TUNING="off")
        self.assertIn("no tuning database", found["dispatch"]["detail"])
        found = self.doctor(["dispatch"], WAVESMITH_TUNING="none.db")
        self.assertIn("none.db", found["dispatch"]["detail"])
        (self.dir / "damaged.db").write_text("damaged" * 1000)
        found = self.doctor(["dispatch"], WAVESMITH_TUNING="damaged.db")
        self.assertIn("not a database", found["dispatch"]["detail"])

    def test_templates_that_are_not_there(self):
        broken = ["compiler"] + (["policy"] if not HAVE_COMPILER else [])
        found = self.doctor(broken[:1], WAVESMITH_TEMPLATE_DIR=str(self.dir / "none"))
        self.assertIn("none", found["compiler"]["detail"])

    def test_no_emulator(self):
        self.doctor(["emulator", "device"], WAVESMITH_EMULATOR_LIBRARY="/nowhere/e.so")

    def test_bad_emulator_settings(self):
        self.doctor(["emulator", "device"], WAVESMITH_EMULATOR="chip=MI1")

    def test_hip_library_that_is_not_there(self):
        found = self.doctor(["device"], WAVESMITH_DEVICE="auto", WAVESMITH_HIP_LIBRARY="/nowhere/h")
        self.assertIn("/nowhere/h", found["device"]["detail"])

    def test_device_variable(self):
        self.doctor(["device"], WAVESMITH_DEVICE="gpu")

    def test_cache_open_to_others(self):
        self.cache.mkdir()
        self.cache.chmod(0o777)
        found = self.doctor(warnings=["cache"])
        self.assertIn("chmod 700", found["cache"]["remedy"])

    def test_cache_is_a_file(self):
        self.cache.write_text("x")
        self.doctor(warnings=["cache"])
        self.assertEqual(self.cache.read_text(), "x")

    def test_no_home(self):
        self.doctor(warnings=["cache"], WAVESMITH_CACHE_DIR="", XDG_CACHE_HOME="", HOME="")

    def test_cache_off(self):
        found = self.doctor(WAVESMITH_CACHE_DIR="off")
        self.assertEqual(found["cache"]["state"], "note")

    def test_cache_size(self):
        self.doctor(["cache"], WAVESMITH_CACHE_SIZE="lots")


class Targets(CliTest):
    def test_targets(self):
        rows = {t["name"]: t for t in self.json("targets", "targets", "--kernels")["targets"]}
        self.assertEqual(set(rows), {"gfx942", "gfx950"})
        names = set()
        for row in rows.values():
            self.assertTrue(row["compiles"])
            own = {k["name"] for k in row["kernels"]}
            attention = [n for n in own if n.startswith("ws_attention")]
            # bf16, f16 and fp8, this to both; four head dims; causal, lse, splits, three score
            # functions or not.
            self.assertEqual(len(attention), 4 * 4 * 2**6)
            combine = [k["name"] for k in row["kernels"] if "combine_splits" in k["spec"]]
            # Three value dims, with lse and without, to bf16 and f16.
            self.assertEqual(len(set(combine)), 12)
            self.assertFalse(names & own)
            names |= own
        short = self.json("targets", "targets")["targets"]
        self.assertEqual([t["kernels"] for t in short], [[], []])
        code, out, _ = self.wavesmith("targets", "--kernels")
        self.assertEqual(code, FINE)
        for name in names:
            self.assertIn(name, out)


if __name__ == "__main__":
    unittest.main()
