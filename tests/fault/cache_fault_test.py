"""The disk cache under failing disks, hostile neighbours and killed processes. Whatever happens, every
process gets the right kernel, and nothing half-written or foreign is ever loaded."""

import errno
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

WORKER = os.environ["WAVESMITH_CACHE_WORKER"]
PRELOAD = os.environ["WAVESMITH_FAILING_CALLS"]
SANITIZED = os.environ.get("WAVESMITH_SANITIZER", "") != ""
KILLS = int(os.environ.get("WAVESMITH_KILLS", "50"))
LONG = KILLS > 50

MAGIC = b"WSMITHOB"
READS = ("fstat", "read", "utimensat")
BOTH = ("openat", "fstatat")


def namespaces(*flags):
    """The command that runs another in namespaces of its own, or None where that is not permitted."""
    command = ["unshare", "--user", "--map-root-user", *flags]
    try:
        done = subprocess.run([*command, "true"], capture_output=True, timeout=20)
    except OSError:
        return None
    return command if done.returncode == 0 else None


class CacheFaults(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="wavesmith-fault-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.cache = self.dir / "cache"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("WAVESMITH_")}

    def start(self, *args, cache=None, prefix=(), **env):
        command = [*prefix, WORKER, cache or self.cache, *args]
        return subprocess.Popen(
            [str(word) for word in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**self.env, **env},
        )

    def finish(self, process):
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        return json.loads(out)

    def work(self, *args, **more):
        return self.finish(self.start(*args, **more))

    def entries(self):
        return sorted(self.cache.glob("*.wsobj"))

    def whole(self, count):
        """Every entry that is there is good: a process that takes all finds none damaged."""
        done = self.work(0, count, 0)
        self.assertEqual(done["damaged"], 0)
        return done

    @unittest.skipIf(SANITIZED, "the sanitizer's runtime must be loaded first")
    def test_failing_calls(self):
        calls = (
            ("open", (errno.EIO, errno.ESTALE, errno.EACCES, errno.EMFILE)),
            ("openat", (errno.EIO, errno.ESTALE, errno.EBUSY, errno.ENOSPC, errno.EMFILE)),
            ("mkdir", (errno.EIO, errno.ENOSPC, errno.EROFS)),
            ("renameat", (errno.EIO, errno.ESTALE, errno.EBUSY, errno.ENOSPC)),
            ("unlinkat", (errno.EIO, errno.ESTALE, errno.EBUSY)),
            ("fstatat", (errno.EIO, errno.ESTALE)),
            ("fstat", (errno.EIO, errno.ESTALE)),
            ("fsync", (errno.EIO, errno.ENOSPC, errno.EINVAL)),
            ("read", (errno.EIO, errno.ESTALE, errno.EINTR)),
            ("write", (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EINTR)),
            ("fcntl", (errno.EIO, errno.ENOLCK, errno.EINTR)),
            ("utimensat", (errno.EROFS,)),
        )
        hit = set()
        seen = self.dir / "seen"
        for call, numbers in calls:
            for number in numbers:
                for count in (1, 2, 0) if LONG else (1, 0):
                    if count == 0 and number == errno.EINTR:
                        continue  # for ever interrupted is no fault of a disk
                    # A cold cache is written, a warm one read; few calls fail in both.
                    for warm in (False, True) if LONG or call in BOTH else (call in READS,):
                        with self.subTest(call=call, errno=errno.errorcode[number], count=count):
                            shutil.rmtree(self.cache, ignore_errors=True)
                            if warm:
                                self.work(0, 2, 0)
                                past = time.time() - 1000
                                for entry in self.entries():
                                    os.utime(entry, (past, past))
                            seen.unlink(missing_ok=True)
                            self.work(
                                *(0, 2, 0),
                                LD_PRELOAD=PRELOAD,
                                FAULT=f"{call}:{number}:{count}",
                                FAULT_PREFIX=str(self.cache),
                                FAULT_SEEN=str(seen),
                            )
                            if seen.exists():
                                hit.add((call, number))
                            self.whole(2)
                            if LONG:
                                self.assertEqual(self.whole(2)["disk"], 2)
        self.assertEqual(hit, {(call, number) for call, numbers in calls for number in numbers})

    @unittest.skipIf(SANITIZED, "the sanitizer's runtime must be loaded first")
    def test_cleared_while_writing(self):
        """`wavesmith cache clear` may take a file on its way: it is written again."""
        gone = f"renameat:{errno.ENOENT}:1"
        self.work(0, 1, 0, LD_PRELOAD=PRELOAD, FAULT=gone, FAULT_PREFIX=str(self.cache))
        self.assertEqual(len(self.entries()), 1)

    @unittest.skipIf(SANITIZED, "the sanitizer's runtime must be loaded first")
    def test_network_errors_that_pass_lose_nothing(self):
        """ESTALE and EBUSY are what NFS says when another machine replaced a file: tried again."""
        for call in ("open", "openat", "renameat", "unlinkat", "fsync", "read"):
            for number in (errno.ESTALE, errno.EBUSY):
                with self.subTest(call=call, errno=errno.errorcode[number]):
                    shutil.rmtree(self.cache, ignore_errors=True)
                    self.cache.mkdir(mode=0o700)
                    fault = {"FAULT": f"{call}:{number}:2", "FAULT_PREFIX": str(self.cache)}
                    self.work(0, 1, 0, LD_PRELOAD=PRELOAD, **fault)
                    self.assertEqual(len(self.entries()), 1)
                    done = self.work(0, 1, 0, LD_PRELOAD=PRELOAD, **fault)
                    self.assertEqual((done["disk"], done["damaged"]), (1, 0))

    def test_killed_at_any_moment(self):
        seed = int(os.environ.get("WAVESMITH_SEED", "7"))
        draw = random.Random(seed)
        killed = 0
        for _ in range(KILLS):
            # Evicts and makes anew all the time: every file of the cache is in the air.
            process = self.start(0, 3, 1, 0, 90_000)
            time.sleep(draw.uniform(0.002, 0.08))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
            self.whole(3)
        self.assertEqual(killed, KILLS, f"seed {seed}")
        start = time.monotonic()
        self.whole(3)
        self.assertLess(time.monotonic() - start, 5, "no lock outlives its holder")

    def test_64_processes_one_key(self):
        done = [self.finish(p) for p in [self.start(0, 1, 100) for _ in range(64)]]
        self.assertEqual(sum(d["jit"] for d in done), 1)
        self.assertEqual(sum(d["disk"] for d in done), 63)
        self.assertEqual(sum(d["damaged"] for d in done), 0)

    def test_64_processes_64_keys(self):
        done = [self.finish(p) for p in [self.start(i, 1, 20) for i in range(64)]]
        self.assertEqual(sum(d["jit"] for d in done), 64)
        self.assertEqual(len(self.entries()), 64)
        done = [self.finish(p) for p in [self.start(0, 64, 0) for _ in range(4)]]
        self.assertEqual(sum(d["disk"] for d in done), 256)

    def test_eviction_under_readers(self):
        evictor = self.start(0, 4, 0, 0, 90_000)
        readers = [self.start(0, 4, 0, 60) for _ in range(3)]
        for reader in readers:
            self.assertEqual(self.finish(reader)["damaged"], 0)
        evictor.kill()
        evictor.communicate()
        self.whole(4)

    def test_two_containers_with_the_same_process_ids(self):
        prefix = namespaces("--pid", "--fork")
        if not prefix:
            self.skipTest("no user and PID namespaces here")
        done = [
            self.finish(p) for p in [self.start(0, 1, 300, prefix=prefix) for _ in range(2)]
        ]
        self.assertEqual([d["pid"] for d in done], [1, 1])
        self.assertEqual(sum(d["jit"] for d in done), 1, "one waited for the other")

    def test_full_disk(self):
        prefix = namespaces("--mount")
        if not prefix:
            self.skipTest("no user and mount namespaces here")
        self.cache.mkdir()
        script = (
            'mount -t tmpfs -o size=100k,mode=700 none "$1" && "$0" "$1" 0 20 0 > /dev/null && '
            'ls -A "$1" | grep -c "^.tmp-" >&2; exec "$0" "$1" 0 20 0'
        )
        command = [*prefix, "sh", "-c", script, WORKER, str(self.cache)]
        done = subprocess.run(command, capture_output=True, text=True, env=self.env, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["disk"] + result["jit"], 20)
        self.assertGreater(result["disk"], 0, "what fitted is used")
        self.assertEqual(result["damaged"], 0)
        self.assertRegex(done.stderr, r"(?m)^0$")

    def test_read_only_file_system(self):
        prefix = namespaces("--mount")
        if not prefix:
            self.skipTest("no user and mount namespaces here")
        self.work(0, 2, 0)
        before = sorted(os.listdir(self.cache))
        script = (
            'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$0" "$1" 0 4 0'
        )
        command = [*prefix, "sh", "-c", script, WORKER, str(self.cache)]
        done = subprocess.run(command, capture_output=True, text=True, env=self.env, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual((result["disk"], result["jit"]), (2, 2))
        self.assertEqual(done.stderr.count(" warn "), 1, done.stderr)
        self.assertEqual(sorted(os.listdir(self.cache)), before)

    def test_directory_of_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to give a directory away")
        self.work(0, 1, 0)
        os.chown(self.cache, 65534, 65534)
        process = self.start(0, 1, 0)
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(json.loads(out)["jit"], 1, "its entries are not trusted")
        self.assertIn("belongs to user 65534", err)

    def test_links_are_not_followed(self):
        """Entries, locks and damaged names that somebody made links to files of ours."""
        self.work(0, 1, 0)
        (entry,) = self.entries()
        treasure = self.dir / "treasure"
        content = entry.read_bytes()
        for name in (entry.name, entry.name + ".lock", entry.name + ".damaged"):
            with self.subTest(name):
                treasure.write_bytes(content)
                for old in self.cache.iterdir():
                    old.unlink()
                (self.cache / name).symlink_to(treasure)
                done = self.work(0, 1, 0)
                self.assertEqual(done["jit"], 1, "also when a good entry is behind it")
                self.assertEqual(treasure.read_bytes(), content)
        shutil.rmtree(self.cache)
        (self.dir / "elsewhere").mkdir(mode=0o777)
        (self.dir / "elsewhere").chmod(0o777)
        self.cache.symlink_to(self.dir / "elsewhere")
        self.assertEqual(self.work(0, 1, 0)["jit"], 1)
        self.assertEqual(os.listdir(self.dir / "elsewhere"), [], "others may write there")

    def test_rubbish_in_every_kind_of_file(self):
        self.work(0, 2, 0)
        names = [e.name for e in self.entries()]
        for rubbish in (b"", b"\0" * 100_000, os.urandom(100_000), MAGIC + b"\xff" * 80):
            for suffix in ("", ".lock", ".damaged", ".2.damaged"):
                for name in names:
                    (self.cache / (name + suffix)).write_bytes(rubbish)
            (self.cache / ".tmp-0123456789abcdef").write_bytes(rubbish)
            (self.cache / "notes.wsobj").write_bytes(rubbish)
            done = self.work(0, 2, 0)
            self.assertEqual((done["jit"], done["damaged"]), (2, 2))
            self.assertEqual(self.whole(2)["disk"], 2)

    def test_every_region_of_an_entry(self):
        self.work(0, 1, 0)
        (entry,) = self.entries()
        good = entry.read_bytes()
        header = int.from_bytes(good[12:16], "little")
        regions = [0, 8, 12, 16, 24, 60, 88, 88 + header // 2, 88 + header - 1, 88 + header]
        regions += [88 + header + 20_000, len(good) - 1]
        variants = [good[:at] for at in regions]
        variants += [good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :] for at in regions]
        variants += [good[:at] + b"\0" * (len(good) - at) for at in regions]
        variants += [good + b"\0"]
        for variant in variants:
            entry.write_bytes(variant)
            done = self.work(0, 1, 0)
            self.assertEqual((done["jit"], done["damaged"]), (1, 1))
            self.assertTrue(self.entries()[0].read_bytes().endswith(good[88 + header :]))


if __name__ == "__main__":
    unittest.main()
