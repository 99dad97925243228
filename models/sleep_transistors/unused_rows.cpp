// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/sleep_transistors/unused_rows.h>

namespace regatta::models {

using protocol::PowerState;
using protocol::RegisterId;
using protocol::Row;

void UnusedRows::rows_started(std::uint32_t rows, unsigned) {
  for (std::uint32_t r = 0; r < rows; ++r) power_.vote(voter_, Row(r), PowerState::off);
}

void UnusedRows::window_taken(protocol::WarpSlot, const protocol::RegisterWindow& window, unsigned registers) {
  for (unsigned r = 0; r < registers; ++r) {
    power_.vote(voter_, window.row(RegisterId(static_cast<std::uint8_t>(r))), PowerState::on);
  }
}

void UnusedRows::window_left(protocol::WarpSlot, const protocol::RegisterWindow& window, unsigned registers) {
  for (unsigned r = 0; r < registers; ++r) {
    power_.vote(voter_, window.row(RegisterId(static_cast<std::uint8_t>(r))), PowerState::off);
  }
}

}  // namespace regatta::models
