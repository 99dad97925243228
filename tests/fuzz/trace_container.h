// SPDX-License-Identifier: Apache-2.0
//
// A trace file taken apart and put together again, from the layout in trace.proto alone, so that a test can change what
// is inside under right checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace regatta::test {

/// A number of the file, little endian as the machine.
template <class T>
T get(const std::string& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void put(std::string& bytes, std::size_t at, T value) {
  std::memcpy(&bytes[at], &value, sizeof value);
}

inline constexpr std::size_t trace_file_header = 12;
inline constexpr std::size_t trace_frame_header = 32;
inline constexpr std::size_t trace_trailer = 24;

/// Start of each frame of a file that is whole.
std::vector<std::size_t> frame_starts(const std::string& bytes);
/// The payload of the frame that starts there, decompressed; nullopt if it is broken or has more than 64 MiB.
std::optional<std::string> frame_payload(const std::string& bytes, std::size_t frame);
/// A frame around a payload, compressed, with its checksum.
std::string make_frame(std::uint32_t kind, const std::string& raw);
/// Computes the checksum of a frame anew.
void sign_frame(std::string& frame);
std::string make_trailer(std::uint64_t index_offset, std::uint32_t version = 1);

struct TraceContainer {
  enum Kind : std::uint32_t { kernel = 1, cta = 2, index = 3 };
  struct Frame {
    std::uint32_t kind = 0;
    std::uint64_t offset = 0;  ///< in the file it comes from
    std::string raw;
  };
  std::vector<Frame> frames;  ///< the index is the last
  std::uint32_t version = 1;  ///< of the file format

  /// nullopt if the file is not whole.
  static std::optional<TraceContainer> take_apart(const std::string& bytes);
  /// The file. With `repair` the index gets the frames' new places and sizes, and the counts of their CTAs.
  std::string assemble(bool repair) const;
};

}  // namespace regatta::test
