// SPDX-License-Identifier: Apache-2.0
//
// Whole messages over a stream socket, at both ends.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

namespace regatta::capture {

/// False: the other end is gone.
inline bool send_all(int socket, const void* from, std::uint64_t bytes) {
  const auto* at = static_cast<const char*>(from);
  while (bytes != 0) {
    const ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    bytes -= static_cast<std::uint64_t>(sent);
  }
  return true;
}

/// False: the other end is gone.
inline bool receive_all(int socket, void* to, std::uint64_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes != 0) {
    const ssize_t got = recv(socket, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::uint64_t>(got);
  }
  return true;
}

}  // namespace regatta::capture
