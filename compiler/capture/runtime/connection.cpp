// SPDX-License-Identifier: Apache-2.0
#include "connection.h"

#include "../socket_bytes.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace regatta::capture {

namespace {

constexpr int status_of_refusal = 2;

/// Not through stdio, whose buffers may be half full, and without the program's ends of things.
[[noreturn]] void end(const std::string& text) {
  if (!text.empty()) {
    const std::string line = "regatta-capture: " + text + "\n";
    if (write(STDERR_FILENO, line.data(), line.size()) < 0) _exit(status_of_refusal);
  }
  _exit(status_of_refusal);
}

class Connection {
 public:
  static Connection& get() {
    // Never destroyed: programs call the API in their destructors.
    static Connection* const connection = new Connection;
    return *connection;
  }

  Reply ask(Request kind, const MessageWriter& message, const void* tail, std::uint64_t tail_bytes) {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    connect();
    if (process_ != getpid()) end("a process that the program forked uses CUDA, expected one process");
    return exchange(kind, message, tail, tail_bytes);
  }

  const DeviceDescription& device() {
    const std::lock_guard<std::recursive_mutex> lock(mutex_);
    connect();
    return device_;
  }

 private:
  void connect() {
    if (socket_ >= 0) return;
    const char* const path = getenv(socket_variable);
    if (path == nullptr) end("this CUDA runtime works in programs that regatta-capture starts");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0 || ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      end("no connection to regatta-capture at '" + std::string(path) + "': has it ended?");
    }
    process_ = getpid();
    const Reply reply = exchange(Request::hello, MessageWriter().put(protocol_version), nullptr, 0);
    device_ = reply.reader().get<DeviceDescription>();
  }

  Reply exchange(Request kind, const MessageWriter& message, const void* tail, std::uint64_t tail_bytes) {
    MessageHead head;
    head.kind = static_cast<std::uint32_t>(kind);
    head.bytes = message.bytes().size() + tail_bytes;
    Reply reply;
    const bool sent = send_all(socket_, &head, sizeof head) &&
                      send_all(socket_, message.bytes().data(), message.bytes().size()) &&
                      send_all(socket_, tail, tail_bytes);
    if (!sent || !receive_all(socket_, &head, sizeof head)) end(lost());
    reply.status = static_cast<Status>(head.kind);
    reply.bytes.resize(head.bytes);
    if (!receive_all(socket_, reply.bytes.data(), head.bytes)) end(lost());
    if (reply.status == Status::refused) end("");  // the server says why
    return reply;
  }

  static std::string lost() {
    return "no answer: another process of the program uses CUDA already, or regatta-capture has ended";
  }

  std::recursive_mutex mutex_;
  int socket_ = -1;
  pid_t process_ = 0;
  DeviceDescription device_;
};

}  // namespace

Fault Reply::fault() const { return static_cast<Fault>(reader().get<std::uint32_t>()); }

std::string Reply::text() const {
  MessageReader in = reader();
  in.get<std::uint32_t>();
  return in.get_text();
}

Reply ask(Request kind, const MessageWriter& message, const void* tail, std::uint64_t tail_bytes) {
  return Connection::get().ask(kind, message, tail, tail_bytes);
}

const DeviceDescription& device() { return Connection::get().device(); }

void refuse(const std::string& text) {
  ask(Request::refuse, MessageWriter().put_text(text));
  _exit(status_of_refusal);
}

void warn(const std::string& text) { ask(Request::warn, MessageWriter().put_text(text)); }

}  // namespace regatta::capture
