#include "runtime/hip/HipObjects.h"

#include <cstring>

#include <elf.h>

#include "runtime/support/Log.h"

namespace wavesmith {
namespace {

/// HIP takes no size and reads as far as an ELF's headers say: a cut-off object must not reach it.
Status checkExtent(std::span<const std::byte> object, std::string_view origin) {
  const auto cutOff = [&](std::string_view what) {
    return error(StatusCode::Corrupt, "{}: {} end past the object's {} bytes", origin, what,
                 object.size());
  };
  const auto holds = [&](std::uint64_t offset, std::uint64_t bytes) {
    return offset <= object.size() && bytes <= object.size() - offset;
  };
  if (object.size() < sizeof(Elf64_Ehdr))
    return error(StatusCode::Corrupt, "{}: {} bytes are no code object", origin, object.size());
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return Status::ok(); // a bundle, or HIP will say what it is not
  if (!holds(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr)))
    return cutOff("the program headers");
  if (!holds(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr)))
    return cutOff("the section headers");
  for (std::uint16_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr program;
    std::memcpy(&program, object.data() + header.e_phoff + i * sizeof(program), sizeof(program));
    if (!holds(program.p_offset, program.p_filesz))
      return cutOff(fmt::format("the contents of program header {}", i));
  }
  for (std::uint16_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, object.data() + header.e_shoff + i * sizeof(section), sizeof(section));
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
        !holds(section.sh_offset, section.sh_size))
      return cutOff(fmt::format("the contents of section {}", i));
  }
  return Status::ok();
}

void logFailure(const HipTable &table, hipError_t code, const char *call) {
  if (code != hipSuccess)
    log::warn("hip", "clean-up failed {}", table.check(code, call).message());
}

} // namespace

Expected<DeviceBuffer> DeviceBuffer::allocate(HipTablePtr table, std::uint64_t bytes) {
  DeviceBuffer buffer;
  if (bytes != 0) {
    const hipError_t code = table->hipMalloc(&buffer.data_, bytes);
    if (code != hipSuccess) {
      buffer.data_ = nullptr;
      return table->check(code, fmt::format("hipMalloc of {} bytes", bytes));
    }
  }
  buffer.size_ = bytes;
  buffer.table_ = std::move(table);
  return buffer;
}

DeviceBuffer::~DeviceBuffer() {
  if (data_)
    logFailure(*table_, table_->hipFree(data_), "hipFree");
}

Status DeviceBuffer::checkRange(std::uint64_t offset, std::uint64_t bytes, const char *what) const {
  if (offset <= size_ && bytes <= size_ - offset)
    return Status::ok();
  return error(StatusCode::InvalidArgument, "{} of {} bytes at offset {}: the buffer has {}", what,
               bytes, offset, size_);
}

Status DeviceBuffer::upload(std::span<const std::byte> bytes, std::uint64_t offset) {
  WAVESMITH_TRY(checkRange(offset, bytes.size(), "upload"));
  if (bytes.empty())
    return Status::ok();
  return table_->check(table_->hipMemcpy(static_cast<std::byte *>(data_) + offset, bytes.data(),
                                         bytes.size(), hipMemcpyHostToDevice),
                       "hipMemcpy to the device");
}

Status DeviceBuffer::download(std::span<std::byte> bytes, std::uint64_t offset) const {
  WAVESMITH_TRY(checkRange(offset, bytes.size(), "download"));
  if (bytes.empty())
    return Status::ok();
  return table_->check(table_->hipMemcpy(bytes.data(),
                                         static_cast<const std::byte *>(data_) + offset,
                                         bytes.size(), hipMemcpyDeviceToHost),
                       "hipMemcpy from the device");
}

Status DeviceBuffer::fill(std::byte value) {
  if (size_ == 0)
    return Status::ok();
  WAVESMITH_TRY(
      table_->check(table_->hipMemset(data_, std::to_integer<int>(value), size_), "hipMemset"));
  // It may return before, and streams that do not block do not wait for the null stream.
  return table_->check(table_->hipStreamSynchronize(nullptr), "hipStreamSynchronize");
}

Expected<Stream> Stream::create(HipTablePtr table, unsigned flags) {
  Stream stream;
  WAVESMITH_TRY(table->check(table->hipStreamCreateWithFlags(&stream.handle_, flags),
                             "hipStreamCreateWithFlags"));
  stream.table_ = std::move(table);
  return stream;
}

Stream::~Stream() {
  if (table_)
    logFailure(*table_, table_->hipStreamDestroy(handle_), "hipStreamDestroy");
}

Status Stream::synchronize() const {
  if (!table_)
    return Status::ok();
  return table_->check(table_->hipStreamSynchronize(handle_), "hipStreamSynchronize");
}

Expected<Event> Event::create(HipTablePtr table, unsigned flags) {
  Event event;
  WAVESMITH_TRY(table->check(table->hipEventCreateWithFlags(&event.handle_, flags),
                             "hipEventCreateWithFlags"));
  event.table_ = std::move(table);
  return event;
}

Event::~Event() {
  if (table_)
    logFailure(*table_, table_->hipEventDestroy(handle_), "hipEventDestroy");
}

Status Event::record(hipStream_t stream) const {
  return table_->check(table_->hipEventRecord(handle_, stream), "hipEventRecord");
}

Status Event::synchronize() const {
  return table_->check(table_->hipEventSynchronize(handle_), "hipEventSynchronize");
}

Expected<float> Event::since(const Event &start) const {
  float milliseconds = 0;
  WAVESMITH_TRY(table_->check(table_->hipEventElapsedTime(&milliseconds, start.handle_, handle_),
                              "hipEventElapsedTime"));
  return milliseconds;
}

Expected<DeviceModule> DeviceModule::load(HipTablePtr table, std::span<const std::byte> object,
                                          std::string origin) {
  WAVESMITH_TRY(checkExtent(object, origin));
  DeviceModule module;
  const hipError_t code = table->hipModuleLoadData(&module.handle_, object.data());
  if (code != hipSuccess)
    return table->check(code, "hipModuleLoadData").withContext(origin);
  module.table_ = std::move(table);
  module.origin_ = std::move(origin);
  return module;
}

DeviceModule::~DeviceModule() {
  if (table_)
    logFailure(*table_, table_->hipModuleUnload(handle_), "hipModuleUnload");
}

Expected<hipFunction_t> DeviceModule::function(const std::string &name) const {
  if (!table_)
    return error(StatusCode::InvalidArgument, "kernel {}: no module is loaded", name);
  hipFunction_t function = nullptr;
  const hipError_t code = table_->hipModuleGetFunction(&function, handle_, name.c_str());
  if (code != hipSuccess)
    return table_->check(code, fmt::format("hipModuleGetFunction({})", name)).withContext(origin_);
  return function;
}

Status launch(const HipTable &table, hipFunction_t function, const LaunchShape &shape,
              std::span<const std::byte> kernarg, hipStream_t stream) {
  std::size_t size = kernarg.size();
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, const_cast<std::byte *>(kernarg.data()),
                   HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  const auto &[grid, block, lds] = shape;
  return table.check(table.hipModuleLaunchKernel(function, grid[0], grid[1], grid[2], block[0],
                                                 block[1], block[2], lds, stream, nullptr, extra),
                     "hipModuleLaunchKernel");
}

} // namespace wavesmith
