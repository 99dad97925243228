// SPDX-License-Identifier: Apache-2.0
#include <regatta/greener/unused_rows.h>

#include <algorithm>

namespace regatta::models {

using protocol::RegisterId;

void UnusedRows::rows_started(std::uint32_t rows, unsigned) {
  rows_.assign(rows, RowState{});
  free_.assign(slices_, FreeRows{});
  slice_rows_ = std::max<std::uint32_t>(1, rows / slices_);
  reserved_ = false;
  // Under `kernel` the reserved rows stay on: were all switched off first, theirs would count as wake-ups.
  if (when_ == UnusedRowsOff::kernel) return;
  for (std::uint32_t r = 0; r < rows; ++r) vote(r, PowerState::off);
}

void UnusedRows::rows_reserved(const std::vector<Row>& rows) {
  if (when_ == UnusedRowsOff::always) return;
  reserved_ = true;
  for (const Row r : rows) append(r.value());
  for (std::uint32_t r = 0; r < rows_.size(); ++r) {
    if (rows_[r].use == Use::off) vote(r, PowerState::off);
  }
}

void UnusedRows::window_taken(protocol::WarpSlot, const RegisterWindow& window, unsigned registers) {
  if (!switches()) return;
  // Free rows of the window first, so that none of them is switched off in exchange for another row of the window.
  unsigned off = 0;
  for (unsigned r = 0; r < registers; ++r) {
    const std::uint32_t row = row_of(window, r);
    if (rows_[row].use == Use::free) {
      remove(row);
      rows_[row].use = Use::taken;
    } else {
      ++off;
    }
  }
  for (unsigned r = 0; off != 0 && r < registers; ++r) {
    const std::uint32_t row = row_of(window, r);
    if (rows_[row].use == Use::taken) continue;
    --off;
    rows_[row].use = Use::taken;
    vote(row, PowerState::on);
    const std::uint32_t longest = free_rows(row).first;
    if (longest == none) continue;
    remove(longest);
    rows_[longest].use = Use::off;
    vote(longest, PowerState::off);
  }
}

void UnusedRows::window_left(protocol::WarpSlot, const RegisterWindow& window, unsigned registers) {
  if (!switches()) return;
  for (unsigned r = 0; r < registers; ++r) {
    const std::uint32_t row = row_of(window, r);
    if (when_ == UnusedRowsOff::kernel) {
      append(row);
    } else {
      rows_[row].use = Use::off;
      vote(row, PowerState::off);
    }
  }
}

void UnusedRows::append(std::uint32_t row) {
  FreeRows& list = free_rows(row);
  rows_[row] = RowState{Use::free, list.last, none};
  (list.last == none ? list.first : rows_[list.last].after) = row;
  list.last = row;
}

void UnusedRows::remove(std::uint32_t row) {
  FreeRows& list = free_rows(row);
  const RowState& r = rows_[row];
  (r.before == none ? list.first : rows_[r.before].after) = r.after;
  (r.after == none ? list.last : rows_[r.after].before) = r.before;
}

}  // namespace regatta::models
