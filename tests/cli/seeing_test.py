"""What a kernel did: traces, annotated listings, coverage; and the page that explains them."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import unittest

import schema
from cli import BINARY, DATA, FAILED, HAVE_COMPILER, HAVE_LLVM, CliTest

ROOT = schema.SCHEMAS.parents[1]
LAUNCH = {
    "object": "k.co",
    "kernel": "scale",
    "grid": [2, 1, 1],
    "block": [64, 1, 1],
    "buffers": {"in": {"bytes": 512, "fill": "zero"}, "out": {"bytes": 512, "out": "out.bin"}},
    "args": [{"buffer": "in"}, {"buffer": "out"}, {"f32": 3.0}],
}
RUN = ["run", "--target", "gfx942", "--dtype", "bf16", "--head-dim", "64x64", "--heads", "1"]
RUN += ["--q-len", "64", "--kv-len", "128"]


class Seeing(CliTest):
    def check_trace(self, path):
        """Slices of a track do not overlap, counters are not negative; the events."""
        root = json.loads((self.dir / path).read_text())
        tracks = {}
        for event in root["traceEvents"]:
            if event["ph"] == "X":
                tracks.setdefault((event["pid"], event["tid"]), []).append(event)
            elif event["ph"] == "C":
                self.assertGreaterEqual(event["args"]["value"], 0)
        for slices in tracks.values():
            slices.sort(key=lambda e: e["ts"])
            for before, after in zip(slices, slices[1:], strict=False):
                self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + 2e-6)
        self.assertTrue(tracks)
        self.assertEqual([p for p in self.dir.iterdir() if "partial" in p.name], [])
        return root["traceEvents"]


@unittest.skipUnless(HAVE_LLVM, "llvm-mc and ld.lld are not installed")
class AnyKernel(Seeing):
    def setUp(self):
        super().setUp()
        self.assemble((DATA / "scale.s").read_text())
        self.put()

    def put(self, **changes):
        (self.dir / "launch.json").write_text(json.dumps(LAUNCH | changes))

    def test_trace(self):
        report = self.json("exec", "exec", "launch.json", "--trace", "t.json")
        self.assertEqual((report["trace"]["file"], report["trace"]["complete"]), ("t.json", True))
        self.assertIsNotNone(report["launches"][0]["modelled"])
        events = self.check_trace("t.json")
        self.assertEqual(len(events), report["trace"]["events"])
        texts = {e["args"]["text"] for e in events if e.get("cat") == "instruction"}
        self.assertIn("global_load_dword v1, v0, s[4:5]", texts)
        stalls = {e["name"] for e in events if e.get("cat") == "stall"}
        self.assertLessEqual({"scalar-memory", "vector-memory"}, stalls)
        _, out, _ = self.wavesmith("exec", "launch.json", "--trace", "t.json")
        self.assertIn("ui.perfetto.dev", out)

    def test_trace_by_variable(self):
        settings = {"WAVESMITH_EMULATOR": "trace=v.json,trace_mib=1"}
        report = self.json("exec", "exec", "launch.json", **settings)
        self.assertEqual(report["trace"]["file"], "v.json")
        self.check_trace("v.json")

    def test_trace_that_cannot_be_written(self):
        self.refused(["exec", "launch.json", "--trace", "no/t.json"], "no/t.json", "folder")
        self.refused(["exec", "launch.json", "--trace", "."], "trace file", ".")
        self.refused(["exec", "launch.json", "--trace", "a,b"], "a,b", "commas")

    def test_annotate_counts_what_ran(self):
        one = {k: LAUNCH[k] for k in ("kernel", "grid", "block", "args")}
        rest = {k: LAUNCH[k] for k in ("object", "buffers")}
        for document in (LAUNCH, rest | {"launches": [one, one | {"grid": [1, 1, 1]}]}):
            (self.dir / "launch.json").write_text(json.dumps(document))
            coverage = self.json("exec", "exec", "launch.json", "--coverage")["coverage"]
            counts = {row["pc"]: row["count"] for row in coverage if row["count"]}
            self.assertEqual(set(counts.values()), {2 if document is LAUNCH else 3})
            seen = self.json("inspect", "inspect", "k.co", "--annotate", "launch.json")
            (kernel,) = seen["kernels"]
            lines = {line["pc"]: line["annotated"] for line in kernel["disassembly"]}
            self.assertEqual({pc: a["count"] for pc, a in lines.items() if a["count"]}, counts)
            for line in lines.values():
                self.assertGreaterEqual(line["cycles"], 4 * line["replayed"])
                self.assertLessEqual(sum(line["stalls"].values()), line["cycles"])
        waits = [line for line in lines.values() if "vector-memory" in line["stalls"]]
        self.assertGreater(max(w["stalls"]["vector-memory"] for w in waits), 500)

    def test_annotate_text(self):
        (self.dir / "out.bin").unlink(missing_ok=True)
        code, out, err = self.wavesmith("inspect", "k.co", "--annotate", "launch.json")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"> +2 +\d+ +[\d.]+ %  vector-memory \d+ % .*s_waitcnt vmcnt\(0\)")
        self.assertFalse((self.dir / "out.bin").exists(), "looking left a file")

    def test_annotate_names_source_lines(self):
        first, rest = (DATA / "scale.s").read_text().split("\nscale:\n", 1)
        body = rest.replace("  s_endpgm", "  .loc 1 9 3\n  s_endpgm")
        self.assemble(f'.file 1 "src" "k.cl"\n{first}\nscale:\n  .loc 1 7 5\n{body}')
        code, out, err = self.wavesmith("inspect", "k.co", "--annotate", "launch.json")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(re.findall(r"; (src/k\.cl:.*)", out), ["src/k.cl:7:5", "src/k.cl:9:3"])
        self.assertRegex(out, r"; src/k\.cl:9:3\n.* s_endpgm")
        (kernel,) = self.json("inspect", "inspect", "k.co")["kernels"]
        sources = [line["source"] for line in kernel["disassembly"]]
        self.assertEqual(sources[-1], "src/k.cl:9:3")
        self.assertEqual(set(sources[:-1]), {"src/k.cl:7:5"})

    def test_annotate_refuses(self):
        self.refused(["inspect", "k.co", "--annotate"], "k.co", "LAUNCH.json")
        self.refused(["inspect", "k.co", "--annotate", "none.json"], "none.json")
        self.assemble((DATA / "scale.s").read_text().replace("s_endpgm", "s_nop 0\n  s_endpgm"), "o.co")
        self.refused(["inspect", "o.co", "--annotate", "launch.json"], "k.co", "another object")

    def test_annotate_tells_of_faults(self):
        self.put(grid=[3, 1, 1])
        seen = self.json("inspect", "inspect", "k.co", "--annotate", "launch.json", code=FAILED)
        self.assertIn("global_load_dword", seen["faults"][0])

    def test_picture(self):
        self.json("exec", "exec", "launch.json", "--trace", "t.json")
        script = ROOT / "scripts" / "trace_picture.py"
        command = [sys.executable, script, "t.json", "t.svg", "--clocks", "800"]
        subprocess.run(command, check=True, cwd=self.dir)
        picture = (self.dir / "t.svg").read_text()
        for text in ("SIMD 0 wave 0", "loads in flight", "vector-memory"):
            self.assertIn(text, picture)


@unittest.skipUnless(HAVE_COMPILER, "built without the compiler")
class OurKernel(Seeing):
    def test_run(self):
        report = self.json("run", *RUN, "--coverage", "--trace", "t.json")
        executed = sum(row["count"] for row in report["coverage"])
        self.assertEqual(executed, report["emulated"]["instructions"])
        events = self.check_trace("t.json")
        self.assertIn("matrix", {e["name"] for e in events if e.get("cat") == "instruction"})
        for field in ("clock_mhz", "sustained_mhz", "cold_cycles"):
            self.assertGreater(report["modelled"][field], 0)
        self.assertEqual(report["modelled"]["dtype"], "bf16")
        _, out, _ = self.wavesmith(*RUN, "--coverage", "--model-cycles")
        self.assertRegex(out, r"us at 2100 MHz, .* MHz \(sustained, bf16\)")
        self.assertIn("v_mfma", out)

    def test_annotate_without_a_launch_file(self):
        self.json("build", "build", "--targets", "gfx942", "--head-dims", "64x64", "-o", "k")
        (path, *_) = sorted((self.dir / "k").glob("*.co"))
        seen = self.json("inspect", "inspect", path, "--annotate")
        counts = [i["annotated"]["count"] for i in seen["kernels"][0]["disassembly"]]
        self.assertGreater(max(counts), 100)


@unittest.skipUnless(HAVE_LLVM and shutil.which("clang-22"), "needs clang-22 and ld.lld")
class Readme(CliTest):
    """emulator/README.md: a kernel from source to verdict, typed as it stands."""

    def test_commands(self):
        text = (ROOT / "emulator" / "README.md").read_text()

        def block(language):
            return re.search(rf"^```{language}\n(.*?)^```$", text, re.M | re.S).group(1)

        (self.dir / "scale.cl").write_text(block("c"))
        launch = block("json")
        (self.dir / "launch.json").write_text(launch)
        outputs = []
        for line in block("sh").splitlines():
            words = shlex.split(line, comments=True)
            if words[0] == "wavesmith":
                words[0] = BINARY
            done = subprocess.run(
                words, cwd=self.dir, env=self.env, capture_output=True, text=True, check=False
            )
            self.assertEqual(done.returncode, 0, f"{line}\n{done.stderr}{done.stdout[-2000:]}")
            outputs.append(done.stdout)
        self.assertEqual(len(outputs), 5)
        self.assertTrue(outputs[1].endswith("result     clean\n"), outputs[1])
        self.assertEqual((self.dir / "out.bin").read_bytes(), bytes(512))
        self.assertTrue((self.dir / "trace.json").exists())
        # And with the mistake that the page shows.
        (self.dir / "launch.json").write_text(launch.replace("[2, 1, 1]", "[3, 1, 1]"))
        code, out, _ = self.wavesmith("exec", "launch.json")
        self.assertEqual(code, FAILED)
        told = re.search(r"^fault +(memory: scale\+0x\w+: .*?lane 0\]: load of 4 bytes)", text, re.M)
        self.assertIn(told.group(1), out)


if __name__ == "__main__":
    unittest.main()
