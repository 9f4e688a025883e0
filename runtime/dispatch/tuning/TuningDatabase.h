#pragma once
// Tuning records in a SQLite file that processes share: written by `wavesmith bench --record`, read
// once when a context opens. The file says whose it is and which version of the schema it has; what
// is damaged, foreign or newer is an error, never an empty answer. Each function opens and closes
// it.

#include <span>
#include <string>
#include <vector>

#include "runtime/dispatch/tuning/Tuning.h"

namespace wavesmith::tuning {

inline constexpr int kSchemaVersion = 1;
inline constexpr std::size_t kMaxRecords = 100'000;

/// All records, in the order of their columns. NotFound when there is no file.
Expected<std::vector<Record>> readDatabase(const std::string &path);

/// Adds records, in one transaction; one of the same call, device, source and toolchain is
/// replaced. Makes the file when there is none; waits up to five seconds for another writer.
Status writeDatabase(const std::string &path, std::span<const Record> records);

/// A database for this device; without a path, or with "off", there is nothing to know. Records of
/// another toolchain are said in the log.
Expected<Tuning> tuningFor(const std::string &path, std::string_view deviceName,
                           const Toolchain &toolchain);

} // namespace wavesmith::tuning
