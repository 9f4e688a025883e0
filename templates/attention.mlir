// RUN: wavesmith-opt %s | wavesmith-opt | FileCheck %s
// CHECK: tile.kernel @attention

// Attention forward: out = softmax(scale q k^T) v, lse = ln(sum of exp(scale q k^T)),
// one pass over the keys with an online softmax (Milakov and Gimelshein, arXiv:1805.02867;
// Dao et al., arXiv:2205.14135). One workgroup does block_m query rows of one sequence and head over
// a range of its keys. Sequences are packed; their lengths come with the work units. A row that sees
// no key gives out = 0 and lse = -inf, or its sink.

tile.param @block_m : i32 in [256] doc "query rows of a work unit"
tile.param @block_n : i32 in [32, 64, 128] doc "keys of one step"
tile.param @head_dim_qk : i32 in [64, 128, 192, 256] doc "elements of a query and a key"
tile.param @head_dim_v : i32 in [64, 128, 256] doc "elements of a value"
tile.param @input : type in [bf16, f16, f8E4M3FNUZ, f8E4M3FN] doc "element of q, k and v"
tile.param @output : type in [bf16, f16] doc "element of out"
tile.param @scaled : i1 doc "q, k and v carry descales for each head (FP8)"
tile.param @causal : i1 doc "query i sees keys j <= i + len_kv - len_q"
tile.param @window : i1 doc "query i sees keys around i + len_kv - len_q"
tile.param @sink : i1 doc "a logit for each head joins the sum of weights"
tile.param @soft_cap : i1 doc "scaled scores s become cap * tanh(s / cap)"
tile.param @write_lse : i1 doc "store the logarithm of each row's sum"
tile.param @split_kv : i1 doc "units with a slot store float32 partials for combine_splits"

// Tensors: [tokens, heads, dim], packed over sequences.
!queries = !tile.tensor<[?, ?, head_dim_qk], input>
!values = !tile.tensor<[?, ?, head_dim_v], input>
!outputs = !tile.tensor<[?, ?, head_dim_v], output>
!logs = !tile.tensor<[?, ?], f32>
!partials = !tile.tensor<[?, block_m, head_dim_v], f32>
!partial_logs = !tile.tensor<[?, block_m], f32>
!descales = !tile.tensor<[?], f32>
!logits = !tile.tensor<[?], f32>

// Tiles of one workgroup.
!q_tile = !tile.tile<[block_m, head_dim_qk], input>
!k_tile = !tile.tile<[block_n, head_dim_qk], input>
!v_tile = !tile.tile<[block_n, head_dim_v], input>
!scores = !tile.tile<[block_m, block_n], f32>
!weights = !tile.tile<[block_m, block_n], input>
!rows = !tile.tile<[block_m], f32>
!sums = !tile.tile<[block_m, head_dim_v], f32>

// Keys past the end of the sequence do not exist.
tile.score @in_range(%score: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32) {
  %visible = arith.cmpi slt, %key, %len_kv : i32
  %result = tile.mask %score, %visible : f32
  tile.return %result : f32
}

// Bottom-right aligned: the last query sees every key.
tile.score @causal_mask(%score: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32) {
  %offset = arith.subi %len_kv, %len_q : i32
  %limit = arith.addi %query, %offset : i32
  %visible = arith.cmpi sle, %key, %limit : i32
  %result = tile.mask %score, %visible : f32
  tile.return %result : f32
}

// A sliding window, aligned like the causal mask, and never emptier than the query's own key.
tile.score @window_left(%score: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32, %left: i32) {
  %offset = arith.subi %len_kv, %len_q : i32
  %own = arith.addi %query, %offset : i32
  %limit = arith.subi %own, %left : i32
  %visible = arith.cmpi sge, %key, %limit : i32
  %result = tile.mask %score, %visible : f32
  tile.return %result : f32
}
tile.score @window_right(%score: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32, %right: i32) {
  %offset = arith.subi %len_kv, %len_q : i32
  %own = arith.addi %query, %offset : i32
  %limit = arith.addi %own, %right : i32
  %visible = arith.cmpi sle, %key, %limit : i32
  %result = tile.mask %score, %visible : f32
  tile.return %result : f32
}

// Bounds scores smoothly, before any mask (Gemma 2, arXiv:2408.00118).
tile.score @capped(%score: f32, %query: i32, %key: i32, %len_q: i32, %len_kv: i32, %cap: f32) {
  %ratio = arith.divf %score, %cap : f32
  %bounded = math.tanh %ratio : f32
  %result = arith.mulf %cap, %bounded : f32
  tile.return %result : f32
}

tile.kernel @attention(
    %q: !queries,
    %k: !queries,
    %v: !values,
    %out: !outputs,
    %lse: !logs,
    %partial_out: !partials,
    %partial_lse: !partial_logs,
    %work: !tile.work,
    %descale_q: !descales,
    %descale_k: !descales,
    %descale_v: !descales,
    %softmax_scale: f32,
    %cap: f32,
    %window_left: i32,
    %window_right: i32,
    %sinks: !logits) {

  // The rows of this workgroup, and the factor of their scores.
  %unit = tile.work_unit %work
  %q_tile = tile.load %q[%unit : !tile.unit] : !queries -> !q_tile
  %scale = tile.if scaled -> (f32) {
    %dq = tile.descale %descale_q[%unit] : !descales -> f32
    %dk = tile.descale %descale_k[%unit] : !descales -> f32
    %dqk = tile.scale %dq, %dk : f32, f32 -> f32
    %s = tile.scale %softmax_scale, %dqk : f32, f32 -> f32
    tile.yield %s : f32
  } else {
    tile.yield %softmax_scale : f32
  }

  // A soft cap takes scaled scores, so the softmax scales what is not scaled yet.
  %rest = tile.if soft_cap -> (f32) {
    %one = arith.constant 1.0 : f32
    tile.yield %one : f32
  } else {
    tile.yield %scale : f32
  }

  // For each row: reference maximum, sum of weights, weighted sum of values.
  %m0 = tile.fill -7.9228162514264338e+28 : !rows
  %l0 = tile.fill 0.0 : !rows
  %o0 = tile.fill 0.0 : !sums
  %m, %l, %o = tile.for_keys %keys of %unit step block_n
      iter(%mi = %m0, %li = %l0, %oi = %o0) -> (!rows, !rows, !sums) {
    // Scores of this step's keys.
    %k_tile = tile.load %k[%keys : !tile.keys] : !queries -> !k_tile
    %scores = tile.dot %q_tile, %k_tile transposed : !q_tile, !k_tile -> !scores
    %bounded = tile.if soft_cap -> (!scores) {
      %scaled = tile.scale %scores, %scale : !scores, f32 -> !scores
      %capped = tile.apply @capped(%scaled) at(%unit, %keys) with(%cap : f32) : !scores -> !scores
      tile.yield %capped : !scores
    } else {
      tile.yield %scores : !scores
    }
    %real = tile.apply @in_range(%bounded) at(%unit, %keys) : !scores -> !scores
    %before = tile.if causal -> (!scores) {
      %masked = tile.apply @causal_mask(%real) at(%unit, %keys) : !scores -> !scores
      tile.yield %masked : !scores
    } else {
      tile.yield %real : !scores
    }
    %visible = tile.if window -> (!scores) {
      %near = tile.apply @window_left(%before) at(%unit, %keys) with(%window_left : i32)
          : !scores -> !scores
      %around = tile.apply @window_right(%near) at(%unit, %keys) with(%window_right : i32)
          : !scores -> !scores
      tile.yield %around : !scores
    } else {
      tile.yield %before : !scores
    }

    // Weights, and the running state moved to their reference.
    %p, %mn, %ln, %os = tile.online_softmax %visible, %mi, %li, %oi scale %rest
        : !scores, !rows, !rows, !sums, f32 -> !weights, !rows, !rows, !sums

    // Weighted values.
    %v_tile = tile.load %v[%keys : !tile.keys] : !values -> !v_tile
    %on = tile.dot %p, %v_tile into %os : !weights, !v_tile, !sums -> !sums
    tile.yield %mn, %ln, %on : !rows, !rows, !sums
  }

  // Divide by the sums, apply the values' descale, store.
  %mean, %row_lse = tile.if sink -> (!sums, !rows) {
    %logit = tile.sink %sinks[%unit] : !logits -> f32
    %a, %b = tile.normalize %o, %m, %l scale %rest sink %logit
        : !sums, !rows, !rows, f32, f32 -> !sums, !rows
    tile.yield %a, %b : !sums, !rows
  } else {
    %a, %b = tile.normalize %o, %m, %l scale %rest : !sums, !rows, !rows, f32 -> !sums, !rows
    tile.yield %a, %b : !sums, !rows
  }
  %result = tile.if scaled -> (!sums) {
    %dv = tile.descale %descale_v[%unit] : !descales -> f32
    %r = tile.scale %mean, %dv : !sums, f32 -> !sums
    tile.yield %r : !sums
  } else {
    tile.yield %mean : !sums
  }
  tile.if split_kv {
    tile.store %result to %partial_out[%unit slot] : !sums, !partials
    tile.store %row_lse to %partial_lse[%unit slot] : !rows, !partial_logs
    tile.yield
  }
  tile.if write_lse {
    tile.store %row_lse to %lse[%unit] : !rows, !logs
    tile.yield
  }
  tile.store %result to %out[%unit] : !sums, !outputs
  tile.return
}
