// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a trace of Accel-Sim that was written by hand, in each of its forms.
#include <regatta/import/import.h>
#include <regatta/test/catch.h>
#include <regatta/trace/verify.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "hand_written.h"

using namespace regatta;
using namespace regatta::trace;

namespace {

void write_file(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

regatta::import::ImportResult import_file(const std::string& name, const std::string& bytes, const std::string& out) {
  write_file(name, bytes);
  regatta::import::ImportOptions options;
  options.input = name;
  options.out = out;
  return regatta::import::import_trace(options);
}

template <class Numbers>
std::vector<unsigned> listed_numbers(const Numbers& numbers, unsigned count) {
  return {numbers.begin(), numbers.begin() + count};
}

using R = std::vector<unsigned>;

}  // namespace

TEST_CASE("a hand-written trace has the code, paths, addresses and tags that it should have") {
  const import::ImportResult result = import_file("sides.traceg", test::two_sides_traceg().text(), "sides.rgt");
  CHECK(result.kernels == 1);
  CHECK(result.launches == 1);
  CHECK(result.ctas == 2);
  CHECK(result.warp_instructions == 68);
  CHECK(result.remarks.empty());
  const Reader reader("sides.rgt");
  verify(reader, VerifyDepth::program);
  CHECK(reader.version() == 4);
  CHECK(reader.producer().rfind("regatta-import ", 0) == 0);
  const Kernel& k = reader.kernels()[0];
  CHECK(k.version_tags);
  CHECK(k.name == "_Z5sidesPi");
  CHECK(k.registers_per_thread == 12);
  CHECK(k.local_bytes_per_thread == 16);
  CHECK(reader.launches()[0].shared_bytes_per_cta == 256);
  REQUIRE(k.instructions.size() == 16);
  struct Expected {
    const char* opcode;
    OpClass op_class;
    R destinations, sources;
    MemorySpace space;
    unsigned bytes;
    bool guarded;
    int target;
  };
  const std::vector<Expected> expected = {
      {"IMAD.MOV.U32", OpClass::int_mad, {1}, {}, MemorySpace::none, 0, false, -1},
      {"S2R", OpClass::constant_load, {0}, {}, MemorySpace::none, 0, false, -1},
      {"ISETP.GE.AND", OpClass::int_add, {}, {0}, MemorySpace::none, 0, false, -1},
      {"BSSY", OpClass::nop, {}, {}, MemorySpace::none, 0, false, -1},
      {"BRA", OpClass::branch, {}, {}, MemorySpace::none, 0, true, 8},
      {"IMAD.WIDE", OpClass::int_mad, {2, 3}, {0, 5}, MemorySpace::none, 0, false, -1},
      {"LDG.E.64.SYS", OpClass::load, {4, 5}, {2, 3}, MemorySpace::global, 8, false, -1},
      {"BRA", OpClass::branch, {}, {}, MemorySpace::none, 0, false, 9},
      {"LDS.64", OpClass::load, {4, 5}, {0}, MemorySpace::shared, 8, false, -1},
      {"BSYNC", OpClass::nop, {}, {}, MemorySpace::none, 0, false, -1},
      {"BAR.SYNC.DEFER_BLOCKING", OpClass::barrier, {}, {}, MemorySpace::none, 0, false, -1},
      {"DADD", OpClass::fp64_add, {6, 7}, {4, 5, 4, 5}, MemorySpace::none, 0, true, -1},
      {"SHFL.IDX", OpClass::shuffle, {8}, {4, 5}, MemorySpace::none, 0, false, -1},
      {"STG.E.64.SYS", OpClass::store, {}, {2, 3, 6, 7}, MemorySpace::global, 8, false, -1},
      {"STL", OpClass::store, {}, {1, 8}, MemorySpace::local, 4, false, -1},
      {"EXIT", OpClass::exit, {}, {}, MemorySpace::none, 0, false, -1}};
  for (std::size_t n = 0; n < expected.size(); ++n) {
    const StaticInstruction& i = k.instructions[n];
    const Expected& e = expected[n];
    INFO(n);
    CHECK(i.opcode == e.opcode);
    CHECK(i.op_class == e.op_class);
    CHECK(listed_numbers(i.destinations, i.destination_count) == e.destinations);
    CHECK(listed_numbers(i.sources, i.source_count) == e.sources);
    CHECK(i.space == e.space);
    CHECK(i.access_bytes == e.bytes);
    CHECK((i.guard.predicate >= 0) == e.guarded);
    CHECK(i.branch_target == e.target);
  }
  REQUIRE(k.blocks.size() == 4);
  CHECK(k.blocks[0].successors == std::vector<std::uint32_t>{2, 1});
  CHECK(k.blocks[0].reconvergence == 3);

  std::set<std::uint32_t> tags;
  std::size_t values = 0;
  for (std::size_t c = 0; c < 2; ++c) {
    const auto cta = reader.read(c);
    for (unsigned w = 0; w < 2; ++w) {
      const LaneMask all = w == 0 ? 0xffffffff : 0xffff, taken = w == 0 ? 0xff : 0xf, rest = all & ~taken;
      const std::vector<std::pair<std::uint32_t, LaneMask>> path = {
          {0, all},   {1, all},  {2, all},  {3, all},  {4, all},  {5, rest}, {6, rest}, {7, rest}, {8, taken},
          {9, taken}, {9, rest}, {10, all}, {11, all}, {12, all}, {13, all}, {14, all}, {15, all}};
      WarpCursor cursor(k, cta->warps[w]);
      for (const auto& [index, lanes] : path) {
        REQUIRE(cursor.next());
        INFO("CTA " << c << " warp " << w << " position " << cursor.position());
        CHECK(cursor.index() == index);
        CHECK(cursor.simt_mask() == lanes);
        CHECK(cursor.active_mask() == (index == 4 ? taken : index == 11 ? all & 0xff : lanes));
        const StaticInstruction& i = cursor.instruction();
        if (has_addresses(i)) {
          std::uint64_t address[max_lanes];
          cursor.addresses(address);
          for (LaneMask m = cursor.active_mask(); m != 0; m &= m - 1) {
            const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
            const std::uint64_t thread = c * 48 + w * 32 + lane;
            const auto first = static_cast<unsigned>(__builtin_ctzll(cursor.active_mask()));
            const std::uint64_t right = index == 6    ? 0x7efe00000000 + (lane - first) * 8
                                        : index == 8  ? 0x10 + lane * 8
                                        : index == 13 ? 0x1000 + lane * lane * 8
                                                      : local_window + thread * 16 + (lane % 2) * 4;
            CHECK(address[lane] == right);
          }
        }
        for (unsigned d = 0; d < i.destination_count; ++d) {
          WarpValue v;
          cursor.result(v);
          for (LaneMask m = cursor.active_mask(); m != 0; m &= m - 1) {
            tags.insert(v.lane[static_cast<unsigned>(__builtin_ctzll(m))]);
            ++values;
          }
        }
      }
      CHECK(!cursor.next());
    }
  }
  CHECK(tags.size() == values);  // each lane of each write has its own
  CHECK(tags.count(0) == 0);
}

TEST_CASE("compressed and paged traces are those of the text") {
  const test::Traceg traceg = test::two_sides_traceg();
  import_file("forms.traceg", traceg.text(), "text.rgt");
  const Reader text("text.rgt");
  std::string dos = traceg.text();
  for (std::size_t at = 0; (at = dos.find('\n', at)) != std::string::npos; at += 2) dos.replace(at, 1, "\r\n");
  std::string versions = traceg.text();
  test::Traceg newer = traceg;
  newer.set("accelsim tracer version", "5");
  newer.header.push_back("-enable lineinfo = 1");
  for (auto& block : newer.blocks) {
    for (auto& warp : block) {
      for (std::string& line : warp) line = "77 " + line + "0x10 ";
    }
  }
  test::Traceg older = traceg;
  older.set("accelsim tracer version", "2");
  for (auto& block : older.blocks) {
    for (auto& warp : block) {
      for (std::string& line : warp) line = "0 0 0 1 " + line;
    }
  }
  const std::string dictionary = traceg.text().substr(300, 2000);
  const std::vector<std::pair<std::string, std::string>> forms = {
      {"a.traceg.xz", test::as_xz(traceg.text())},
      {"two.traceg.xz", test::as_xz(traceg.text().substr(0, 500)) + test::as_xz(traceg.text().substr(500))},
      {"dos.traceg", dos},
      {"newer.traceg", newer.text()},
      {"older.traceg", older.text()},
      {"a.tracez", traceg.paged(4)},
      {"one.tracez", traceg.paged(100)},
      {"dictionary.tracez", traceg.paged(5, dictionary)}};
  for (const auto& [name, bytes] : forms) {
    INFO(name);
    import_file(name, bytes, "form.rgt");
    const Reader form("form.rgt");
    CHECK(form.code_digest(0) == text.code_digest(0));
    CHECK(form.data_digest() == text.data_digest());
  }
}

TEST_CASE("launches of a list share the code of their kernel") {
  test::Traceg first = test::two_sides_traceg(), second = first;
  // The second launch takes the branch with all lanes, and never the other side.
  for (auto& block : second.blocks) {
    for (auto& warp : block) {
      test::TracegWarp lines;
      for (const std::string& line : warp) {
        const std::string pc = line.substr(0, 4);
        if (pc == "0050" || pc == "0060" || pc == "0070") continue;
        std::string changed = line;
        if (pc == "0040" || pc == "0080" || pc == "0090")
          changed.replace(5, 8, &warp == &block[0] ? "ffffffff" : "0000ffff");
        if (pc == "0090" && !lines.empty() && lines.back().substr(0, 4) == "0090") continue;
        lines.push_back(changed);
      }
      warp = lines;
    }
  }
  second.set("shmem", "4096");
  test::Traceg other = test::one_warp_traceg({"0000 ffffffff 0 EXIT 0 0"});
  other.set("kernel name", "other");
  std::filesystem::create_directory("list");
  write_file("list/kernel-1.traceg", first.text());
  write_file("list/kernel-2.traceg.xz", test::as_xz(other.text()));
  write_file("list/kernel-3.tracez", second.paged(3));
  const import::ImportResult result = import_file(
      "list/kernelslist.g",
      "MemcpyHtoD,0x00007efe7b500000,2052\nkernel-1.traceg\nkernel-2.traceg.xz\n\nkernel-3.tracez\n", "list.rgt");
  CHECK(result.kernels == 2);
  CHECK(result.launches == 3);
  const Reader reader("list.rgt");
  verify(reader, VerifyDepth::program);
  REQUIRE(reader.launches().size() == 3);
  CHECK(reader.launches()[0].kernel == 0);
  CHECK(reader.launches()[1].kernel == 1);
  CHECK(reader.launches()[2].kernel == 0);
  CHECK(reader.launches()[2].shared_bytes_per_cta == 4096);
  CHECK(reader.kernels()[0].instructions.size() == 16);
  CHECK(reader.kernels()[1].name == "other");
}

TEST_CASE("calls, returns and indirect branches take lanes where they are seen") {
  // 0x00 calls 0x80 twice, which returns behind each call; lanes then go by a table to 0x50, 0x60 or 0x70.
  const test::Traceg t = test::one_warp_traceg({
      "0000 ffffffff 1 R4 MOV 0 0",
      "0010 ffffffff 0 CALL.REL.NOINC 0 0",
      "0080 ffffffff 1 R5 IADD3 1 R5 0",
      "0090 ffffffff 1 R4 RET.REL.NODEC 0 0",
      "0020 ffffffff 1 R4 MOV 0 0",
      "0030 ffffffff 0 CALL.REL.NOINC 0 0",
      "0080 ffffffff 1 R5 IADD3 1 R5 0",
      "0090 ffffffff 1 R4 RET.REL.NODEC 0 0",
      "0040 ffffffff 1 R6 BRX 0 0",
      "0060 000000ff 1 R7 MOV 0 0",
      "0068 000000ff 0 EXIT 0 0",
      "0050 ffff0000 1 R7 MOV 0 0",
      "0058 ffff0000 0 EXIT 0 0",
      "0070 0000ff00 1 R7 MOV 0 0",
      "0078 0000ff00 0 EXIT 0 0",
  });
  import_file("calls.traceg", t.text(), "calls.rgt");
  const Reader reader("calls.rgt");
  verify(reader, VerifyDepth::program);
  const Kernel& k = reader.kernels()[0];
  REQUIRE(k.instructions.size() == 13);
  // RET reads what the tracer writes as its destination.
  CHECK(k.instructions[12].opcode == "RET.REL.NODEC");
  CHECK(k.instructions[12].destination_count == 0);
  CHECK(listed_numbers(k.instructions[12].sources, k.instructions[12].source_count) == R{4});
  // Both returns, and the three places of the table, are edges of the graph.
  CHECK(k.blocks.back().successors.size() == 2);
  std::size_t three = 0;
  for (const BasicBlock& b : k.blocks) three += b.successors.size() == 3 ? 1 : 0;
  CHECK(three == 1);
}

TEST_CASE("a loop whose lanes leave one by one keeps the others together") {
  test::TracegWarp warp = {"0000 ffffffff 1 R0 MOV 0 0"};
  std::uint32_t lanes = 0xffffffff;
  for (unsigned n = 0; n < 32; ++n) {
    char text[64];
    std::snprintf(text, sizeof text, "0010 %08x 1 R0 IADD3 1 R0 0", static_cast<unsigned>(lanes));
    warp.push_back(text);
    lanes &= lanes - 1;  // the lowest lane leaves by not taking the branch back
    std::snprintf(text, sizeof text, "0020 %08x 0 BRA 0 0", static_cast<unsigned>(lanes));
    warp.push_back(text);
  }
  warp.push_back("0030 ffffffff 0 EXIT 0 0");
  import_file("loop.traceg", test::one_warp_traceg(warp).text(), "loop.rgt");
  const Reader reader("loop.rgt");
  verify(reader, VerifyDepth::program);
  const auto cta = reader.read(0);
  WarpCursor cursor(reader.kernels()[0], cta->warps[0]);
  CHECK(reader.kernels()[0].instructions[2].branch_target == 1);
  LaneMask expected = 0xffffffff;
  while (cursor.next()) {
    if (cursor.index() == 2) {
      CHECK(cursor.simt_mask() == expected);
      expected &= expected - 1;
      CHECK(cursor.active_mask() == expected);
    }
  }
}

TEST_CASE("what is not as on the machine is remarked, once a kernel") {
  const test::Traceg t = test::one_warp_traceg({"0000 ffffffff 1 R0 FROB.X 1 R1 0", "0010 ffffffff 1 R4 TEX 1 R0 0",
                                                "0020 ffffffff 1 R8 HMMA.16816.F32 3 R20 R24 R28 0",
                                                "0030 ffffffff 1 R9 LDS 1 R0 4 1 0x200 4", "0040 ffffffff 0 EXIT 0 0"});
  const import::ImportResult r = import_file("remarks.traceg", t.text(), "remarks.rgt");
  CHECK(r.remarks ==
        std::vector<std::string>{
            "kernel _Z5sidesPi: shared memory is accessed up to byte 640, and the header of remarks.traceg says 256 "
            "bytes",
            "kernel _Z5sidesPi: TEX has no addresses in the trace: it is timed as a load from constant memory",
            "kernel _Z5sidesPi: the opcode FROB is unknown: it is timed as a 32-bit integer operation"});
  import::ImportOptions options;
  options.input = "remarks.traceg";
  options.out = "remarks.rgt";
  options.strict = true;
  try {
    import::import_trace(options);
    FAIL("expected an error");
  } catch (const base::InputError& e) {
    CHECK(std::string(e.what()) ==
          "remarks.traceg:22:20: error: the opcode FROB is unknown: it is timed as a 32-bit integer "
          "operation (--strict)");
  }
}

TEST_CASE("a header with numbers that no GPU has is taken for what the instructions say") {
  test::Traceg t = test::one_warp_traceg({"0000 ffffffff 1 R17 MOV 0 0", "0010 ffffffff 0 EXIT 0 0"});
  t.set("nregs", "21955");
  t.set("binary version", "0");
  const import::ImportResult r = import_file("numbers.traceg", t.text(), "numbers.rgt");
  CHECK(r.remarks ==
        std::vector<std::string>{
            "kernel _Z5sidesPi: 'nregs' is 21955, more than the 256 of any GPU: as many as the instructions use",
            "kernel _Z5sidesPi: 'binary version' is 0: taken for 70"});
  CHECK(Reader("numbers.rgt").kernels().at(0).registers_per_thread == 18);
  import::ImportOptions options;
  options.input = "numbers.traceg";
  options.out = "numbers.rgt";
  options.strict = true;
  CHECK_THROWS_WITH(import::import_trace(options),
                    "numbers.traceg: error: 'nregs' is 21955, more than the 256 of any GPU: as many as the "
                    "instructions use (--strict)");
}
