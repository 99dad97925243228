// SPDX-License-Identifier: Apache-2.0
//
// The dynamic streams hold what happened: replaying them on registers of its own reproduces every operand.
#include "harness.h"

#include <regatta/ir/address_windows.h>
#include <regatta/test/catch.h>

#include <cstring>

using namespace regatta;
using namespace regatta::test;

namespace {

constexpr const char* body =
    ".reg .b64 %p, %o, %q1; .reg .b32 %t, %c, %n, %g, %v, %r<6>; .reg .pred %a, %b;\n"
    ".shared .align 4 .b8 s[512]; .local .align 4 .b8 frame[8];\n"
    "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %g, %c, %n, %t;\n"
    "ld.param.u64 %p, [out]; mul.wide.u32 %o, %g, 4; add.u64 %p, %p, %o;\n"
    "shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %g; bar.sync 0;\n"
    "ld.shared.u32 %v, [%r1]; and.b32 %r3, %t, 3; setp.eq.u32 %a, %r3, 0; @%a bra SKIP;\n"
    "setp.gt.u32 %b, %t, 1000; @%b add.u32 %v, %v, 99; add.u32 %v, %v, 7;\nSKIP:\n"
    "mov.u64 %q1, frame; st.local.u32 [%q1+4], %v; ld.local.u32 %r4, [%q1+4]; st.global.u32 [%p], %r4;\nret;\n";

}  // namespace

TEST_CASE("the streams replay to the same memory, masks and addresses") {
  for (const unsigned warp_size : {32u, 64u}) {
    Machine m(module_text(".param .u64 out", body), warp_size);
    const std::uint64_t out = m.buffer("out", 3 * 72 * 4);
    m.parameter(out);
    m.request.block = {72, 1, 1};
    m.request.grid = {3, 1, 1};
    KeepCtas kept;
    const emulator::RunCounts counts = m.run(&kept);
    const auto memory = m.read<std::uint32_t>(out, 3 * 72);
    REQUIRE(kept.ctas.size() == 3);

    std::uint64_t warp_instructions = 0, thread_instructions = 0, stores = 0, empty = 0;
    for (const trace::Cta& cta : kept.ctas) {
      REQUIRE(cta.warps.size() == (72 + warp_size - 1) / warp_size);
      for (std::size_t warp = 0; warp < cta.warps.size(); ++warp) {
        std::vector<trace::WarpValue> registers(m.function->registers_used);
        std::array<trace::LaneMask, 8> predicates{};
        trace::WarpCursor cursor(m.kernel, cta.warps[warp]);
        int depth = 0;
        while (cursor.next()) {
          const trace::StaticInstruction& i = cursor.instruction();
          ++warp_instructions;
          thread_instructions += static_cast<unsigned>(__builtin_popcountll(cursor.active_mask()));
          empty += cursor.active_mask() == 0 ? 1 : 0;
          if (i.guard.predicate >= 0) {
            const trace::LaneMask p = predicates[static_cast<std::size_t>(i.guard.predicate)];
            CHECK(cursor.active_mask() == (cursor.simt_mask() & (i.guard.negated ? ~p : p)));
          }
          std::uint64_t address[64] = {};
          if (trace::has_addresses(i)) cursor.addresses(address);
          if (i.opcode.rfind("st.global", 0) == 0) {
            for (unsigned lane = 0; lane < warp_size; ++lane) {
              if (((cursor.active_mask() >> lane) & 1) == 0) continue;
              const std::size_t thread = cta.index * 72 + warp * warp_size + lane;
              CHECK(address[lane] == out + thread * 4);
              CHECK(registers[i.sources[i.source_count - 1]].lane[lane] == memory[thread]);
              ++stores;
            }
          }
          if (i.opcode.rfind("st.local", 0) == 0) {
            for (unsigned lane = 0; lane < warp_size; ++lane) {
              if (((cursor.active_mask() >> lane) & 1) == 0) continue;
              const std::uint64_t thread = cta.index * 72 + warp * warp_size + lane;
              CHECK(address[lane] == ir::local_window + thread * m.function->local_bytes + 4);
            }
          }
          for (unsigned d = 0; d < i.destination_count; ++d) {
            trace::WarpValue value;
            cursor.result(value);
            for (unsigned lane = 0; lane < warp_size; ++lane) {
              if (((cursor.active_mask() >> lane) & 1) != 0) registers[i.destinations[d]].lane[lane] = value.lane[lane];
            }
          }
          for (unsigned d = 0; d < i.destination_predicate_count; ++d) {
            trace::LaneMask& p = predicates[i.destination_predicates[d]];
            p = (p & ~cursor.active_mask()) | cursor.predicate();
          }
          std::vector<trace::StackEvent> events;
          cursor.stack_events(events);
          for (const trace::StackEvent& e : events) depth += e.push ? 1 : -1;
          CHECK(depth >= 0);
        }
        CHECK(depth == 0);
      }
    }
    CHECK(stores == 3 * 72);
    CHECK(empty != 0);
    CHECK(warp_instructions == counts.warp_instructions);
    CHECK(thread_instructions == counts.thread_instructions);
  }
}

TEST_CASE("with and without a sink the same happens") {
  Machine a(module_text(".param .u64 out", body)), b(module_text(".param .u64 out", body));
  for (Machine* m : {&a, &b}) {
    m->parameter(m->buffer("out", 72 * 4));
    m->request.block = {72, 1, 1};
  }
  KeepCtas kept;
  const auto x = a.run(&kept), y = b.run();
  CHECK(x.warp_instructions == y.warp_instructions);
  CHECK(a.read<std::uint32_t>(emulator::DeviceMemory::first_address, 72) ==
        b.read<std::uint32_t>(emulator::DeviceMemory::first_address, 72));
}
