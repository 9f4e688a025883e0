#include "emulator/Module.h"

#include <algorithm>
#include <cstring>

namespace wavesmith::emulator {
namespace {

/// The relocation types that a linked code object may still carry (LLVM, AMDGPUUsage).
enum : std::uint32_t { Abs32Low = 1, Abs32High = 2, Abs64 = 3, Rel32 = 4, Rel64 = 5, Abs32 = 6 };
enum : std::uint32_t { Rel32Low = 10, Rel32High = 11, Relative64 = 13 };

template <typename T> void store(Allocation &image, std::uint64_t address, std::uint64_t value) {
  T narrow = static_cast<T>(value);
  std::memcpy(image.at(address), &narrow, sizeof(T));
}

} // namespace

Expected<std::shared_ptr<Module>> Module::place(const CodeObject &object, Memory &memory) {
  // A CodeObject cannot be copied; its bytes can, and they parsed before.
  WAVESMITH_ASSIGN(
      auto own, CodeObject::parse({object.bytes().begin(), object.bytes().end()}, "loaded module"));
  std::shared_ptr<Module> module(new Module(std::move(own)));
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  for (const Segment &segment : object.segments()) {
    low = std::min(low, segment.address);
    high = std::max(high, segment.address + segment.memorySize);
  }
  if (low >= high)
    return error(StatusCode::InvalidArgument, "the code object has no loadable segment");
  low &= ~std::uint64_t{0xfff};
  // Instruction fetch may run past the last instruction, so the image ends on a page.
  high = (high + 0xfff) & ~std::uint64_t{0xfff};
  WAVESMITH_ASSIGN(std::uint64_t base, memory.allocate(high - low, 4096));
  module->bias_ = base - low;
  module->image_ = memory.find(base);
  module->image_->markWritten(base, high - low);
  for (const Segment &segment : object.segments())
    std::memcpy(module->image_->at(segment.address + module->bias_), segment.bytes.data(),
                segment.bytes.size());
  WAVESMITH_TRY(module->relocate());
  return module;
}

Status Module::relocate() {
  for (const Relocation &relocation : object_.relocations()) {
    std::uint64_t place = relocation.offset + bias_;
    std::uint64_t symbol = relocation.symbolValue + bias_;
    auto addend = static_cast<std::uint64_t>(relocation.addend);
    unsigned width =
        relocation.type == Abs64 || relocation.type == Rel64 || relocation.type == Relative64 ? 8
                                                                                              : 4;
    if (!image_->contains(place, width))
      return error(StatusCode::Corrupt, "relocation at {:#x} lies outside the loaded image",
                   relocation.offset);
    switch (relocation.type) {
    case Abs32Low:
    case Abs32:
      store<std::uint32_t>(*image_, place, symbol + addend);
      break;
    case Abs32High:
      store<std::uint32_t>(*image_, place, (symbol + addend) >> 32);
      break;
    case Abs64:
      store<std::uint64_t>(*image_, place, symbol + addend);
      break;
    case Rel32:
    case Rel32Low:
      store<std::uint32_t>(*image_, place, symbol + addend - place);
      break;
    case Rel32High:
      store<std::uint32_t>(*image_, place, (symbol + addend - place) >> 32);
      break;
    case Rel64:
      store<std::uint64_t>(*image_, place, symbol + addend - place);
      break;
    case Relative64:
      store<std::uint64_t>(*image_, place, bias_ + addend);
      break;
    default:
      return error(StatusCode::Unsupported, "relocation type {} at {:#x} is not implemented",
                   relocation.type, relocation.offset);
    }
  }
  return Status::ok();
}

Status Module::release(Memory &memory) {
  if (!image_)
    return Status::ok();
  programs.clear();
  const std::uint64_t base = image_->base();
  image_ = nullptr;
  return memory.free(base);
}

const LineTable &Module::lines() const {
  std::call_once(linesRead_, [&] {
    if (auto lines = LineTable::read(object_.bytes(), "lines"))
      lines_ = *std::move(lines);
  });
  return lines_;
}

} // namespace wavesmith::emulator
