"""Shards of small calibration runs, made from the descriptions in docs/calibration.md and of the
published schema, by no code of ours."""

import hashlib
import json

MODEL = "example/Model-7B"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ZEROS = "0" * 64
# Heads of the model: layer, q, k or v, head. Quarters are exact in every number format.
HEADS = 4
LAYERS = (0, 2, 5)


def maximum(layer, which, head):
    return 0.75 + 1.25 * layer + 16 * "qkv".index(which) + 0.25 * head


def published(pp_rank, tp_rank, layers, tp_size=2, pp_size=2):
    local = HEADS // tp_size
    heads = range(tp_rank * local, (tp_rank + 1) * local)
    return {
        "schema": 1,
        "model": MODEL,
        "revision": "main",
        "checkpoint_id": COMMIT,
        "calibration_id": "run-a",
        "tp_size": tp_size,
        "tp_rank": tp_rank,
        "pp_size": pp_size,
        "pp_rank": pp_rank,
        "fp8_dtype": "float8_e4m3fnuz",
        "cache_mode": "bf16_latent_cache",
        "local_heads": local,
        "qk_head_dim": 192,
        "v_head_dim": 128,
        "margin": 1.1,
        "layers": {
            str(layer): {
                "runtime_name": f"model.layers.{layer}.self_attn.attn",
                **{f"{w}_amax": [maximum(layer, w, head) for head in heads] for w in "qkv"},
            }
            for layer in layers
        },
    }


def ours(pp_rank, tp_rank, layers, tp_size=2, pp_size=2, **changes):
    shard = published(pp_rank, tp_rank, layers, tp_size, pp_size)
    del shard["local_heads"]
    shard |= {"schema": "wavesmith-shard-1", "heads": HEADS, "kv_heads": HEADS}
    shard |= {"rotation_seed": 0, "num_layers": len(LAYERS), "tokens": 5000, **changes}
    return shard


def sealed(shard):
    """The file's text; the digest is over the text with the digest's own digits as zeros."""
    text = json.dumps({**shard, "sha256": ZEROS}, ensure_ascii=False)
    return text.replace(ZEROS, hashlib.sha256(text.encode()).hexdigest())


def stages():
    """Where the ranks of the small run have their layers; two stages of two ranks."""
    return [(pp, tp, LAYERS[:2] if pp == 0 else LAYERS[2:]) for pp in (0, 1) for tp in (0, 1)]


def write_published(folder):
    folder.mkdir()
    for pp, tp, layers in stages():
        path = folder / f"kimi-k3-fp8-scales-pp{pp:02d}-tp{tp:02d}.json"
        path.write_text(json.dumps(published(pp, tp, layers), indent=2) + "\n")
    return folder


def write_ours(folder, **changes):
    folder.mkdir()
    for pp, tp, layers in stages():
        text = sealed(ours(pp, tp, layers, **changes))
        (folder / f"fp8-scales-pp{pp:02d}-tp{tp:02d}.json").write_text(text)
    return folder
