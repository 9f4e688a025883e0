"""Bad input: a one-line error that names the value and what would be right, exit code 2, nothing
half-written."""

import pathlib
import unittest

from cli import CliTest

RUN = {
    "--target": "gfx942",
    "--dtype": "bf16",
    "--head-dim": "64x64",
    "--heads": "2",
    "--lens": "8:8",
}


def run(without=(), **changes):
    options = {k: v for k, v in RUN.items() if k not in without}
    options.update({"--" + k.replace("_", "-"): v for k, v in changes.items()})
    return ["run", *[part for item in options.items() for part in item]]


class BadInput(CliTest):
    def refusedRun(self, *words, without=(), **changes):
        self.refused(run(without, **changes), *words)
        self.assertFalse(self.cache.exists(), "a refused run left a cache behind")

    def test_quantization(self):
        self.refusedRun("--quantize", "bf16", quantize="dynamic")
        self.refusedRun("--quantize", "best", "static", dtype="fp8", quantize="best")
        self.refusedRun("--rotate", "--quantize", dtype="fp8", rotate="3")
        self.refusedRun("--rotate", "0", dtype="fp8", quantize="unit", rotate="0")
        self.refusedRun("--distribution", "flat", "needle", distribution="flat")
        self.refusedRun("--distribution", "--quantize", dtype="fp8", distribution="needle")

    def test_no_subcommand(self):
        self.refused([], "subcommand")

    def test_unknown_subcommand(self):
        self.refused(["fly"], "fly")

    def test_unknown_flag(self):
        self.refused([*run(), "--fast"], "--fast")
        self.refused(["--fast", *run()], "--fast", "before the subcommand")

    def test_flag_with_a_value(self):
        for flag in ("--causal", "--verify", "--model-cycles"):
            self.refused([*run(), flag + "=no"], flag[2:])
            self.refused([*run(), flag, "no"], "no")

    def test_empty_values(self):
        # What a script passes when its variable is not set: never a quiet default.
        for option in ("kv_heads", "checks", "order", "seed", "chip", "device", "splits", "trace"):
            self.refusedRun("--" + option.replace("_", "-"), **{option: ""})
        for option in RUN:
            self.refusedRun(option, **{option[2:].replace("-", "_"): ""})
        for option in ("--head-dims", "--dtypes", "--causal", "--lse", "--scores", "--jobs"):
            self.refused(["build", "--targets", "gfx942", "-o", "out", option, ""], option)
        self.refused(["build", "--targets", "gfx942", "-o", ""], "--output")
        self.refused(["exec", ""], "launch")
        self.refused(["inspect", ""], "file")
        self.assertEqual(list(self.dir.iterdir()), [])

    def test_lists(self):
        self.refusedRun("--checks", "'memory,'", "empty", checks="memory,")
        self.refusedRun("'vmem-early'", "'vmem-late'", order="vmem-early,vmem-late")

    def test_emulator_variable(self):
        for text, *words in (
            ("fast", "key=value"),
            ("chip=MI999", "MI999", "MI325X"),
            ("order=sideways", "sideways", "vmem-early"),
            ("seed=-1", "-1"),
            ("checks=memory,luck", "luck"),
            ("checks=memory,,seed=1", "'memory,'", "empty"),
            ("order=lds-early,lds-late", "'lds-early'", "'lds-late'"),
            ("speed=1", "speed", "order"),
        ):
            self.refused(run(), "WAVESMITH_EMULATOR", *words, WAVESMITH_EMULATOR=text)

    def test_missing_flag(self):
        self.refusedRun("--target", without=["--target"])

    def test_unknown_target(self):
        self.refusedRun("--target", "gfx941", "gfx942", "gfx950", target="gfx941")

    def test_chip_of_another_target(self):
        self.refusedRun("--chip", "MI300X", "MI355X", target="gfx950", chip="MI300X")

    def test_unknown_dtype(self):
        self.refusedRun("--dtype", "fp7", "bf16", dtype="fp7")

    def test_half_precision(self):
        for text in ("fp16", "half"):
            self.refusedRun("--dtype", text, "bf16, f16, fp8", dtype=text)
        self.refused(
            ["build", "--targets", "gfx942", "--dtypes", "fp16", "-o", "out"],
            "--dtypes",
            "fp16",
            "bf16, f16, fp8",
        )

    def test_inputs_of_quantisers(self):
        self.refusedRun("--input", "--quantize", input="f16")
        self.refusedRun("--quantize", "fp8", "f16", dtype="f16", quantize="dynamic")
        quantised = {"dtype": "fp8", "quantize": "dynamic"}
        self.refusedRun("--input", "f32", "bf16, f16", **quantised, input="f32")
        self.refusedRun("--distribution", "16-bit", dtype="fp8", distribution="needle")

    def test_fp8_format_of_another_target(self):
        self.refusedRun("--dtype", "e4m3", "e4m3fnuz", dtype="e4m3")

    def test_head_dims(self):
        self.refusedRun("96", "192x128", head_dim="96x96")
        self.refusedRun("256x128", "256x256", head_dim="256x128")
        for text in ("", "x", "64x", "x64", "64x64x64", "-64x64", "64.0x64", "sixty", "0x0"):
            if text:
                self.refusedRun("--head-dim", text, "192x128", head_dim=text)

    def test_score_functions(self):
        for text in ("x", "-2", "1,", "1,2,3", "1.5", "16777217", "4,-2"):
            wrong = text.partition(",")[2] if "," in text else text
            self.refusedRun("--window", f'"{wrong}"', "-1 to 16777216", window=text)
        for text in ("0", "-1", "1001", "nan"):
            self.refusedRun("soft cap", text, "0.001 to 1000", soft_cap=text)
        self.refusedRun("--soft-cap", "wide", "a number", soft_cap="wide")
        build = ("build", "--targets", "gfx942", "-o", "out")
        for text in ("cap", "window+", "+sink", "window+none", "all,none", "window,,sink"):
            self.refused([*build, "--scores", text], "--scores")
        self.refused([*build, "--lse", "maybe"], "--lse", "maybe", "both")

    def test_heads(self):
        for text in ("0", "-1", "129", "two", "1.5", "99999999999999999999"):
            self.refusedRun("--heads", text, "1 to 128", heads=text)

    def test_kv_heads(self):
        self.refusedRun("heads 8", "multiple", "kv_heads 3", heads="8", kv_heads="3")
        self.refusedRun("heads 2", "multiple", "kv_heads 4", heads="2", kv_heads="4")
        self.refusedRun("--kv-heads", "0", kv_heads="0")

    def test_lengths(self):
        self.refusedRun("sequence 1", "-5", "0 or more", lens="8:8,-5:8")
        self.refusedRun("sequence 0", "-1", "0 or more", lens="8:-1")
        self.refusedRun("16777217", "16777216", lens="16777217:1")
        self.refusedRun("16777216", lens="16777216:1,1:1")
        for text in (
            "8",
            "8:",
            ":8",
            "8:8:8",
            "8:8,",
            ",8:8",
            "8:8,,8:8",
            "a:b",
            "8.0:8",
            "8:8;8:8",
        ):
            self.refusedRun("--lens", text, lens=text)

    def test_length_flags(self):
        none = ["--lens"]
        self.refusedRun("--lens", "--q-len", without=none)
        self.refusedRun("--kv-len", without=none, q_len="8")
        self.refusedRun("--q-len", without=none, kv_len="8")
        self.refusedRun("exclude", q_len="8", kv_len="8")
        self.refusedRun("--q-len", "-8", without=none, q_len="-8", kv_len="8")
        self.refusedRun("--kv-len", "many", without=none, q_len="8", kv_len="many")

    def test_emulator_flags(self):
        self.refusedRun("--checks", "magic", "races", checks="magic")
        self.refusedRun("--order", "sideways", "lockstep", order="sideways")
        for splits in ("0", "65", "-1", "two"):
            self.refused([*run(), "--splits", splits], "--splits", "64")
        self.refusedRun("--seed", "-1", seed="-1")
        self.refusedRun("--seed", "x", seed="x")
        self.refusedRun("--chip", "MI355X", "MI325X", chip="MI355X")
        self.refusedRun("--device", "gpu", "emulator", device="gpu")

    def test_trace(self):
        self.refused([*run(), "--trace", "a,b"], "--trace", "a,b", "commas")
        self.refused([*run(), "--trace", "none/t.json"], "none/t.json", "folder")
        self.assertFalse((self.dir / "t.json").exists())

    def test_subcommands_of_later_versions(self):
        for name in ("tune",):
            self.refused([name, "list", "--anything", "7"], name, "not supported yet")

    def refusedBuild(self, *words, **changes):
        options = {"targets": "gfx942", "output": "out", **changes}
        flags = [p for k, v in options.items() for p in ("--" + k.replace("_", "-"), v)]
        self.refused(["build", *flags], *words)
        self.assertFalse((self.dir / "out").exists(), "a refused build left a directory behind")

    def test_build(self):
        self.refusedBuild("gfx941", targets="gfx942,gfx941")
        self.refusedBuild("--split-kv", "maybe", split_kv="maybe")
        self.refusedBuild("--targets", targets="gfx942,")
        self.refusedBuild("e4m3fnuz", dtypes="bf16,e4m3")
        self.refusedBuild("int4", dtypes="int4")
        self.refusedBuild("80", head_dims="64x64,80x80")
        self.refusedBuild("combine", "attention, combine_splits", kernels="attention,combine")
        self.refusedBuild("gfx941", kernels="combine_splits", targets="gfx941")
        for seed in ("-1", "x", "2147483648"):
            self.refusedBuild("--rotation", seed, kernels="quantize", rotation=seed)
        self.refusedBuild("--causal", "maybe", "both", causal="maybe")
        self.refusedBuild("--jobs", "0", jobs="0")
        self.refused(["build", "--targets", "gfx942"], "--output")

    def test_help(self):
        for args in (["--help"], ["run", "--help"], ["inspect", "--help"], ["--version"]):
            code, out, err = self.wavesmith(*args)
            self.assertEqual((code, err), (0, ""))
            self.assertIn("wavesmith" if args[0].startswith("--") else "--json", out)


class BadObjects(CliTest):
    def inspect(self, data, *words):
        path = self.dir / "k.co"
        path.write_bytes(data)
        self.refused(["inspect", "k.co"], "k.co", *words)

    def test_unreadable(self):
        self.refused(["inspect", "no/such.co"], "no/such.co")
        self.refused(["inspect", "."], ".")

    def test_foreign(self):
        self.inspect(b"")
        self.inspect(b"\x7fELF")
        self.inspect(b"not an object at all, just some text" * 50)
        self.inspect(pathlib.Path("/bin/true").read_bytes())

    def test_annotate(self):
        self.refused(["inspect", "k.co", "--annotate"], "k.co")


if __name__ == "__main__":
    unittest.main()
