// SPDX-License-Identifier: Apache-2.0
#include <lzma.h>
#include <regatta/base/tool.h>
#include <regatta/trace/types.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "line_reader.h"

namespace regatta::import {
namespace {

[[noreturn]] void fail_file(const std::string& path, const std::string& what) { fail(path, {}, what); }

class PlainFile : public ByteSource {
 public:
  explicit PlainFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    if (file_ == nullptr) fail_file(path, std::string("cannot read the file: ") + std::strerror(errno));
    struct stat about {};
    if (fstat(fileno(file_), &about) == 0 && S_ISDIR(about.st_mode)) {
      std::fclose(file_);
      fail_file(path, "a folder, expected a file");
    }
  }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  ~PlainFile() override { std::fclose(file_); }
  std::size_t read(char* to, std::size_t size) override {
    const std::size_t got = std::fread(to, 1, size, file_);
    if (got == 0 && std::ferror(file_) != 0)
      fail_file(path_, std::string("cannot read the file: ") + std::strerror(errno));
    return got;
  }

 private:
  std::string path_;
  std::FILE* file_;
};

/// Memory that a decoder may take: what `xz -9` needs is 65 MiB.
constexpr std::uint64_t most_xz_memory = std::uint64_t{512} << 20;

class XzSource : public ByteSource {
 public:
  /// `first`: bytes that were read from `inner` already.
  XzSource(std::string path, std::unique_ptr<ByteSource> inner, std::string first)
      : path_(std::move(path)), inner_(std::move(inner)), input_(std::move(first)) {
    if (lzma_stream_decoder(&stream_, most_xz_memory, LZMA_CONCATENATED) != LZMA_OK) base::allocation_failed();
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data());
    stream_.avail_in = input_.size();
  }
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;
  ~XzSource() override { lzma_end(&stream_); }

  std::size_t read(char* to, std::size_t size) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = size;
    while (!over_ && stream_.avail_out == size) {
      if (stream_.avail_in == 0 && !at_end_) {
        input_.resize(std::size_t{1} << 16);
        const std::size_t got = inner_->read(input_.data(), input_.size());
        at_end_ = got == 0;
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data());
        stream_.avail_in = got;
      }
      const lzma_ret result = lzma_code(&stream_, at_end_ ? LZMA_FINISH : LZMA_RUN);
      if (result == LZMA_STREAM_END) {
        over_ = true;
      } else if (result != LZMA_OK) {
        damaged(result);
      }
    }
    return size - stream_.avail_out;
  }

 private:
  [[noreturn]] void damaged(lzma_ret result) const {
    const std::string at = " at byte " + std::to_string(stream_.total_in) + " of the compressed file";
    if (result == LZMA_MEM_ERROR) base::allocation_failed();
    if (result == LZMA_BUF_ERROR) fail_file(path_, "the xz file ends early," + at);
    if (result == LZMA_MEMLIMIT_ERROR)
      fail_file(path_, "the xz file needs more than 512 MiB of memory to decompress," + at);
    fail_file(path_, "the xz file is damaged" + at);
  }

  std::string path_;
  std::unique_ptr<ByteSource> inner_;
  std::string input_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool at_end_ = false, over_ = false;
};

/// Gives bytes that were read back before those of a source.
class Rest : public ByteSource {
 public:
  Rest(std::string first, std::unique_ptr<ByteSource> inner) : first_(std::move(first)), inner_(std::move(inner)) {}
  std::size_t read(char* to, std::size_t size) override {
    if (at_ == first_.size()) return inner_->read(to, size);
    const std::size_t n = std::min(size, first_.size() - at_);
    std::memcpy(to, first_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  std::string first_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteSource> inner_;
};

class Text : public ByteSource {
 public:
  explicit Text(std::string_view text) : text_(text) {}
  std::size_t read(char* to, std::size_t size) override {
    const std::size_t n = std::min(size, text_.size());
    std::memcpy(to, text_.data(), n);
    text_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view text_;
};

}  // namespace

std::unique_ptr<ByteSource> decompressed(const std::string& path, std::unique_ptr<ByteSource> source) {
  constexpr std::string_view magic{
      "\xfd"
      "7zXZ\0",
      6};
  std::string first(magic.size(), '\0');
  std::size_t got = 0;
  while (got < first.size()) {
    const std::size_t more = source->read(first.data() + got, first.size() - got);
    if (more == 0) break;
    got += more;
  }
  first.resize(got);
  if (first == magic) return std::make_unique<XzSource>(path, std::move(source), std::move(first));
  return std::make_unique<Rest>(std::move(first), std::move(source));
}

std::unique_ptr<ByteSource> open_file(const std::string& path) { return std::make_unique<PlainFile>(path); }

std::unique_ptr<ByteSource> text_source(std::string_view text) { return std::make_unique<Text>(text); }

}  // namespace regatta::import
