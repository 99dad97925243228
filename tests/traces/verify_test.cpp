// SPDX-License-Identifier: Apache-2.0
//
// Traces whose parts do not fit each other: every column is whole, and no program runs that way.
#include <regatta/test/catch.h>
#include <regatta/trace/verify.h>

#include <functional>

#include "sample.h"

using namespace regatta::trace;
using namespace regatta::test;

namespace {

constexpr LaneMask all = 0xffffffff;
constexpr LaneMask taken = 0xff;

StaticInstruction make(const char* opcode, OpClass op_class) {
  StaticInstruction i;
  i.opcode = opcode;
  i.opcode_id = static_cast<std::uint32_t>(opcode[0]) << 8 | static_cast<unsigned char>(opcode[1]);
  i.op_class = op_class;
  return i;
}

StaticInstruction add(unsigned destination, unsigned source) {
  StaticInstruction i = make("add", OpClass::int_add);
  i.destination_count = i.operand_destinations = 1;
  i.destinations[0] = static_cast<std::uint8_t>(destination);
  i.source_count = 1;
  i.sources[0] = static_cast<std::uint8_t>(source);
  i.operands = {{Operand::Kind::reg, 1, false, destination}, {Operand::Kind::reg, 1, false, source}};
  return i;
}

/// 0 mov R0; 1 @P0 bra 4; 2 R1 = add R0; 3 bra 5; 4 R1 = add R0; 5 bar.sync; 6 st.shared [R0]; 7 exit
Kernel kernel_of_two_sides() {
  Kernel k;
  k.name = "sides";
  k.registers_per_thread = 2;
  k.predicates = 1;
  k.instructions = {make("mov", OpClass::int_add),
                    make("bra", OpClass::branch),
                    add(1, 0),
                    make("bra", OpClass::branch),
                    add(1, 0),
                    make("sync", OpClass::barrier),
                    make("store", OpClass::store),
                    make("exit", OpClass::exit)};
  StaticInstruction& mov = k.instructions[0];
  mov.destination_count = mov.operand_destinations = 1;
  mov.operands = {{Operand::Kind::reg, 1, false, 0}, {Operand::Kind::immediate, 1, false, 7}};
  k.instructions[1].guard = {0, false};
  k.instructions[1].branch_target = 4;
  k.instructions[3].branch_target = 5;
  StaticInstruction& store = k.instructions[6];
  store.space = MemorySpace::shared;
  store.access_bytes = 4;
  store.writes_memory = true;
  store.source_count = 1;
  return k;
}

/// One warp, instruction by instruction; a test changes what it wants to be wrong.
struct Warp {
  std::vector<std::pair<std::uint32_t, LaneMask>> path = {{0, all},   {1, all}, {2, all & ~taken}, {3, all & ~taken},
                                                          {4, taken}, {5, all}, {6, all},          {7, all}};
  std::uint32_t first = 11;         ///< what the mov leaves in all lanes
  std::uint32_t low = 0, high = 0;  ///< what the adds leave
  std::uint64_t address = 0;        ///< of lane 0 in shared memory
  LaneMask exits = all;

  WarpColumns encode(const Kernel& kernel) const {
    WarpEncoder e(kernel);
    for (const auto& [index, lanes] : path) {
      const LaneMask active = index == 1 ? lanes & taken : index == 7 ? lanes & exits : lanes;
      e.instruction(index, lanes, active);
      WarpValue value;
      value.lane.fill(index == 0 ? first : index == 2 ? high : low);
      if (index == 0 || index == 2 || index == 4) e.result(value);
      if (index == 6) {
        std::uint64_t addresses[32];
        for (unsigned lane = 0; lane < 32; ++lane) addresses[lane] = address + 4 * lane;
        e.addresses(addresses);
      }
      if (index == 1) {
        e.push(5, all);
        e.push(4, taken);
      }
      if (index == 3 || index == 4) e.pop();
    }
    return e.finish();
  }
};

/// What is wrong with a CTA of these warps, without the path of the file.
std::string wrong_with(const Kernel& kernel, const std::vector<Warp>& warps) {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.rgt";
  {
    Writer writer(path);
    writer.add_kernel(kernel);
    Launch launch;
    launch.block = {static_cast<std::uint32_t>(32 * warps.size()), 1, 1};
    launch.shared_bytes_per_cta = 128;
    writer.begin_launch(launch);
    Cta cta;
    for (const Warp& warp : warps) cta.warps.push_back(warp.encode(kernel));
    writer.add_cta(cta);
    writer.finish();
  }
  const Reader reader(path);
  CHECK(verify(reader, VerifyDepth::columns).warps == warps.size());
  try {
    const Verified all_of_it = verify(reader, VerifyDepth::program);
    CHECK(all_of_it.warps == warps.size());
    CHECK(all_of_it.warp_instructions == 8 * warps.size());
    return "";
  } catch (const InputError& e) {
    const std::string what = e.what();
    const std::string place = path + ": byte ";
    REQUIRE(what.rfind(place, 0) == 0);
    return what.substr(what.find(": launch ") + 2);
  }
}

}  // namespace

TEST_CASE("verify: a warp of two sides") {
  const Kernel kernel = kernel_of_two_sides();
  Warp w;
  CHECK(wrong_with(kernel, {w, w}).empty());
  const std::string at = "launch 0: kernel sides, CTA 0, warp 0, instruction ";
  const std::string end = "; the trace is malformed";

  SECTION("goes where the instruction before does not lead") {
    w.path[3] = {2, all & ~taken};
    w.path[2] = {3, all & ~taken};
    CHECK(wrong_with(kernel, {w}) == at +
                                         "3 (static index 3): static index 3 with lanes 0xffffff00 follows bra at "
                                         "static index 1 with lanes 0xffffffff, of which 0xff execute it; expected an "
                                         "instruction that it leads to" +
                                         end);
  }
  SECTION("goes on with other lanes") {
    w.path[3].second = taken;
    CHECK(wrong_with(kernel, {w}) == at +
                                         "4 (static index 3): static index 3 with lanes 0xff follows add at static "
                                         "index 2 with lanes 0xffffff00, of which 0xffffff00 execute it; expected "
                                         "lanes 0xffffff00" +
                                         end);
  }
  SECTION("resumes elsewhere than the stack says") {
    w.path[4] = {2, taken};
    CHECK(
        wrong_with(kernel, {w}).find("expected static index 4 with lanes 0xff, which the SIMT stack has wait" + end) !=
        std::string::npos);
  }
  SECTION("begins in the middle") {
    w.path.erase(w.path.begin());
    CHECK(wrong_with(kernel, {w}) == at +
                                         "1 (static index 1): static index 1 with lanes 0xffffffff follows nothing; "
                                         "expected the kernel's first instruction" +
                                         end);
  }
  SECTION("never exits") {
    w.path.pop_back();
    CHECK(wrong_with(kernel, {w}) ==
          at + "7 (static index 6): the warp ends, and lanes 0xffffffff have not exited" + end);
  }
  SECTION("accesses shared memory beyond its CTA's") {
    w.address = 4;
    CHECK(wrong_with(kernel, {w}) ==
          at + "7 (static index 6): store accesses 4 bytes of shared memory at 128 in lane 31, the CTA has 128" + end);
  }
}

TEST_CASE("verify: one operation has one result") {
  const Kernel kernel = kernel_of_two_sides();
  Warp a, b;
  // Other lanes, so another operation.
  a.low = 1;
  b.low = 1;
  CHECK(wrong_with(kernel, {a, b}).empty());
  b.low = 2;
  CHECK(wrong_with(kernel, {a, b}) ==
        "launch 0: kernel sides, CTA 0, warp 1, instruction 5 (static index 4): add has another result than before in "
        "this launch for the same operands; the trace is malformed");
  // With another operand it may have another result.
  b.first = 12;
  CHECK(wrong_with(kernel, {a, b}).empty());
}

TEST_CASE("verify: barriers complete") {
  Kernel kernel = kernel_of_two_sides();
  const Warp w;
  StaticInstruction& barrier = kernel.instructions[5];
  barrier.barrier_id = 3;
  barrier.barrier_threads = 64;
  CHECK(wrong_with(kernel, {w, w}).empty());
  barrier.barrier_threads = 96;
  CHECK(wrong_with(kernel, {w, w}) ==
        "launch 0: kernel sides, CTA 0, warp 0, instruction 6 (static index 5): waits at barrier 3 for 96 threads, and "
        "only 64 ever arrive; the trace is malformed");
  // Counting without waiting needs no one else.
  barrier.barrier_arrives = true;
  CHECK(wrong_with(kernel, {w, w}).empty());
  // What a register says is not known here.
  barrier.barrier_arrives = false;
  barrier.operands = {{Operand::Kind::reg, 1, false, 0}};
  CHECK(wrong_with(kernel, {w, w}).empty());
}
