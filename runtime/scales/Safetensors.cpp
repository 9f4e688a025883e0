#include "runtime/scales/Safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "runtime/json/Json.h"
#include "runtime/support/Hash.h"
#include "runtime/support/Text.h"

namespace wavesmith {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they lie");

constexpr std::size_t kLengthBytes = 8, kAlignment = 8;

struct DType {
  std::string_view name;
  std::uint64_t bytes;
};
/// In the order of the format's own list; the Python package sorts tensors by its reverse.
constexpr std::array kDTypes = {
    DType{"BOOL", 1},    DType{"U8", 1},  DType{"I8", 1},  DType{"F8_E5M2", 1}, DType{"F8_E4M3", 1},
    DType{"F8_E8M0", 1}, DType{"I16", 2}, DType{"U16", 2}, DType{"F16", 2},     DType{"BF16", 2},
    DType{"I32", 4},     DType{"U32", 4}, DType{"F32", 4}, DType{"C64", 8},     DType{"F64", 8},
    DType{"I64", 8},     DType{"U64", 8},
};

const DType *findDType(std::string_view name) {
  const auto found = std::ranges::find(kDTypes, name, &DType::name);
  return found == kDTypes.end() ? nullptr : &*found;
}

std::string dtypeNames() {
  std::string names;
  for (const DType &dtype : kDTypes)
    names += (names.empty() ? "" : ", ") + std::string(dtype.name);
  return names;
}

/// None beyond 64 bits.
std::optional<std::uint64_t> product(std::uint64_t bytes, const std::vector<std::uint64_t> &shape) {
  // A dimension of zero makes an empty tensor, however large the others are.
  if (std::ranges::find(shape, 0U) != shape.end())
    return 0;
  for (const std::uint64_t extent : shape) {
    if (bytes > std::numeric_limits<std::uint64_t>::max() / extent)
      return std::nullopt;
    bytes *= extent;
  }
  return bytes;
}

struct Place {
  std::string name;
  std::uint64_t begin, end;
};

using json::Value;

Expected<std::vector<std::uint64_t>> readNumbers(const Value &from, const char *name) {
  WAVESMITH_ASSIGN(const Value value, from.required(name));
  WAVESMITH_ASSIGN(const std::vector<Value> items, value.list("whole numbers"));
  std::vector<std::uint64_t> numbers;
  for (const Value &item : items) {
    WAVESMITH_ASSIGN(const std::uint64_t number,
                     item.number(0, std::numeric_limits<std::uint64_t>::max()));
    numbers.push_back(number);
  }
  return numbers;
}

/// A tensor without its data, and where that is.
Expected<Place> readTensor(const Value &value, const std::string &name, std::uint64_t dataBytes,
                           SafetensorsTensor &tensor) {
  WAVESMITH_TRY(value.expectObject({"dtype", "shape", "data_offsets"}));
  WAVESMITH_ASSIGN(const Value dtypeValue, value.required("dtype"));
  WAVESMITH_ASSIGN(tensor.dtype, dtypeValue.text());
  const DType *dtype = findDType(tensor.dtype);
  if (!dtype)
    return dtypeValue.wrong("want one of " + dtypeNames());
  WAVESMITH_ASSIGN(tensor.shape, readNumbers(value, "shape"));
  WAVESMITH_ASSIGN(const std::vector<std::uint64_t> offsets, readNumbers(value, "data_offsets"));
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    return value.at("data_offsets").wrong("want begin and end, begin not behind end");
  if (offsets[1] > dataBytes)
    return value.at("data_offsets")
        .wrong(fmt::format("the file has {} bytes of data: cut off", dataBytes));
  const std::optional<std::uint64_t> bytes = product(dtype->bytes, tensor.shape);
  if (!bytes)
    return value.at("shape").wrong("want fewer elements than 64 bits count bytes");
  if (*bytes != offsets[1] - offsets[0])
    return error(StatusCode::InvalidArgument, "{}: shape and dtype take {} bytes, data_offsets {}",
                 value.path(), *bytes, offsets[1] - offsets[0]);
  return Place{name, offsets[0], offsets[1]};
}

/// The tensors must tile the data: a hole could hide anything, an overlap is damage.
Status checkPlaces(std::vector<Place> places, std::uint64_t dataBytes, std::string_view origin) {
  std::ranges::sort(places, [](const Place &a, const Place &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::uint64_t end = 0;
  std::string last = "the header";
  for (Place &place : places) {
    if (place.begin < end)
      return error(StatusCode::InvalidArgument,
                   "{}: {} begins at byte {} of the data, {} ends at {}: they overlap", origin,
                   json::describe(place.name), place.begin, last, end);
    if (place.begin > end)
      return error(StatusCode::InvalidArgument,
                   "{}: bytes {} to {} of the data, before {}, belong to no tensor", origin, end,
                   place.begin, json::describe(place.name));
    end = place.end;
    last = json::describe(place.name);
  }
  if (end != dataBytes)
    return error(StatusCode::InvalidArgument,
                 "{}: {} bytes follow the last tensor's and belong to none", origin,
                 dataBytes - end);
  return Status::ok();
}

Expected<Safetensors> read(const Value &root, std::span<const std::byte> data) {
  if (!root.raw().is_object())
    return root.wrong("want an object");
  Safetensors result;
  std::vector<Place> places;
  for (const auto &entry : root.raw().items()) {
    const Value value(entry.value(), fmt::format("{}.{}", root.path(), printable(entry.key())));
    if (entry.key() == Safetensors::kMetadataName) {
      if (!value.raw().is_object())
        return value.wrong("want an object of texts");
      for (const auto &item : value.raw().items()) {
        WAVESMITH_ASSIGN(
            std::string text,
            Value(item.value(), fmt::format("{}.{}", value.path(), printable(item.key()))).text());
        result.metadata.emplace(item.key(), std::move(text));
      }
      continue;
    }
    SafetensorsTensor tensor;
    WAVESMITH_ASSIGN(Place place, readTensor(value, entry.key(), data.size(), tensor));
    places.push_back(std::move(place));
    result.tensors.emplace(entry.key(), std::move(tensor));
  }
  WAVESMITH_TRY(checkPlaces(places, data.size(), root.path()));
  // Only now: before, overlapping tensors could ask for more memory than the file has bytes.
  for (const Place &place : places) {
    const auto bytes = data.subspan(place.begin, place.end - place.begin);
    result.tensors.at(place.name).data.assign(bytes.begin(), bytes.end());
  }
  return result;
}

Expected<Safetensors> parseFile(std::span<const std::byte> file, std::string_view origin) {
  if (file.size() < kLengthBytes)
    return error(StatusCode::Corrupt, "{}: has {} bytes, a safetensors file has at least {}",
                 origin, file.size(), kLengthBytes);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > Safetensors::kMaxHeaderBytes)
    return error(StatusCode::Corrupt, "{}: states a header of {} bytes; want at most {}", origin,
                 length, Safetensors::kMaxHeaderBytes);
  if (length > file.size() - kLengthBytes)
    return error(StatusCode::Corrupt, "{}: states a header of {} bytes, {} follow: cut off", origin,
                 length, file.size() - kLengthBytes);
  const std::string_view header(reinterpret_cast<const char *>(file.data()) + kLengthBytes, length);
  if (!header.starts_with('{'))
    return error(StatusCode::Corrupt, "{}: the header does not begin with '{{'", origin);
  WAVESMITH_ASSIGN(const nlohmann::json document, json::parse(header, origin));
  return read({document, std::string(origin)}, file.subspan(kLengthBytes + length));
}

bool isUtf8(const std::string &text) {
  // Dumping is the only check of UTF-8 that the library offers; lenient, it replaces what is none.
  using Json = nlohmann::json;
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
             .get<std::string>() == text;
}

Status validate(const Safetensors &file) {
  for (const auto &[name, text] : file.metadata)
    if (!isUtf8(name) || !isUtf8(text))
      return error(StatusCode::InvalidArgument, "metadata {}: want UTF-8", printable(name));
  for (const auto &[name, tensor] : file.tensors) {
    if (name == Safetensors::kMetadataName || !isUtf8(name))
      return error(StatusCode::InvalidArgument, "tensor {}: want UTF-8 and another name than {}",
                   printable(name), Safetensors::kMetadataName);
    const DType *dtype = findDType(tensor.dtype);
    if (!dtype)
      return error(StatusCode::InvalidArgument, "tensor {}: dtype is {}; want one of {}",
                   printable(name), printable(tensor.dtype), dtypeNames());
    if (product(dtype->bytes, tensor.shape) != tensor.data.size())
      return error(StatusCode::InvalidArgument,
                   "tensor {}: has {} bytes, which do not fit [{}] of {}", printable(name),
                   tensor.data.size(), fmt::join(tensor.shape, ", "), tensor.dtype);
  }
  return Status::ok();
}

} // namespace

SafetensorsTensor SafetensorsTensor::ofFloats(std::span<const float> values) {
  SafetensorsTensor tensor{"F32", {values.size()}, {}};
  const auto bytes = std::as_bytes(values);
  tensor.data.assign(bytes.begin(), bytes.end());
  return tensor;
}

std::vector<float> SafetensorsTensor::floats() const {
  assert(dtype == "F32" && data.size() % sizeof(float) == 0);
  std::vector<float> values(data.size() / sizeof(float));
  if (!values.empty())
    std::memcpy(values.data(), data.data(), values.size() * sizeof(float));
  return values;
}

Expected<Safetensors> Safetensors::parse(std::span<const std::byte> file, std::string_view origin) {
  Expected<Safetensors> result = parseFile(file, origin);
  if (!result)
    return Status(StatusCode::Corrupt, result.status().message());
  return result;
}

Expected<std::vector<std::byte>> Safetensors::print() const {
  WAVESMITH_TRY(validate(*this));
  std::vector<std::pair<const DType *, const std::pair<const std::string, SafetensorsTensor> *>>
      order;
  order.reserve(tensors.size());
  for (const auto &tensor : tensors)
    order.emplace_back(findDType(tensor.second.dtype), &tensor);
  std::ranges::sort(order, [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first > b.first : a.second->first < b.second->first;
  });

  std::string header = "{";
  if (!metadata.empty())
    header += fmt::format("\"{}\":{}", kMetadataName, nlohmann::json(metadata).dump());
  std::uint64_t end = 0;
  for (const auto &[dtype, item] : order) {
    const auto &[name, tensor] = *item;
    const std::uint64_t begin = end;
    end += tensor.data.size();
    fmt::format_to(std::back_inserter(header),
                   R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                   header.size() == 1 ? "" : ",", nlohmann::json(name).dump(), tensor.dtype,
                   fmt::join(tensor.shape, ","), begin, end);
  }
  header += '}';
  header.append((kAlignment - header.size() % kAlignment) % kAlignment, ' ');
  if (header.size() > kMaxHeaderBytes)
    return error(StatusCode::InvalidArgument, "the header has {} bytes; want at most {}",
                 header.size(), kMaxHeaderBytes);

  const std::uint64_t length = header.size();
  std::vector<std::byte> file(kLengthBytes);
  file.reserve(kLengthBytes + header.size() + end);
  std::memcpy(file.data(), &length, kLengthBytes);
  const auto headerBytes = asBytes(header);
  file.insert(file.end(), headerBytes.begin(), headerBytes.end());
  for (const auto &[dtype, item] : order)
    file.insert(file.end(), item->second.data.begin(), item->second.data.end());
  return file;
}

} // namespace wavesmith
