// SPDX-License-Identifier: Apache-2.0
//
// .traceg: text, plain or compressed with xz.
#include <functional>
#include <optional>

#include "header.h"
#include "instruction_line.h"
#include "kernel_file.h"
#include "tracez_file.h"

namespace regatta::import {
namespace {

bool begins(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

/// The number behind "KEY = ".
std::optional<std::uint64_t> value_of(std::string_view line, std::string_view key) {
  if (!begins(line, key) || line.substr(key.size(), 3) != " = ") return std::nullopt;
  std::string_view text = line.substr(key.size() + 3);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::uint64_t value = 0;
  if (!parse_number(text, 10, value)) return std::nullopt;
  return value;
}

class TracegFile : public KernelFile {
 public:
  using Open = std::function<std::unique_ptr<ByteSource>()>;
  TracegFile(std::string path, Open open) : path_(std::move(path)), open_(std::move(open)) {
    LineReader reader = lines();
    header_ = read_header(reader);
  }

  void read(KernelVisitor& visitor) override {
    LineReader reader = lines();
    read_header(reader);
    std::string_view line;
    std::uint64_t next = 0;
    while (to_text(reader, line)) {
      if (line == "#BEGIN_TB") {
        read_cta(reader, next++, visitor);
      } else if (line[0] != '#' || line == "#END_TB") {
        reader.fail(1, "found " + quoted(line) + ", expected #BEGIN_TB");
      }
    }
  }

 private:
  LineReader lines() const { return {path_, decompressed(path_, open_())}; }

  /// The next line that is not empty; false at the end.
  static bool to_text(LineReader& reader, std::string_view& line) {
    while (reader.next(line)) {
      if (line.find_first_not_of(" \t") != std::string_view::npos) return true;
    }
    return false;
  }
  static void need(LineReader& reader, std::string_view& line, const std::string& expected) {
    if (!to_text(reader, line)) reader.fail(1, "the file ends, expected " + expected);
  }

  /// Up to the line "#traces format ..." behind it.
  static Header read_header(LineReader& reader) {
    HeaderReader header;
    std::string_view line;
    for (;;) {
      need(reader, line, "a line '#traces format = ...' behind the header");
      if (begins(line, "#BEGIN_TB"))
        reader.fail(1, "found #BEGIN_TB, expected a line '#traces format = ...' before it");
      if (line[0] == '#') return header.finish(reader);
      header.line(reader, line);
    }
  }

  void read_cta(LineReader& reader, std::uint64_t expected, KernelVisitor& visitor) {
    std::string_view line;
    need(reader, line, "'thread block = X,Y,Z'");
    constexpr std::string_view key = "thread block = ";
    if (!begins(line, key)) reader.fail(1, "found " + quoted(line) + ", expected 'thread block = X,Y,Z'");
    const std::array<std::uint32_t, 3> id = triple(reader, line, key.size(), "X,Y,Z");
    for (unsigned d = 0; d < 3; ++d) {
      if (id[d] >= header_.grid[d]) {
        reader.fail(key.size() + 1,
                    "found thread block " + std::string(line.substr(key.size())) + ", outside the grid");
      }
    }
    const std::uint64_t index =
        id[0] + std::uint64_t{header_.grid[0]} * (id[1] + std::uint64_t{header_.grid[1]} * id[2]);
    if (index != expected) {
      const std::uint64_t plane = std::uint64_t{header_.grid[0]} * header_.grid[1];
      reader.fail(key.size() + 1, "found thread block " + std::string(line.substr(key.size())) + ", expected " +
                                      std::to_string(expected % header_.grid[0]) + "," +
                                      std::to_string(expected / header_.grid[0] % header_.grid[1]) + "," +
                                      std::to_string(expected / plane) + ": a trace has its first CTAs without a gap");
    }
    visitor.begin_cta(index, reader);
    std::uint32_t next = 0;
    for (;;) {
      need(reader, line, "'warp = N' or #END_TB");
      if (line == "#END_TB") break;
      if (next == 0 && begins(line, "cluster ")) continue;
      if (value_of(line, "warp") != next || next == header_.warps()) {
        reader.fail(1, "found " + quoted(line) + ", expected " +
                           (next == header_.warps() ? "#END_TB" : "'warp = " + std::to_string(next) + "'"));
      }
      read_warp(reader, next++, visitor);
    }
    if (next != header_.warps()) {
      reader.fail(
          1, "the thread block has " + std::to_string(next) + " warps, expected " + std::to_string(header_.warps()));
    }
    visitor.end_cta(reader);
  }

  void read_warp(LineReader& reader, std::uint32_t warp, KernelVisitor& visitor) {
    visitor.begin_warp(warp, reader);
    std::string_view line;
    need(reader, line, "'insts = N'");
    const std::optional<std::uint64_t> count = value_of(line, "insts");
    if (!count) reader.fail(1, "found " + quoted(line) + ", expected 'insts = N'");
    for (std::uint64_t n = 0; n < *count; ++n) {
      need(reader, line, std::to_string(*count - n) + " more instructions");
      if (begins(line, "#END_TB") || begins(line, "warp =")) {
        reader.fail(1, "found " + quoted(line) + " after " + std::to_string(n) + " instructions, expected " +
                           std::to_string(*count));
      }
      parse_instruction(reader, line, header_, instruction_);
      visitor.instruction(instruction_);
    }
    visitor.end_warp(reader);
  }

  std::string path_;
  Open open_;
  InstructionLine instruction_;
};

}  // namespace

std::unique_ptr<KernelFile> open_kernel_file(const std::string& path) {
  constexpr std::string_view paged = ".tracez";
  if (path.size() > paged.size() && path.compare(path.size() - paged.size(), paged.size(), paged) == 0) {
    return open_tracez(path, tracez_bytes(path));
  }
  return std::make_unique<TracegFile>(path, [path] { return open_file(path); });
}

std::unique_ptr<KernelFile> open_kernel_bytes(const std::string& path, std::string_view bytes, bool paged) {
  if (paged) return open_tracez(path, tracez_bytes(bytes));
  return std::make_unique<TracegFile>(path, [bytes] { return text_source(bytes); });
}

}  // namespace regatta::import
