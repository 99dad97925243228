// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <regatta/support/table.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace regatta::support {
namespace {

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u;  // every byte but UTF-8 continuations
  }));
}

/// Commas into a run of decimal digits.
std::string separated(std::string digits) {
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

}  // namespace

void Table::row(std::vector<std::string> cells) {
  if (cells.size() > columns_.size()) throw std::logic_error("Table::row: more cells than columns");
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::str() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) widths.push_back(width(column.header));
  for (const auto& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width(cells[i]));
  }
  std::size_t total = 0;
  for (const std::size_t w : widths) total += w + 2;
  const std::string rule = std::string(total < 2 ? 0 : total - 2, '-') + "\n";

  const auto line = [&](const auto& cell) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string content = cell(i);
      const std::string padding(widths[i] - width(content), ' ');
      text += columns_[i].align == Align::right ? padding + content : content + padding;
      text += "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line([&](std::size_t i) { return columns_[i].header; }) + rule;
  for (const auto& cells : rows_) {
    text += cells.empty() ? rule : line([&](std::size_t i) { return cells[i]; });
  }
  return text;
}

std::string with_thousands(std::uint64_t value) { return separated(std::to_string(value)); }

std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  std::string text = fmt::format("{:.{}f}", std::abs(value), digits);
  const std::size_t point = std::min(text.find('.'), text.size());
  const bool zero = text.find_first_not_of("0.") == std::string::npos;
  return (value < 0 && !zero ? "-" : "") + separated(text.substr(0, point)) + text.substr(point);
}

std::string with_prefix(double value, const std::string& unit) {
  if (!std::isfinite(value)) return "- " + unit;
  static constexpr const char* prefixes[] = {"", "k ", "M ", "G ", "T ", "P "};
  std::size_t prefix = 0;
  double scaled = std::abs(value);
  while (scaled >= 999.5 && prefix + 1 < std::size(prefixes)) scaled /= 1000.0, ++prefix;
  const int digits = scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
  return fixed(std::copysign(scaled, value), digits) + " " + prefixes[prefix] + unit;
}

std::string bytes_text(std::uint64_t bytes) {
  static constexpr const char* prefixes[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double scaled = static_cast<double>(bytes);
  std::size_t prefix = 0;
  while (scaled >= 1023.95 && prefix + 1 < std::size(prefixes)) scaled /= 1024.0, ++prefix;
  return fixed(scaled, 1) + " " + prefixes[prefix];
}

std::string percent(double ratio) { return std::isfinite(ratio) ? fixed(100.0 * ratio, 1) + "%" : "-"; }

std::string duration_text(double seconds) {
  if (!(seconds >= 0.0) || !std::isfinite(seconds)) return "-";
  if (seconds < 0.9995) return fixed(seconds * 1e3, 0) + " ms";
  if (seconds < 59.95) return fixed(seconds, 1) + " s";
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} m {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} m", whole / 3600, whole % 3600 / 60);
}

}  // namespace regatta::support
