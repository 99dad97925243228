// SPDX-License-Identifier: Apache-2.0
#include "contract.h"

#include <regatta/protocol/payload.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace regatta::sm {

void broken_contract(const Core& core, const char* point, const std::string& block, const std::string& did,
                     const std::string& expected) {
  const std::string what =
      block + " in cycle " + std::to_string(core.current().value()) + ": " + did + "; expected " + expected;
  SC_REPORT_ERROR((std::string("regatta/") + point).c_str(), what.c_str());
  throw std::logic_error(std::string(point) + ": " + what);
}

std::string hex(std::uint64_t value) {
  std::ostringstream text;
  text << "0x" << std::hex << value;
  return text.str();
}

std::string describe(const Core& core, WarpSlot warp) {
  std::string text = "warp " + std::to_string(warp.value());
  if (warp.value() >= core.warps.size()) return text;
  return text + " (CTA " + std::to_string(core.warps[warp.value()].info.cta_index) + ")";
}

std::string describe(const Core& core, const DynamicInstruction& d) {
  const std::string pc = "PC " + hex(std::uint64_t{d.traits->index} * trace::bytes_per_instruction);
  if (d.injected && !d.info->scheme.empty()) {
    return describe(core, d.warp) + " " + d.info->opcode + " of scheme " + d.info->scheme + " inserted before " + pc;
  }
  if (d.injected) {
    return describe(core, d.warp) + " move of R" + std::to_string(d.traits->reads[0].value()) + " injected before " +
           pc;
  }
  return describe(core, d.warp) + " " + pc + " " + d.info->opcode;
}

void not_kept(const Core& core, const DynamicInstruction* d, const char* point, const std::string& block) {
  const std::string back = "resume_kept() hands back ";
  broken_contract(core, point, block,
                  d == nullptr ? back + "no instruction" : back + describe(core, *d) + ", which it does not keep",
                  "an instruction that it keeps");
}

std::string TargetContract::describe_access(const tlm::tlm_generic_payload& payload) const {
  std::string text = access_;
  if (const auto* operand = payload.get_extension<protocol::WarpAccess>()) {
    text += " of R" + std::to_string(operand->reg.value());
    if (operand->instruction != nullptr) return text + " for " + describe(core_, *operand->instruction);
    return text + " of " + describe(core_, operand->warp);
  }
  text += " of line " + hex(payload.get_address());
  const auto* memory = payload.get_extension<protocol::MemoryAccess>();
  if (memory == nullptr) return text;
  if (memory->instruction != nullptr) return text + " for " + describe(core_, *memory->instruction);
  return text + " (" + protocol::to_string(memory->access) + ")";
}

void TargetContract::wrong_completion(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) const {
  const std::string access = describe_access(payload);
  if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
    broken_contract(core_, point_, target_,
                    "completes the " + access + " without a response status (TLM_INCOMPLETE_RESPONSE)",
                    "TLM_OK_RESPONSE");
  }
  if (payload.get_response_status() != tlm::TLM_OK_RESPONSE) {
    broken_contract(core_, point_, target_, "answers the " + access + " with " + payload.get_response_string(),
                    "TLM_OK_RESPONSE");
  }
  broken_contract(
      core_, point_, target_, "answers the " + access + " with a delay of " + delay.to_string(),
      (delay == sc_core::SC_ZERO_TIME ? "at least one cycle of " : "whole cycles of ") + core_.period().to_string());
}

void TargetContract::wrong_phase(const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) const {
  std::ostringstream found;
  found << phase;
  broken_contract(core_, point_, target_, "answers the " + describe_access(payload) + " with phase " + found.str(),
                  "END_REQ or BEGIN_RESP");
}

Cycle TargetContract::arrival(const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase,
                              const sc_core::sc_time& delay, bool in_flight, bool holds) const {
  const Cycle when = core_.arrival(delay);
  if (__builtin_expect(phase == tlm::BEGIN_RESP ? !in_flight : phase != tlm::END_REQ || !holds, 0)) {
    if (phase != tlm::BEGIN_RESP && phase != tlm::END_REQ) wrong_phase(payload, phase);
    broken_contract(core_, point_, target_,
                    phase == tlm::BEGIN_RESP
                        ? "sends BEGIN_RESP for a " + std::string(access_) + " that is complete"
                        : "sends END_REQ for the " + describe_access(payload) + ", whose request is over",
                    phase == tlm::BEGIN_RESP ? "one answer to each access" : "one END_REQ to each request");
  }
  if (__builtin_expect(phase == tlm::BEGIN_RESP &&
                           (payload.get_response_status() != tlm::TLM_OK_RESPONSE || delay == sc_core::SC_ZERO_TIME),
                       0)) {
    wrong_completion(payload, delay);
  }
  if (const sc_core::sc_time at = sc_core::sc_time_stamp() + delay - core_.origin();
      __builtin_expect(!core_.whole(core_.cycles(at), at), 0)) {
    broken_contract(core_, point_, target_, "answers the " + describe_access(payload) + " at " + at.to_string(),
                    "a whole cycle of " + core_.period().to_string());
  }
  return when;
}

void InstructionSnapshot::take(const DynamicInstruction& d) { before_ = d; }

const char* InstructionSnapshot::changed(const DynamicInstruction& d, bool results_may_change) const {
  const DynamicInstruction& b = before_;
  if (d.traits != b.traits || d.info != b.info || d.pool_index != b.pool_index || d.warp != b.warp || d.cta != b.cta ||
      d.scheduler != b.scheduler || d.sequence != b.sequence || d.injected != b.injected) {
    return "its identity";
  }
  if (d.active != b.active || d.simt_mask != b.simt_mask) return "its lanes";
  if (d.bypassed != b.bypassed || d.kept_by != b.kept_by || d.operands_pending != b.operands_pending ||
      d.writes_pending != b.writes_pending || d.accesses_pending != b.accesses_pending) {
    return "its place in the pipeline";
  }
  if (d.predicate_results != b.predicate_results) return "its predicates";
  for (unsigned i = 0; i < d.traits->write_count && !results_may_change; ++i) {
    if (d.results[i].lane != b.results[i].lane) return "its results";
  }
  return nullptr;
}

}  // namespace regatta::sm
