// SPDX-License-Identifier: Apache-2.0
//
// Answers what the runtime in the captured program asks for.
#pragma once

#include "device.h"
#include "protocol.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace regatta::capture {

struct Answer {
  Status status = Status::done;
  std::vector<std::uint8_t> bytes;
};

class Server {
 public:
  /// All must outlive the server.
  explicit Server(CapturedDevice& device, const DeviceDescription& description)
      : device_(device), description_(description) {}

  /// Answers one request; never throws for one that is wrong.
  Answer answer(std::uint32_t kind, const std::vector<std::uint8_t>& request);

  /// Why the program could not go on; empty while it can.
  const std::string& refusal() const { return refusal_; }

 private:
  void answer_to(Request kind, MessageReader& in, MessageWriter& out);
  void load_module(MessageReader& in, MessageWriter& out);
  void try_load_module(MessageReader& in, MessageWriter& out);
  void describe_module(std::uint32_t index, MessageWriter& out);
  void launch(MessageReader& in, MessageWriter& out);
  /// server_textures.cpp. False: the request is about something else.
  bool answer_of_textures(Request kind, MessageReader& in, MessageWriter& out);
  void warn(const std::string& text);

  CapturedDevice& device_;
  const DeviceDescription& description_;
  std::string refusal_;
  std::set<std::string> warned_;
};

/// Listens at `path`, a socket, for one program.
class Listener {
 public:
  /// Throws trace::InputError when the socket cannot be made.
  explicit Listener(const std::string& path);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Waits up to `milliseconds` for a request of the program and answers it. False: there was none.
  bool serve(Server& server, int milliseconds);
  /// Whether the program that talked to us has ended its connection.
  bool is_over() const { return is_over_; }
  /// How many processes came, of which the first one alone is served.
  unsigned processes() const { return processes_; }

 private:
  bool take_request(Server& server);
  void accept_program();

  std::string path_;
  int listening_ = -1, program_ = -1;
  bool is_over_ = false;
  unsigned processes_ = 0;
};

}  // namespace regatta::capture
