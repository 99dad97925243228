// SPDX-License-Identifier: Apache-2.0
//
// Readable tables and numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::support {

/// Columns padded to their widest cell, two blanks between them, no blanks at the end of a line. Width is counted in
/// characters of UTF-8, not bytes.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string header;
    Align align = Align::left;
    Column(const char* text, Align side = Align::left) : header(text), align(side) {}
    Column(std::string text, Align side = Align::left) : header(std::move(text)), align(side) {}
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell per column; missing cells are empty, too many cells are a logic_error.
  void row(std::vector<std::string> cells);
  /// A line of dashes.
  void rule() { rows_.emplace_back(); }
  /// Header, a line of dashes, rows; every line ends in a line feed.
  std::string str() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  ///< an empty one is a rule
};

/// 1234567 -> "1,234,567".
std::string with_thousands(std::uint64_t value);
/// `digits` after the point, thousands separated: 1234.5, 2 -> "1,234.50".
std::string fixed(double value, int digits);
/// Three significant digits with a decimal prefix: 1234567, "instr/s" -> "1.23 M instr/s".
std::string with_prefix(double value, const std::string& unit);
/// Binary prefixes: 1536 -> "1.5 KiB", 100 -> "100 B".
std::string bytes_text(std::uint64_t bytes);
/// 0.25 -> "25.0%".
std::string percent(double ratio);
/// Seconds as "850 ms", "12.3 s", "2 m 05 s", "1 h 02 m".
std::string duration_text(double seconds);

}  // namespace regatta::support
