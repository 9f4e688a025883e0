"""wavesmith cache: lists, verifies and makes room, and leaves alone what is not ours."""

import os
import shutil
import time
import unittest

from cli import BINARY, ENVIRONMENT, FAILED, FINE, HAVE_COMPILER, CliTest

BUILD = ("build", "--targets", "gfx942", "--kernels", "combine_splits", "-o", "out")
KERNELS = 12  # three value dims, with lse and without, to bf16 and f16


class Empty(CliTest):
    def test_nothing_there(self):
        self.assertEqual(self.json("cache-list", "cache", "list")["files"], [])
        self.assertEqual(self.json("cache-verify", "cache", "verify")["entries"], 0)
        for action in ("prune", "clear"):
            self.assertEqual(self.json("cache-prune", "cache", action)["removed_files"], 0)
        self.assertFalse(self.cache.exists(), "looking makes nothing")

    def test_refused(self):
        self.refused(["cache", "show"], "show", "list, verify, prune, clear")
        self.refused(["cache", "list", "--size", "3"], "--size", "prune")
        self.refused(["cache", "prune", "--size", "much"], "--size", "much", "500M")
        self.refused(["cache", "list"], "WAVESMITH_CACHE_DIR=off", WAVESMITH_CACHE_DIR="off")
        self.refused(["cache", "list"], "WAVESMITH_CACHE_SIZE", WAVESMITH_CACHE_SIZE="x")

    def test_open_to_others(self):
        self.cache.mkdir()
        self.cache.chmod(0o777)
        for action in ("list", "verify", "prune", "clear"):
            self.refused(["cache", action], "chmod 700", code=ENVIRONMENT)


@unittest.skipUnless(HAVE_COMPILER, "this build has no compiler")
class Cache(CliTest):
    def setUp(self):
        super().setUp()
        self.built = self.json("build", *BUILD)["kernels"]
        (self.cache / "notes.txt").write_text("mine")

    def entries(self):
        files = self.json("cache-list", "cache", "list")["files"]
        return [f for f in files if f["kind"] == "entry"]

    def test_list_and_verify(self):
        listed = self.json("cache-list", "cache", "list")
        self.assertEqual([f["file"] for f in listed["files"] if f["kind"] == "foreign"], ["notes.txt"])
        entries = self.entries()
        self.assertEqual({e["name"] for e in entries}, {k["name"] for k in self.built})
        self.assertEqual({e["build_key"] for e in entries}, {k["build_key"] for k in self.built})
        self.assertTrue(all(e["current"] and not e["verified"] for e in entries))
        self.assertEqual(listed["bytes"], sum(e["bytes"] for e in entries))
        self.assertEqual(self.json("cache-verify", "cache", "verify")["entries"], KERNELS)
        path = self.cache / entries[0]["file"]
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
        code, out, err = self.wavesmith("cache", "verify")
        self.assertEqual((code, err), (FAILED, ""))
        self.assertIn(path.name, out)
        (problem,) = self.json("cache-verify", "cache", "verify", code=FAILED)["problems"]
        self.assertEqual(problem["file"], path.name)
        # Looking set nothing aside; using it does, and makes it anew.
        self.assertTrue(path.exists())
        rebuilt = self.json("build", *BUILD[:-1], "again")["kernels"]
        self.assertEqual([k["provider"] for k in rebuilt].count("jit"), 1)
        (problem,) = self.json("cache-verify", "cache", "verify", code=FAILED)["problems"]
        self.assertIn("set aside", problem["message"])
        self.json("cache-prune", "cache", "prune", "--size", str(10**6))
        self.assertEqual(len(self.entries()), KERNELS)

    def test_prune_takes_the_oldest(self):
        entries = self.entries()
        now = time.time()
        for age, entry in enumerate(entries):
            os.utime(self.cache / entry["file"], (now - 1000 * age, now - 1000 * age))
        self.assertEqual([e["file"] for e in self.entries()], [e["file"] for e in entries])
        keep = sum(e["bytes"] for e in entries[:2])
        pruned = self.json("cache-prune", "cache", "prune", "--size", str(keep))
        self.assertEqual(pruned["removed_files"], KERNELS - 2)
        self.assertEqual(pruned["removed_bytes"], sum(e["bytes"] for e in entries[2:]))
        self.assertEqual([e["file"] for e in self.entries()], [e["file"] for e in entries[:2]])

    def test_bound_of_the_environment(self):
        size = str(sum(e["bytes"] for e in self.entries()[:3]))
        self.json("cache-prune", "cache", "prune", WAVESMITH_CACHE_SIZE=size)
        self.assertLessEqual(len(self.entries()), 3)

    def test_outdated(self):
        templates = self.dir / "templates"
        shutil.copytree(BINARY.parents[2] / "templates", templates)
        with open(templates / "combine_splits.mlir", "a") as file:
            file.write("// another text\n")
        other = {"WAVESMITH_TEMPLATE_DIR": str(templates)}
        self.json("build", *BUILD[:-1], "other", **other)
        entries = self.entries()
        self.assertEqual([e["current"] for e in entries].count(True), KERNELS)
        self.assertEqual(len(entries), 2 * KERNELS)
        pruned = self.json("cache-prune", "cache", "prune", "--outdated", **other)
        self.assertEqual(pruned["removed_files"], KERNELS)
        self.assertEqual([e["current"] for e in self.entries()].count(False), KERNELS)
        self.json("cache-prune", "cache", "prune", "--outdated")
        self.assertEqual(self.entries(), [])

    def test_clear_leaves_what_is_not_ours(self):
        (self.cache / ".tmp-0123").write_text("a killed writer's")
        cleared = self.json("cache-prune", "cache", "clear")
        self.assertEqual(cleared["removed_files"], KERNELS + 1)
        self.assertEqual(os.listdir(self.cache), ["notes.txt"])
        code, _, err = self.wavesmith("cache", "list")
        self.assertEqual((code, err), (FINE, ""))


if __name__ == "__main__":
    unittest.main()
