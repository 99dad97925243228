// SPDX-License-Identifier: Apache-2.0
#include <regatta/launch/launch_file.h>

#include "outcome.h"
#include "probes.h"

namespace regatta::test {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;

/// Files that a mutation names are not read: their sizes are nobody's to bound.
bool is_made(const launch::Contents& c) { return c.fill.init != launch::Init::file && c.bytes <= most_bytes; }

}  // namespace

Outcome probe_launch(const std::string& text) {
  const std::string file = "fuzz.toml";
  return outcome_of(file, [&] {
    const launch::LaunchFile parsed = launch::parse_launch_file(text, file);
    for (const launch::Buffer& b : parsed.buffers) {
      if (!is_made(b.contents)) continue;
      const auto bytes = launch::make_contents(parsed, b.contents, b.where);
      if (bytes.size() != b.contents.bytes) throw std::logic_error("contents of another size than the buffer");
    }
    for (const launch::Global& g : parsed.globals) {
      if (is_made(g.contents)) launch::make_contents(parsed, g.contents, g.where);
    }
  });
}

}  // namespace regatta::test
