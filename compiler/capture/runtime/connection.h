// SPDX-License-Identifier: Apache-2.0
//
// The way to regatta-capture. This library is loaded into any program, so it needs nothing but the C++ library, which
// is linked into it.
#pragma once

#include "../protocol.h"

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::capture {

struct Reply {
  Status status = Status::done;
  std::vector<std::uint8_t> bytes;

  bool is_done() const { return status == Status::done; }
  MessageReader reader() const { return MessageReader(bytes); }
  /// Of one that is not done.
  Fault fault() const;
  std::string text() const;
};

/// Sends a request and waits for its answer; connects when it is the first. `tail` follows the message, without a copy.
/// A refusal ends the program. Calls of several threads go one after the other.
Reply ask(Request kind, const MessageWriter& message = {}, const void* tail = nullptr, std::uint64_t tail_bytes = 0);

/// What the device is; from the server's first answer.
const DeviceDescription& device();

/// Says why the program cannot go on and ends it.
[[noreturn]] void refuse(const std::string& text);

/// Shown once.
void warn(const std::string& text);

}  // namespace regatta::capture
