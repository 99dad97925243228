// SPDX-License-Identifier: Apache-2.0
//
// malloc() and free() of kernels: the heap beside a list of the blocks that are taken, and kernels that use it.
#include "heap.h"
#include "harness.h"
#include "random_ptx.h"

#include <regatta/test/catch.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace regatta;
using namespace regatta::test;
using emulator::Heap;

namespace kernel_heap {
namespace {

using random_ptx::Dice;

emulator::Allocation memory_of(std::uint64_t bytes) {
  emulator::Allocation a;
  a.base = 0x2000'0000;
  a.bytes = bytes;
  a.data.resize(bytes);
  a.written.resize(bytes);
  return a;
}

/// The largest block that fits between those that are taken (address to bytes).
std::uint64_t largest_gap(const emulator::Allocation& a, const std::map<std::uint64_t, std::uint64_t>& taken) {
  std::uint64_t from = a.base + Heap::own_bytes, largest = 0;
  const auto look = [&](std::uint64_t to) {
    if (to - from > Heap::header_bytes) largest = std::max(largest, to - from - Heap::header_bytes);
  };
  for (const auto& [address, bytes] : taken) {
    look(address - Heap::header_bytes);
    from = address + (bytes + 15) / 16 * 16;
  }
  look(a.base + a.bytes / 16 * 16);
  return largest;
}

}  // namespace

TEST_CASE("blocks of the heap lie beside each other, and one is found if there is one") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Dice dice(seed);
    emulator::Allocation a = memory_of(2000 + dice.below(6000));
    std::map<std::uint64_t, std::uint64_t> taken;
    std::uint64_t refused = 0;
    for (unsigned step = 0; step < 1500; ++step) {
      Heap heap(a);
      INFO("seed " << seed << ", step " << step);
      const bool grow = taken.empty() || dice.below(100) < (step / 300 % 2 == 0 ? 65 : 35);
      if (grow) {
        const std::uint64_t bytes = 1 + dice.below(dice.below(4) == 0 ? 900 : 80);
        const std::uint64_t address = heap.allocate(bytes);
        if (address == 0) {
          ++refused;
          REQUIRE(largest_gap(a, taken) < bytes);
          continue;
        }
        REQUIRE(address % 16 == 0);
        REQUIRE(address >= a.base + Heap::own_bytes + Heap::header_bytes);
        REQUIRE(address + bytes <= a.base + a.bytes);
        const auto next = taken.lower_bound(address);
        if (next != taken.end()) REQUIRE(address + bytes <= next->first - Heap::header_bytes);
        if (next != taken.begin())
          REQUIRE(std::prev(next)->first + std::prev(next)->second <= address - Heap::header_bytes);
        // Nobody has written it; whoever does spoils nothing.
        bool unwritten = true;
        for (std::uint64_t b = 0; b < bytes; ++b) {
          unwritten = unwritten && a.written[address - a.base + b] == 0;
          a.data[address - a.base + b] = static_cast<std::uint8_t>(address >> 4);
          a.written[address - a.base + b] = 1;
        }
        REQUIRE(unwritten);
        taken[address] = bytes;
      } else {
        auto victim = taken.begin();
        std::advance(victim, static_cast<std::ptrdiff_t>(dice.below(static_cast<unsigned>(taken.size()))));
        bool same = true;
        for (std::uint64_t b = 0; b < victim->second; ++b)
          same = same && a.data[victim->first - a.base + b] == static_cast<std::uint8_t>(victim->first >> 4);
        REQUIRE(same);
        REQUIRE_FALSE(heap.release(victim->first).has_value());
        REQUIRE(heap.release(victim->first).has_value());
        taken.erase(victim);
      }
      REQUIRE(heap.fault().empty());
      REQUIRE(heap.blocks_taken() == taken.size());
    }
    CHECK(refused > 0);
    Heap heap(a);
    for (const auto& block : taken) CHECK_FALSE(heap.release(block.first).has_value());
    CHECK(heap.bytes_taken() == 0);
    CHECK(heap.allocate(largest_gap(a, {})) == a.base + Heap::own_bytes + Heap::header_bytes);
    CHECK(heap.allocate(1) == 0);
  }
}

TEST_CASE("what the heap is told that is wrong") {
  emulator::Allocation a = memory_of(4096);
  Heap heap(a);
  const std::uint64_t first = heap.allocate(100), second = heap.allocate(100);
  CHECK(first == 0x2000'0050);
  CHECK(second == first + 112 + 16);
  CHECK(heap.allocate(0) == 0);
  CHECK(heap.allocate(~std::uint64_t{0}) == 0);
  CHECK_FALSE(heap.release(0).has_value());
  CHECK(heap.release(first + 16) == "free() of 0x20000060, where no block of malloc() begins");
  CHECK(heap.release(first + 1) == "free() of 0x20000051, where no block of malloc() begins");
  CHECK(heap.release(7) == "free() of 0x7, where no block of malloc() begins");
  CHECK(heap.release(~std::uint64_t{0} - 15) == "free() of 0xfffffffffffffff0, where no block of malloc() begins");
  CHECK_FALSE(heap.release(first).has_value());
  CHECK(heap.release(first) == "free() of 0x20000050, which is free already");
  a.data[second - 16 - a.base] ^= 1;
  CHECK(heap.allocate(4000) == 0);
  CHECK(heap.fault() ==
        "the heap is broken: what stands in front of the block at 0x200000d0 was overwritten, by a store "
        "behind the block before it");
}

namespace {

/// %n: the bytes that are asked for. %b: the block. %out: the thread's own 8 bytes.
std::string kernel(const std::string& body) {
  return module_text(
      ".param .u64 out, .param .u64 bytes",
      ".reg .b64 %out, %n, %b, %c, %d<4>; .reg .b32 %t, %r<6>; .reg .pred %q<3>;\n"
      "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %t, %r1, %r2, %t;\n"
      "ld.param.u64 %out, [out]; ld.param.u64 %n, [bytes]; mul.wide.u32 %d1, %t, 8; add.u64 %out, %out, %d1;\n" +
          body,
      ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n");
}

std::string allocate(const std::string& to, const std::string& bytes) {
  return "{ .param .b64 n; .param .b64 r; st.param.b64 [n], " + bytes + ";\ncall.uni (r), malloc, (n);\nld.param.b64 " +
         to + ", [r]; }\n";
}

std::string release(const std::string& block) {
  return "{ .param .b64 p; st.param.b64 [p], " + block + ";\ncall.uni free, (p); }\n";
}

struct Setup {
  explicit Setup(const std::string& body, std::uint64_t bytes, unsigned ctas = 1, unsigned threads = 32,
                 unsigned warp_size = 32)
      : machine(kernel(body), warp_size), out(machine.buffer("out", 8 * ctas * threads)) {
    machine.parameter(out);
    machine.parameter(bytes);
    machine.request.grid = {ctas, 1, 1};
    machine.request.block = {threads, 1, 1};
  }
  std::vector<std::uint64_t> blocks() const {
    return machine.read<std::uint64_t>(out, std::size_t{machine.request.grid[0]} * machine.request.block[0]);
  }
  Machine machine;
  std::uint64_t out;
};

const std::string keep_block = allocate("%b", "%n") + "st.global.u64 [%out], %b; ret;\n";

}  // namespace

TEST_CASE("threads get blocks of their own, in the order in which they ask") {
  for (const unsigned warp_size : {32u, 64u}) {
    for (const std::uint64_t together : {1u, 3u}) {
      Setup s(keep_block, 40, 5, 96, warp_size);
      s.machine.options.concurrent_ctas = together;
      KeepCtas kept;
      s.machine.run(&kept);
      const auto blocks = s.blocks();
      // In blocks of 48 bytes, behind headers; a warp asks lane by lane.
      CHECK(blocks[0] == 0xf000'0000 - (10u << 20) + 80);
      for (std::size_t t = 1; t < 32; ++t) CHECK(blocks[t] == blocks[t - 1] + 64);
      CHECK(std::set<std::uint64_t>(blocks.begin(), blocks.end()).size() == blocks.size());
      Setup again(keep_block, 40, 5, 96, warp_size);
      again.machine.options.concurrent_ctas = together;
      KeepCtas kept_again;
      again.machine.run(&kept_again);
      CHECK(again.blocks() == blocks);
      CHECK(same_traces(kept.ctas, kept_again.ctas));
    }
  }
}

TEST_CASE("a call of malloc() is an atomic instruction on the heap's first word") {
  Setup s(keep_block, 8);
  KeepCtas kept;
  s.machine.run(&kept);
  trace::WarpCursor cursor(s.machine.kernel, kept.ctas.at(0).warps.at(0));
  unsigned found = 0;
  while (cursor.next()) {
    if (cursor.instruction().op_class != trace::OpClass::atomic) continue;
    ++found;
    std::array<std::uint64_t, trace::max_lanes> addresses{};
    cursor.addresses(addresses.data());
    for (unsigned lane = 0; lane < 32; ++lane) CHECK(addresses[lane] == 0xf000'0000 - (10u << 20));
  }
  CHECK(found == 1);
}

TEST_CASE("blocks are given back and had again, and outlive a launch") {
  Setup s(allocate("%b", "%n") + "st.u64 [%b], %out; ld.u64 %c, [%b];\n" + release("%b") +
              "st.global.u64 [%out], %c; ret;\n",
          1 << 20, 4, 64);
  s.machine.memory.set_heap(std::uint64_t{80} << 20, false);
  s.machine.run();
  const auto found = s.blocks();
  for (std::size_t t = 0; t < found.size(); ++t) CHECK(found[t] == s.out + 8 * t);
  CHECK(Heap(*s.machine.memory.find(s.machine.memory.heap())).blocks_taken() == 0);

  Setup keeps(keep_block, 100);
  keeps.machine.run();
  const auto first = keeps.blocks();
  keeps.machine.run();
  for (const std::uint64_t block : keeps.blocks()) CHECK(std::count(first.begin(), first.end(), block) == 0);
  CHECK(Heap(*keeps.machine.memory.find(keeps.machine.memory.heap())).blocks_taken() == 64);
}

TEST_CASE("malloc() gives 0 when the heap is full") {
  Setup s(keep_block, 1000);
  s.machine.memory.set_heap(8192, false);
  s.machine.run();
  const auto blocks = s.blocks();
  for (std::size_t t = 0; t < blocks.size(); ++t) CHECK((blocks[t] != 0) == (t < 7));
}

TEST_CASE("kernels that use the heap wrongly") {
  const auto error = [](const std::string& body) { return Setup(body, 24).machine.error(); };
  CHECK(error(release("%out") + "ret;\n") ==
        "k.ptx:12:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): free() of 0x1000000000, where no block of "
        "malloc() begins");
  CHECK(error(allocate("%b", "%n") + release("%b") + release("%b") + "ret;\n") ==
        "k.ptx:17:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): free() of 0xef600050, which is free already");
  const std::string unwritten = error(allocate("%b", "%n") + "ld.u64 %c, [%b]; st.global.u64 [%out], %c; ret;\n");
  CHECK(unwritten.find("read of global address 0xef600050, which was never written") != std::string::npos);
  const std::string released = error(allocate("%b", "%n") + "st.u64 [%b], 1;\n" + release("%b") +
                                     "ld.u64 %c, [%b]; st.global.u64 [%out], %c; ret;\n");
  CHECK(released.find("read of global address 0xef600050, which was never written") != std::string::npos);
  const std::string broken = error(allocate("%b", "%n") + "st.u64 [%b+32], 0;\n" + allocate("%c", "%n") + "ret;\n");
  CHECK(broken.find("the heap is broken: what stands in front of the block at 0x") != std::string::npos);
}

TEST_CASE("blocks that go from thread to thread through the heap race with nobody") {
  const std::string body = allocate("%b", "%n") + "st.u32 [%b], %t; ld.u32 %r3, [%b];\n" + release("%b") +
                           "cvt.u64.u32 %c, %r3; st.global.u64 [%out], %c; ret;\n";
  Setup s(body, 16, 6, 64);
  s.machine.options.races = emulator::RaceRule::independent;
  CHECK(s.machine.races().empty());
  // One that is still in use does.
  Setup shared(allocate("%b", "%n") +
                   "setp.eq.u32 %q1, %t, 0; @%q1 st.u32 [%b], %t; @%q1 st.global.u64 [%out], %b;\n"
                   "ld.param.u64 %d2, [out]; ld.volatile.global.u64 %c, [%d2]; setp.ne.u64 %q2, %c, 0;\n"
                   "@%q2 st.u32 [%c+4], %t; ret;\n",
               16, 2, 32);
  shared.machine.options.races = emulator::RaceRule::independent;
  CHECK_FALSE(shared.machine.races().empty());
}

namespace {

/// What samples/objects.cu computes.
std::uint32_t area(std::uint32_t height, std::uint32_t size, std::uint32_t scale) {
  if (height == 0) return (size % 2 == 0 ? size * size : size * size - (size / 2) * (size / 2)) * scale;
  const std::uint32_t less = size % 2 & (height > 1 ? 1u : 0u);
  return area(height - 1, size + 1, scale) + 3 * area(height - 1 - less, 2 * size, scale + 1);
}

constexpr unsigned object_threads = 192;

/// Runs an entry on `shapes` and `results`, of object_threads each, in the memory of an earlier one.
std::vector<std::uint32_t> run_objects(Machine& m, bool has_shapes, std::uint64_t shapes, std::uint64_t results) {
  if (has_shapes) m.parameter(shapes);
  m.parameter(results);
  m.request.grid = {2, 1, 1};
  m.request.block = {object_threads / 2, 1, 1};
  m.run();
  return m.read<std::uint32_t>(results, object_threads);
}

}  // namespace

TEST_CASE("objects with virtual functions, made and deleted by recursive functions") {
  for (const char* file : {"objects.sm75.ptx", "objects.debug.sm75.ptx"}) {
    for (const unsigned warp_size : {32u, 64u}) {
      INFO(file << ", " << warp_size << " lanes");
      Machine m(sample(file), warp_size, 255, "piles");
      const std::uint64_t shapes = m.buffer("shapes", 8 * object_threads),
                          results = m.buffer("results", 4 * object_threads);
      const auto first = run_objects(m, true, shapes, results);
      for (std::uint32_t i = 0; i < object_threads; ++i) REQUIRE(first[i] == area(i % 4, i, 1));
      const std::uint64_t taken = Heap(*m.memory.find(m.memory.heap())).blocks_taken();
      CHECK(taken > 2 * object_threads);
      // The second kernel of the same module, on the same memory.
      Machine other(sample(file), warp_size, 255, "again");
      emulator::Emulator emulator(*other.function, other.reconvergence, m.memory, *m.image, m.options);
      emulator.run(m.request);
      const auto second = m.read<std::uint32_t>(results, object_threads);
      for (std::uint32_t i = 0; i < object_threads; ++i) REQUIRE(second[i] == area(i % 4, i, 2));
      CHECK(Heap(*m.memory.find(m.memory.heap())).blocks_taken() == 0);

      Machine tables(sample(file), warp_size, 255, "tables");
      const auto values = run_objects(tables, false, 0, tables.buffer("values", 4 * object_threads));
      for (std::uint32_t i = 0; i < object_threads; ++i) {
        const std::uint32_t x = i % 3 == 0 ? 2 * i : i % 3 == 1 ? i * i : i + 1;
        REQUIRE(values[i] == (i / 3 % 2 == 0 ? x + 1 : 2 * x));
      }
    }
  }
}

}  // namespace kernel_heap
