// SPDX-License-Identifier: Apache-2.0
//
// An emulator of one kernel that writes a trace of what its warps do. Thread t counts the steps from t + 1 to 1, each
// of which halves an even number and takes an odd one to three times itself plus one: lanes leave the loop at different
// times.
#include <regatta/trace/trace_recorder.h>

#include <cstdio>
#include <vector>

using namespace regatta::trace;

namespace {

constexpr unsigned ctas = 8, threads = 96;
constexpr std::uint64_t steps_array = 0x10000;  // in global memory

/// The static code. Each static index is its place from 0, which collatz() names.
Kernel code() {
  KernelBuilder code("collatz");
  code.op("mov.u32", OpClass::int_add).writes({0}).special();     // 0: n = thread + 1
  code.op("mov.u32", OpClass::int_add).writes({1}).immediate(0);  // 1: steps = 0
  const auto loop =
      code.op("setp.eq.u32", OpClass::int_add).writes_predicates({0}).reads({0}).immediate(1);  // 2: n == 1?
  auto leave = code.branch("bra").guard(0);                                                     // 3: then go to 7
  code.op("step.u32", OpClass::int_mad).writes({0}).reads({0});                                 // 4: the next n
  code.op("add.u32", OpClass::int_add).writes({1}).reads({1}).immediate(1);                     // 5: steps += 1
  code.branch("bra", loop);                                                                     // 6: go to 2
  leave.target(code.next());
  code.op("lea.u64", OpClass::int64).writes({2, 3}).immediate(steps_array).special();  // 7: &steps_array[thread]
  code.store("st.global.u32", MemorySpace::global, 4).reads({2, 3, 1});                // 8
  code.exit();                                                                         // 9
  return code.build();
}

/// One warp, all lanes side by side; `first` is its first thread.
void collatz(WarpRecorder& warp, unsigned first) {
  std::vector<std::uint32_t> n(32), steps(32);
  const auto n_of = [&](unsigned lane) { return n[lane]; };
  const auto steps_of = [&](unsigned lane) { return steps[lane]; };
  const auto address_of = [&](unsigned lane) { return steps_array + 4 * (first + lane); };
  for (unsigned lane = 0; lane < 32; ++lane) n[lane] = first + lane + 1;
  warp.step(0);
  warp.result(n_of);
  warp.step(1);
  warp.result(steps_of);
  for (LaneMask in_loop = warp.threads(); in_loop != 0;) {
    LaneMask ready = 0;
    for (unsigned lane = 0; lane < 32; ++lane) ready |= LaneMask{n[lane] == 1} << lane;
    ready &= in_loop;
    warp.step(2, in_loop);
    warp.predicate(ready);
    warp.step(3, in_loop, ready);  // lanes that branch wait at 7 for the others
    in_loop &= ~ready;
    if (in_loop == 0) break;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((in_loop >> lane & 1) == 0) continue;
      n[lane] = n[lane] % 2 == 0 ? n[lane] / 2 : 3 * n[lane] + 1;
      ++steps[lane];
    }
    warp.step(4);
    warp.result(n_of);
    warp.step(5);
    warp.result(steps_of);
    warp.step(6);
  }
  warp.step(7, warp.threads());
  warp.result([&](unsigned lane) { return static_cast<std::uint32_t>(address_of(lane)); });
  warp.result([&](unsigned lane) { return static_cast<std::uint32_t>(address_of(lane) >> 32); });
  warp.step(8);
  warp.addresses(address_of);
  warp.step(9);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: collatz OUT.rgt\n");
    return 2;
  }
  TraceRecorder trace(argv[1], "collatz, an example of regatta");
  trace.launch(trace.add(code()), {ctas, 1, 1}, {threads, 1, 1});
  for (unsigned cta = 0; cta < ctas; ++cta) {
    trace.begin_cta();
    for (unsigned w = 0; w < trace.warps(); ++w) collatz(trace.warp(w), cta * threads + w * 32);
    trace.end_cta();
  }
  trace.finish();
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "collatz: %s\n", e.what());
  return 1;
}
