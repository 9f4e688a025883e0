#pragma once
// Attention for another process: requests and tensors over a pair of streams, so that a model in
// any language can have its attention computed by our kernels' numerics. One thread.

#include <cstdio>

#include "runtime/support/Status.h"

namespace wavesmith::bench {

/// Until the input ends. A request is a line of JSON,
///
///   {"scales": "static", "rotated": true, "target": "gfx942", "heads": 8, "head_dim": 64,
///    "rows": 100, "keys": 100, "causal": false, "maxima": [[...], [...], [...]]}
///
/// followed by q, k and v as bf16, [rows][heads][head_dim]. `maxima`, for each head of q, k and v,
/// belongs to static scales. The answer is out as bf16 and lse as float32, [rows][heads]. With
/// "calibrate": true in place of `scales` it is the maxima as float32, [3][heads].
Status attend(std::FILE *input, std::FILE *output);

} // namespace wavesmith::bench
