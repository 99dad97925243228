// SPDX-License-Identifier: Apache-2.0
//
// The ports of WIR's tables (Table III), and what waits for them.
#include <algorithm>

#include "wir_support.h"

using namespace regatta;
using test::bare;
using test::Knobs;
using test::run_each;
using test::TraceBuilder;
using test::Values;
using test::Watched;

namespace {

/// Two warps, one per scheduler, that look up a computation of their own each, issued in one cycle.
Watched two_lookups(const std::string& name, const Knobs& knobs) {
  TraceBuilder b;
  Values v(b);
  v.op("id.0", 0, {});
  v.op("add", 1, {0, 0});
  b.exit();
  run_each(b, v, 2);
  Watched w = test::watch(b, name, knobs);
  test::require_clean(w.result);
  return w;
}

}  // namespace

TEST_CASE("Table III: two instructions look up in a cycle") {
  const Watched w = two_lookups("wir_two_ports", {{"wir.allocator_ports", "2"}});
  REQUIRE(w.of(0, 1).issued == w.of(1, 1).issued);
  CHECK(w.counter("reuse_read_waits") == 0);
  CHECK(w.counter("reuse_write_waits") == 0);
  CHECK(w.counter("lookups") == 2);
}

TEST_CASE("with one port the second lookup waits a cycle, and its claim too") {
  const Watched w = two_lookups("wir_one_port", {{"reuse_buffer.ports", "1"}, {"wir.allocator_ports", "2"}});
  REQUIRE(w.of(0, 1).issued == w.of(1, 1).issued);
  CHECK(w.counter("reuse_read_waits") == 1);
  // Behind it the two are a cycle apart all the way.
  const std::uint64_t one = w.of(0, 1).retired, other = w.of(1, 1).retired;
  CHECK(std::max(one, other) - std::min(one, other) == 1);
}

TEST_CASE("with one port the signature buffer takes one result a cycle") {
  const Watched w =
      two_lookups("wir_one_signature_port", {{"value_signature_buffer.ports", "1"}, {"wir.allocator_ports", "2"}});
  CHECK(w.counter("signature_read_waits") >= 1);
  const std::uint64_t one = w.of(0, 1).retired, other = w.of(1, 1).retired;
  CHECK(std::max(one, other) - std::min(one, other) == 1);
}

TEST_CASE("the free pool gives one register a cycle, or as many as it has ports") {
  const Watched w = two_lookups("wir_one_register", {});
  CHECK(w.counter("allocator_waits") >= 1);
  const std::uint64_t one = w.of(0, 1).retired, other = w.of(1, 1).retired;
  CHECK(std::max(one, other) - std::min(one, other) == 1);
}

TEST_CASE("the free pool gives two registers a cycle with two ports") {
  const Watched w = two_lookups("wir_two_registers", {{"wir.allocator_ports", "2"}});
  CHECK(w.counter("allocator_waits") == 0);
  CHECK(w.of(0, 1).retired == w.of(1, 1).retired);
}

namespace {

/// `sources` registers and a destination, then an addition that needs the result, then one of the same warp.
Watched long_rename(unsigned sources) {
  TraceBuilder b;
  Values v(b);
  for (unsigned r = 0; r < 6; ++r) v.op("id." + std::to_string(r), r, {});
  std::vector<unsigned> all;
  for (unsigned r = 0; r < sources; ++r) all.push_back(r);
  v.op("add", 6, all);
  v.op("add", 7, {6, 6});
  v.op("add", 8, {0, 1});
  b.exit();
  run_each(b, v, 1);
  Watched w = test::watch(b, "wir_rename_" + std::to_string(sources), {{"wir.model", "novsb"}});
  test::require_clean(w.result);
  return w;
}

}  // namespace

TEST_CASE("rename reads three sources and a destination in a cycle") {
  const Watched w = long_rename(3);
  CHECK(w.counter("long_renames") == 0);
}

TEST_CASE("rename takes a further cycle for more than three sources") {
  const Watched few = long_rename(4);
  CHECK(few.counter("long_renames") == 1);
  // The dependent instruction comes a cycle later; bank conflicts of the reads apart, of which four have none.
  CHECK(few.of(0, 7).issued - few.of(0, 6).issued == bare + 4 + 1);
}

TEST_CASE("a warp's first instruction waits for the tables as well") {
  TraceBuilder b;
  Values v(b);
  v.op("add", 6, {0, 1, 2, 3});  // of registers that nobody has written
  b.exit();
  run_each(b, v, 3);
  const Watched w = test::watch(b, "wir_rename_first", {{"wir.model", "novsb"}});
  test::require_clean(w.result);
  CHECK(w.counter("long_renames") == 3);
  // Warps 0 and 2 have one scheduler, and with it one half of the tables. The cycle behind warp 0's addition is the
  // tables' own; then comes the end of warp 0, which is older.
  CHECK(w.of(2, 0).issued - w.of(0, 0).issued == 3);
}
