#include "runtime/judge/RowRun.h"

#include "runtime/session/RunReport.h"
#include "runtime/verify/Element16.h"
#include "runtime/verify/Random.h"

namespace wavesmith::judge {

float Draw::normal() { return static_cast<float>(randomNormals(seed_, 1, next_++).first); }
bool Draw::oneIn(std::uint64_t n) { return randomBits(seed_, 0, next_++) % n == 0; }

Expected<std::unique_ptr<RowRun>>
RowRun::open(const KernelSpec &spec, const SharedCodeObject &object, const std::string &order) {
  auto run = std::make_unique<RowRun>();
  WAVESMITH_ASSIGN(run->table_, HipTable::open(DeviceChoice::Emulator));
  const std::string settings = fmt::format("target={},order={},checks=all", spec.target, order);
  if (run->table_->wavesmithEmulatorConfigure(settings.c_str()) != 0)
    return Status(StatusCode::Internal, run->table_->wavesmithEmulatorLastError());
  run->table_->wavesmithEmulatorLastReport(1);
  WAVESMITH_ASSIGN(run->stream_, Stream::create(run->table_));
  WAVESMITH_ASSIGN(run->kernel_, LoadedKernel::load(run->table_, spec, object));
  return run;
}

std::string RowRun::parameter(std::string_view name) const {
  const auto kernel = findRowKernel(spec().row.kernel);
  kernel.ignoreError("the kernel was loaded");
  for (std::size_t i = 0; kernel && i < (*kernel)->parameters.size(); ++i)
    if ((*kernel)->parameters[i].name == name)
      return spec().row.values[i];
  return "";
}

Expected<DeviceBuffer> RowRun::upload(std::span<const std::byte> bytes) const {
  WAVESMITH_ASSIGN(DeviceBuffer buffer, DeviceBuffer::allocate(table_, bytes.size()));
  WAVESMITH_TRY(buffer.upload(bytes));
  return buffer;
}

Status RowRun::finish() {
  WAVESMITH_TRY(stream_.synchronize());
  RunReport report;
  WAVESMITH_TRY(readEmulatorReport(table_->wavesmithEmulatorLastReport(1), report));
  for (const std::string &fault : report.faults)
    return wrong("{}", fault);
  for (const CheckCount &check : report.checks)
    if (check.faults != std::optional<std::uint64_t>(0))
      return wrong("check {}: {}", check.name,
                   check.faults ? fmt::format("{} faults", *check.faults) : "did not run");
  return Status::ok();
}

TensorShape paddedShape(std::int64_t tokens, std::int64_t heads, std::int64_t dim, int bytes,
                        std::int64_t padding) {
  const std::int64_t head = dim + padding;
  return {tokens, heads, dim, heads * head + padding, head, bytes};
}

static DType typeOf(std::string_view element) {
  return element == "f16" ? DType::F16 : DType::BF16;
}

float load(const HostTensor &from, std::string_view element, std::int64_t token, std::int64_t head,
           std::int64_t i) {
  if (element == "f32")
    return from.at<float>(token, head)[i];
  return elementToFloat(typeOf(element), from.at<std::uint16_t>(token, head)[i]);
}

void store(HostTensor &to, std::string_view element, std::int64_t token, std::int64_t head,
           std::int64_t i, float value) {
  if (element == "f32")
    to.at<float>(token, head)[i] = value;
  else
    to.at<std::uint16_t>(token, head)[i] = floatToElement(typeOf(element), value);
}

double halfStep(std::string_view element, double value) {
  if (element == "f32")
    return 0; // of the arithmetic before it
  return element == "f16" ? std::abs(value) * 0x1p-11 + 0x1p-25 : std::abs(value) * 0x1p-8;
}

} // namespace wavesmith::judge
