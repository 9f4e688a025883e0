#pragma once
// Small dense products for one width of host vectors: C += A B with B in packed panels, every
// element of C a chain of multiply-adds over the depth in its order. Users instantiate it inside
// functions of each instruction set; where they compile with -ffp-contract=fast it is fused. Pure.

#include <cstdint>
#include <cstring>

namespace wavesmith {

#define WAVESMITH_INLINE inline __attribute__((always_inline))

/// Columns of one packed panel: 128 bytes.
template <typename T> inline constexpr std::int64_t kPanelOf = 128 / sizeof(T);
/// Rows of one tile: the common multiple of the numbers of rows that are done together.
inline constexpr std::int64_t kTileRows = 24;

template <typename T, int Bytes> struct HostVector {
  typedef T Type __attribute__((vector_size(Bytes))); // NOLINT: g++ takes no alias here
};

/// c[Rows][2 vectors] += a[Rows][depth] * b[depth], b's rows a panel's width apart. Everything that
/// is accumulated stays in registers.
template <typename T, int Bytes, int Rows>
WAVESMITH_INLINE void multiplyStrip(const T *a, std::int64_t aStride, const T *b,
                                    std::int64_t depth, T *c, std::int64_t cStride) {
  using V = typename HostVector<T, Bytes>::Type;
  constexpr std::int64_t lanes = Bytes / sizeof(T);
  V low[Rows], high[Rows];
  for (int r = 0; r < Rows; ++r) {
    std::memcpy(&low[r], c + r * cStride, sizeof(V));
    std::memcpy(&high[r], c + r * cStride + lanes, sizeof(V));
  }
  for (std::int64_t i = 0; i < depth; ++i) {
    V x, y;
    std::memcpy(&x, b + i * kPanelOf<T>, sizeof(V));
    std::memcpy(&y, b + i * kPanelOf<T> + lanes, sizeof(V));
    for (int r = 0; r < Rows; ++r) {
      const T s = a[r * aStride + i];
      low[r] += s * x;
      high[r] += s * y;
    }
  }
  for (int r = 0; r < Rows; ++r) {
    std::memcpy(c + r * cStride, &low[r], sizeof(V));
    std::memcpy(c + r * cStride + lanes, &high[r], sizeof(V));
  }
}

/// c[rows][columns] += a[rows][depth] * panels; panel p is b + p * kPanelOf<T> * depth. Rows are
/// done up to the next multiple of `Rows`.
template <typename T, int Bytes, int Rows>
WAVESMITH_INLINE void multiplyPanels(const T *a, std::int64_t aStride, const T *b,
                                     std::int64_t depth, T *c, std::int64_t rows,
                                     std::int64_t columns) {
  constexpr std::int64_t panel = kPanelOf<T>, strip = 2 * Bytes / sizeof(T);
  static_assert(kTileRows % Rows == 0 && panel % strip == 0);
  for (std::int64_t column = 0; column < columns; column += strip) {
    const T *from = b + column / panel * panel * depth + column % panel;
    for (std::int64_t row = 0; row < rows; row += Rows)
      multiplyStrip<T, Bytes, Rows>(a + row * aStride, aStride, from, depth,
                                    c + row * columns + column, columns);
  }
}

} // namespace wavesmith
