#pragma once
// A kernel decoded once into a flat array: branch targets resolved, constants spread over lanes.
// Read-only while running; code outside the kernel (called functions) is decoded on demand.

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/Module.h"
#include "emulator/isa/Inst.h"

namespace wavesmith::emulator {

/// One past the highest v register that an instruction names; AGPRs do not count.
int highestVgpr(const Inst &inst);

class Program {
public:
  static Expected<std::shared_ptr<Program>> decode(Module &module, const KernelInfo &kernel,
                                                   bool gfx950);

  /// The instruction at a device address; null outside the module's code.
  const Inst *at(u64 address);
  /// The copy of an instruction that runs while MODE redirects: VGPRs moved by M0, or skipped.
  const Inst *redirected(const Inst &inst, u32 m0, bool skip);
  const Inst *entry() const { return entry_; }
  /// Where an instruction stands, for messages: "+0x40", with its source line where there is one.
  std::string place(const Inst &inst) const;
  /// "file:line:column"; empty without debug information.
  std::string sourceOf(const Inst &inst) const;
  /// The instruction with that number.
  const Inst &numbered(u32 number);
  /// Can one workgroup tell another anything through memory? Some instruction releases and some
  /// acquires, or code is called that was not looked at.
  bool synchronises() const { return calls_ || (releases_ && acquires_); }
  const KernelInfo &kernel() const { return *kernel_; }
  u64 entryAddress() const { return entryAddress_; }
  bool gfx950() const { return gfx950_; }
  int vgprs() const { return vgprs_; }             ///< VGPRs and AGPRs that the wave owns
  int accumOffset() const { return accumOffset_; } ///< where AGPRs begin
  int sgprs() const { return sgprs_; }
  /// All instructions in address order, for coverage.
  const std::vector<Inst> &instructions() const { return regions_.front()->instructions; }

private:
  struct Region {
    u64 begin = 0, end = 0;
    std::vector<Inst> instructions;
    std::vector<std::uint32_t> indexOf; ///< per dword; ~0 inside an instruction
  };
  enum class Extent : std::uint8_t {
    All,      ///< to the end
    Function, ///< to where nothing goes on and no branch before it leads beyond
  };
  Region &decodeRegion(u64 begin, u64 end, Extent extent);
  const u32 *lanesOf(u64 value, int words);
  /// What the program knows beyond an instruction's words.
  void complete(Inst &inst);
  void link(Region &region);
  void noteSynchronisation(const Inst &inst);

  Module *module_ = nullptr;
  const KernelInfo *kernel_ = nullptr;
  bool gfx950_ = false;
  u64 entryAddress_ = 0;
  const Inst *entry_ = nullptr;
  int vgprs_ = 0, accumOffset_ = 0, sgprs_ = 0;
  bool releases_ = false, acquires_ = false, calls_ = false;
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<const Inst *> numbered_;
  std::map<std::pair<u64, int>, std::unique_ptr<std::array<u32, 2 * kLanes>>> constants_;
  std::map<std::pair<const Inst *, u32>, std::unique_ptr<Inst>> redirected_;
  std::mutex mutex_;
};

} // namespace wavesmith::emulator
