#include "emulator/cycles/MemoryPath.h"

#include <algorithm>

namespace wavesmith::emulator::cycles {
namespace {

constexpr int kScalarBytes = 16384;
/// Guesses: what a line's atomics send to L2, and the rate at one address.
constexpr int kAtomicBytes = 64, kAtomicClk = 1;

/// Bytes per clock of one compute unit's share of the chip's `tbs`.
double share(double tbs, const Chip &chip, int activeCus) {
  return tbs * 1e12 / (chip.clockMhz * 1e6) / std::max(1, activeCus);
}

/// Of an XCD's L2 bandwidth.
double l2Share(int perXcd, int perCu, const Chip &chip, int activeCus) {
  int active = std::max(1, (activeCus + chip.xcds - 1) / chip.xcds);
  return std::min<double>(perCu, static_cast<double>(perXcd) / active);
}

/// Reserves a bucket and returns when `bytes` have passed.
double pass(double &free, double now, double bytes, double perClk) {
  free = std::max(free, now) + bytes / perClk;
  return free;
}

} // namespace

LineCache::LineCache(int lines, int ways, bool hashed)
    : ways_(ways), hashed_(hashed), sets_(static_cast<u64>(std::max(1, lines / ways))),
      tags_(sets_ * static_cast<u64>(ways), ~u64{0}), used_(tags_.size()), arrivals_(tags_.size()) {
}

bool LineCache::touch(u64 line) {
  // Mixed, so that power-of-two strides spread as the hardware's channel hash does.
  u64 mixed = (line ^ (line >> 7) ^ (line >> 17)) * 0x9e3779b97f4a7c15 >> 20;
  u64 set = (hashed_ ? mixed : line) % sets_;
  u64 first = set * static_cast<u64>(ways_), victim = first;
  ++clock_;
  for (u64 i = first; i < first + static_cast<u64>(ways_); ++i) {
    if (tags_[i] == line) {
      used_[i] = clock_;
      last_ = i;
      return true;
    }
    if (used_[i] < used_[victim])
      victim = i;
  }
  tags_[victim] = line;
  used_[victim] = clock_;
  arrivals_[victim] = 0;
  last_ = victim;
  return false;
}

MemoryPath::MemoryPath(const Chip &chip, int activeCus, const LineSharing &sharing)
    : a_(*chip.architecture), sharing_(sharing), l1_(a_.l1Bytes / a_.lineBytes, 4),
      l2_(a_.l2Bytes / a_.lineBytes, 16), dirty_(a_.l2Bytes / a_.lineBytes, 16),
      scalar_(kScalarBytes / kScalarLineBytes, 4),
      hbmPerClk_(share(chip.hbmTbs * chip.hbmEfficiency, chip, activeCus)),
      mallPerClk_(share(chip.mallTbs, chip, activeCus)),
      fillPerClk_(l2Share(a_.l2ReadBytesPerClk, a_.fillBytesPerClk, chip, activeCus)),
      writePerClk_(l2Share(a_.l2WriteBytesPerClk, a_.writeBytesPerClk, chip, activeCus)) {}

double MemoryPath::enter(double now, int addressClk, std::size_t lines) {
  // One line is looked up per clock.
  double clk = std::max<double>(addressClk, static_cast<double>(lines));
  double start = std::max(now, addressFree_);
  addressFree_ = start + clk;
  return start;
}

double MemoryPath::load(double now, int addressClk, std::span<const u64> lines, u64 salt) {
  double start = enter(now, addressClk, lines.size()), done = start + a_.l1Latency;
  for (u64 plain : lines) {
    u64 line = salted(plain, salt);
    double bytes = a_.lineBytes;
    double ready = pass(l1Free_, start, bytes, a_.l1BytesPerClk);
    if (l1_.touch(line)) {
      done = std::max({done, ready + a_.l1Latency, l1_.arrival()});
      continue;
    }
    double latency = a_.l2Latency;
    ready = std::max(ready, pass(fillFree_, start, bytes, fillPerClk_));
    fillBusy_ += bytes / fillPerClk_;
    double arrival;
    if (l2_.touch(line)) {
      arrival = std::max(ready + latency, l2_.arrival());
    } else {
      latency = sharing_.isShared(plain) ? a_.mallLatency : a_.hbmLatency;
      ready = std::max(ready, pass(mallFree_, start, bytes, mallPerClk_));
      double own = bytes / sharing_.readers(plain);
      ready = std::max(ready, pass(hbmFree_, start, own, hbmPerClk_));
      hbmBytes_ += own;
      hbmBusy_ += own / hbmPerClk_;
      arrival = l2_.arrival() = ready + latency;
    }
    l1_.arrival() = arrival;
    done = std::max(done, arrival);
  }
  return done;
}

double MemoryPath::store(double now, int addressClk, std::span<const u64> lines, double bytes,
                         u64 salt) {
  double start = enter(now, addressClk, lines.size()), done = start;
  if (!lines.empty())
    bytes = std::min<double>(a_.lineBytes, bytes / static_cast<double>(lines.size()));
  for (u64 plain : lines) {
    u64 line = salted(plain, salt);
    l2_.touch(line);
    double ready = pass(writeFree_, start, bytes, writePerClk_);
    // A line that is written again before it leaves L2 is written back once.
    if (!dirty_.touch(line)) {
      ready = std::max(ready, pass(hbmFree_, start, bytes, hbmPerClk_));
      hbmBytes_ += bytes;
      hbmBusy_ += bytes / hbmPerClk_;
    }
    done = std::max(done, ready);
  }
  return done + a_.storeLatency;
}

double MemoryPath::atomic(double now, int addressClk, std::span<const u64> lines, int serial,
                          u64 salt) {
  double start = enter(now, addressClk, lines.size()), done = start;
  for (u64 plain : lines) {
    u64 line = salted(plain, salt);
    bool isKnown = l2_.touch(line);
    dirty_.touch(line);
    double ready = pass(writeFree_, start, kAtomicBytes, writePerClk_);
    double latency = isKnown ? a_.l2Latency : a_.hbmLatency;
    if (!isKnown) {
      ready = std::max(ready, pass(hbmFree_, start, a_.lineBytes, hbmPerClk_));
      hbmBytes_ += a_.lineBytes;
      hbmBusy_ += a_.lineBytes / hbmPerClk_;
    }
    done = std::max(done, ready + latency);
  }
  return done + std::max(0, serial - 1) * kAtomicClk;
}

double MemoryPath::scalarLoad(double now, std::span<const u64> lines, u64 salt) {
  double done = now + a_.scalarHit;
  for (u64 plain : lines) {
    if (!scalar_.touch(plain)) {
      u64 line = salted(plain * kScalarLineBytes / static_cast<u64>(a_.lineBytes), salt);
      if (l2_.touch(line)) {
        scalar_.arrival() = std::max(now + a_.scalarL2, l2_.arrival());
      } else {
        scalar_.arrival() = now + a_.scalarMiss;
        l2_.arrival() = now + a_.scalarMiss;
      }
    }
    done = std::max(done, scalar_.arrival());
  }
  return done;
}

} // namespace wavesmith::emulator::cycles
