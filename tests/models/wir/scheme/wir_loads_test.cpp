// SPDX-License-Identifier: Apache-2.0
//
// Which loads take the result of an earlier one: by memory, behind stores, atomics and fences, and beside what orders a
// kernel's accesses (section VI-A).
#include <functional>
#include <string>

#include "wir_support.h"

using namespace regatta;
using test::TraceBuilder;
using test::Values;
using test::Watched;

namespace {

/// Two loads of one place by one instruction's text, and `between` them what the kernel has there. Whether the second
/// takes the first one's result. `late`: what is in memory changes in between.
bool second_load_reuses(const std::string& name, trace::MemorySpace space,
                        const std::function<void(TraceBuilder&)>& between, bool late = false,
                        const std::function<void(TraceBuilder&)>& behind = {}) {
  TraceBuilder b;
  Values v(b);
  v.op("lane.64", 0, {});
  const auto load = [&](unsigned destination) {
    const auto index = b.load(space, destination, 0);
    b.kernel().instructions[index].opcode = "load";
    return index;
  };
  load(1);
  v.op("add", 5, {1, 1});
  if (between) between(b);
  const auto second = load(2);
  v.op("add", 4, {2, 2});
  if (behind) behind(b);
  b.exit();
  const bool shared = space == trace::MemorySpace::shared;
  b.launch(1, 32, shared ? 8192 : 0);
  b.begin_cta();
  b.begin_warp();
  for (std::uint32_t i = 0; i < b.kernel().instructions.size(); ++i) {
    if (i == second && late) v.memory = 1;
    b.execute(i, 0, {4096});
  }
  b.end_warp();
  b.end_cta();
  const Watched w = test::watch(b, name, {{"reuse_buffer.associative", "true"}});
  test::require_clean(w.result);
  return w.of(0, second).is_bypassed;
}

void generic_store(TraceBuilder& b) { b.store(trace::MemorySpace::generic, 0, 1); }

}  // namespace

TEST_CASE("a load of global memory is reused") {
  CHECK(second_load_reuses("wir_load_global", trace::MemorySpace::global, {}));
}
TEST_CASE("a load of shared memory is reused") {
  CHECK(second_load_reuses("wir_load_shared", trace::MemorySpace::shared, {}));
}
TEST_CASE("a load of a generic address is not, which may be a thread's own") {
  CHECK_FALSE(second_load_reuses("wir_load_generic", trace::MemorySpace::generic, {}));
}
TEST_CASE("a load of global memory behind a store to a generic address is not reused") {
  CHECK_FALSE(second_load_reuses("wir_generic_global", trace::MemorySpace::global, generic_store, true));
}
TEST_CASE("a load of shared memory behind a store to a generic address is not reused") {
  CHECK_FALSE(second_load_reuses("wir_generic_shared", trace::MemorySpace::shared, generic_store, true));
}
TEST_CASE("a load of global memory behind a fence is not reused") {
  CHECK_FALSE(second_load_reuses(
      "wir_fence", trace::MemorySpace::global, [](TraceBuilder& b) { b.fence(); }, true));
}
TEST_CASE("a fence behind two loads does not keep the second from the first one's result") {
  CHECK(second_load_reuses("wir_fence_behind", trace::MemorySpace::global, {}, false,
                           [](TraceBuilder& b) { b.fence(); }));
}

namespace {

std::uint32_t atomic(TraceBuilder& b, trace::MemorySpace space, const std::string& opcode = "atom") {
  const std::uint32_t index = b.store(space, 0, 1);
  trace::StaticInstruction& i = b.kernel().instructions[index];
  i.op_class = trace::OpClass::atomic;
  i.opcode = opcode;
  i.reads_memory = true;
  return index;
}

void global_atomic(TraceBuilder& b) { atomic(b, trace::MemorySpace::global); }
void fence(TraceBuilder& b) { b.fence(); }

}  // namespace

TEST_CASE("a load of global memory behind an atomic on it is not reused") {
  CHECK_FALSE(second_load_reuses("wir_atomic_global", trace::MemorySpace::global, global_atomic, true));
}
TEST_CASE("a load of shared memory behind an atomic on global memory is reused") {
  CHECK(second_load_reuses("wir_atomic_shared", trace::MemorySpace::shared, global_atomic));
}
TEST_CASE("a load of shared memory behind an atomic on global memory is not, in a kernel with fences") {
  CHECK_FALSE(second_load_reuses("wir_atomic_fence", trace::MemorySpace::shared, global_atomic, true, fence));
}
TEST_CASE("a load of shared memory behind an atomic on global memory is not, if the atomic is a fence as well") {
  CHECK_FALSE(second_load_reuses(
      "wir_atomic_order", trace::MemorySpace::shared,
      [](TraceBuilder& b) { atomic(b, trace::MemorySpace::global, "atom.acq_rel.gpu.global.add.u32"); }, true));
}
TEST_CASE("a load of shared memory behind a relaxed atomic on global memory is reused") {
  CHECK(second_load_reuses("wir_atomic_relaxed", trace::MemorySpace::shared, [](TraceBuilder& b) {
    atomic(b, trace::MemorySpace::global, "atom.relaxed.gpu.global.add.u32");
  }));
}

namespace {

/// A kernel whose warp loads a place twice; `fences`, `atomics`, and a barrier of the CTA or of a part of it, behind.
bool reused_beside(const std::string& name, bool fences, bool atomics, bool partial) {
  return second_load_reuses("wir_beside_" + name, trace::MemorySpace::global, {}, false, [=](TraceBuilder& b) {
    if (fences) b.fence();
    if (atomics) atomic(b, trace::MemorySpace::shared);
    b.barrier(0, partial ? 32 : 0);
  });
}

}  // namespace

TEST_CASE("with fences, atomics and barriers of a part of the CTA loads are not reused") {
  CHECK_FALSE(reused_beside("all", true, true, true));
}
TEST_CASE("with fences, atomics and barriers of the whole CTA they are") {
  CHECK(reused_beside("full", true, true, false));
}
TEST_CASE("with fences and barriers of a part of the CTA, but no atomics, they are") {
  CHECK(reused_beside("quiet", true, false, true));
}
TEST_CASE("with atomics and barriers of a part of the CTA, but no fences, they are") {
  CHECK(reused_beside("unfenced", false, true, true));
}
TEST_CASE("a kernel with a volatile access has no reuse of loads") {
  CHECK_FALSE(second_load_reuses("wir_volatile", trace::MemorySpace::global, {}, false, [](TraceBuilder& b) {
    b.kernel().instructions[b.load(trace::MemorySpace::global, 3, 0)].is_volatile = true;
  }));
}
