// SPDX-License-Identifier: Apache-2.0
//
// Scratchpad sharing on small machines, with something between its blocks if a test wants it, on programs made by hand.
#pragma once

#include <regatta/trace/sharing.h>

#include <string>
#include <utility>
#include <vector>

#include "scheme_scratchpad_sharing.h"
#include "sharing_support.h"

namespace regatta::test {

inline constexpr unsigned scratchpad_cta_bytes = 4096;

/// A machine of the thesis with `bytes` of shared memory.
inline assembly::SimulationResult run_scratchpad(const std::string& path, assembly::Scheme& scheme, unsigned bytes,
                                                 Knobs values = {}, unsigned sms = 1) {
  values.emplace_back("shared.bytes", std::to_string(bytes));
  return run_sharing(path, scheme, 1024, values, sms);
}

/// CTAs of 64 threads and 4,096 bytes of shared memory, annotated for t = 1/5: the first 816 bytes are private. A part
/// on private bytes, one on common bytes, with loads, stores and barriers in between, and a long part without shared
/// memory. Warp 1 comes to its last access later. `early`: the relssp of each warp comes before its last access.
inline std::string scratchpad_trace(const std::string& name, unsigned ctas = 12, bool early = false) {
  using trace::MemorySpace;
  using trace::OpClass;
  TraceBuilder b;
  b.kernel().shared_values = true;
  b.op(OpClass::constant_load, {0}, {});
  b.op(OpClass::constant_load, {1}, {});
  std::vector<std::pair<std::uint32_t, unsigned>> accesses;  // instruction, first byte
  std::uint32_t branch = 0;
  const auto exchange = [&](unsigned at, bool detour = false) {
    b.op(OpClass::int_add, {2}, {1, 0});
    accesses.emplace_back(b.store(MemorySpace::shared, 0, 2), at);
    b.barrier();
    if (detour) {
      b.set_predicate(0, {0});
      branch = b.branch(0);
      b.kernel().instructions[branch].guard.predicate = 0;
      for (unsigned i = 0; i < 20; ++i) b.op(OpClass::sfu, {1}, {1});
      b.kernel().instructions[branch].branch_target = static_cast<std::int32_t>(b.kernel().instructions.size());
    }
    b.load(MemorySpace::global, 4, 0);
    b.op(OpClass::int_add, {3}, {4, 3});
    accesses.emplace_back(b.load(MemorySpace::shared, 3, 0), at);
    b.op(OpClass::int_add, {1}, {3, 1});
    if (!detour) b.barrier();
  };
  exchange(0);
  exchange(512);
  exchange(1024);
  exchange(3072, true);
  const std::uint32_t last = accesses.back().first;
  for (unsigned i = 0; i < 40; ++i) b.op(OpClass::sfu, {1}, {1});
  b.store(MemorySpace::global, 0, 1);
  b.exit();
  trace::SharingLayout layout;
  layout.t = *trace::parse_share("0.2");
  layout.shared_bytes = scratchpad_cta_bytes;
  layout.boundary = trace::private_bytes(layout.t, scratchpad_cta_bytes);
  layout.common_accesses.assign(b.kernel().instructions.size(), false);
  for (const auto& [index, at] : accesses) layout.common_accesses[index] = at >= layout.boundary;
  layout.optimal = layout.postdom = 1;
  for (const auto& [scheme, before] : {std::pair{trace::relssp_optimal_scheme, early ? last - 1 : last + 1},
                                       {trace::relssp_postdom_scheme, last + 10}}) {
    trace::InsertedInstruction i;
    i.before = before;
    i.instruction = trace::relssp_instruction(scheme, 1000);
    i.disposition = trace::Disposition::issue;
    b.kernel().inserted.push_back(i);
  }
  b.kernel().annotations.push_back({trace::sharing_section, trace::sharing_section_version, trace::encode(layout)});
  b.launch(ctas, 64, scratchpad_cta_bytes);
  for (unsigned cta = 0; cta < ctas; ++cta) {
    b.begin_cta();
    for (unsigned warp = 0; warp < 2; ++warp) {
      b.begin_warp();
      std::size_t next = 0;
      for (std::uint32_t i = 0; i < b.kernel().instructions.size(); ++i) {
        std::vector<std::uint64_t> addresses;
        const bool is_shared = next < accesses.size() && accesses[next].first == i;
        const std::uint64_t base = is_shared ? trace::shared_window + accesses[next++].second : 1 << 20;
        // Warps read what the other one wrote.
        const unsigned of = is_shared && b.kernel().instructions[i].reads_memory ? 1 - warp : warp;
        for (unsigned lane = 0; lane < 32; ++lane) addresses.push_back(base + of * 128 + lane * 4);
        const bool taken = i == branch && warp == 0;
        b.execute(i, taken ? 0xffffffff : 0, addresses);
        if (taken) i = static_cast<std::uint32_t>(b.kernel().instructions[i].branch_target) - 1;
      }
      b.end_warp();
    }
    b.end_cta();
  }
  return b.write(name);
}

}  // namespace regatta::test
