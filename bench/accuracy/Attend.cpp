#include "bench/accuracy/Attend.h"

#include <string>

#include <nlohmann/json.hpp>

#include "bench/accuracy/Methods.h"

namespace wavesmith::bench {
namespace {

/// A line without its end; none at the end of the input.
std::optional<std::string> readLine(std::FILE *input) {
  std::string line;
  for (int character = std::fgetc(input); character != EOF; character = std::fgetc(input)) {
    if (character == '\n')
      return line;
    line.push_back(static_cast<char>(character));
  }
  return std::nullopt;
}

Status readRows(std::FILE *input, HostTensor &tensor) {
  const TensorShape &shape = tensor.shape(); // packed
  const auto bytes = static_cast<std::size_t>(shape.extentBytes());
  if (bytes != 0 &&
      std::fread(tensor.bytes().data() + HostTensor::originOffset(), 1, bytes, input) != bytes)
    return error(StatusCode::InvalidArgument, "the input ends within a tensor of {} bytes", bytes);
  return Status::ok();
}

void write(std::FILE *output, std::span<const std::byte> bytes) {
  std::fwrite(bytes.data(), 1, bytes.size(), output);
}

struct Request {
  bool calibrates = false;
  Method method;
  AttentionProblem problem;
  Maxima maxima;
};

Expected<Request> parse(const std::string &line) {
  Request request;
  try {
    const nlohmann::json json = nlohmann::json::parse(line);
    request.calibrates = json.value("calibrate", false);
    if (!request.calibrates) {
      WAVESMITH_ASSIGN(request.method.scales, parseScales(json.at("scales").get<std::string>()));
    }
    request.method.rotated = json.at("rotated").get<bool>();
    AttentionProblem &problem = request.problem;
    problem.target = json.at("target").get<std::string>();
    problem.heads = json.at("heads").get<std::int64_t>();
    problem.headDimQk = problem.headDimV = json.at("head_dim").get<int>();
    problem.lengths = {
        {.q = json.at("rows").get<std::int64_t>(), .kv = json.at("keys").get<std::int64_t>()}};
    problem.causal = json.at("causal").get<bool>();
    if (request.method.scales == Scales::Static)
      request.maxima = json.at("maxima").get<Maxima>();
  } catch (const nlohmann::json::exception &failed) {
    return error(StatusCode::InvalidArgument, "{}: {}", line.substr(0, 200), failed.what());
  }
  for (const std::vector<float> &of : request.maxima)
    if (request.method.scales == Scales::Static &&
        static_cast<std::int64_t>(of.size()) != request.problem.heads)
      return error(StatusCode::InvalidArgument, "{} maxima for {} heads", of.size(),
                   request.problem.heads);
  return request;
}

} // namespace

Status attend(std::FILE *input, std::FILE *output) {
  while (const std::optional<std::string> line = readLine(input)) {
    WAVESMITH_ASSIGN(const Request request, parse(*line));
    WAVESMITH_ASSIGN(const CheckedProblem checked, checkProblem(request.problem));
    HostTensor q(checked.q, std::byte{0xff}), k(checked.k, std::byte{0xff}),
        v(checked.v, std::byte{0xff});
    for (HostTensor *tensor : {&q, &k, &v})
      WAVESMITH_TRY(readRows(input, *tensor));
    if (request.calibrates) {
      for (const std::vector<float> &maxima : maximaOf(q, k, v, request.method.rotated))
        write(output, std::as_bytes(std::span(maxima)));
    } else {
      WAVESMITH_ASSIGN(const Computed computed,
                       compute(request.method, request.problem, q, k, v, request.maxima));
      write(output, computed.attention.out.elements());
      write(output, computed.attention.lse.elements());
    }
    if (std::fflush(output) != 0)
      return error(StatusCode::Io, "the answer cannot be written");
  }
  return Status::ok();
}

} // namespace wavesmith::bench
