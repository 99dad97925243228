// SPDX-License-Identifier: Apache-2.0
//
// Frames of the file: layout, checksum, compression. What a frame holds is codec.h's matter.
// Functions that judge bytes throw Malformed with the reason alone; who calls them knows the file and the place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace regatta::trace {

/// A reason why bytes or a structure cannot be part of a trace, without the place.
class Malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::array<unsigned char, 8> file_magic = {0x89, 'R', 'G', 'T', '\r', '\n', 0x1a, '\n'};
inline constexpr std::array<unsigned char, 8> end_magic = {'R', 'G', 'T', 'E', 'N', 'D', '\r', '\n'};
inline constexpr std::uint32_t frame_magic = 0x46544752;  // "RGTF"
inline constexpr std::uint64_t file_header_bytes = 12;
inline constexpr std::uint64_t frame_header_bytes = 32;
inline constexpr std::uint64_t trailer_bytes = 24;
/// Protocol Buffers do not parse more.
inline constexpr std::uint64_t max_raw_bytes = 0x7fffffff;

enum class FrameKind : std::uint32_t { kernel = 1, cta = 2, index = 3, segment = 4 };
const char* to_string(FrameKind kind);

struct FrameHeader {
  std::uint32_t magic = frame_magic;
  FrameKind kind = FrameKind::index;
  std::uint64_t compressed_bytes = 0;
  std::uint64_t raw_bytes = 0;
  std::uint64_t checksum = 0;
};

using FrameHeaderBytes = std::array<char, frame_header_bytes>;
FrameHeaderBytes pack(const FrameHeader& header);
FrameHeader unpack(const FrameHeaderBytes& bytes);
/// Checksum of a header (its own checksum field left out) and its compressed payload.
std::uint64_t checksum(const FrameHeader& header, const char* payload);

using TrailerBytes = std::array<char, trailer_bytes>;
TrailerBytes pack_trailer(std::uint64_t index_offset, std::uint32_t version);
/// Returns the offset of the index frame.
std::uint64_t unpack_trailer(const TrailerBytes& bytes, std::uint32_t version);

/// Throws Malformed if `raw` bytes cannot come out of `compressed` bytes, so that a wrong size allocates nothing.
void check_sizes(std::uint64_t compressed, std::uint64_t raw);

/// Memory that is not cleared before it is written, and that only grows.
class Buffer {
 public:
  char* reserve(std::size_t bytes);
  char* data() const { return data_.get(); }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t capacity_ = 0;
};

class Compressor {
 public:
  Compressor();
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  /// Compresses into `out`; returns the bytes written there.
  std::size_t compress(std::string_view raw, Buffer& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;
  /// Fills exactly `raw_bytes` of `out`.
  void decompress(const char* payload, std::size_t bytes, char* out, std::size_t raw_bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace regatta::trace
