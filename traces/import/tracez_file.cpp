// SPDX-License-Identifier: Apache-2.0
#include "tracez_file.h"

#include <regatta/base/tool.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "header.h"
#include "instruction_line.h"

namespace regatta::import {
namespace {

/// Larger ones are refused before memory is asked for: pages have some thousand instructions.
constexpr std::uint64_t most_page_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t most_dictionary_bytes = std::uint64_t{16} << 20;
constexpr std::size_t most_header_bytes = 1 << 20;

class BytesOfFile : public Bytes {
 public:
  explicit BytesOfFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    if (file_ == nullptr) fail(path, {}, std::string("cannot read the file: ") + std::strerror(errno));
    if (fseeko(file_, 0, SEEK_END) != 0) {
      std::fclose(file_);
      fail(path, {}, "cannot be read at any place, as a paged trace is");
    }
    size_ = static_cast<std::uint64_t>(ftello(file_));
  }
  BytesOfFile(const BytesOfFile&) = delete;
  BytesOfFile& operator=(const BytesOfFile&) = delete;
  ~BytesOfFile() override { std::fclose(file_); }
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t at, char* to, std::size_t count) const override {
    if (fseeko(file_, static_cast<off_t>(at), SEEK_SET) != 0 || std::fread(to, 1, count, file_) != count) {
      fail(path_, {}, "cannot read " + std::to_string(count) + " bytes at byte " + std::to_string(at));
    }
  }

 private:
  std::string path_;
  std::FILE* file_;
  std::uint64_t size_ = 0;
};

class BytesInMemory : public Bytes {
 public:
  explicit BytesInMemory(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t at, char* to, std::size_t count) const override {
    std::memcpy(to, bytes_.data() + at, count);
  }

 private:
  std::string_view bytes_;
};

struct Warp {
  std::uint32_t instructions = 0;
  std::uint64_t at = 0;
  std::vector<std::uint32_t> pages;  ///< instructions of each
};
struct Block {
  std::array<std::uint32_t, 3> id{};
  std::uint64_t index = 0;
  std::vector<Warp> warps;
};

class TracezFile : public KernelFile {
 public:
  TracezFile(std::string path, std::unique_ptr<Bytes> bytes)
      : path_(std::move(path)), bytes_(std::move(bytes)), context_(ZSTD_createDCtx()), dictionary_(nullptr) {
    if (context_ == nullptr) base::allocation_failed();
    try {
      read_head();
      read_index();
    } catch (...) {
      release();
      throw;
    }
  }
  TracezFile(const TracezFile&) = delete;
  TracezFile& operator=(const TracezFile&) = delete;
  ~TracezFile() override { release(); }

  void read(KernelVisitor& visitor) override {
    for (const Block& block : blocks_) {
      const LineReader at(path_ + " (" + name_of(block) + ")", text_source(""));
      visitor.begin_cta(block.index, at);
      for (std::uint32_t w = 0; w < block.warps.size(); ++w) read_warp(block, w, visitor);
      visitor.end_cta(at);
    }
  }

 private:
  static std::string name_of(const Block& b) {
    return "thread block " + std::to_string(b.id[0]) + "," + std::to_string(b.id[1]) + "," + std::to_string(b.id[2]);
  }
  void release() {
    ZSTD_freeDCtx(context_);
    ZSTD_freeDDict(dictionary_);
  }
  [[noreturn]] void damaged(std::uint64_t at, const std::string& what) const {
    fail(path_, {}, "byte " + std::to_string(at) + ": " + what);
  }

  /// Integers from `at` on, which moves behind them.
  template <class Integer>
  Integer take(std::uint64_t& at, const char* what) const {
    unsigned char raw[sizeof(Integer)];
    if (at > bytes_->size() || bytes_->size() - at < sizeof raw)
      damaged(at, std::string("the file ends, expected ") + what);
    bytes_->read(at, reinterpret_cast<char*>(raw), sizeof raw);
    at += sizeof raw;
    Integer value = 0;
    for (std::size_t n = 0; n < sizeof raw; ++n) value |= static_cast<Integer>(static_cast<Integer>(raw[n]) << 8 * n);
    return value;
  }
  std::uint32_t u32(std::uint64_t& at, const char* what) const { return take<std::uint32_t>(at, what); }

  void read_head() {
    std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(bytes_->size(), most_header_bytes)), '\0');
    bytes_->read(0, text.data(), text.size());
    const std::size_t end = text.find('\0');
    if (end == std::string::npos) damaged(0, "no byte of value 0 ends the header");
    text.resize(end);
    LineReader reader(path_, text_source(text));
    HeaderReader header;
    std::string_view line;
    while (reader.next(line)) {
      if (!line.empty() && line[0] == '-') header.line(reader, line);
    }
    header_ = header.finish(reader);
    std::uint64_t at = end + 1;
    const std::uint32_t size = u32(at, "the size of the dictionary");
    u32(at, "the instructions per page");
    if (size > most_dictionary_bytes || bytes_->size() - at < size) {
      damaged(at, "a dictionary of " + std::to_string(size) + " bytes, which the file does not have");
    }
    if (size == 0) return;
    std::vector<char> dictionary(size);
    bytes_->read(at, dictionary.data(), size);
    dictionary_ = ZSTD_createDDict(dictionary.data(), size);
    if (dictionary_ == nullptr) damaged(at, "zstd does not take the dictionary");
  }

  void read_index() {
    constexpr std::uint64_t trailer = 8;
    if (bytes_->size() < trailer) damaged(0, "the file ends before its index");
    std::uint64_t at = bytes_->size() - trailer;
    const std::uint64_t end = at;
    const std::uint64_t index = take<std::uint64_t>(at, "the place of the index");
    if (index > end) damaged(end, "the index is at byte " + std::to_string(index) + ", behind the end of the file");
    at = index;
    const std::uint32_t count = u32(at, "the number of thread blocks");
    if (count > header_.ctas()) {
      damaged(index, std::to_string(count) + " thread blocks, and the grid has " + std::to_string(header_.ctas()));
    }
    for (std::uint32_t n = 0; n < count; ++n) {
      const std::uint64_t from = at;
      Block block;
      for (std::uint32_t& d : block.id) d = u32(at, "a thread block");
      for (unsigned d = 0; d < 3; ++d) {
        if (block.id[d] >= header_.grid[d]) damaged(from, name_of(block) + " is outside the grid");
      }
      block.index =
          block.id[0] + std::uint64_t{header_.grid[0]} * (block.id[1] + std::uint64_t{header_.grid[1]} * block.id[2]);
      for (unsigned skipped = 0; skipped < 7; ++skipped) u32(at, "the cluster of a thread block");
      const std::uint32_t warps = u32(at, "the warps of a thread block");
      if (warps != header_.warps()) {
        damaged(from, name_of(block) + " has " + std::to_string(warps) + " warps, expected " +
                          std::to_string(header_.warps()));
      }
      for (std::uint32_t w = 0; w < warps; ++w) read_warp_index(block, at, end);
      blocks_.push_back(std::move(block));
    }
    if (at != end) damaged(at, "the index ends, and " + std::to_string(end - at) + " more bytes follow");
    std::sort(blocks_.begin(), blocks_.end(), [](const Block& a, const Block& b) { return a.index < b.index; });
    for (std::size_t n = 0; n < blocks_.size(); ++n) {
      if (blocks_[n].index == n) continue;
      damaged(index, n != 0 && blocks_[n].index == blocks_[n - 1].index
                         ? name_of(blocks_[n]) + " is there twice"
                         : "thread block number " + std::to_string(n) + " is missing before " + name_of(blocks_[n]) +
                               ": a trace has its first CTAs without a gap");
    }
  }

  void read_warp_index(Block& block, std::uint64_t& at, std::uint64_t end) const {
    const std::uint64_t from = at;
    Warp warp;
    warp.instructions = u32(at, "the instructions of a warp");
    const std::uint32_t pages = u32(at, "the pages of a warp");
    warp.at = take<std::uint64_t>(at, "the place of a warp");
    if (pages > (end - at) / 4)
      damaged(from, "a warp of " + std::to_string(pages) + " pages, which the index does not have");
    std::uint64_t sum = 0;
    for (std::uint32_t p = 0; p < pages; ++p) {
      warp.pages.push_back(u32(at, "the instructions of a page"));
      sum += warp.pages.back();
    }
    if (sum != warp.instructions) {
      damaged(from, "a warp of " + std::to_string(warp.instructions) + " instructions has " + std::to_string(sum) +
                        " in its pages");
    }
    block.warps.push_back(std::move(warp));
  }

  /// The text of a page whose size is at `at`, which moves behind the page.
  void read_page(std::uint64_t& at, std::string& text) {
    const std::uint64_t from = at;
    const std::uint32_t size = u32(at, "the size of a page");
    if (bytes_->size() - at < size)
      damaged(from, "a page of " + std::to_string(size) + " bytes, which the file does not have");
    page_.resize(size);
    bytes_->read(at, page_.data(), size);
    at += size;
    const unsigned long long content = ZSTD_getFrameContentSize(page_.data(), size);
    if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN || content > most_page_bytes) {
      damaged(from, "a page that is no zstd frame of up to " + std::to_string(most_page_bytes >> 20) + " MiB");
    }
    text.resize(content);
    const std::size_t got =
        dictionary_ != nullptr
            ? ZSTD_decompress_usingDDict(context_, text.data(), text.size(), page_.data(), size, dictionary_)
            : ZSTD_decompressDCtx(context_, text.data(), text.size(), page_.data(), size);
    if (ZSTD_isError(got) != 0) damaged(from, std::string("a page cannot be decompressed: ") + ZSTD_getErrorName(got));
    if (got != content) damaged(from, "a page is shorter than its frame says");
  }

  void read_warp(const Block& block, std::uint32_t number, KernelVisitor& visitor) {
    const Warp& warp = block.warps[number];
    const std::string name = path_ + " (" + name_of(block) + ", warp " + std::to_string(number);
    std::uint64_t at = warp.at;
    const LineReader place(name + ")", text_source(""));
    visitor.begin_warp(number, place);
    if (u32(at, "the instructions of a warp") != warp.instructions ||
        u32(at, "the pages of a warp") != warp.pages.size()) {
      damaged(warp.at, "what stands before the pages of " + name_of(block) + ", warp " + std::to_string(number) +
                           " is not what the index says");
    }
    std::string text;
    for (std::size_t p = 0; p < warp.pages.size(); ++p) {
      read_page(at, text);
      LineReader reader(name + ", page " + std::to_string(p) + ")", text_source(text));
      std::string_view line;
      std::uint32_t count = 0;
      while (reader.next(line)) {
        if (count++ == warp.pages[p])
          reader.fail(1, "more lines than the " + std::to_string(warp.pages[p]) + " of the page");
        parse_instruction(reader, line, header_, instruction_);
        visitor.instruction(instruction_);
      }
      if (count != warp.pages[p]) {
        reader.fail(1, "the page has " + std::to_string(count) + " lines, expected " + std::to_string(warp.pages[p]));
      }
    }
    visitor.end_warp(place);
  }

  std::string path_;
  std::unique_ptr<Bytes> bytes_;
  ZSTD_DCtx* context_;
  ZSTD_DDict* dictionary_;
  std::vector<Block> blocks_;
  std::vector<char> page_;
  InstructionLine instruction_;
};

}  // namespace

std::unique_ptr<Bytes> tracez_bytes(const std::string& path) { return std::make_unique<BytesOfFile>(path); }
std::unique_ptr<Bytes> tracez_bytes(std::string_view bytes) { return std::make_unique<BytesInMemory>(bytes); }

std::unique_ptr<KernelFile> open_tracez(const std::string& path, std::unique_ptr<Bytes> bytes) {
  return std::make_unique<TracezFile>(path, std::move(bytes));
}

}  // namespace regatta::import
