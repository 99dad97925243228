// SPDX-License-Identifier: Apache-2.0
//
// Instructions made by hand, with what a kernel says of them.
#pragma once

#include <regatta/protocol/observer.h>
#include <regatta/test/catch.h>
#include <regatta/trace/power_states.h>

#include <deque>
#include <vector>

namespace regatta::test {

/// The value is not read again.
constexpr trace::NextAccess dead{0, false};

struct MadeKernel {
  MadeKernel() {
    kernel.name = "made";
    context.kernel = &kernel;
    context.traits = &traits;
  }
  /// Adds an instruction; `next` is said of its destinations and then of its sources (empty: needed at once).
  std::uint32_t add(const std::vector<unsigned>& destinations, const std::vector<unsigned>& sources,
                    std::vector<trace::NextAccess> next = {}) {
    trace::StaticInstruction i;
    i.opcode = "made";
    for (const unsigned d : destinations) i.destinations[i.destination_count++] = static_cast<std::uint8_t>(d);
    for (const unsigned s : sources) i.sources[i.source_count++] = static_cast<std::uint8_t>(s);
    kernel.instructions.push_back(i);
    next.resize(destinations.size() + sources.size(), trace::NextAccess{1, true});
    states.next.push_back(next);
    return static_cast<std::uint32_t>(kernel.instructions.size() - 1);
  }
  /// When all are there: their traits and the section.
  void finish() {
    traits.resize(kernel.instructions.size());
    for (std::uint32_t i = 0; i < traits.size(); ++i) {
      const trace::StaticInstruction& s = kernel.instructions[i];
      protocol::InstructionTraits& t = traits[i];
      t.info = &s;
      t.index = i;
      protocol::RegisterSet accessed, read;
      for (unsigned k = 0; k < s.destination_count; ++k) {
        t.writes[t.write_count++] = protocol::RegisterId(s.destinations[k]);
        accessed.add(t.writes[k]);
      }
      for (unsigned k = 0; k < s.source_count; ++k) {
        const protocol::RegisterId r(s.sources[k]);
        accessed.add(r);
        if (!read.contains(r)) t.reads[t.read_count++] = r;
        read.add(r);
      }
      t.accessed = accessed.general;
    }
    kernel.annotations = {{trace::power_section, trace::power_section_version, trace::encode(states)}};
  }

  trace::Kernel kernel;
  trace::PowerStates states;
  std::vector<protocol::InstructionTraits> traits;
  protocol::KernelContext context;
};

}  // namespace regatta::test
