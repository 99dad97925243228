// SPDX-License-Identifier: Apache-2.0
//
// Both codecs between a hand-made file and a hand-made controller of its rows: values, what the rows are asked to be,
// what is counted.
#include <regatta/aging/move_inserter.h>
#include <regatta/aging/register_compression.h>
#include <regatta/aging/warped_compression.h>
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>

#include <algorithm>
#include <random>
#include <systemc>
#include <vector>

using namespace regatta;
using namespace regatta::models::aging;
using models::PowerState;
using models::RegisterWindow;
using models::Row;
using models::SegmentMask;
using protocol::Cycle;
using protocol::LaneMask;
using protocol::RegisterId;
using protocol::WarpSlot;

namespace {

const sc_core::sc_time period(1, sc_core::SC_NS);

/// Remembers what it is asked for; what is switched off is spoilt in the cells.
class Rows : public models::RowPower {
 public:
  Rows(std::uint32_t rows, unsigned lanes, std::vector<unsigned> segments)
      : lanes_(lanes), segments_(std::move(segments)), on(rows, 0xff), cells(std::size_t{rows} * lanes) {}
  unsigned add_voter(const std::string&) override { return 0; }
  Cycle vote(unsigned, Row row, PowerState state, SegmentMask segments) override {
    SegmentMask& now = on[row.value()];
    now = static_cast<SegmentMask>(state == PowerState::on ? now | segments : now & ~segments);
    unsigned from = 0;
    for (std::size_t s = 0; s < segments_.size(); from = segments_[s++]) {
      if (state == PowerState::on || ((segments >> s) & 1) == 0) continue;
      for (unsigned b = from; b < segments_[s]; ++b) of(row)[b / 32] ^= 1u << (b % 32);
    }
    ++votes;
    return Cycle(0);
  }
  PowerState vote_of(unsigned, Row) const override { return PowerState::on; }
  PowerState state(Row, unsigned) const override { return PowerState::on; }
  Cycle ready(Row) const override { return Cycle(0); }
  std::uint32_t* of(Row row) { return &cells[std::size_t{row.value()} * lanes_]; }

 private:
  unsigned lanes_;
  std::vector<unsigned> segments_;

 public:
  std::vector<SegmentMask> on;
  std::vector<std::uint32_t> cells;
  unsigned votes = 0;
};

FileCompression config(std::uint32_t rows) {
  FileCompression c;
  c.rows = rows;
  c.slices = 2;
  return c;
}

protocol::WarpAccess access(unsigned reg, LaneMask lanes) {
  protocol::WarpAccess a;
  a.warp = WarpSlot(0);
  a.reg = RegisterId(static_cast<std::uint8_t>(reg));
  a.lanes = lanes;
  return a;
}

/// Registers of all kinds.
std::vector<std::uint32_t> some_value(std::mt19937& random, unsigned lanes) {
  std::vector<std::uint32_t> v(lanes);
  const auto base = static_cast<std::uint32_t>(random());
  const unsigned kind = random() % 6;
  for (unsigned i = 0; i < lanes; ++i) {
    switch (kind) {
      case 0:
        v[i] = base;
        break;
      case 1:
        v[i] = base + 4 * i;
        break;
      case 2:
        v[i] = base + i / 8 * 64 + i % 8 * 4;
        break;
      case 3:
        v[i] = base + static_cast<std::uint32_t>(random() % 127) - 63;
        break;
      case 4:
        v[i] = base + static_cast<std::uint32_t>(random() % 60000) - 30000;
        break;
      default:
        v[i] = static_cast<std::uint32_t>(random());
    }
  }
  return v;
}

/// Random writes and reads of a warp's registers against a copy of them. Divergent writes of a compressed register come
/// behind a full write of what it holds that is not compressed, as a MOV would.
template <class Codec>
void random_accesses(Codec& codec, Rows& rows, unsigned lanes, std::uint32_t count) {
  std::mt19937 random(lanes);
  const LaneMask all = trace::all_lanes(lanes);
  codec.rows_started(count, lanes);
  codec.window_taken(WarpSlot(0), RegisterWindow{0, 0, 256}, count);
  std::vector<std::vector<std::uint32_t>> truth(count, std::vector<std::uint32_t>(lanes, 0));
  std::vector<bool> known(count, false);
  protocol::DynamicInstruction move;
  move.injected = true;
  unsigned compressed = 0;
  unsigned moved = 0;
  for (unsigned step = 0; step < 20000; ++step) {
    const auto reg = static_cast<unsigned>(random() % count);
    const Row row(reg);
    if (random() % 3 != 0 && known[reg]) {
      std::vector<std::uint32_t> got(lanes);
      const bool served =
          codec.read(access(reg, all), row, rows.of(row), got.data()) == models::RowCodec::Read::elsewhere;
      if (!served) std::copy_n(rows.of(row), lanes, got.begin());
      REQUIRE(got == truth[reg]);
      // What needs the cells finds them on.
      if (codec.needs_row(row)) REQUIRE((rows.on[reg] & 1) != 0);
      if (!served) REQUIRE(rows.on[reg] == 0xff);
      compressed += codec.compressed(row) ? 1 : 0;
      continue;
    }
    const std::vector<std::uint32_t> value = some_value(random, lanes);
    LaneMask mask = all;
    if (known[reg] && random() % 4 == 0) {
      mask = ((LaneMask{random()} << 32) | random()) & all;
      if (codec.compressed(row)) {
        protocol::WarpAccess a = access(reg, all);
        a.instruction = &move;
        codec.write(a, row, truth[reg].data(), rows.of(row), Cycle(0));
        REQUIRE_FALSE(codec.compressed(row));
        ++moved;
      }
    }
    for (unsigned l = 0; l < lanes; ++l) {
      if (((mask >> l) & 1) != 0) truth[reg][l] = value[l];
    }
    const auto stored = codec.write(access(reg, mask), row, value.data(), rows.of(row), Cycle(0));
    REQUIRE(stored.row_written == ((rows.on[reg] & 1) != 0));
    if (mask != all) REQUIRE_FALSE(codec.compressed(row));
    known[reg] = true;
  }
  CHECK(compressed > 2000);
  CHECK(moved > 200);
  CHECK(codec.counters().moves == moved);
  // A warp that leaves takes what its registers were along.
  codec.window_left(WarpSlot(0), RegisterWindow{0, 0, 256}, count);
  for (std::uint32_t r = 0; r < count; ++r) CHECK_FALSE(codec.compressed(Row(r)));
}

}  // namespace

namespace {

/// Binds the codec's blocks to it. After that no further module can be made.
void elaborate(RegisterCompression& codec) {
  codec.connect_lookups();
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

void check_random_accesses(unsigned lanes) {
  Rows rows(24, lanes, {32 * lanes});
  RegisterCompression codec("rc", config(24), test::clock(period));
  codec.power.bind(rows);
  elaborate(codec);
  random_accesses(codec, rows, lanes, 24);
  const CompressedRows::Counters& c = codec.counters();
  const unsigned beats = lanes / 16;
  std::uint64_t patterns = 0;
  for (unsigned p = 0; p < pattern_count; ++p) patterns += codec.pattern_writes(static_cast<Pattern>(p));
  CHECK(patterns == c.writes);
  CHECK(c.slice_writes + c.cancelled_writes == beats * c.writes);
  CHECK(c.slice_reads + c.cancelled_reads == beats * c.reads);
  CHECK(codec.table_reads() == c.reads);
}

void check_warped_accesses(unsigned lanes) {
  Rows rows(24, lanes, warped_segments(lanes));
  WarpedCompression codec("wc", config(24));
  codec.power.bind(rows);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  random_accesses(codec, rows, lanes, 24);
  for (unsigned p = 0; p < packed_count; ++p) CHECK(codec.form_writes(static_cast<PackedAs>(p)) > 500);
}

}  // namespace

TEST_CASE("register compression: what was written is read, whatever row or table holds it") {
  check_random_accesses(64);
}
TEST_CASE("register compression: what was written is read, with registers of 32 lanes") { check_random_accesses(32); }

TEST_CASE("warped compression: what was written is read, in whatever form") { check_warped_accesses(64); }
TEST_CASE("warped compression: what was written is read, with registers of 32 lanes") { check_warped_accesses(32); }

TEST_CASE("register compression: rows, tables and time, write by write") {
  constexpr unsigned lanes = 64;
  Rows rows(8, lanes, {2048});
  RegisterCompression codec("rc", config(8), test::clock(period));
  codec.power.bind(rows);
  elaborate(codec);
  codec.rows_started(8, lanes);
  codec.window_taken(WarpSlot(0), RegisterWindow{0, 0, 256}, 8);
  std::vector<std::uint32_t> flat(lanes, 7);
  std::vector<std::uint32_t> rough(lanes);
  for (unsigned i = 0; i < lanes; ++i) rough[i] = i * i;
  const LaneMask all = ~LaneMask{0};
  // Compressible: the row goes off; again: it stays off, and nothing is written to it.
  CHECK_FALSE(codec.write(access(0, all), Row(0), flat.data(), rows.of(Row(0)), Cycle(5)).row_written);
  CHECK(rows.on[0] == 0);
  CHECK(codec.counters().slice_writes == 4);
  codec.write(access(0, all), Row(0), flat.data(), rows.of(Row(0)), Cycle(6));
  CHECK(codec.counters().cancelled_writes == 4);
  CHECK_FALSE(codec.needs_row(Row(0)));
  // Not compressible, which the first sub-wavefront says: the row wakes, and that one is written again.
  const auto stored = codec.write(access(0, all), Row(0), rough.data(), rows.of(Row(0)), Cycle(9));
  CHECK(stored.row_written);
  CHECK(stored.extra_cycles >= 1);
  CHECK(rows.on[0] == 0xff);
  CHECK(codec.counters().rows_woken == 1);
  CHECK(codec.counters().compression_beats == 4 + 4 + 1);
  CHECK(codec.needs_row(Row(0)));
  // A row that is on takes a value that is not compressible as it comes.
  CHECK(codec.write(access(1, all), Row(1), rough.data(), rows.of(Row(1)), Cycle(9)).extra_cycles == 0);
  // A compressed register costs one sub-wavefront of its slice to read.
  codec.write(access(2, all), Row(2), flat.data(), rows.of(Row(2)), Cycle(9));
  const std::uint64_t before = codec.counters().slice_reads;
  std::vector<std::uint32_t> got(lanes);
  CHECK(codec.read(access(2, all), Row(2), rows.of(Row(2)), got.data()) == models::RowCodec::Read::elsewhere);
  CHECK(got == flat);
  CHECK(codec.counters().slice_reads == before + 1);
  CHECK(codec.counters().cancelled_reads == 3);
}

TEST_CASE("register compression: a register that moves is compressed again only if it was") {
  constexpr unsigned lanes = 64;
  Rows rows(8, lanes, {2048});
  RegisterCompression codec("rc", config(8), test::clock(period));
  codec.power.bind(rows);
  elaborate(codec);
  codec.rows_started(8, lanes);
  codec.window_taken(WarpSlot(0), RegisterWindow{0, 0, 256}, 4);
  const std::vector<std::uint32_t> flat(lanes, 7);
  const LaneMask all = ~LaneMask{0};
  const protocol::WarpAccess r0 = access(0, all), r1 = access(1, all);
  protocol::DynamicInstruction instruction;
  protocol::InstructionTraits traits;
  instruction.traits = &traits;
  protocol::WarpAccess half = access(1, 0xffff'ffff);
  half.instruction = &instruction;
  codec.write(r0, Row(0), flat.data(), rows.of(Row(0)), Cycle(1));
  codec.write(half, Row(1), flat.data(), rows.of(Row(1)), Cycle(1));
  REQUIRE(codec.compressed(Row(0)));
  REQUIRE_FALSE(codec.compressed(Row(1)));
  // They leave: the file announces the move of what is in its row.
  std::vector<std::uint32_t> moved(lanes);
  CHECK(codec.read(r0, Row(0), rows.of(Row(0)), moved.data()) == models::RowCodec::Read::elsewhere);
  CHECK(codec.read(r1, Row(1), rows.of(Row(1)), moved.data()) == models::RowCodec::Read::row);
  CHECK(codec.moves(r1, Row(1), false));
  codec.window_left(WarpSlot(0), RegisterWindow{0, 0, 256}, 4);
  // They come back into other rows, as whole registers.
  codec.window_taken(WarpSlot(0), RegisterWindow{4, 4, 256}, 4);
  codec.write(r0, Row(4), flat.data(), rows.of(Row(4)), Cycle(5));
  codec.write(r1, Row(5), flat.data(), rows.of(Row(5)), Cycle(5));
  CHECK(codec.moves(r1, Row(5), true));
  CHECK(codec.compressed(Row(4)));
  CHECK_FALSE(codec.compressed(Row(5)));
  // A result of all lanes makes it a register like others.
  protocol::WarpAccess whole = r1;
  whole.instruction = &instruction;
  codec.write(whole, Row(5), flat.data(), rows.of(Row(5)), Cycle(9));
  CHECK(codec.compressed(Row(5)));
  codec.write(r1, Row(5), flat.data(), rows.of(Row(5)), Cycle(9));
  CHECK(codec.compressed(Row(5)));
}

TEST_CASE("register compression: rows that two warps shared forget what the owner has not written") {
  constexpr unsigned lanes = 64;
  Rows rows(8, lanes, {2048});
  RegisterCompression codec("rc", config(8), test::clock(period));
  codec.power.bind(rows);
  elaborate(codec);
  codec.rows_started(8, lanes);
  const RegisterWindow window{0, 0, 256};
  codec.window_taken(WarpSlot(0), window, 4);
  const std::vector<std::uint32_t> flat(lanes, 7);
  for (unsigned r = 0; r < 4; ++r) {
    codec.write(access(r, ~LaneMask{0}), Row(r), flat.data(), rows.of(Row(r)), Cycle(1));
  }
  codec.window_shared(WarpSlot(0), WarpSlot(2), window);
  CHECK(codec.row(WarpSlot(2), RegisterId(3)) == Row(3));
  protocol::GeneralRegisters held{};
  protocol::add(held, 1u);
  codec.window_kept(WarpSlot(2), WarpSlot(0), window, 4, held);
  for (unsigned r = 0; r < 4; ++r) CHECK(codec.compressed(Row(r)) == (r == 1));
}

TEST_CASE("register compression: the cycles by which a write takes longer") {
  constexpr unsigned lanes = 64;
  Rows rows(8, lanes, {2048});
  RegisterCompression codec("rc", config(8),
                            test::clock(period));  // two slices of four rows, a table with one port each
  codec.power.bind(rows);
  elaborate(codec);
  codec.rows_started(8, lanes);
  codec.window_taken(WarpSlot(0), RegisterWindow{0, 0, 256}, 8);
  const std::vector<std::uint32_t> flat(lanes, 7);
  const auto rough = [](unsigned from) {
    std::vector<std::uint32_t> v(lanes, 7);
    v[from] = 1000;
    return v;
  };
  const LaneMask all = ~LaneMask{0};
  protocol::DynamicInstruction move;
  move.injected = true;
  const auto write = [&](unsigned reg, const std::vector<std::uint32_t>& value, bool moved = false) {
    protocol::WarpAccess a = access(reg, all);
    if (moved) a.instruction = &move;
    return codec.write(a, Row(reg), value.data(), rows.of(Row(reg)), Cycle(9)).extra_cycles;
  };
  // All in one cycle: each that makes or clears an entry finds the port one cycle later.
  CHECK(write(0, flat) == 0);
  CHECK(write(1, flat) == 1);
  CHECK(write(4, flat) == 0);  // the other slice's table
  CHECK(write(5, flat) == 1);
  CHECK(write(6, flat) == 2);
  CHECK(write(7, flat) == 3);
  // The row is off: what came before the value was known not to be compressible is written again, a sub-wavefront a
  // cycle.
  CHECK(write(0, rough(3)) == 2 + 1);
  CHECK(write(1, rough(60)) == 3 + 4);
  CHECK(write(4, rough(40)) == 4 + 3);
  // A move clears the entry and passes the unit by.
  CHECK(write(5, flat, true) == 5);
  CHECK_FALSE(codec.compressed(Row(5)));
  // Rows that are on, and have no entry: nothing to wait for.
  CHECK(write(0, rough(20)) == 0);
  CHECK(write(2, rough(50)) == 0);
  CHECK(codec.table_writes() == 6 + 4);
}

namespace {

void check_loads(bool loads) {
  constexpr unsigned lanes = 64;
  Rows rows(8, lanes, {2048});
  FileCompression c = config(8);
  c.loads = loads;
  RegisterCompression codec("rc", c, test::clock(period));
  codec.power.bind(rows);
  elaborate(codec);
  codec.rows_started(8, lanes);
  const std::vector<std::uint32_t> flat(lanes, 7);
  protocol::InstructionTraits traits;
  protocol::DynamicInstruction load;
  load.traits = &traits;
  traits.is_memory = true;
  protocol::WarpAccess a = access(0, ~LaneMask{0});
  a.instruction = &load;
  codec.write(a, Row(0), flat.data(), rows.of(Row(0)), Cycle(0));
  CHECK(codec.compressed(Row(0)) == loads);
  CHECK(codec.counters().compression_beats == (loads ? 4u : 0u));
  traits.is_memory = false;
  codec.write(a, Row(0), flat.data(), rows.of(Row(0)), Cycle(0));
  CHECK(codec.compressed(Row(0)));
}

void check_wake(const std::string& wake) {
  constexpr unsigned lanes = 64;
  Rows rows(8, lanes, {2048});
  FileCompression c = config(8);
  c.wake = wake;
  RegisterCompression codec("rc", c, test::clock(period));
  codec.power.bind(rows);
  MoveInserter moves("moves", codec);
  elaborate(codec);
  codec.rows_started(8, lanes);
  codec.window_taken(WarpSlot(0), RegisterWindow{0, 0, 256}, 8);
  const std::vector<std::uint32_t> flat(lanes, 7);
  for (unsigned r = 0; r < 3; ++r) codec.write(access(r, ~LaneMask{0}), Row(r), flat.data(), rows.of(Row(r)), Cycle(0));
  protocol::InstructionTraits traits;
  traits.write_count = 1;
  traits.writes[0] = RegisterId(1);
  protocol::DynamicInstruction d;
  d.traits = &traits;
  d.warp = WarpSlot(0);
  d.active = 0;
  moves.issued(d);
  CHECK(rows.on[1] == 0);  // no lane executes it
  d.active = ~LaneMask{0};
  moves.issued(d);
  CHECK(rows.on[0] == 0);
  CHECK(rows.on[1] == (wake == "issue" ? 0xff : 0));
  CHECK(codec.compressed(Row(1)));
  d.injected = true;
  traits.writes[0] = RegisterId(2);
  moves.issued(d);
  CHECK(rows.on[2] == 0);  // the move's own write wakes it
  CHECK(moves.inserted() == 1);
}

}  // namespace

TEST_CASE("register compression: results of loads pass the unit") { check_loads(true); }
TEST_CASE("register compression: results of loads pass the unit by where it has none") { check_loads(false); }
TEST_CASE("register compression: rows that an instruction may write wake at its issue, where that is asked for") {
  check_wake("issue");
}
TEST_CASE("register compression: by default rows wake at the write") { check_wake("write"); }

TEST_CASE("warped compression: a write that makes the row larger wakes segments, and takes no cycles of its own") {
  constexpr unsigned lanes = 64;
  Rows rows(2, lanes, warped_segments(lanes));
  WarpedCompression codec("wc", config(2));
  codec.power.bind(rows);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  codec.rows_started(2, lanes);
  codec.window_taken(WarpSlot(0), RegisterWindow{0, 0, 256}, 2);
  std::vector<std::uint32_t> v(lanes, 1000);
  const auto write = [&] {
    const auto s = codec.write(access(0, ~LaneMask{0}), Row(0), v.data(), rows.of(Row(0)), Cycle(0));
    CHECK(s.row_written);
    CHECK(s.extra_cycles == 0);
    return rows.on[0] & 0xf;
  };
  CHECK(write() == 0x1);
  CHECK(codec.counters().rows_woken == 0);
  v[9] = 1001;
  CHECK(write() == 0x3);
  CHECK(codec.counters().rows_woken == 1);
  v[9] = 2000;
  CHECK(write() == 0x7);
  v[9] = 1 << 20;
  CHECK(write() == 0xf);
  CHECK(codec.counters().rows_woken == 3);
  CHECK(write() == 0xf);
  CHECK(codec.counters().rows_woken == 3);
  // Sub-wavefronts of 64 bytes: 4, 67, 130 and twice 256 bytes.
  CHECK(codec.counters().slice_writes == 1 + 2 + 3 + 4 + 4);
  CHECK(codec.counters().cancelled_writes == 3 + 2 + 1);
}

TEST_CASE("warped compression: the forms, their limits and their segments") {
  constexpr unsigned lanes = 64;
  CHECK(warped_segments(lanes) == std::vector<unsigned>{32, 536, 1040, 2048});  // section 6.1
  std::vector<std::uint32_t> v(lanes, 1000);
  CHECK(smallest_form(v.data(), lanes) == PackedAs::base);
  v[63] = 1127;
  CHECK(smallest_form(v.data(), lanes) == PackedAs::bytes);
  v[5] = 872;
  CHECK(smallest_form(v.data(), lanes) == PackedAs::bytes);
  v[5] = 871;
  CHECK(smallest_form(v.data(), lanes) == PackedAs::halves);
  v[5] = 1000 + 32767;
  CHECK(smallest_form(v.data(), lanes) == PackedAs::halves);
  v[5] = 1000 + 32768;
  CHECK(smallest_form(v.data(), lanes) == PackedAs::whole);
  v[5] = 1000u - 32768;
  CHECK(smallest_form(v.data(), lanes) == PackedAs::halves);
  v[0] = 0x80000000;
  CHECK(smallest_form(v.data(), lanes) == PackedAs::whole);
  // Deltas across the wrap of 32 bits are small too.
  for (unsigned i = 0; i < lanes; ++i) v[i] = 0xfffffff0u + i;
  CHECK(smallest_form(v.data(), lanes) == PackedAs::bytes);
  // Packed: the base in the first word, the deltas from bit 32 on, the rest as it was.
  std::vector<std::uint32_t> cells(lanes, 0xabababab);
  pack(PackedAs::bytes, v.data(), lanes, cells.data());
  CHECK(cells[0] == 0xfffffff0u);
  CHECK(cells[1] == 0x04030201);
  CHECK(cells[17] == 0xabababab);
  std::vector<std::uint32_t> back(lanes);
  unpack(PackedAs::bytes, cells.data(), lanes, back.data());
  CHECK(back == v);

  Rows rows(2, lanes, warped_segments(lanes));
  WarpedCompression codec("wc", config(2));
  codec.power.bind(rows);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  codec.rows_started(2, lanes);
  codec.window_taken(WarpSlot(0), RegisterWindow{0, 0, 256}, 2);
  codec.write(access(0, ~LaneMask{0}), Row(0), v.data(), rows.of(Row(0)), Cycle(0));
  CHECK((rows.on[0] & 0xf) == 0x3);
  CHECK(codec.counters().slice_writes == 2);  // 67 bytes
  std::fill(v.begin(), v.end(), 3);
  codec.write(access(0, ~LaneMask{0}), Row(0), v.data(), rows.of(Row(0)), Cycle(0));
  CHECK((rows.on[0] & 0xf) == 0x1);
}

TEST_CASE("compression: a refresh that comes too late is refused") {
  FileCompression c = config(1024);
  c.slices = 4;
  c.refresh_period = 465;
  CHECK_NOTHROW(c.validate());
  c.refresh_period = 466;
  CHECK_THROWS_WITH(c.validate(), Catch::Contains("compression.refresh_period = 466") &&
                                      Catch::Contains("expected at most compression.retention = 119048"));
  c.refresh_period = 0;
  c.retention = 255;
  CHECK_THROWS_WITH(c.validate(), Catch::Contains("compression.retention = 255"));
}
