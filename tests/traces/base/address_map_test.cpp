// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/address_map.h>
#include <regatta/test/catch.h>

#include <set>

using namespace regatta;

TEST_CASE("the windows of the address map are free of overlap and named once") {
  std::set<std::string> names;
  std::set<base::Window> windows;
  for (std::size_t a = 0; a < base::address_map.size(); ++a) {
    const base::MappedWindow& w = base::address_map[a];
    names.insert(w.name);
    windows.insert(w.window);
    CHECK(base::window_number(base::first_address(w.window)) == static_cast<std::uint64_t>(w.window));
    for (std::size_t b = 0; b < base::address_map.size(); ++b) {
      const std::uint64_t first = base::first_address(w.window), last = first + base::window_bytes - 1;
      const std::uint64_t other = base::first_address(base::address_map[b].window);
      CHECK((a == b) == (other >= first && other <= last));
    }
  }
  CHECK(names.size() == base::address_map.size());
  CHECK(windows.size() == base::address_map.size());
  // A window that is added to the enumeration has to be in the map: it counts up from 0 without a gap.
  CHECK(static_cast<std::size_t>(*windows.rbegin()) + 1 == base::address_map.size());
}
