#include "Model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace engine {
namespace {

std::uint64_t mixed(std::uint64_t x) { // splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// The sum of eight bytes, scaled to mean 0 and variance 1.
float nearlyNormal(std::uint64_t bits) {
  int sum = 0;
  for (int byte = 0; byte < 8; ++byte)
    sum += static_cast<int>(bits >> (8 * byte) & 0xff);
  constexpr double kMean = 8 * 127.5, kDeviation = 209.02; // sqrt(8 (256^2 - 1) / 12)
  return static_cast<float>((sum - kMean) / kDeviation);
}

std::uint16_t toBf16(float value) { // to nearest even; the values here are finite
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

} // namespace

double fromBf16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return static_cast<double>(value);
}

void Model::project(Tensor tensor, int request, int layer, int token,
                    std::span<std::uint16_t> row) const {
  std::uint64_t place = static_cast<std::uint64_t>(tensor);
  for (const int index : {request, layer, token})
    place = mixed(place ^ static_cast<std::uint64_t>(index) << 8);
  for (std::uint16_t &element : row)
    element = toBf16(nearlyNormal(mixed(place++)));
}

Model::Row Model::attend(int request, int layer, int token, int head) const {
  const auto read = [&](Tensor tensor, int at, int first, int dim) {
    std::vector<std::uint16_t> row(static_cast<std::size_t>(width(tensor)));
    project(tensor, request, layer, at, row);
    std::vector<double> some(static_cast<std::size_t>(dim));
    std::transform(row.begin() + first, row.begin() + first + dim, some.begin(), fromBf16);
    return some;
  };
  const int kvHead = head / (heads / kvHeads);
  const std::vector<double> query = read(Tensor::Q, token, head * dimQk, dimQk);
  std::vector<double> scores;
  for (int key = 0; key <= token; ++key) {
    const std::vector<double> other = read(Tensor::K, key, kvHead * dimQk, dimQk);
    double score = 0;
    for (std::size_t d = 0; d < query.size(); ++d)
      score += query[d] * other[d];
    scores.push_back(score / std::sqrt(dimQk));
  }
  const double largest = *std::max_element(scores.begin(), scores.end());
  Row row{std::vector<double>(static_cast<std::size_t>(dimV)), 0};
  double sum = 0;
  for (int key = 0; key <= token; ++key) {
    const double weight = std::exp(scores[static_cast<std::size_t>(key)] - largest);
    const std::vector<double> value = read(Tensor::V, key, kvHead * dimV, dimV);
    double squares = 0;
    for (std::size_t d = 0; d < value.size(); ++d) {
      row.out[d] += weight * value[d];
      squares += value[d] * value[d];
    }
    row.size += weight * weight * squares;
    sum += weight;
  }
  for (double &element : row.out)
    element /= sum;
  row.size = std::sqrt(row.size) / sum;
  return row;
}

} // namespace engine
