// SPDX-License-Identifier: Apache-2.0
//
// WC: Warped-Compression, as the aging-aware register file compares with it (sections 2.3 and 5.3):
// base-delta-immediate with the first component as base. The compressed register stays in its row, packed into the
// lowest segments, and the others are switched off.
#pragma once

#include <regatta/aging/compressed_rows.h>

#include <vector>

namespace regatta::models::aging {

/// What a register is kept as; two bits beside its row.
enum class PackedAs : std::uint8_t { whole, base, bytes, halves };
inline constexpr unsigned packed_count = 4;
const char* to_string(PackedAs p);

/// The smallest form of a register: whether every component differs from the first by nothing, by a signed byte, by two
/// signed bytes, or by more.
PackedAs smallest_form(const std::uint32_t* components, unsigned lanes);
/// Packs into / unpacks from a row: the base in word 0, then the deltas of components 1 and up, one behind the other
/// from bit 32 on. Words beyond keep what they hold.
void pack(PackedAs form, const std::uint32_t* components, unsigned lanes, std::uint32_t* cells);
void unpack(PackedAs form, const std::uint32_t* cells, unsigned lanes, std::uint32_t* components);

/// Expects a sleep-transistor controller with warped_segments(). The same rules for divergent writes as RC's.
class WarpedCompression : public CompressedRows, public RowObserver {
 public:
  WarpedCompression(const sc_core::sc_module_name& name, const FileCompression& config)
      : CompressedRows(name, config), forms_(config.rows, PackedAs::whole) {}

  Stored write(const protocol::WarpAccess& access, Row row, const std::uint32_t* values, std::uint32_t* cells,
               protocol::Cycle done) override;
  Read read(const protocol::WarpAccess& access, Row row, const std::uint32_t* cells, std::uint32_t* values) override;
  bool needs_row(Row) const override { return true; }
  bool compressed(Row row) const override { return forms_[row.value()] != PackedAs::whole; }

  RowObserver* row_observer() override { return this; }
  /// A row that others switch off as a whole holds no register that could be decompressed.
  void switched(protocol::Cycle at, Row row, SegmentMask segments, PowerState state) override;

  std::uint64_t form_writes(PackedAs p) const { return writes_as_[static_cast<unsigned>(p)]; }
  void register_stats(support::StatGroup& group) override;

 private:
  void forget(Row row) override { forms_[row.value()] = PackedAs::whole; }
  void launch_started(std::uint32_t rows) override { forms_.assign(rows, PackedAs::whole); }
  /// Sub-wavefronts wide what the form takes of a row.
  unsigned beats_of(PackedAs form) const;

  std::vector<PackedAs> forms_;  ///< by row
  std::array<std::uint64_t, packed_count> writes_as_{};
};

}  // namespace regatta::models::aging
