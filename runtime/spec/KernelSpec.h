#pragma once
// What a kernel is, as a value: template, parameters, target, schedule. Its canonical text is the
// input of the spec key, so any process can compute the key without a compiler. Immutable values,
// any thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/spec/RowKernels.h"
#include "runtime/support/Status.h"

namespace wavesmith {

enum class DType : std::uint8_t { BF16, F16, FP8 };
std::string_view dtypeName(DType dtype); ///< "bf16", "f16", "fp8"
constexpr int bytesOf(DType dtype) { return dtype == DType::FP8 ? 1 : 2; }
Expected<DType> parseDType(std::string_view text);

enum class Fp8Format : std::uint8_t { None, E4M3Fnuz, E4M3Ocp };
std::string_view fp8FormatName(Fp8Format format); ///< "none", "e4m3fnuz", "e4m3"

/// A gfx target and what host code needs to know of it. The compiler and the emulator keep their
/// own facts: the judge shares no table with the judged.
struct Target {
  std::string name; ///< "gfx942", "gfx950"
  int ldsBytes = 0; ///< per workgroup limit
  Fp8Format fp8 = Fp8Format::None;
};
/// Every target this build knows, in the order in which messages list them.
const std::vector<Target> &knownTargets();
/// The target of that name; the error lists the known ones.
Expected<Target> parseTarget(std::string_view name);

/// One specialisation of the attention template.
struct AttentionSpec {
  DType dtype = DType::BF16; ///< of q, k and v
  int headDimQk = 0;
  int headDimV = 0;
  bool causal = false;
  bool writeLse = true;
  bool splitKv = false; ///< units may write partials (slot >= 0)
  // Score functions; their values are arguments.
  bool softCap = false; ///< scores are bounded smoothly
  bool window = false;  ///< a query sees keys around its own position
  bool sink = false;    ///< a logit of each head joins the sum of weights
  bool f16Out = false;  ///< FP8: out is f16 instead of bf16; other dtypes write what they read

  DType outType() const { return dtype == DType::F16 || f16Out ? DType::F16 : DType::BF16; }
  /// Whether the kernel takes ScoredAttentionArguments.
  bool isScored() const { return softCap || window || sink; }

  bool operator==(const AttentionSpec &) const = default;
};

/// What passes between host and kernel, whatever its kind.
struct KernelAbi {
  std::string_view layout; ///< of the arguments, as every object's note carries it
  std::uint32_t argumentBytes;
  std::uint32_t threads; ///< of a workgroup
};

struct KernelSpec {
  std::string target; ///< "gfx942"
  AttentionSpec attention;
  std::string schedule;   ///< schedule row; "" = the target's default for this specialisation
  RowKernelSpec row = {}; ///< with a name: this kernel, and `attention` means nothing

  bool isRowKernel() const { return !row.kernel.empty(); }
  bool operator==(const KernelSpec &) const = default;

  /// One line that names every ingredient in a fixed order, e.g.
  /// "attention abi=2 target=gfx942 dtype=bf16 d=192x128 causal=1 lse=1 split=0 schedule=default"
  /// (what is on of score functions and f16 results follows the split as " softcap=1", in a fixed
  /// order) or "combine_splits abi=1 target=gfx942 head_dim_v=128 write_lse=true output=bf16".
  std::string text() const;
  static Expected<KernelSpec> parse(std::string_view text);
  /// SHA-256 over text(), 64 hex digits.
  std::string key() const;
  /// The kernel's symbol: readable, ending in six digits of the key, e.g.
  /// "ws_attention_bf16_d192x128_causal_gfx942_1f3a9c".
  std::string kernelName() const;
  /// Ok, or why no such kernel exists, naming the value and what would be right.
  Status validate() const;
  Expected<KernelAbi> abi() const;
};

/// What, besides the spec, decides the bytes of an object. Generated at build time
/// (Toolchain.inc), so a cache hit needs no compiler in the process.
struct Toolchain {
  std::string templateDigest; ///< over templates/*.mlir
  std::string compilerBuild;  ///< over the compiler's and dialects' sources
  std::string llvmVersion;    ///< "22.1.8"
  std::string environment;    ///< whitelisted variables that change code, "NAME=value;..."

  static const Toolchain &builtin();
  /// The built-in toolchain with the templates of a directory; NotFound when it has none.
  static Expected<Toolchain> withTemplates(const std::string &directory);
};
/// "192x128, 128x128, 64x64, 256x256": what validate() accepts, for messages and `targets`.
std::string supportedHeadDims();
/// SHA-256 over spec text and toolchain.
std::string buildKey(const KernelSpec &spec, const Toolchain &toolchain);

} // namespace wavesmith
