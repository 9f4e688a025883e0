#pragma once
// What happens in the model, as tracks of a trace file: one compute unit turn by turn, and the
// workgroups of the grid on all of them. One simulation, one thread.

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include "emulator/cycles/CycleReport.h"
#include "emulator/cycles/Placement.h"
#include "emulator/cycles/Trace.h"
#include "emulator/cycles/TraceFile.h"

namespace wavesmith::emulator::cycles {

/// Tracks of one replayed compute unit: its waves by SIMD, the VALU port and the matrix pipe of
/// each SIMD, the LDS of each SIMD pair, barriers, and counters of what is in flight. Ends with a
/// note when its share of the file is used up. Calls come in order of time.
class UnitTimeline {
public:
  UnitTimeline(TraceFile &file, const TraceSampler &sampler, std::string_view title,
               std::uint64_t budget);

  void addWave(int wave, int simd, int group, int indexInGroup);
  void instruction(int wave, std::uint32_t op, double from, double until);
  void stall(int wave, Stall reason, double from, double until);
  void vectorPort(int simd, std::uint32_t op, double from, double until);
  void matrixPipe(int simd, std::uint32_t op, double from, double until);
  void lds(int pair, std::uint32_t op, double from, double until);
  void barrier(int group, double arrived, double opened);
  enum class Flight : std::uint8_t { Loads, Stores, Lds, Scalar };
  void inFlight(Flight kind, double from, double until);
  void finish();

private:
  struct Wave {
    int track = 0;
    Stall reason = Stall::Arbitration;
    double from = 0, until = 0; ///< of the stall that is not written yet
  };
  struct Landing {
    double at;
    Flight kind;
    bool operator>(const Landing &other) const { return at > other.at; }
  };
  struct Text {
    std::string mnemonic, arguments;
    std::string_view kind;
  };
  bool open(double at);
  void writeStall(Wave &wave);
  void advance(double until);
  const Text &text(std::uint32_t op);

  TraceFile &file_;
  const TraceSampler &sampler_;
  std::uint64_t limit_;
  int process_;
  bool isOpen_ = true;
  std::vector<Wave> waves_;
  std::vector<int> perSimd_ = std::vector<int>(4);
  std::vector<bool> groups_;
  std::vector<Text> texts_;
  std::priority_queue<Landing, std::vector<Landing>, std::greater<>> landings_;
  std::int64_t flights_[4] = {};
};

/// All workgroups on their compute units, as far as the launch's share of the file goes.
void writeGrid(TraceFile &file, const Chip &chip, const TraceSampler &sampler,
               std::vector<Placed> placed);

} // namespace wavesmith::emulator::cycles
