// SPDX-License-Identifier: Apache-2.0
#include <regatta/protocol/observer.h>
#include <regatta/protocol/payload.h>
#include <regatta/protocol/residency.h>

#include <array>

namespace regatta::protocol {

const char* to_string(Unit u) {
  static constexpr std::array<const char*, unit_count> names{"none", "sp", "sfu", "dp", "tensor", "lsu"};
  return names[static_cast<unsigned>(u)];
}

const char* to_string(Supplier s) {
  static const char* const names[] = {"unknown", "compressor", "l1", "l2", "dram"};
  return names[static_cast<unsigned>(s)];
}

const char* to_string(CtaPhase p) {
  static const char* const names[] = {"active", "draining", "quiesced", "parked", "entering"};
  return names[static_cast<unsigned>(p)];
}

const char* to_string(AccessClass c) {
  static constexpr std::array<const char*, access_class_count> names{
      "data_load",   "data_store", "atomic",     "register_read", "register_write", "register_invalidate",
      "instruction", "metadata",   "local_load", "local_store",   "constant",       "texture"};
  return names[static_cast<unsigned>(c)];
}

const char* to_string(Stall s) {
  static constexpr std::array<const char*, stall_count> names{
      "none",           "scoreboard",     "issue_gate",    "structural_scheduler",
      "structural_sp",  "structural_sfu", "structural_dp", "structural_tensor",
      "structural_lsu", "memory",         "barrier",       "instruction_fetch",
      "idle",           "allocate",       "result_queue",  "stall_count",
      "yield",          "counter"};
  return names[static_cast<unsigned>(s)];
}

const char* to_string(WarpState s) {
  static constexpr std::array<const char*, warp_state_count> names{
      "absent", "instruction_fetch", "ready", "scoreboard", "memory", "barrier", "drained"};
  return names[static_cast<unsigned>(s)];
}

}  // namespace regatta::protocol
