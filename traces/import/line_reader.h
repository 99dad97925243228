// SPDX-License-Identifier: Apache-2.0
//
// The lines of a text file, plain or compressed with xz, and the errors that name a place in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace regatta::import {

/// Lines and columns start at 1. Line 0: the file as a whole.
struct Place {
  std::uint64_t line = 0;
  std::size_t column = 1;
};

/// Throws trace::InputError "path:line:column: error: what".
[[noreturn]] void fail(const std::string& path, Place place, const std::string& what);
/// A piece of a file, in quotes, at most 40 characters of it, unprintable ones as "?".
std::string quoted(std::string_view text);

/// Reads bytes in order.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads up to `size` bytes; 0 at the end. Throws trace::InputError.
  virtual std::size_t read(char* to, std::size_t size) = 0;
};

/// The bytes of a file. Throws trace::InputError "path: error: ...".
std::unique_ptr<ByteSource> open_file(const std::string& path);
/// What `source` holds, decompressed where its first bytes are those of an xz file. `path`: for messages.
std::unique_ptr<ByteSource> decompressed(const std::string& path, std::unique_ptr<ByteSource> source);
/// Text in memory, which must live as long.
std::unique_ptr<ByteSource> text_source(std::string_view text);

/// Lines without their ends ("\n" or "\r\n").
class LineReader {
 public:
  /// The longest line that is read, in bytes.
  static constexpr std::size_t max_line = 1 << 16;

  /// `path`: for messages.
  LineReader(std::string path, std::unique_ptr<ByteSource> source);
  /// The next line, valid until the next call; false at the end. Throws for a line longer than max_line and for a byte
  /// 0.
  bool next(std::string_view& line);
  /// Number of the line that next() returned last.
  std::uint64_t number() const { return number_; }
  const std::string& path() const { return path_; }
  [[noreturn]] void fail(std::size_t column, const std::string& what) const {
    import::fail(path_, {number_, column}, what);
  }

 private:
  bool fill();

  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t number_ = 0;
  bool over_ = false;
};

/// The words of a line, from left to right, separated by blanks.
class Words {
 public:
  Words(const LineReader& reader, std::string_view line) : reader_(&reader), line_(line) {}
  /// The next word; throws "found the end of the line, expected WHAT" where there is none.
  std::string_view next(const char* what);
  /// Whether another one follows.
  bool more();
  /// Throws if there is another one.
  void end();
  /// A number of `base` 10 or 16 ("0x" may stand before it), at most `most`.
  std::uint64_t number(const char* what, unsigned base, std::uint64_t most);
  std::int64_t signed_number(const char* what);
  /// Column of the word that was returned last.
  std::size_t column() const { return column_; }
  [[noreturn]] void fail(const std::string& what) const { reader_->fail(column_, what); }

 private:
  const LineReader* reader_;
  std::string_view line_;
  std::size_t at_ = 0;
  std::size_t column_ = 1;
};

/// As Words::number(), of a word. false: it is none.
bool parse_number(std::string_view text, unsigned base, std::uint64_t& value);

}  // namespace regatta::import
