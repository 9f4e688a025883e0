#include "emulator/cycles/MemoryPath.h"

#include <algorithm>

namespace wavesmith::emulator::cycles {
namespace {

/// Bytes per clock of one compute unit's share of the chip's `tbs`.
double share(double tbs, const Chip &chip, int activeCus) {
  return tbs * 1e12 / (chip.clockMhz * 1e6) / std::max(1, activeCus);
}

/// Reserves a bucket and returns when `bytes` have passed.
double pass(double &free, double now, double bytes, double perClk) {
  free = std::max(free, now) + bytes / perClk;
  return free;
}

} // namespace

LineCache::LineCache(int lines, int ways)
    : ways_(ways), sets_(static_cast<u64>(std::max(1, lines / ways))),
      tags_(sets_ * static_cast<u64>(ways), ~u64{0}), used_(tags_.size()) {}

bool LineCache::touch(u64 line) {
  // Mixed, so that power-of-two strides spread as the hardware's channel hash does.
  u64 set = ((line ^ (line >> 7) ^ (line >> 17)) * 0x9e3779b97f4a7c15 >> 20) % sets_;
  u64 first = set * static_cast<u64>(ways_), victim = first;
  ++clock_;
  for (u64 i = first; i < first + static_cast<u64>(ways_); ++i) {
    if (tags_[i] == line) {
      used_[i] = clock_;
      return true;
    }
    if (used_[i] < used_[victim])
      victim = i;
  }
  tags_[victim] = line;
  used_[victim] = clock_;
  return false;
}

MemoryPath::MemoryPath(const Chip &chip, int activeCus, const std::unordered_set<u64> &shared)
    : a_(*chip.architecture), shared_(shared), l1_(a_.l1Bytes / a_.lineBytes, 4),
      l2_(a_.l2Bytes / a_.lineBytes, 16), scalar_(16384 / 64, 4),
      hbmPerClk_(share(chip.hbmTbs * chip.hbmEfficiency, chip, activeCus)),
      mallPerClk_(share(chip.mallTbs, chip, activeCus)) {}

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
    double latency = a_.l1Latency;
    if (!l1_.touch(line)) {
      latency = a_.l2Latency;
      ready = std::max(ready, pass(fillFree_, start, bytes, a_.fillBytesPerClk));
      fillBusy_ += bytes / a_.fillBytesPerClk;
      if (!l2_.touch(line)) {
        bool isShared = shared_.count(line) != 0;
        latency = isShared ? a_.mallLatency : a_.hbmLatency;
        ready = std::max(ready, pass(mallFree_, start, bytes, mallPerClk_));
        if (!isShared) {
          ready = std::max(ready, pass(hbmFree_, start, bytes, hbmPerClk_));
          hbmBytes_ += bytes;
          hbmBusy_ += bytes / hbmPerClk_;
        }
      }
    }
    done = std::max(done, ready + latency);
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
    double ready = pass(writeFree_, start, bytes, a_.writeBytesPerClk);
    ready = std::max(ready, pass(hbmFree_, start, bytes, hbmPerClk_));
    hbmBytes_ += bytes;
    hbmBusy_ += bytes / hbmPerClk_;
    done = std::max(done, ready);
  }
  return done + a_.storeLatency;
}

double MemoryPath::scalarLoad(double now, std::span<const u64> lines) {
  double latency = a_.scalarHit;
  for (u64 line : lines)
    if (!scalar_.touch(line))
      latency = a_.scalarMiss;
  return now + latency;
}

} // namespace wavesmith::emulator::cycles
