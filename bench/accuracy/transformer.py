"""A trained transformer whose attention is computed by our kernels' numerics.

AntiBERTy (Ruffolo, Gray, Sulam: arXiv:2112.07782), whose PyPI package of version 0.1.3 carries its
weights: a BERT of 8 layers with 8 heads of 64 that fills masked residues of antibodies. All but
attention is float32 in numpy, so every difference is attention's.
"""

import json
import math
import pickle
import subprocess
import zipfile

import numpy as np

# Variable domains of two antibodies as published with the drugs trastuzumab and adalimumab.
CHAINS = (
    "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDT"
    "AVYYCSRWGGDGFYAMDYWGQGTLVTVSS",
    "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQH"
    "YTTPPTFGQGTKVEIK",
    "EVQLVESGGGLVQPGRSLRLSCAASGFTFDDYAMHWVRQAPGKGLEWVSAITWNSGHIDYADSVEGRFTISRDNAKNSLYLQMNSLRAEDT"
    "AVYYCAKVSYLSTASSLDYWGQGTLVTVSS",
    "DIQMTQSPSSLSASVGDRVTITCRASQGIRNYLAWYQQKPGKAPKLLIYAASTLQSGVPSRFSGSGSGTDFTLTISSLQPEDVATYYCQRY"
    "NRAPYTFGQGTKVEIK",
)
HEADS, DIM, LAYERS = 8, 64, 8
METHODS = [("bf16", False)] + [
    (scales, rotated)
    for scales in ("static", "dynamic", "per-tensor", "unit")
    for rotated in (False, True)
]
CALIBRATION_SEEDS = range(1000, 1004)
CLEAR_LEAD = 0.5  # of the largest logit over the second: probabilities 5 to 3


def load_weights(path) -> dict:
    """A PyTorch checkpoint's tensors, without PyTorch."""
    with zipfile.ZipFile(path) as archive:
        root = archive.namelist()[0].split("/")[0]

        class Reader(pickle.Unpickler):
            def find_class(self, module, name):
                if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
                    return lambda storage, offset, size, stride, *_: np.lib.stride_tricks.as_strided(
                        storage[offset:], size, [4 * step for step in stride]
                    )
                if (module, name) == ("collections", "OrderedDict"):
                    return type(name, (dict,), {})
                if module == "torch" and name.endswith("Storage"):
                    return name
                raise pickle.UnpicklingError(f"{module}.{name} is not expected here")

            def persistent_load(self, key):
                types = {"FloatStorage": np.float32, "LongStorage": np.int64}
                return np.frombuffer(archive.read(f"{root}/data/{key[2]}"), types[key[1]])

        with archive.open(f"{root}/data.pkl") as data:
            return Reader(data).load()


def to_bf16(x: np.ndarray) -> np.ndarray:
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


class Server:
    """bench-accuracy --attend. Tensors are bf16 bits, [rows][heads][dim]."""

    def __init__(self, executable: str, target: str):
        self.target = target
        self.process = subprocess.Popen(
            [executable, "--attend"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def _ask(self, q, k, v, **request):
        rows, heads, dim = q.shape
        request |= {"target": self.target, "heads": heads, "head_dim": dim, "causal": False}
        request |= {"rows": rows, "keys": k.shape[0]}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        for tensor in (q, k, v):
            self.process.stdin.write(tensor.tobytes())
        self.process.stdin.flush()

    def _read(self, dtype, *shape):
        count = math.prod(shape) * np.dtype(dtype).itemsize
        data = self.process.stdout.read(count)
        if len(data) != count:
            raise SystemExit("bench-accuracy --attend ended early")
        return np.frombuffer(data, dtype).reshape(shape)

    def maxima(self, q, k, v, rotated: bool):
        self._ask(q, k, v, calibrate=True, rotated=rotated)
        return self._read(np.float32, 3, q.shape[1])

    def attention(self, q, k, v, scales: str, rotated: bool, maxima):
        extra = {"maxima": maxima.tolist()} if scales == "static" else {}
        self._ask(q, k, v, scales=scales, rotated=rotated, **extra)
        out = from_bf16(self._read(np.uint16, *q.shape))
        return out, self._read(np.float32, q.shape[0], q.shape[1])


def exact_attention(q, k, v):
    """float64 on the bf16 values."""
    q, k, v = (from_bf16(x).astype(np.float64) for x in (q, k, v))
    scores = np.einsum("qhd,khd->hqk", q, k) / math.sqrt(DIM)
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(-1, keepdims=True)
    out = np.einsum("hqk,khd->qhd", weights / total, v)
    return out, (top + np.log(total))[..., 0].T


def norm(x, weights, name):
    x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
    return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def gelu(x):
    # erf by Abramowitz and Stegun 7.1.26, within 1.5e-7.
    z = np.abs(x) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    series = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
    poly = sum(c * t ** (i + 1) for i, c in enumerate(series))
    return 0.5 * x * (1 + np.sign(x) * (1 - poly * np.exp(-z * z)))


class Model:
    def __init__(self, package):
        self.weights = load_weights(
            package / "antiberty/trained_models/AntiBERTy_md_smooth/pytorch_model.bin"
        )
        text = (package / "antiberty/trained_models/vocab.txt").read_text().split()
        self.vocabulary = {token: index for index, token in enumerate(text)}

    def linear(self, x, name):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def logits(self, ids, attention):
        """`attention(layer, q, k, v)` gives the heads' outputs."""
        w, n = self.weights, len(ids)
        embeddings = "bert.embeddings"
        x = w[f"{embeddings}.word_embeddings.weight"][ids]
        x = x + w[f"{embeddings}.position_embeddings.weight"][:n]
        x = norm(x + w[f"{embeddings}.token_type_embeddings.weight"][0], w, f"{embeddings}.LayerNorm")
        for layer in range(LAYERS):
            at = f"bert.encoder.layer.{layer}"
            q, k, v = (
                to_bf16(self.linear(x, f"{at}.attention.self.{name}").reshape(n, HEADS, DIM))
                for name in ("query", "key", "value")
            )
            out = attention(layer, q, k, v).astype(np.float32).reshape(n, HEADS * DIM)
            out = self.linear(out, f"{at}.attention.output.dense")
            x = norm(x + out, w, f"{at}.attention.output.LayerNorm")
            inner = gelu(self.linear(x, f"{at}.intermediate.dense"))
            x = norm(x + self.linear(inner, f"{at}.output.dense"), w, f"{at}.output.LayerNorm")
        head = "cls.predictions"
        x = norm(gelu(self.linear(x, f"{head}.transform.dense")), w, f"{head}.transform.LayerNorm")
        return x @ w[f"{head}.decoder.weight"].T + w[f"{head}.bias"]

    def prompt(self, chains: int, seed: int):
        """Token ids and which of them are masked: 15 %, and 5 % are other residues."""
        random = np.random.default_rng(seed)
        first = random.integers(len(CHAINS))
        text = "".join(CHAINS[(first + i) % len(CHAINS)] for i in range(chains))
        residues = np.array([self.vocabulary[residue] for residue in text])
        draws = random.random(len(residues))
        masked = draws < 0.15
        residues[draws > 0.95] = random.integers(5, 25, len(residues))[draws > 0.95]
        residues[masked] = self.vocabulary["[MASK]"]
        ids = np.concatenate(([self.vocabulary["[CLS]"]], residues, [self.vocabulary["[SEP]"]]))
        return ids, np.concatenate(([False], masked, [False]))


def calibrate(model: Model, server: Server, chains: int):
    """For each layer and (plain, rotated): maxima over a few prompts."""
    maxima = np.zeros((LAYERS, 2, 3, HEADS), np.float32)

    def watch(layer, q, k, v):
        for rotated in (0, 1):
            seen = server.maxima(q, k, v, bool(rotated))
            maxima[layer, rotated] = np.maximum(maxima[layer, rotated], seen)
        return exact_attention(q, k, v)[0]

    for seed in CALIBRATION_SEEDS:
        model.logits(model.prompt(chains, seed)[0], watch)
    return maxima


def lead_of(logits):
    ordered = np.sort(logits, -1)
    return ordered[:, -1] - ordered[:, -2]


def measure(model: Model, server: Server, maxima, ids, masked):
    """A dictionary for each method."""
    forced = []  # inputs and exact results of every layer

    def exact(layer, q, k, v):
        out, lse = exact_attention(q, k, v)
        forced.append((q, k, v, out, lse))
        return out

    right = model.logits(ids, exact)[masked]
    clear = lead_of(right) >= CLEAR_LEAD
    for scales, rotated in METHODS:
        errors, lse_errors = [], []
        for layer, (q, k, v, out, lse) in enumerate(forced):
            made, made_lse = server.attention(
                q, k, v, scales, rotated, maxima[layer, int(rotated)]
            )
            error = np.linalg.norm(made - out, axis=(0, 2)) / np.linalg.norm(out, axis=(0, 2))
            errors.append(error.mean())
            lse_errors.append(np.abs(made_lse - lse).mean())

        def ours(layer, q, k, v, scales=scales, rotated=rotated):
            return server.attention(q, k, v, scales, rotated, maxima[layer, int(rotated)])[0]

        logits = model.logits(ids, ours)[masked]
        flipped = logits.argmax(-1) != right.argmax(-1)
        yield {
            "scales": scales,
            "rotated": rotated,
            "relative": float(np.mean(errors)),
            "lse": float(np.mean(lse_errors)),
            "logits": float(np.linalg.norm(logits - right) / np.linalg.norm(right)),
            "rows": len(flipped),
            "flips": int(flipped.sum()),
            "clear": int(clear.sum()),
            "clear_flips": int((flipped & clear).sum()),
        }


def run(executable: str, target: str, package, out, seeds: int):
    model, server = Model(package), Server(executable, target)
    with open(out, "a") as file:
        for chains in (1, 2, 4):
            maxima = calibrate(model, server, chains)
            for seed in range(1, seeds + 1):
                ids, masked = model.prompt(chains, seed)
                for line in measure(model, server, maxima, ids, masked):
                    line |= {"distribution": "antiberty", "target": target, "head_dim": "64x64"}
                    line |= {"keys": 120 * chains, "seed": seed}
                    file.write(json.dumps(line) + "\n")
                file.flush()
