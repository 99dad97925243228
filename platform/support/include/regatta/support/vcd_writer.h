// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/base/output_file.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::support {

/// Writes a value change dump (IEEE 1364-2005, clause 18) as a stream. Signals are declared first; then time only moves
/// forward. Of several values set at one time only the last is written, and only if it differs.
class VcdWriter {
 public:
  using Signal = std::uint32_t;

  /// A time unit is `timescale`, "1 ps".
  VcdWriter(const std::string& path, const std::string& timescale);

  // --- declarations ---
  void comment(const std::string& text);
  void scope(const std::string& name);
  void up();
  /// A vector of `width` bits, 1 to 64; a single wire if 1. Unknown (x) until it is set.
  Signal add(const std::string& name, unsigned width = 1);

  // --- values ---
  void set(Signal signal, std::uint64_t value);
  /// The values set so far apply from `time` on: writes the first ones (as $dumpvars) and those that differ. `time`
  /// must be later than in the previous call.
  void write(std::uint64_t time);
  /// Ends the dump at `time` and gives the file its final name.
  void finish(std::uint64_t time);

 private:
  struct Value {
    std::string id;
    unsigned width = 1;
    std::uint64_t value = 0, written = 0;
    bool known = false, written_known = false, changed = false;
  };
  void put(const Value& v);
  void flush(bool all);

  base::OutputFile file_;
  std::string text_;
  std::vector<Value> values_;
  std::vector<Signal> changed_;
  std::uint64_t time_ = 0;
  unsigned depth_ = 0;
  bool begun_ = false;
};

}  // namespace regatta::support
