#include "runtime/codeobject/Metadata.h"

#include <limits>

#include <nlohmann/json.hpp>

namespace wavesmith {
namespace {

using Json = nlohmann::json;

// LLVM nests four deep (root, kernels, kernel, args, argument); the parser recurses per level.
constexpr int kMaxDepth = 16;
constexpr std::size_t kMaxNodes = 1u << 20;

/// Walks the note without building it and stops at the limits.
class LimitChecker : public nlohmann::json_sax<Json> {
public:
  bool null() override { return node(); }
  bool boolean(bool) override { return node(); }
  bool number_integer(number_integer_t) override { return node(); }
  bool number_unsigned(number_unsigned_t) override { return node(); }
  bool number_float(number_float_t, const string_t &) override { return node(); }
  bool string(string_t &) override { return node(); }
  bool binary(binary_t &) override { return node(); }
  bool start_object(std::size_t) override { return node() && enter(); }
  bool key(string_t &) override { return node(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return node() && enter(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    problem = fmt::format("malformed msgpack at byte {} of the note", position);
    return false;
  }

  std::string problem;

private:
  bool node() {
    if (++nodes_ <= kMaxNodes)
      return true;
    problem = fmt::format("has more than {} values", kMaxNodes);
    return false;
  }
  bool enter() {
    if (++depth_ <= kMaxDepth)
      return true;
    problem = fmt::format("nests deeper than {} levels", kMaxDepth);
    return false;
  }
  bool leave() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  std::size_t nodes_ = 0;
};

/// Short and valid UTF-8 whatever the note holds.
std::string describe(const Json &value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > 64)
    text = text.substr(0, 61) + "...";
  return text;
}

class KernelReader {
public:
  KernelReader(const Json &map, std::string context) : map_(map), context_(std::move(context)) {}

  Status number(const char *key, std::uint32_t &value) const {
    const auto found = map_.find(key);
    if (found == map_.end())
      return Status::ok();
    // A negative or larger number would be a nonsense size; the descriptor could not hold it.
    if (!found->is_number_unsigned() ||
        found->get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
      return error(StatusCode::Corrupt, "{}: {} is {}, want an unsigned 32-bit number", context_,
                   key, describe(*found));
    value = found->get<std::uint32_t>();
    return Status::ok();
  }

  Status text(const char *key, std::string &value, bool required) const {
    const auto found = map_.find(key);
    if (found == map_.end())
      return required ? error(StatusCode::Corrupt, "{}: {} is missing", context_, key)
                      : Status::ok();
    if (!found->is_string())
      return error(StatusCode::Corrupt, "{}: {} is not a string", context_, key);
    value = found->get<std::string>();
    return Status::ok();
  }

private:
  const Json &map_;
  std::string context_;
};

Status parseArguments(const Json &kernel, const std::string &context,
                      std::vector<KernelArgument> &arguments) {
  const auto list = kernel.find(".args");
  if (list == kernel.end())
    return Status::ok();
  if (!list->is_array())
    return error(StatusCode::Corrupt, "{}: .args is not a list", context);
  for (const Json &item : *list) {
    const std::string where = fmt::format("{}: .args[{}]", context, arguments.size());
    if (!item.is_object())
      return error(StatusCode::Corrupt, "{} is not a map", where);
    KernelReader reader(item, where);
    KernelArgument argument;
    WAVESMITH_TRY(reader.text(".name", argument.name, false));
    WAVESMITH_TRY(reader.text(".value_kind", argument.valueKind, true));
    WAVESMITH_TRY(reader.number(".offset", argument.offset));
    WAVESMITH_TRY(reader.number(".size", argument.size));
    arguments.push_back(std::move(argument));
  }
  return Status::ok();
}

Expected<KernelMetadata> parseKernel(const Json &item, std::string_view where, std::size_t index) {
  std::string context = fmt::format("{}: amdhsa.kernels[{}]", where, index);
  if (!item.is_object())
    return error(StatusCode::Corrupt, "{} is not a map", context);
  KernelReader reader(item, context);
  KernelMetadata kernel;
  KernelInfo &info = kernel.info;
  WAVESMITH_TRY(reader.text(".name", info.name, true));
  kernel.descriptor = info.name + ".kd";
  WAVESMITH_TRY(reader.text(".symbol", kernel.descriptor, false));
  WAVESMITH_TRY(reader.number(".group_segment_fixed_size", info.ldsBytes));
  WAVESMITH_TRY(reader.number(".private_segment_fixed_size", info.scratchBytes));
  WAVESMITH_TRY(reader.number(".kernarg_segment_size", info.kernargBytes));
  WAVESMITH_TRY(reader.number(".kernarg_segment_align", info.kernargAlign));
  WAVESMITH_TRY(reader.number(".sgpr_count", info.sgprs));
  WAVESMITH_TRY(reader.number(".vgpr_count", info.vgprs));
  WAVESMITH_TRY(reader.number(".agpr_count", info.agprs));
  WAVESMITH_TRY(reader.number(".sgpr_spill_count", info.sgprSpills));
  WAVESMITH_TRY(reader.number(".vgpr_spill_count", info.vgprSpills));
  WAVESMITH_TRY(reader.number(".max_flat_workgroup_size", info.maxFlatWorkgroupSize));
  WAVESMITH_TRY(reader.number(".wavefront_size", info.wavefrontSize));
  if (const auto size = item.find(".reqd_workgroup_size"); size != item.end()) {
    if (!size->is_array() || size->size() != 3)
      return error(StatusCode::Corrupt, "{}: .reqd_workgroup_size is not a list of three", context);
    for (const Json &extent : *size) {
      if (!extent.is_number_unsigned() || extent.get<std::uint64_t>() > 1024)
        return error(StatusCode::Corrupt, "{}: .reqd_workgroup_size holds {}, want 1 to 1024",
                     context, describe(extent));
      info.requiredWorkgroupSize.push_back(extent.get<std::uint32_t>());
    }
  }
  WAVESMITH_TRY(parseArguments(item, context, info.arguments));
  return kernel;
}

} // namespace

Expected<std::vector<KernelMetadata>> parseMetadata(std::span<const std::byte> payload,
                                                    std::string_view where) {
  const auto *begin = reinterpret_cast<const std::uint8_t *>(payload.data());
  const auto *end = begin + payload.size();
  LimitChecker limits;
  if (!Json::sax_parse(begin, end, &limits, Json::input_format_t::msgpack))
    return error(StatusCode::Corrupt, "{}: {}", where, limits.problem);
  const Json root = Json::from_msgpack(begin, end, true, false);
  if (!root.is_object())
    return error(StatusCode::Corrupt, "{}: the root is not a map", where);
  std::vector<KernelMetadata> kernels;
  const auto list = root.find("amdhsa.kernels");
  if (list == root.end())
    return kernels;
  if (!list->is_array())
    return error(StatusCode::Corrupt, "{}: amdhsa.kernels is not a list", where);
  for (const Json &item : *list) {
    WAVESMITH_ASSIGN(KernelMetadata kernel, parseKernel(item, where, kernels.size()));
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

} // namespace wavesmith
