// SPDX-License-Identifier: Apache-2.0
//
// The file of pending registers by itself, driven over its port.
#include <regatta/finereg/pending_register_file.h>

#include <regatta/test/clock.h>
#include <regatta/test/cta_blocks.h>

using namespace regatta;
using namespace regatta::test::cta_blocks;
using models::PendingEntries;
using models::PendingRegisterFile;
using models::PendingTag;

namespace {

struct EntriesUser : sc_core::sc_module {
  sc_core::sc_port<PendingEntries> access;
  explicit EntriesUser(const sc_core::sc_module_name& name) : sc_module(name), access("access") {}
};

struct FileBench {
  explicit FileBench(unsigned entries) : file("file", entries, test::clock(period)) {
    user.access.bind(file.access);
    run_to(0);
  }
  PendingEntries& port() { return *user.access.operator->(); }

  PendingRegisterFile file;
  EntriesUser user{"user"};
};

trace::WarpValue filled(std::uint32_t seed) {
  trace::WarpValue v{};
  for (unsigned lane = 0; lane < 32; ++lane) v.lane[lane] = seed * 1000 + lane;
  return v;
}
PendingTag tag_of(unsigned warp, unsigned reg, unsigned next, bool end = false) {
  PendingTag t;
  t.valid = true;
  t.end = end;
  t.next = static_cast<std::uint16_t>(next);
  t.warp = static_cast<std::uint8_t>(warp);
  t.reg = static_cast<std::uint8_t>(reg);
  return t;
}

}  // namespace

TEST_CASE("pending file alone: an entry keeps tag and value, one is read and one written in a cycle") {
  FileBench b(4);
  CHECK(b.port().entries() == 4);
  CHECK_FALSE(b.port().tag(2).valid);
  run_to(1);
  CHECK(b.port().can_write());
  b.port().write(2, tag_of(31, 62, 3), filled(5));
  CHECK_FALSE(b.port().can_write());
  CHECK(b.port().can_read());
  trace::WarpValue value{};
  const PendingTag t = b.port().read(2, value);
  CHECK_FALSE(b.port().can_read());
  CHECK(t.valid);
  CHECK_FALSE(t.end);
  CHECK(t.next == 3);
  CHECK(t.warp == 31);
  CHECK(t.reg == 62);
  for (unsigned lane = 0; lane < 32; ++lane) CHECK(value.lane[lane] == 5000 + lane);
  run_to(2);
  CHECK(b.port().can_read());
  CHECK(b.port().can_write());
  CHECK(stat_of(b.file, "reads") == 1);
  CHECK(stat_of(b.file, "writes") == 1);
  CHECK(stat_of(b.file, "tag_accesses") == 2);
}

TEST_CASE("pending file alone: the result of a load takes its lanes and the write port") {
  FileBench b(4);
  run_to(1);
  b.port().write(0, tag_of(0, 1, 0, true), filled(1));
  run_to(2);
  b.port().merge(0, 0x80000001u, filled(9));
  CHECK_FALSE(b.port().can_write());
  trace::WarpValue value{};
  CHECK(b.port().read(0, value).end);
  CHECK(value.lane[0] == 9000);
  CHECK(value.lane[1] == 1001);
  CHECK(value.lane[30] == 1030);
  CHECK(value.lane[31] == 9031);
  CHECK(stat_of(b.file, "merges") == 1);
}

TEST_CASE("pending file alone: a tag is written without the port") {
  FileBench b(4);
  run_to(1);
  b.port().write(1, tag_of(2, 3, 0), filled(1));
  b.port().write_tag(1, tag_of(2, 3, 2));
  CHECK(b.port().tag(1).next == 2);
  b.port().write_tag(1, PendingTag{});
  CHECK_FALSE(b.port().tag(1).valid);
}

TEST_CASE("pending file alone: an entry that is not valid is not read") {
  FileBench b(4);
  run_to(7);
  trace::WarpValue value{};
  CHECK(error_of([&] { b.port().read(3, value); }) == "file in cycle 7: reads entry 3, expected a valid one of 4");
  CHECK(error_of([&] { b.port().read(4, value); }) == "file in cycle 7: reads entry 4, expected a valid one of 4");
  CHECK(error_of([&] { b.port().merge(3, 1, value); }) ==
        "file in cycle 7: writes lanes of entry 3, expected a valid one of 4");
}
