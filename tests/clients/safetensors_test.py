"""Scales and the safetensors package from PyPI: it opens ours, we open its, to the bit; the published
schema comes out as the published tool computes it; what the package refuses we refuse too."""

import hashlib
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

import clients

clients.enter("safetensors")

import numpy  # noqa: E402
import safetensors  # noqa: E402
import safetensors.numpy  # noqa: E402

sys.path.insert(0, str(clients.ROOT / "tests" / "cli"))
import calibrations  # noqa: E402

SAMPLE = clients.ROOT / "tests" / "cli" / "data" / "published_scales.safetensors"
SEED = 11


def descales(layer, which, margin=1.1):
    """(maxima * margin / finfo.max).clamp_min(1e-12), as float32 tensors compute it."""
    maxima = [calibrations.maximum(layer, which, head) for head in range(calibrations.HEADS)]
    scaled = numpy.array(maxima, numpy.float32) * numpy.float32(margin) / numpy.float32(240)
    return numpy.maximum(scaled, numpy.float32(1e-12))


def published_tensors():
    names = [(layer, which) for layer in calibrations.LAYERS for which in "qkv"]
    return {f"layers.{layer}.{which}_descale": descales(layer, which) for layer, which in names}


def published_metadata():
    """The thirteen keys of the description."""
    return {
        "schema": "1",
        "model": calibrations.MODEL,
        "revision": "main",
        "checkpoint_id": calibrations.COMMIT,
        "calibration_id": "run-a",
        "tp_size": "2",
        "pp_size": "2",
        "num_layers": "3",
        "fp8_dtype": "float8_e4m3fnuz",
        "cache_mode": "bf16_latent_cache",
        "local_heads": "2",
        "qk_head_dim": "192",
        "v_head_dim": "128",
    }


def opened(path):
    """Metadata and tensors, as bytes: equal means equal to the bit."""
    with safetensors.safe_open(path, "numpy") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}
        return file.metadata(), {n: (str(t.dtype), t.shape, t.tobytes()) for n, t in tensors.items()}


def header_and_data(path):
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    return data[8 : 8 + length], data[8 + length :]


class Scales(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="wavesmith-scales-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def calibrate(self, *args, code=0):
        command = [clients.BINARY, "calibrate", *map(str, args), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.dir)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def ours(self):
        calibrations.write_ours(self.dir / "shards", model="org/Mod\u00e8le-\u6a21\u578b")
        self.calibrate("merge", "shards", "s.safetensors")
        return self.dir / "s.safetensors"

    def test_the_package_opens_ours(self):
        metadata, tensors = opened(self.ours())
        self.assertEqual(metadata["schema"], "wavesmith-1")
        self.assertEqual(metadata["model"], "org/Mod\u00e8le-\u6a21\u578b")
        self.assertEqual(metadata["layers.5.runtime_name"], "model.layers.5.self_attn.attn")
        self.assertEqual(len(tensors), 2 * len(published_tensors()))
        for name, want in published_tensors().items():
            self.assertEqual(tensors[name], ("float32", (4,), want.tobytes()))
        heads = [calibrations.maximum(2, "k", head) for head in range(4)]
        self.assertEqual(
            tensors["layers.2.k_amax"][2], numpy.array(heads, numpy.float32).tobytes()
        )

    def test_the_digest_is_as_documented(self):
        path = self.ours()
        metadata, tensors = opened(path)
        stated = metadata.pop("sha256")
        compact = {"ensure_ascii": False, "separators": (",", ":")}
        content = json.dumps(metadata, sort_keys=True, **compact).encode() + b"\n"
        for name in sorted(tensors):
            _, shape, data = tensors[name]
            content += json.dumps([name, "F32", list(shape)], **compact).encode() + b"\n" + data
        self.assertEqual(hashlib.sha256(content).hexdigest(), stated)

    def test_saved_again_by_the_package_it_is_the_same(self):
        path = self.ours()
        metadata, _ = opened(path)
        again = self.dir / "again.safetensors"
        safetensors.numpy.save_file(safetensors.numpy.load_file(path), again, metadata=metadata)
        self.assertEqual(self.calibrate("verify", again)["files"][0]["problem"], None)
        self.assertTrue(self.calibrate("diff", path, again)["ok"])
        # The package orders metadata by chance; all else is the same bytes.
        ours, theirs = header_and_data(path), header_and_data(again)
        self.assertEqual(ours[1], theirs[1])
        self.assertEqual(len(ours[0]), len(theirs[0]))
        self.assertEqual(json.loads(ours[0]), json.loads(theirs[0]))
        tensors_of = [header[header.index(b"}") :] for header, _ in (ours, theirs)]
        self.assertEqual(tensors_of[0], tensors_of[1])

    def test_the_published_schema_to_the_bit(self):
        calibrations.write_published(self.dir / "shards")
        self.calibrate("merge", "shards", "s.safetensors", "--schema", "1")
        want = {**published_metadata(), "margin": "1.1", "calibration_shards": "4"}
        theirs = self.dir / "theirs.safetensors"
        safetensors.numpy.save_file(published_tensors(), theirs, metadata=want)
        self.assertEqual(opened(self.dir / "s.safetensors"), opened(theirs))
        self.assertTrue(self.calibrate("diff", "s.safetensors", theirs)["ok"])
        self.assertEqual(header_and_data(self.dir / "s.safetensors")[1], header_and_data(theirs)[1])

    def test_the_sample_is_what_the_description_says(self):
        made = self.dir / "made.safetensors"
        safetensors.numpy.save_file(published_tensors(), made, metadata=published_metadata())
        self.assertEqual(opened(made), opened(SAMPLE))
        self.assertTrue(self.calibrate("diff", made, SAMPLE)["ok"])

    def test_what_the_package_refuses_we_refuse(self):
        whole = self.ours().read_bytes()
        draw = random.Random(SEED)
        (self.dir / "damaged").mkdir()
        files, refused = [], 0
        for i in range(400):
            data = bytearray(whole)
            kind = draw.randrange(4)
            if kind == 0:  # the length
                data[draw.randrange(8)] ^= 1 << draw.randrange(8)
            elif kind == 1:  # a digit of an offset or a shape
                digits = [at for at in range(8, len(data)) if 48 <= data[at] <= 57]
                data[draw.choice(digits)] = draw.randrange(48, 58)
            elif kind == 2:
                del data[draw.randrange(len(data)) :]
            else:
                data[draw.randrange(8, len(data))] = draw.randrange(256)
            if data == whole:
                continue
            path = self.dir / "damaged" / f"{i}.safetensors"
            path.write_bytes(data)
            files.append(path)
        for path, row in zip(files, self.calibrate("verify", *files, code=1)["files"], strict=True):
            try:
                safetensors.numpy.load_file(path)
            except safetensors.SafetensorError as error:
                refused += 1
                self.assertIsNotNone(row["problem"], f"{path.name} of seed {SEED}: {error}")
            else:  # whole for the package, which knows no digest
                self.assertIsNotNone(row["problem"], f"{path.name} of seed {SEED} is damaged")
        self.assertGreater(refused, 200)


if __name__ == "__main__":
    unittest.main()
