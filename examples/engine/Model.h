#pragma once
// In place of a network: queries, keys and values that are a function of request, layer and token,
// close to normal numbers. So the engine has something to compute, and anyone can say what should
// come out.

#include <cstdint>
#include <span>
#include <vector>

namespace engine {

struct Model {
  int layers = 1, heads = 1, kvHeads = 1, dimQk = 192, dimV = 128;

  enum class Tensor : std::uint8_t { Q, K, V };
  int width(Tensor tensor) const { ///< elements of one token
    return tensor == Tensor::Q   ? heads * dimQk
           : tensor == Tensor::K ? kvHeads * dimQk
                                 : kvHeads * dimV;
  }
  /// One token's row as the projections would leave it, BF16.
  void project(Tensor tensor, int request, int layer, int token,
               std::span<std::uint16_t> row) const;

  /// One row of causal attention in float64: what out should be, and how large it is as a sum of
  /// independent contributions, sqrt(sum_j (w_j |v_j|)^2), against which errors are judged.
  struct Row {
    std::vector<double> out;
    double size = 0;
  };
  Row attend(int request, int layer, int token, int head) const;
};

double fromBf16(std::uint16_t bits);

} // namespace engine
