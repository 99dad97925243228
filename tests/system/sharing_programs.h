// SPDX-License-Identifier: Apache-2.0
//
// Programs and machines for the schemes that let CTAs share registers or shared memory, and for their rivals.
#pragma once

#include <regatta/trace/file.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "dice.h"
#include "kernels.h"
#include "random_machine.h"
#include "random_program.h"

namespace regatta::test {

/// Whether a kernel is run that does not usually run: REGATTA_SHARING=all.
inline bool every_sharing_kernel() {
  const char* const value = std::getenv("REGATTA_SHARING");
  return value != nullptr && std::string(value) == "all";
}

/// A trace for machines whose registers are few.
inline std::string annotate_registers(const Folder& folder, const std::string& launch, unsigned addresses = 32) {
  tool::AnnotateOptions o;
  o.launch = launch;
  o.out = folder.file("k.rgt");
  o.max_registers = 63;
  o.addresses = addresses;
  tool::annotate(o);
  return o.out;
}

/// A trace with the values of shared memory and the layout for the private share `t`; for 0, that of no word.
inline std::string annotate_scratchpad(const Folder& folder, const std::string& launch, const std::string& t) {
  tool::AnnotateOptions o;
  o.launch = launch;
  o.out = folder.file("k.rgt");
  o.max_registers = 63;
  o.addresses = 32;
  o.shared_values = true;
  o.pass_options["scratchpad-layout"] = t == "0" ? "0.000001" : t;
  tool::annotate(o);
  return o.out;
}

/// Shared memory of a CTA on fermi_sharing, bytes, of the launch that has the most.
inline unsigned shared_of_cta(const std::string& path) {
  const trace::Reader reader(path);
  unsigned most = 0;
  for (const trace::Launch& l : reader.launches()) most = std::max(most, l.shared_bytes_per_cta);
  return (most + 127) / 128 * 128;
}

/// A kernel that registers limit, or in one case of two a random program; annotated.
inline std::string random_register_trace(Dice& dice, const Folder& folder) {
  static const std::vector<std::string> kernels{
      "atax",  "bfs",   "fdtd2d", "hotspot",   "lbm",       "needleman_wunsch",
      "sgemm", "srad2", "syr2k",  "reduction", "histogram", "scan"};
  const std::string launch = launch_path(dice.any(kernels), Size::small);
  if (!dice.one_in(2)) return annotate_registers(folder, launch);
  const std::uint64_t seed = dice.below(1u << 30);
  return annotate_registers(folder, random_program(folder, seed, 4 + static_cast<unsigned>(dice.below(12))), 64);
}

/// A kernel with shared memory.
inline std::string random_scratchpad_kernel(Dice& dice) {
  static const std::vector<std::string> kernels{"backprop",  "hotspot",   "lavamd", "needleman_wunsch",
                                                "reduction", "histogram", "scan",   "convolution_separable",
                                                "srad2",     "dwt2d",     "lud",    "dct8x8"};
  return dice.any(kernels);
}

/// Knobs of machines on which CTAs share registers: `rows` of a CTA fit once to five times.
inline void vary_register_machine(RandomMachine& m, Dice& dice, unsigned rows) {
  m.set("register_file.registers", std::to_string(std::max(32u, rows * static_cast<unsigned>(4 + dice.below(16)) / 4)));
  m.set("shared.bytes", dice.any({"49152", "98304"}));
  m.set("scheduler", dice.any({"lrr", "gto", "two_level", "owf", "owf"}));
  m.maybe("scheduler.active_warps", {"1", "3"});
  m.maybe("sm.sub_cores", {"1", "2"});
  m.maybe("sm.register_granularity", {"1", "4", "8"});
  m.maybe("register_file.priority", {"fcfs", "read", "write"});
  m.maybe("register_file.mapping", {"warp_interleaved", "register"});
  m.maybe("sm.schedulers", {"2", "4"});
  m.maybe("sm.ctas", {"2", "3", "5"});
  m.maybe("sms", {"1", "2", "3"});
  m.vary_pipeline();
}

/// Knobs of machines on which CTAs share shared memory: `bytes` of a CTA fit once to five times.
inline void vary_scratchpad_machine(RandomMachine& m, Dice& dice, unsigned bytes) {
  const unsigned all = bytes * static_cast<unsigned>(4 + dice.below(16)) / 4;
  m.set("shared.bytes", std::to_string(std::max(128u, (all + 127) / 128 * 128)));
  m.set("scheduler", dice.any({"lrr", "gto", "two_level", "owf", "owf"}));
  m.maybe("scheduler.active_warps", {"1", "3"});
  m.maybe("sm.sub_cores", {"1", "2"});
  m.maybe("sm.schedulers", {"2", "4"});
  m.maybe("sm.ctas", {"2", "3", "5"});
  m.maybe("shared.banks", {"16", "32"});
  m.maybe("lsu.queue", {"1", "4"});
  m.maybe("sms", {"1", "2"});
  m.vary_pipeline();
}

}  // namespace regatta::test
