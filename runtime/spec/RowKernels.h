#pragma once
// The kernels around attention, as data: which templates there are, which parameters each has and
// how its arguments lie. They work row by row and share one lowering, so a further one is a
// template, a row here and its arguments in RowKernelAbi.h. Constant data, any thread.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/Status.h"

namespace wavesmith {

/// One specialisation: template and the values of its parameters, in the table's order.
struct RowKernelSpec {
  std::string kernel; ///< "combine_splits"; "" = not a row kernel
  std::vector<std::string> values;

  bool operator==(const RowKernelSpec &) const = default;
};

struct RowParameter {
  std::string_view name;
  std::string_view label;                    ///< leads the value in a kernel's symbol
  std::span<const std::string_view> allowed; ///< empty: any number from 0 to 2^31 - 1
};

struct RowKernel {
  std::string_view name; ///< of the template
  int abiVersion;
  std::span<const RowParameter> parameters;
  int rows; ///< of one workgroup
  std::uint32_t argumentBytes;
  std::string_view layout; ///< of the arguments, as every object's note carries it

  /// Workgroups that share `count` rows.
  std::uint32_t groupsFor(std::int64_t count) const {
    return static_cast<std::uint32_t>((count + rows - 1) / rows);
  }
};

/// Every row kernel, in the order in which messages list them.
std::span<const RowKernel> rowKernels();
/// The kernel of that name; the error lists all.
Expected<const RowKernel *> findRowKernel(std::string_view name);
/// Ok, or which value is wrong and what would be right.
Status validateRowKernel(const RowKernelSpec &spec);
/// Every specialisation with parameters from a list; of a free number, that of `freeNumber`.
std::vector<RowKernelSpec> rowKernelSpecs(std::string_view freeNumber = "0");

} // namespace wavesmith
