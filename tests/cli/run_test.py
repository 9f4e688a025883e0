"""wavesmith run: verified results, the cache between processes, damage, races, kills."""

import os
import resource
import signal
import subprocess
import time
import unittest

from cli import BINARY, ENVIRONMENT, HAVE_COMPILER, CliTest

CALL = ("run", "--target", "gfx942", "--dtype", "bf16", "--head-dim", "64x64", "--verify")
SMALL = (*CALL, "--heads", "2", "--lens", "33:33")


@unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
class Run(CliTest):
    def check(self, *args, provider=None, **env):
        report = self.json("run", *args, **env)
        if provider:
            self.assertEqual(report["provider"], provider)
        self.assertEqual(report["compile_ms"] > 0, report["provider"] == "jit")
        self.assertEqual(set(report["checks"].values()), {0})
        self.assertEqual(report["faults"], [])
        errors = report["errors"]
        self.assertLessEqual(errors["out_rel_rms"], 3e-3)
        self.assertLessEqual(errors["out_row_rel_max"], 8e-3)
        self.assertLessEqual(errors["lse_max_abs"], 1e-4)
        (kernel,) = report["kernels"]
        self.assertEqual(kernel["scratch_bytes"], 0)
        self.assertLessEqual(kernel["vgprs"], 256)
        self.assertGreater(report["emulated"]["instructions"], 0)
        self.assertIsNone(report["modelled"])
        return report

    def entries(self):
        """The cache's files of a size that only an object has."""
        return [p for p in self.cache.rglob("*") if p.is_file() and p.stat().st_size > 1000]

    def test_second_process_hits_the_disk(self):
        self.check(*SMALL, provider="jit")
        self.assertEqual(len(self.entries()), 1)
        self.check(*SMALL, provider="disk")
        # A hit needs no compiler.
        self.check(*SMALL, provider="disk", WAVESMITH_COMPILER_LIBRARY="/nowhere/c.so")
        self.check(*SMALL, provider="disk", WAVESMITH_JIT="forbid")
        # Another specialisation is another entry.
        self.check(*SMALL, "--causal", provider="jit")
        self.assertEqual(len(self.entries()), 2)

    def test_counters(self):
        def counts(report):
            return {p["name"]: (p["hits"], p["misses"]) for p in report["counters"]["providers"]}

        first = self.json("run", *SMALL)
        self.assertEqual(counts(first), {"disk": (0, 1), "jit": (1, 0)})
        second = self.json("run", *SMALL)
        self.assertEqual(counts(second), {"disk": (1, 0), "jit": (0, 0)})
        self.assertEqual(second["counters"]["failures"], 0)

    def test_fp8(self):
        call = ("run", "--target", "gfx942", "--head-dim", "64x64", "--verify", "--heads", "3")
        call += ("--kv-heads", "1", "--lens", "70:200,33:5")
        report = self.json("run", *call, "--dtype", "fp8")
        self.assertEqual([len(report["descales"][name]) for name in "qkv"], [3, 1, 1])
        self.assertGreater(min(min(values) for values in report["descales"].values()), 0)
        self.assertLessEqual(report["errors"]["out_rel_rms"], 3e-2)
        named = self.json("run", *call, "--dtype", "e4m3fnuz")
        self.assertEqual(named["output_digest"], report["output_digest"])
        self.assertIsNone(self.json("run", *SMALL)["descales"])

    def test_score_functions(self):
        call = (*CALL, "--heads", "3", "--lens", "70:200,33:5", "--causal", "--splits", "1")
        plain = self.check(*call, provider="jit")
        scored = (*call, "--window", "40", "--soft-cap", "2", "--sink")
        first = self.check(*scored, provider="jit")
        self.assertIn("_softcap_window_sink_", first["kernels"][0]["name"])
        self.assertNotEqual(first["output_digest"], plain["output_digest"])
        # Other values, the same kernel; other seeds, other sinks.
        self.check(*call, "--window", "-1,0", "--soft-cap", "50", "--sink", provider="disk")
        self.check(*scored, "--seed", "2", provider="disk")

    def test_modelled(self):
        for target, chip in (("gfx942", "MI325X"), ("gfx950", "MI350X")):
            call = ("run", "--target", target, "--dtype", "bf16", "--head-dim", "192x128")
            call += ("--heads", "1", "--q-len", "256", "--kv-len", "4096", "--splits", "1")
            call += ("--checks", "none")
            modelled = self.json("run", *call, "--model-cycles")["modelled"]
            self.assertEqual(modelled["chip"], chip)
            self.assertEqual(modelled["bound_by"], "balance")  # one workgroup on the whole chip
            self.assertGreater(modelled["sustained_microseconds"], modelled["microseconds"])
            # The steady loop, against 96 % of kernels written by hand to the same plan.
            self.assertGreater(modelled["loops"][0]["mfma_occupancy"], 0.93)
            self.assertLess(modelled["loops"][0]["mfma_occupancy"], 0.99)

    def test_damaged_entry(self):
        self.check(*SMALL, provider="jit")
        (entry,) = self.entries()
        whole = entry.read_bytes()
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
        for damaged in (flipped, whole[:middle], b"", b"x" * len(whole)):
            entry.write_bytes(damaged)
            code, out, err = self.wavesmith(*SMALL)
            self.assertEqual(code, 0, err)
            self.assertIn(entry.name[:16], err, "the damage is not reported")
            self.assertIn("jit", out)
            self.assertGreater(entry.stat().st_size, 10000, "the entry was not rebuilt")
            self.assertNotEqual(entry.read_bytes(), damaged)
            self.check(*SMALL, provider="disk")

    def test_two_at_once(self):
        running = [self.start(*SMALL, "--json") for _ in range(2)]
        done = [self.finish(process) for process in running]
        for code, _, err in done:
            self.assertEqual(code, 0, err)
        self.assertEqual(len(self.entries()), 1)
        self.check(*SMALL, provider="disk")

    def test_killed(self):
        for delay in (0.05, 0.15, 0.3, 0.45):
            process = self.start(*SMALL)
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            self.finish(process)
        self.check(*SMALL)
        self.check(*SMALL, provider="disk")

    def test_jit_forbidden(self):
        err = self.refused(SMALL, "forbid", code=ENVIRONMENT, WAVESMITH_JIT="forbid")
        self.assertIn("64x64", err)

    def test_no_cache(self):
        self.check(*SMALL, provider="jit", WAVESMITH_CACHE_DIR="off")
        self.check(*SMALL, provider="jit", WAVESMITH_CACHE_DIR="", XDG_CACHE_HOME="", HOME="")
        self.cache.write_text("a file where the directory should be")
        self.check(*SMALL, provider="jit")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_cache(self):
        self.cache.mkdir(mode=0o500)
        self.check(*SMALL, provider="jit")

    def test_lengths(self):
        lengths = "1:1,0:5,7:0,31:64,64:31,257:129,0:0"
        for more in ([], ["--causal"]):
            self.check(*CALL, "--heads", "4", "--kv-heads", "2", "--lens", lengths, *more)

    def test_nothing_to_do(self):
        report = self.json("run", *CALL, "--heads", "1", "--lens", "0:0,0:7")
        self.assertEqual(report["emulated"]["instructions"], 0)
        self.assertEqual((report["kernels"], report["provider"]), ([], None))

    def test_quantised(self):
        call = ("run", "--target", "gfx950", "--dtype", "fp8", "--head-dim", "64x64", "--verify")
        call += ("--heads", "2", "--lens", "33:300", "--distribution", "outlier-channels")
        plain = self.json("run", *call, "--quantize", "static")
        rotated = self.json("run", *call, "--quantize", "dynamic", "--rotate", "5")
        self.assertEqual((plain["ok"], rotated["ok"]), (True, True))
        self.assertEqual(rotated["quantization"]["scales"], "dynamic")
        self.assertEqual(rotated["quantization"]["rotation"], 5)
        self.assertEqual(len(rotated["descales"]["q"]), 2)
        kinds = [k["name"].split("_")[1] for k in rotated["kernels"]]
        self.assertEqual(kinds[:5], ["amax", "amax", "quantize", "quantize", "attention"])
        errors = [r["quantization"]["errors_unquantised"]["out_rel_rms"] for r in (plain, rotated)]
        self.assertLess(errors[1], errors[0])

    def test_f16(self):
        call = ("run", "--target", "gfx942", "--head-dim", "64x64", "--heads", "2", "--verify")
        call += ("--lens", "33:300", "--dtype")
        errors = self.json("run", *call, "f16")["errors"]
        self.assertLessEqual(errors["out_rel_rms"], 3.75e-4)
        self.assertLessEqual(errors["out_row_rel_max"], 1e-3)
        report = self.json("run", *call, "fp8", "--quantize", "dynamic", "--input", "f16")
        self.assertTrue(report["ok"])
        kernels = " ".join(k["name"] for k in report["kernels"])
        self.assertIn("_f16out", kernels)
        self.assertNotIn("bf16", kernels)
        code, out, err = self.wavesmith(*call, "fp8", "--quantize", "unit", "--input", "f16")
        self.assertEqual(code, 0, err)
        self.assertIn("from float64 on the f16 inputs", out)

    def test_single_sequence(self):
        self.check(*CALL, "--heads", "1", "--q-len", "65", "--kv-len", "130", "--causal")

    def test_orders(self):
        for order in ("vmem-early", "lds-late", "run-to-barrier", "preemptive,poison"):
            self.check(*SMALL, "--order", order, "--seed", "5")

    def test_same_bits(self):
        first = self.check(*SMALL)
        again = self.check(*SMALL, "--order", "preemptive")
        self.assertEqual(first["errors"], again["errors"])
        other = self.check(*SMALL, "--seed", "2")
        self.assertNotEqual(first["errors"], other["errors"])

    def test_checks(self):
        report = self.json("run", *SMALL, "--checks", "none")
        self.assertEqual(set(report["checks"].values()), {None})
        report = self.json("run", *SMALL, "--checks", "memory,races")
        on = {name for name, count in report["checks"].items() if count is not None}
        self.assertEqual(on, {"memory", "races"})

    def test_text(self):
        code, out, err = self.wavesmith(*SMALL)
        self.assertEqual((code, err), (0, ""))
        for word in ("ws_attention_bf16_d64x64_gfx942", "VGPR", "jit", "ms", "races", "rms"):
            self.assertIn(word, out)
        self.assertLess(len(out.splitlines()), 25)

    def test_hip_library_that_is_not_there(self):
        env = {"WAVESMITH_DEVICE": "auto", "WAVESMITH_HIP_LIBRARY": "/nowhere/hip.so"}
        self.refused(SMALL, "WAVESMITH_HIP_LIBRARY", "/nowhere/hip.so", **env)
        self.check(*SMALL, "--device", "emulator", **env)

    def test_log_setting(self):
        for setting in ("loud", "cash=info"):
            code, _, err = self.wavesmith(*SMALL, WAVESMITH_LOG=setting)
            self.assertEqual(code, 0, err)
            self.assertEqual(err.count(setting), 1, err)

    def test_dump_and_a_hit(self):
        dumps = self.dir / "dumps"
        for words in (0, 1):
            code, _, err = self.wavesmith(*SMALL, WAVESMITH_DUMP_DIR=str(dumps))
            self.assertEqual(code, 0, err)
            self.assertEqual(err.count("nothing dumped"), words, err)

    def test_terminated_while_compiling(self):
        temporary = self.dir / "tmp"
        temporary.mkdir()
        off = {"WAVESMITH_CACHE_DIR": "off", "TMPDIR": str(temporary)}
        for delay in (0.02, 0.05, 0.08, 0.12):
            process = self.start(*SMALL, **off)
            time.sleep(delay)
            process.send_signal(signal.SIGTERM)
            self.finish(process)
            self.assertEqual(list(temporary.iterdir()), [])

    def test_no_gpu(self):
        if os.path.exists("/dev/kfd"):
            self.skipTest("there may be a GPU")
        self.refused([*SMALL, "--device", "hip"], "no usable GPU", "emulator", code=ENVIRONMENT)

    def test_more_than_the_machine_has(self):
        # 64 heads of 2^24 tokens are a terabyte.
        call = (*CALL, "--heads", "64", "--lens", "16777216:16777216")
        self.refused(call, "16777216", "GB of host memory", code=ENVIRONMENT)

    def test_emulator_variable(self):
        setting = "chip=MI300X,order=vmem-early,lds-late,seed=7,checks=memory,races"
        report = self.json("run", *SMALL, WAVESMITH_EMULATOR=setting)
        on = {name for name, count in report["checks"].items() if count is not None}
        self.assertEqual(on, {"memory", "races"})
        self.assertIn("MI300X", report["device"])
        _, out, _ = self.wavesmith(*SMALL, WAVESMITH_EMULATOR=setting)
        self.assertIn("order vmem-early,lds-late, seed 7", out)
        # Flags win.
        flags = ("--checks", "all", "--order", "poison", "--seed", "2", "--chip", "MI325X")
        _, out, _ = self.wavesmith(*SMALL, *flags, WAVESMITH_EMULATOR=setting)
        self.assertIn("MI325X (emulated), order poison, seed 2", out)
        self.assertIn("waits 0", out)

    def test_files_that_may_not_grow(self):
        def bound():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        process = subprocess.run(
            [BINARY, *SMALL], capture_output=True, text=True, env=self.env, preexec_fn=bound
        )
        # The linker's files are too large already: an answer, where the signal would be death.
        self.assertEqual(process.returncode, ENVIRONMENT, process.stderr)
        self.assertIn("File too large", process.stderr)
        self.assertEqual(process.stderr.count("\n"), 1)
        self.assertEqual(list(self.cache.iterdir()), [])

    def test_output_that_nobody_gets(self):
        with open("/dev/full", "w") as full:
            for args in (SMALL, ("--version",), ("run", "--help"), ("targets", "--json")):
                process = subprocess.run(
                    [BINARY, *args], stdout=full, stderr=subprocess.PIPE, text=True, env=self.env
                )
                self.assertEqual(process.returncode, ENVIRONMENT, args)
                self.assertIn("standard output", process.stderr)
        # A reader that has seen enough is another matter.
        read, write = os.pipe()
        os.close(read)
        process = subprocess.run(
            [BINARY, *SMALL], stdout=write, stderr=subprocess.PIPE, env=self.env
        )
        os.close(write)
        self.assertEqual((process.returncode, process.stderr), (0, b""))


if __name__ == "__main__":
    unittest.main()
