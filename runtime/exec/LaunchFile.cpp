#include "runtime/exec/LaunchFile.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>

#include "runtime/exec/Npy.h"
#include "runtime/json/Json.h"
#include "runtime/support/Files.h"

namespace wavesmith {
namespace {

using json::Value;

// Far beyond any device, and small enough that sums do not overflow.
constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 46;
constexpr std::uint64_t kMaxTextBytes = 64 << 20;

/// An argument's bytes, or the buffer whose address they will be.
struct ArgumentValue {
  std::vector<std::byte> bytes;
  std::optional<std::size_t> buffer;
  std::uint64_t delta = 0;
};

template <typename T> ArgumentValue valueOf(T number) {
  ArgumentValue value;
  value.bytes.resize(sizeof(T));
  std::memcpy(value.bytes.data(), &number, sizeof(T));
  return value;
}

template <typename T> Expected<ArgumentValue> integer(const Value &json) {
  const nlohmann::json &raw = json.raw();
  const auto low = std::numeric_limits<T>::min();
  const auto high = std::numeric_limits<T>::max();
  // Numbers without a sign are unsigned to the parser, others signed.
  if (raw.is_number_unsigned() && raw.get<std::uint64_t>() <= static_cast<std::uint64_t>(high))
    return valueOf(static_cast<T>(raw.get<std::uint64_t>()));
  if (raw.is_number_integer() && !raw.is_number_unsigned() && std::is_signed_v<T> &&
      raw.get<std::int64_t>() >= static_cast<std::int64_t>(low))
    return valueOf(static_cast<T>(raw.get<std::int64_t>()));
  return json.wrong(fmt::format("want a whole number from {} to {}", +low, +high));
}

template <typename T> Expected<ArgumentValue> floating(const Value &json) {
  const nlohmann::json &raw = json.raw();
  if (raw.is_string()) {
    const auto text = raw.get<std::string>();
    if (text == "nan")
      return valueOf(std::numeric_limits<T>::quiet_NaN());
    if (text == "inf" || text == "-inf")
      return valueOf(text == "inf" ? std::numeric_limits<T>::infinity()
                                   : -std::numeric_limits<T>::infinity());
  }
  if (!raw.is_number())
    return json.wrong("want a number, \"nan\", \"inf\" or \"-inf\"");
  const auto number = static_cast<T>(raw.get<double>());
  if (std::isinf(number))
    return json.wrong(fmt::format("want a number that fits {} bits", 8 * sizeof(T)));
  return valueOf(number);
}

struct TypeRow {
  const char *name;
  Expected<ArgumentValue> (*read)(const Value &);
};
constexpr TypeRow kTypes[] = {
    {"i8", integer<std::int8_t>},    {"i16", integer<std::int16_t>},
    {"i32", integer<std::int32_t>},  {"i64", integer<std::int64_t>},
    {"u8", integer<std::uint8_t>},   {"u16", integer<std::uint16_t>},
    {"u32", integer<std::uint32_t>}, {"u64", integer<std::uint64_t>},
    {"f32", floating<float>},        {"f64", floating<double>},
};

bool isHidden(const KernelArgument &argument) { return argument.valueKind.starts_with("hidden_"); }

class Reader {
public:
  explicit Reader(std::string directory) : directory_(std::move(directory)) {}

  Expected<LaunchFile> read(const Value &root) {
    WAVESMITH_TRY(root.expectObject(
        {"object", "kernel", "grid", "block", "dynamic_lds", "buffers", "args", "launches"}));
    WAVESMITH_TRY(readObject(root));
    WAVESMITH_TRY(readBuffers(root));
    if (!root.has("launches")) {
      WAVESMITH_TRY(readLaunch(root));
      return std::move(file_);
    }
    for (const char *key : {"kernel", "grid", "block", "dynamic_lds", "args"})
      if (root.has(key))
        return error(StatusCode::InvalidArgument,
                     "{}: beside \"launches\"; put it into each of them", root.at(key).path());
    WAVESMITH_ASSIGN(const auto launches, root.at("launches").list("launches"));
    if (launches.empty())
      return root.at("launches").wrong("want at least one launch");
    for (const Value &launch : launches) {
      WAVESMITH_TRY(launch.expectObject({"kernel", "grid", "block", "dynamic_lds", "args"}));
      WAVESMITH_TRY(readLaunch(launch));
    }
    return std::move(file_);
  }

private:
  Expected<std::string> path(const Value &value) const {
    WAVESMITH_ASSIGN(std::string text, value.text());
    if (text.empty() || text.find('\0') != std::string::npos)
      return value.wrong("want a path");
    return (std::filesystem::path(directory_) / text).lexically_normal().string();
  }

  Expected<std::vector<std::byte>> contents(const Value &value, const std::string &path) const {
    auto bytes = readFile(path);
    if (!bytes)
      return bytes.status().withContext(value.path());
    return bytes;
  }

  Status readObject(const Value &root) {
    WAVESMITH_ASSIGN(const Value value, root.required("object"));
    WAVESMITH_ASSIGN(file_.objectPath, path(value));
    WAVESMITH_ASSIGN(std::vector<std::byte> bytes, contents(value, file_.objectPath));
    auto object = CodeObject::parse(std::move(bytes), file_.objectPath);
    if (!object)
      return object.status().withContext(value.path());
    file_.object = std::make_shared<const CodeObject>(*std::move(object));
    return Status::ok();
  }

  Status readBuffers(const Value &root) {
    if (!root.has("buffers"))
      return Status::ok();
    const Value all = root.at("buffers");
    if (!all.raw().is_object())
      return all.wrong("want an object of buffers by name");
    for (const auto &entry : all.raw().items()) {
      const Value value(entry.value(), all.path() + "." + entry.key());
      WAVESMITH_ASSIGN(LaunchBuffer buffer, readBuffer(value));
      buffer.name = entry.key();
      file_.buffers.push_back(std::move(buffer));
    }
    for (std::size_t i = 0; i < file_.buffers.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (!file_.buffers[i].out.empty() && file_.buffers[i].out == file_.buffers[j].out)
          return error(StatusCode::InvalidArgument, "{}.{}.out: {} is also the output of buffer {}",
                       all.path(), file_.buffers[i].name, file_.buffers[i].out,
                       file_.buffers[j].name);
    return Status::ok();
  }

  Expected<LaunchBuffer> readBuffer(const Value &value) const {
    WAVESMITH_TRY(value.expectObject({"npy", "raw", "bytes", "fill", "out"}));
    LaunchBuffer buffer;
    const int sources = value.has("npy") + value.has("raw") + value.has("bytes");
    if (sources != 1)
      return value.wrong("want exactly one of npy, raw and bytes");
    if (value.has("bytes")) {
      WAVESMITH_ASSIGN(buffer.bytes, value.at("bytes").number(1, kMaxBufferBytes));
      if (value.has("fill"))
        WAVESMITH_TRY(readFill(value.at("fill"), buffer));
    } else {
      if (value.has("fill"))
        return value.at("fill").wrong("goes with bytes; this buffer comes from a file");
      const Value source = value.at(value.has("npy") ? "npy" : "raw");
      WAVESMITH_ASSIGN(const std::string name, path(source));
      WAVESMITH_ASSIGN(buffer.content, contents(source, name));
      if (value.has("npy")) {
        const auto array = parseNpy(buffer.content, name);
        if (!array)
          return array.status().withContext(source.path());
        buffer.content.erase(buffer.content.begin(), buffer.content.begin() + array->dataOffset);
        buffer.content.resize(array->dataBytes);
      }
      buffer.fill = LaunchBuffer::Fill::Content;
      buffer.bytes = buffer.content.size();
      if (buffer.bytes == 0)
        return error(StatusCode::InvalidArgument, "{}: {} holds no data", source.path(), name);
    }
    if (value.has("out")) {
      WAVESMITH_ASSIGN(buffer.out, path(value.at("out")));
      // Told now rather than after the kernel has run.
      const std::string parent = std::filesystem::path(buffer.out).parent_path().string();
      std::error_code ignored;
      if (!std::filesystem::is_directory(parent.empty() ? "." : parent, ignored))
        return value.at("out").wrong(fmt::format("want a path in a directory that exists"));
    }
    return buffer;
  }

  static Status readFill(const Value &value, LaunchBuffer &buffer) {
    WAVESMITH_ASSIGN(const std::string text, value.text());
    if (text == "zero") {
      buffer.fill = LaunchBuffer::Fill::Byte;
      return Status::ok();
    }
    if (text == "nan32") {
      buffer.fill = LaunchBuffer::Fill::NanFloat;
      if (buffer.bytes % 4 != 0)
        return value.wrong(
            fmt::format("want a multiple of 4 bytes for nan32, bytes is {}", buffer.bytes));
      return Status::ok();
    }
    const auto digit = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
    if (text.size() == 4 && text.starts_with("0x") && digit(text[2]) && digit(text[3])) {
      buffer.fill = LaunchBuffer::Fill::Byte;
      buffer.value = std::byte(std::stoi(text.substr(2), nullptr, 16));
      return Status::ok();
    }
    return value.wrong("want \"zero\", \"nan32\" or a byte like \"0xAB\"");
  }

  static Status readExtent(const Value &launch, const char *key,
                           std::array<std::uint32_t, 3> &extent, std::uint64_t high) {
    WAVESMITH_ASSIGN(const Value value, launch.required(key));
    WAVESMITH_ASSIGN(const auto list, value.list("three numbers"));
    if (list.size() != 3)
      return value.wrong("want three numbers");
    for (std::size_t i = 0; i < 3; ++i) {
      WAVESMITH_ASSIGN(const std::uint64_t number, list[i].number(1, high));
      extent[i] = static_cast<std::uint32_t>(number);
    }
    return Status::ok();
  }

  Status readLaunch(const Value &value) {
    LaunchEntry launch;
    launch.object = file_.object.get();
    WAVESMITH_ASSIGN(const Value name, value.required("kernel"));
    WAVESMITH_ASSIGN(launch.kernel, name.text());
    const auto kernel = file_.object->kernel(launch.kernel);
    if (!kernel)
      return kernel.status().withContext(name.path());
    const KernelInfo &info = **kernel;
    WAVESMITH_TRY(readExtent(value, "grid", launch.grid, 0x7fffffff));
    WAVESMITH_TRY(readExtent(value, "block", launch.block, 1024));
    const auto threads = std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    const auto limit = std::min<std::uint64_t>(1024, info.maxFlatWorkgroupSize);
    if (threads > limit)
      return value.at("block").wrong(
          fmt::format("want at most {} work-items for kernel {}", limit, info.name));
    for (std::size_t i = 0; i < info.requiredWorkgroupSize.size(); ++i)
      if (info.requiredWorkgroupSize[i] != launch.block[i])
        return value.at("block").wrong(fmt::format(
            "want [{}] for kernel {}", fmt::join(info.requiredWorkgroupSize, ", "), info.name));
    if (value.has("dynamic_lds")) {
      const std::uint64_t lds = file_.object->target() == "gfx950" ? 160 << 10 : 64 << 10;
      WAVESMITH_ASSIGN(
          const std::uint64_t number,
          value.at("dynamic_lds").number(0, lds - std::min<std::uint64_t>(lds, info.ldsBytes)));
      launch.dynamicLds = static_cast<std::uint32_t>(number);
    }
    if (value.has("args"))
      WAVESMITH_TRY(readArguments(value.at("args"), info, launch));
    file_.launches.push_back(std::move(launch));
    return Status::ok();
  }

  Expected<ArgumentValue> readArgument(const Value &value) const {
    WAVESMITH_TRY(value.expectObject({"offset", "buffer", "byte_offset", "i8", "i16", "i32", "i64",
                                      "u8", "u16", "u32", "u64", "f32", "f64"}));
    const TypeRow *type = nullptr;
    int kinds = value.has("buffer");
    for (const TypeRow &row : kTypes)
      if (value.has(row.name)) {
        ++kinds;
        type = &row;
      }
    if (kinds != 1)
      return value.wrong("want exactly one of buffer, i8 ... u64, f32 and f64");
    if (type) {
      if (value.has("byte_offset"))
        return value.at("byte_offset").wrong("goes with a buffer");
      return type->read(value.at(type->name));
    }
    const Value buffer = value.at("buffer");
    ArgumentValue argument = valueOf(std::uint64_t{0});
    if (buffer.raw().is_null()) {
      if (value.has("byte_offset"))
        return value.at("byte_offset").wrong("goes with a buffer that is not null");
      return argument;
    }
    WAVESMITH_ASSIGN(const std::string name, buffer.text());
    const auto found = std::ranges::find(file_.buffers, name, &LaunchBuffer::name);
    if (found == file_.buffers.end()) {
      std::string known;
      for (const LaunchBuffer &candidate : file_.buffers)
        known += (known.empty() ? "" : ", ") + candidate.name;
      return buffer.wrong(known.empty() ? "there are no buffers" : "want null or one of " + known);
    }
    argument.buffer = static_cast<std::size_t>(found - file_.buffers.begin());
    if (value.has("byte_offset")) {
      // One past the end is a fine address, if a useless one.
      WAVESMITH_ASSIGN(argument.delta, value.at("byte_offset").number(0, found->bytes));
    }
    return argument;
  }

  Status readArguments(const Value &value, const KernelInfo &info, LaunchEntry &launch) const {
    WAVESMITH_ASSIGN(const auto list, value.list("arguments"));
    const auto withOffset = static_cast<std::size_t>(
        std::ranges::count_if(list, [](const Value &argument) { return argument.has("offset"); }));
    if (withOffset != 0 && withOffset != list.size())
      return error(StatusCode::InvalidArgument,
                   "{}: {} of {} arguments have an offset; want all or none", value.path(),
                   withOffset, list.size());
    std::vector<const KernelArgument *> expected;
    std::uint64_t end = info.arguments.empty() ? info.kernargBytes : 0;
    for (const KernelArgument &argument : info.arguments)
      if (!isHidden(argument)) {
        expected.push_back(&argument);
        end = std::max<std::uint64_t>(end, std::uint64_t{argument.offset} + argument.size);
      }
    if (end > info.kernargBytes)
      return error(StatusCode::Corrupt, "{}: kernel {}: its arguments end at {}, past {} bytes",
                   value.path(), info.name, end, info.kernargBytes);
    if (withOffset == 0 && list.size() != expected.size())
      return error(
          StatusCode::InvalidArgument, "{}: {} arguments, kernel {} {}", value.path(), list.size(),
          info.name,
          info.arguments.empty() && end != 0
              ? fmt::format("does not describe its {} bytes of them; give each an offset", end)
              : fmt::format("takes {}", expected.size()));
    launch.kernarg.resize(end);
    std::vector<bool> used(end);
    for (std::size_t i = 0; i < list.size(); ++i) {
      WAVESMITH_ASSIGN(const ArgumentValue argument, readArgument(list[i]));
      const std::size_t size = argument.bytes.size();
      std::uint64_t offset = 0;
      if (withOffset) {
        WAVESMITH_ASSIGN(offset, list[i].at("offset").number(0, 0xffffffff));
        if (offset + size > end)
          return list[i].at("offset").wrong(
              fmt::format("want at most {}: {} bytes in an argument block of {}",
                          end < size ? 0 : end - size, size, end));
      } else {
        offset = expected[i]->offset;
        if (expected[i]->size != size)
          return list[i].wrong(fmt::format("want {} bytes for argument {} of kernel {}",
                                           expected[i]->size, i, info.name));
      }
      for (std::size_t byte = offset; byte < offset + size; ++byte) {
        if (used[byte])
          return list[i].wrong(fmt::format("byte {} of the block is given twice", byte));
        used[byte] = true;
      }
      std::ranges::copy(argument.bytes,
                        launch.kernarg.begin() + static_cast<std::ptrdiff_t>(offset));
      if (argument.buffer)
        launch.addresses.push_back({offset, *argument.buffer, argument.delta});
    }
    return Status::ok();
  }

  std::string directory_;
  LaunchFile file_;
};

} // namespace

Expected<LaunchFile> parseLaunchFile(std::string_view text, const std::string &directory,
                                     std::string_view origin) {
  WAVESMITH_ASSIGN(const nlohmann::json document, json::parse(text, origin));
  auto file = Reader(directory).read(Value(document, "$"));
  if (!file)
    return file.status().withContext(origin);
  return file;
}

Expected<LaunchFile> readLaunchFile(const std::string &path) {
  WAVESMITH_ASSIGN(const std::string text, readTextFile(path, kMaxTextBytes));
  return parseLaunchFile(text, std::filesystem::path(path).parent_path().string(), path);
}

} // namespace wavesmith
