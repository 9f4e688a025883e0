"""Saving shards and scales under failing disks and killed processes: the file is the older or the
newer one, whole, whatever happens."""

import errno
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

WORKER = os.environ["WAVESMITH_SCALE_WORKER"]
PRELOAD = os.environ["WAVESMITH_FAILING_CALLS"]
SANITIZED = os.environ.get("WAVESMITH_SANITIZER", "") != ""
SEED = int(os.environ.get("WAVESMITH_SEED", "7"))
KILLS = 200


class ScaleFaults(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="wavesmith-fault-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.path = self.dir / "saved"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("WAVESMITH_")}

    def start(self, kind, *args, **env):
        return subprocess.Popen(
            [WORKER, kind, self.path, *map(str, args)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**self.env, **env},
        )

    def contents(self):
        return [self.path.with_name(f"saved.{letter}").read_bytes() for letter in "ab"]

    def test_killed_at_any_moment(self):
        draw = random.Random(SEED)
        for kind in ("shard", "artifact"):
            with self.subTest(kind):
                seen = [0, 0]
                for _ in range(KILLS // 2):
                    process = self.start(kind)
                    self.assertEqual(process.stdout.readline(), "ready\n")
                    # After some saves, at any moment of the next: by this machine's own pace.
                    saves, start = draw.randint(1, 4), time.monotonic()
                    for _ in range(saves):
                        self.assertEqual(process.stdout.readline(), "saved\n")
                    time.sleep(draw.uniform(0, (time.monotonic() - start) / saves))
                    process.send_signal(signal.SIGKILL)
                    process.communicate()
                    self.assertEqual(process.returncode, -signal.SIGKILL)
                    both = self.contents()
                    self.assertNotEqual(*both)
                    data = self.path.read_bytes()
                    self.assertIn(data, both, f"half a file (seed {SEED})")
                    seen[both.index(data)] += 1
                self.assertGreater(min(seen), 0, "both contents were found")
        # Some were killed between the first byte and the rename: the test reached the moment.
        self.assertGreater(len(list(self.dir.glob(".tmp-*"))), 0)

    @unittest.skipIf(SANITIZED, "the sanitizer's runtime must be loaded first")
    def test_failing_calls(self):
        for kind in ("shard", "artifact"):
            process = self.start(kind, "a")
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
            older = self.path.read_bytes()
            for call, number in (
                ("open", errno.EACCES),
                ("openat", errno.ENOSPC),
                ("openat", errno.EROFS),
                ("write", errno.ENOSPC),
                ("write", errno.EIO),
                ("fsync", errno.EIO),
                ("renameat", errno.EIO),
                ("renameat", errno.ENOSPC),
            ):
                with self.subTest(kind, call=call, errno=errno.errorcode[number]):
                    fault = {"FAULT": f"{call}:{number}:0", "FAULT_PREFIX": str(self.dir)}
                    process = self.start(kind, "b", LD_PRELOAD=PRELOAD, **fault)
                    _, err = process.communicate(timeout=60)
                    self.assertEqual(process.returncode, 1, "the failure is reported")
                    self.assertIn(str(self.dir), err)
                    self.assertIn(os.strerror(number), err)
                    self.assertEqual(self.path.read_bytes(), older, "the older file stays")
                    self.assertEqual(list(self.dir.glob(".tmp-*")), [], "and nothing else")
            process = self.start(kind, "b")
            process.communicate(timeout=60)
            self.assertNotEqual(self.path.read_bytes(), older)


if __name__ == "__main__":
    unittest.main()
