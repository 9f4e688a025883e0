#pragma once
// Records to make databases and crossovers of.

#include <cmath>
#include <vector>

#include "runtime/dispatch/tuning/Tuning.h"

namespace wavesmith::tuning {

/// A call that all records of pair() are like.
inline policy::Values values() {
  policy::Values values;
  values.heads = values.kvHeads = 12;
  values.qLen = 4096;
  values.causal = true;
  values.scales = "dynamic";
  values.fp8Kernel = true;
  return values;
}

/// Both paths of one length, on MI325X and by toolchain "t".
inline std::vector<Record> pair(std::int64_t qLen, std::int64_t kvLen, double bf16, double fp8) {
  Record record;
  record.device = "MI325X";
  record.target = "gfx942";
  record.headDim = "192x128";
  record.heads = record.kvHeads = 12;
  record.causal = true;
  record.qLen = qLen;
  record.kvLen = kvLen;
  record.toolchain = "t";
  record.microseconds = bf16;
  Record other = record;
  other.path = policy::Path::Fp8;
  other.scales = "dynamic";
  other.microseconds = fp8;
  return {record, other};
}

inline std::vector<Record> operator+(std::vector<Record> a, const std::vector<Record> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

} // namespace wavesmith::tuning
