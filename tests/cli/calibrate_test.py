"""wavesmith calibrate: from shards to scales, and what it says of both."""

import shutil
import struct
import subprocess
import unittest

import calibrations
from cli import BINARY, DATA, ENVIRONMENT, FAILED, FINE, CliTest

SAMPLE = DATA / "published_scales.safetensors"


def float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def descale(amax, largest=240.0):
    return float32(float32(amax * float32(1.1)) / largest)


class Calibrate(CliTest):
    def setUp(self):
        super().setUp()
        self.shards = calibrations.write_ours(self.dir / "shards")

    def merge(self, *options, shards="shards", output="s.safetensors", **more):
        return self.json("calibrate-merge", "calibrate", "merge", shards, output, *options, **more)

    def show(self, *files):
        return self.json("calibrate-show", "calibrate", "show", *files)["files"]

    def test_merge_and_show(self):
        merged = self.merge()
        self.assertEqual((merged["layers"], merged["heads"], merged["tp_size"]), (3, 4, 2))
        self.assertEqual(merged["fp8_dtype"], "float8_e4m3fnuz")
        (shown,) = self.show("s.safetensors")
        self.assertEqual(shown["sha256"], merged["sha256"])
        self.assertEqual((shown["kind"], shown["schema"]), ("artifact", "wavesmith-1"))
        self.assertEqual(shown["fields"]["checkpoint_id"], calibrations.COMMIT)
        self.assertEqual(shown["fields"]["tokens"], "5000")
        self.assertEqual([row["index"] for row in shown["layers"]], list(calibrations.LAYERS))
        for row in shown["layers"]:
            for which in "qkv":
                want = [calibrations.maximum(row["index"], which, head) for head in range(4)]
                self.assertEqual(row["amax"][which], want)
                self.assertEqual(row["descale"][which], [descale(amax) for amax in want])
        # The same files one by one, in another order.
        files = sorted((self.dir / "shards").iterdir(), reverse=True)
        code, out, err = self.wavesmith("calibrate", "merge", *files, "again.safetensors")
        self.assertEqual((code, err), (FINE, ""))
        self.assertIn("3 layers", out)
        again, first = ((self.dir / f).read_bytes() for f in ("again.safetensors", "s.safetensors"))
        self.assertEqual(again, first)
        code, out, err = self.wavesmith("calibrate", "show", "s.safetensors", files[0])
        self.assertEqual((code, err), (FINE, ""))
        self.assertRegex(out, r"(?m)^  +5 .*model\.layers\.5\.self_attn\.attn$")

    def test_published_shards(self):
        calibrations.write_published(self.dir / "published")
        merged = self.merge("--schema", "1", shards="published", output="p.safetensors")
        self.assertEqual((merged["schema"], merged["margin"]), ("1", 1.1))
        (shown,) = self.show("p.safetensors")
        (row,) = [row for row in shown["layers"] if row["index"] == 5]
        want = [descale(calibrations.maximum(5, "v", head)) for head in range(4)]
        self.assertEqual(row["descale"]["v"], want)
        self.assertIsNone(row["amax"])
        self.refused(
            ["calibrate", "merge", "published", "x.safetensors", "--layers", "61"],
            *("asked for is 61", "0, 2, 5"),
        )

    def test_sample_of_the_published_schema(self):
        (shown,) = self.show(SAMPLE)
        self.assertEqual((shown["schema"], shown["fields"]["margin"]), ("1", "not stated"))
        shutil.copy(SAMPLE, self.dir / "in.safetensors")
        for tp in ("4", "2"):
            source = "in.safetensors" if tp == "4" else "4.safetensors"
            args = ("calibrate", "reshard", source, f"{tp}.safetensors", "--tp", tp)
            self.json("calibrate-merge", *args)
        self.json("calibrate-diff", "calibrate", "diff", SAMPLE, "2.safetensors")

    def test_options_of_merge(self):
        self.merge("--fp8", "e4m3", "--margin", "1.25", output="ocp.safetensors")
        (shown,) = self.show("ocp.safetensors")
        self.assertEqual(shown["fields"]["fp8_dtype"], "float8_e4m3fn")
        value = shown["layers"][0]["descale"]["q"][0]
        self.assertEqual(value, float32(0.75 * 1.25 / 448))
        for flag, wrong, *words in (
            ("--schema", "2", "wavesmith-1", "1"),
            ("--fp8", "e5m2", "e4m3fnuz", "e4m3"),
            ("--margin", "x", "--margin"),
            ("--margin", "0.5", "margin is 0.5"),
            ("--percentile", "0", "percentile is 0"),
            ("--percentile", "99", "has no q_histogram"),
            ("--layers", "0", "--layers"),
            ("--tp", "2", "belongs to reshard and verify, not to merge"),
            ("--target", "gfx942", "belongs to verify"),
        ):
            args = ["calibrate", "merge", "shards", "x.safetensors", flag, wrong]
            self.refused(args, *words)
        self.assertFalse((self.dir / "x.safetensors").exists())

    def test_what_is_no_whole_calibration(self):
        args = ["calibrate", "merge", "shards", "s.safetensors"]
        self.merge()
        before = (self.dir / "s.safetensors").read_bytes()
        first, *_, last = sorted(self.shards.iterdir())
        text = last.read_text()
        last.unlink()
        self.refused(args, "no shard of rank pp 1, tp 1")
        last.write_text(calibrations.sealed(calibrations.ours(1, 1, (5,), calibration_id="b")))
        self.refused(args, last.name, "calibration_id is b", first.name, "run-a")
        last.write_text(text.replace("5000", "5001"))
        self.refused(args, last.name, "sha256", "damaged or edited")
        last.write_text(text[: len(text) // 2])
        self.refused(args, last.name, "is no JSON")
        last.write_text(text)
        shutil.copy(last, self.shards / "copy.json")
        self.refused(args, "copy.json", last.name, "both of rank pp 1, tp 1")
        self.assertEqual((self.dir / "s.safetensors").read_bytes(), before, "errors write nothing")

    def test_the_output_is_no_shard(self):
        shards = sorted(self.shards.iterdir())
        before = shards[-1].read_bytes()
        self.refused(["calibrate", "merge", *shards], shards[-1].name, "NAME.safetensors")
        self.assertEqual(shards[-1].read_bytes(), before)
        self.refused(["calibrate", "merge", "s.safetensors"], "s.safetensors", "to write")
        self.refused(["calibrate", "merge", "shards", "none/s.safetensors"], "none")
        (self.dir / "empty").mkdir()
        self.refused(["calibrate", "merge", "empty", "s.safetensors"], "empty has no file *.json")
        self.refused(["calibrate", "merge", "missing.json", "s.safetensors"], "missing.json")

    def verify(self, *args, code=FINE):
        files = self.json("calibrate-verify", "calibrate", "verify", *args, code=code)["files"]
        return [file["problem"] for file in files]

    def test_verify(self):
        self.merge()
        shard = next(self.shards.iterdir())
        self.assertEqual(self.verify("s.safetensors", shard, SAMPLE), [None, None, None])
        self.assertEqual(self.verify("s.safetensors", "--target", "gfx942", "--tp", "2"), [None])
        (problem,) = self.verify("s.safetensors", "--target", "gfx950", code=FAILED)
        self.assertRegex(problem, "fp8_dtype is float8_e4m3fnuz, --target gfx950 has float8_e4m3fn")
        (problem,) = self.verify("s.safetensors", "--tp", "8", code=FAILED)
        self.assertRegex(problem, "tp_size is 2, --tp asks for 8")
        data = bytearray((self.dir / "s.safetensors").read_bytes())
        data[-1] ^= 1
        (self.dir / "s.safetensors").write_bytes(data)
        problems = self.verify(SAMPLE, "s.safetensors", code=FAILED)
        self.assertIsNone(problems[0])
        self.assertRegex(problems[1], "s.safetensors: .*damaged or edited")
        self.refused(["calibrate", "show", "s.safetensors"], "damaged or edited")
        self.refused(["calibrate", "verify", "none.safetensors"], "none.safetensors")
        self.refused(["calibrate", "verify", SAMPLE, "--target", "gfx941"], "gfx941", "gfx950")

    def test_reshard(self):
        self.merge()
        self.json("calibrate-merge", "calibrate", "reshard", "s.safetensors", "4.safetensors",
                  "--tp", "4", "--pp", "1")  # fmt: skip
        one, other = self.show("s.safetensors", "4.safetensors")
        self.assertEqual(one["layers"], other["layers"])
        self.assertEqual(other["fields"]["tp_size"], "4")
        for args, *words in (
            (["s.safetensors", "x.safetensors"], "--tp"),
            (["s.safetensors", "x.safetensors", "--tp", "3"], "heads is 4", "tp_size", "3"),
            (["s.safetensors", "x.safetensors", "--tp", "0"], "--tp"),
            (["s.safetensors", "x", "--tp", "1"], "NAME.safetensors"),
            (["s.safetensors", "4.safetensors", "x.safetensors", "--tp", "1"], "3 files"),
        ):
            self.refused(["calibrate", "reshard", *args], *words)
        self.assertFalse((self.dir / "x.safetensors").exists())

    def test_diff(self):
        self.merge()
        self.merge("--margin", "1.2", output="b.safetensors")
        diff = ("calibrate", "diff", "s.safetensors")
        same = self.json("calibrate-diff", *diff, "s.safetensors")
        self.assertEqual((same["fields"], same["values"]), ([], []))
        found = self.json("calibrate-diff", *diff, "b.safetensors", code=FAILED)
        self.assertEqual(found["fields"], [{"name": "margin", "a": "1.1", "b": "1.2"}])
        self.assertEqual(len(found["values"]), 9)
        self.assertEqual({row["heads"] for row in found["values"]}, {4})
        code, out, _ = self.wavesmith(*diff, "b.safetensors")
        self.assertEqual(code, FAILED)
        self.assertRegex(out, r"layer 5 v: 4 heads differ, .*\(\+9\.09 %\)")
        self.refused([*diff], "diff compares 2 artifacts, 1 are given")

    def test_refused(self):
        self.refused(["calibrate", "mend", "x"], "mend", "merge, show, verify, reshard, diff")
        self.refused(["calibrate", "merge"], "files")

    def test_no_space(self):
        self.merge()
        before = (self.dir / "s.safetensors").read_bytes()
        # A file may not grow beyond one block: as a full disk.
        script = 'ulimit -f 1; exec "$0" calibrate merge shards s.safetensors --margin 2'
        done = subprocess.run(
            ["bash", "-c", script, BINARY], cwd=self.dir, env=self.env, capture_output=True
        )
        self.assertEqual(done.returncode, ENVIRONMENT, done.stderr)
        self.assertEqual((self.dir / "s.safetensors").read_bytes(), before)
        self.assertEqual([p.name for p in self.dir.glob(".tmp-*")], [])


if __name__ == "__main__":
    unittest.main()
