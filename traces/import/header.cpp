// SPDX-License-Identifier: Apache-2.0
#include "header.h"

#include <algorithm>

namespace regatta::import {
namespace {

constexpr std::uint32_t most_threads = 1024;
constexpr std::uint64_t most_ctas = std::uint64_t{1} << 40;
/// Tracers up to this version: later ones may have other columns.
constexpr std::uint32_t newest_tracer = 7;

}  // namespace

std::array<std::uint32_t, 3> triple(const LineReader& reader, std::string_view line, std::size_t at, const char* what) {
  std::array<std::uint32_t, 3> out{};
  std::size_t from = at;
  for (unsigned n = 0; n < 3; ++n) {
    const std::size_t comma = std::min(line.find(n < 2 ? ',' : '\0', from), line.size());
    std::uint64_t value = 0;
    if (!parse_number(line.substr(from, comma - from), 10, value) || value > ~std::uint32_t{0}) {
      reader.fail(at + 1, "found " + quoted(line.substr(at)) + ", expected " + what);
    }
    out[n] = static_cast<std::uint32_t>(value);
    from = std::min(comma + 1, line.size());
  }
  return out;
}

void HeaderReader::line(const LineReader& reader, std::string_view text) {
  const std::size_t equals = text.find(" = ");
  if (text.empty() || text[0] != '-' || equals == std::string_view::npos) {
    reader.fail(1, "found " + quoted(text) + ", expected a line '-KEY = VALUE' of the header");
  }
  const std::string key(text.substr(1, equals - 1));
  std::size_t at = equals + 3;
  while (at < text.size() && text[at] == ' ') ++at;
  std::string_view value = text.substr(at);
  while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
  const auto number = [&](unsigned base, std::uint64_t most) {
    std::uint64_t n = 0;
    if (!parse_number(value, base, n) || n > most) {
      reader.fail(at + 1, "found " + quoted(value) + " for '" + key + "', expected a number of at most " +
                              std::to_string(most));
    }
    return n;
  };
  const auto dimensions = [&] {
    if (value.size() < 2 || value.front() != '(' || value.back() != ')') {
      reader.fail(at + 1, "found " + quoted(value) + " for '" + key + "', expected (X,Y,Z)");
    }
    const std::array<std::uint32_t, 3> d = triple(reader, text.substr(0, at + value.size() - 1), at + 1, "X,Y,Z");
    if (d[0] == 0 || d[1] == 0 || d[2] == 0) reader.fail(at + 1, "a dimension of 0 for '" + key + "'");
    return d;
  };
  constexpr std::uint64_t any = ~std::uint64_t{0};
  if (key == "kernel name") {
    header_.name = std::string(value);
    if (value.empty()) reader.fail(at + 1, "an empty kernel name");
    if (std::any_of(value.begin(), value.end(), [](char c) { return c < ' ' || c > '~'; })) {
      reader.fail(at + 1, "found " + quoted(value) + ", expected a kernel name of printable characters");
    }
  } else if (key == "grid dim") {
    header_.grid = dimensions();
    const std::uint64_t plane = std::uint64_t{header_.grid[0]} * header_.grid[1];
    if (plane > most_ctas || plane * header_.grid[2] > most_ctas) {
      reader.fail(at + 1, "a grid of more than 2^40 thread blocks");
    }
  } else if (key == "block dim") {
    header_.block = dimensions();
    std::uint64_t threads = 1;
    for (const std::uint32_t d : header_.block) threads = std::min<std::uint64_t>(threads * d, std::uint64_t{1} << 32);
    if (threads > most_threads) {
      reader.fail(at + 1, "found " + std::to_string(threads) + " threads per block, expected at most " +
                              std::to_string(most_threads));
    }
  } else if (key == "shmem") {
    header_.shared_bytes = static_cast<std::uint32_t>(number(10, std::uint64_t{1} << 24));
  } else if (key == "nregs") {
    // Tracers that failed to ask the driver wrote what was in memory.
    const std::uint64_t registers = number(10, UINT32_MAX);
    constexpr std::uint64_t most = 256;
    if (registers > most) {
      header_.remarks.push_back("'nregs' is " + std::to_string(registers) + ", more than the " + std::to_string(most) +
                                " of any GPU: as many as the instructions use");
    } else {
      header_.registers = static_cast<std::uint32_t>(registers);
    }
  } else if (key == "binary version") {
    header_.binary_version = static_cast<std::uint32_t>(number(10, 1000));
    if (header_.binary_version == 0) {
      header_.binary_version = 70;
      header_.remarks.emplace_back("'binary version' is 0: taken for 70");
    }
    if (header_.binary_version < 30 || header_.binary_version > 129) {
      reader.fail(at + 1, "binary version " + std::string(value) +
                              ": expected a compute capability from 30 to 129, as 70 for 7.0");
    }
  } else if (key == "accelsim tracer version") {
    header_.tracer_version = static_cast<std::uint32_t>(number(10, any));
    if (header_.tracer_version == 0 || header_.tracer_version > newest_tracer) {
      reader.fail(at + 1, "tracer version " + std::string(value) + ": expected 1 to " + std::to_string(newest_tracer));
    }
  } else if (key == "enable lineinfo") {
    header_.has_line_numbers = number(10, 1) != 0;
  } else if (key == "shmem base_addr") {
    header_.shared_base = number(16, any);
  } else if (key == "local mem base_addr") {
    header_.local_base = number(16, any);
  }
  found_.push_back(key);
}

Header HeaderReader::finish(const LineReader& reader) const {
  for (const char* needed :
       {"kernel name", "grid dim", "block dim", "shmem", "nregs", "binary version", "accelsim tracer version"}) {
    if (std::find(found_.begin(), found_.end(), needed) != found_.end()) continue;
    reader.fail(1, std::string("the header has no line '-") + needed + " = ...'");
  }
  return header_;
}

}  // namespace regatta::import
