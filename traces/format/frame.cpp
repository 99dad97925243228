// SPDX-License-Identifier: Apache-2.0
#include "frame.h"

#include <regatta/base/tool.h>
#include <xxhash.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <cstring>

namespace regatta::trace {
namespace {

/// The level that is 1.3 to 2 times as fast as the usual one, 3, for files that are up to 8 % larger.
constexpr int compression_level = 1;
/// zstd stores a block of at most 128 KiB in no less than 4 bytes.
constexpr std::uint64_t max_ratio = (128 * 1024) / 4;

template <class T>
void put(char*& to, T value) {
  for (unsigned i = 0; i < sizeof value; ++i) *to++ = static_cast<char>((value >> (8 * i)) & 0xff);
}

template <class T>
T take(const char*& from) {
  T value = 0;
  for (unsigned i = 0; i < sizeof value; ++i) value |= static_cast<T>(static_cast<unsigned char>(*from++)) << (8 * i);
  return value;
}

}  // namespace

const char* to_string(FrameKind kind) {
  switch (kind) {
    case FrameKind::kernel:
      return "kernel";
    case FrameKind::cta:
      return "CTA";
    case FrameKind::index:
      return "index";
    case FrameKind::segment:
      return "segment";
  }
  return "unknown";
}

FrameHeaderBytes pack(const FrameHeader& header) {
  FrameHeaderBytes bytes;
  char* to = bytes.data();
  put(to, header.magic);
  put(to, static_cast<std::uint32_t>(header.kind));
  put(to, header.compressed_bytes);
  put(to, header.raw_bytes);
  put(to, header.checksum);
  return bytes;
}

FrameHeader unpack(const FrameHeaderBytes& bytes) {
  const char* from = bytes.data();
  FrameHeader header;
  header.magic = take<std::uint32_t>(from);
  header.kind = static_cast<FrameKind>(take<std::uint32_t>(from));
  header.compressed_bytes = take<std::uint64_t>(from);
  header.raw_bytes = take<std::uint64_t>(from);
  header.checksum = take<std::uint64_t>(from);
  return header;
}

std::uint64_t checksum(const FrameHeader& header, const char* payload) {
  struct Free {
    void operator()(XXH64_state_t* state) const { XXH64_freeState(state); }
  };
  const std::unique_ptr<XXH64_state_t, Free> state(XXH64_createState());
  if (!state) base::allocation_failed();
  const FrameHeaderBytes bytes = pack(header);
  XXH64_reset(state.get(), 0);
  XXH64_update(state.get(), bytes.data(), frame_header_bytes - sizeof header.checksum);
  XXH64_update(state.get(), payload, header.compressed_bytes);
  return XXH64_digest(state.get());
}

TrailerBytes pack_trailer(std::uint64_t index_offset, std::uint32_t version) {
  TrailerBytes bytes;
  char* to = bytes.data();
  put(to, index_offset);
  put(to, std::uint64_t{XXH64(bytes.data(), sizeof index_offset, version)});
  std::memcpy(to, end_magic.data(), end_magic.size());
  return bytes;
}

std::uint64_t unpack_trailer(const TrailerBytes& bytes, std::uint32_t version) {
  if (std::memcmp(bytes.data() + trailer_bytes - end_magic.size(), end_magic.data(), end_magic.size()) != 0) {
    throw Malformed("the end mark is missing: the file is truncated or was not finished");
  }
  const char* from = bytes.data();
  const auto offset = take<std::uint64_t>(from);
  if (take<std::uint64_t>(from) != XXH64(bytes.data(), sizeof offset, version)) {
    throw Malformed("checksum of the trailer is wrong: the file is corrupted");
  }
  return offset;
}

void check_sizes(std::uint64_t compressed, std::uint64_t raw) {
  if (raw > max_raw_bytes || compressed > max_raw_bytes || raw > compressed * max_ratio + 65536) {
    throw Malformed("sizes are impossible: " + std::to_string(compressed) + " bytes compressed, " +
                    std::to_string(raw) + " decompressed");
  }
}

char* Buffer::reserve(std::size_t bytes) {
  if (bytes > capacity_) {
    data_.reset();
    data_.reset(new char[bytes]);
    capacity_ = bytes;
  }
  return data_.get();
}

namespace {

/// Lack of memory on this machine must not be reported as a corrupted file.
void check_memory(std::size_t zstd_result) {
  if (ZSTD_getErrorCode(zstd_result) == ZSTD_error_memory_allocation) base::allocation_failed();
}

}  // namespace

struct Compressor::Impl {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ~Impl() { ZSTD_freeCCtx(context); }
};

Compressor::Compressor() : impl_(new Impl) {
  if (!impl_->context) base::allocation_failed();
}
Compressor::~Compressor() = default;

std::size_t Compressor::compress(std::string_view raw, Buffer& out) {
  const std::size_t bound = ZSTD_compressBound(raw.size());
  const std::size_t written =
      ZSTD_compressCCtx(impl_->context, out.reserve(bound), bound, raw.data(), raw.size(), compression_level);
  check_memory(written);
  if (ZSTD_isError(written)) throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(written));
  return written;
}

struct Decompressor::Impl {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  ~Impl() { ZSTD_freeDCtx(context); }
};

Decompressor::Decompressor() : impl_(new Impl) {
  if (!impl_->context) base::allocation_failed();
}
Decompressor::~Decompressor() = default;

void Decompressor::decompress(const char* payload, std::size_t bytes, char* out, std::size_t raw_bytes) {
  const std::size_t written = ZSTD_decompressDCtx(impl_->context, out, raw_bytes, payload, bytes);
  check_memory(written);
  if (ZSTD_isError(written)) throw Malformed(std::string("cannot be decompressed: ") + ZSTD_getErrorName(written));
  if (written != raw_bytes) {
    throw Malformed("decompresses to " + std::to_string(written) + " bytes, expected " + std::to_string(raw_bytes));
  }
}

}  // namespace regatta::trace
