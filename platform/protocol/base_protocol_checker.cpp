// SPDX-License-Identifier: Apache-2.0
#include <regatta/protocol/base_protocol_checker.h>
#include <regatta/protocol/payload.h>

#include <sstream>

namespace regatta::protocol {
namespace {

std::uint64_t digest(const unsigned char* bytes, unsigned length) {
  std::uint64_t h = 0xcbf29ce484222325ull;  // FNV-1a
  for (unsigned i = 0; i < length; ++i) h = (h ^ bytes[i]) * 0x100000001b3ull;
  return h;
}

bool contents_matter(tlm::tlm_generic_payload& payload) {
  const MemoryAccess* memory = payload.get_extension<MemoryAccess>();
  return payload.get_data_ptr() != nullptr && (memory == nullptr || carries_data(memory->access));
}

const char* text(tlm::tlm_sync_enum sync) {
  return sync == tlm::TLM_ACCEPTED ? "TLM_ACCEPTED" : sync == tlm::TLM_UPDATED ? "TLM_UPDATED" : "TLM_COMPLETED";
}

std::string text(tlm::tlm_phase phase) {
  std::ostringstream s;
  s << phase;
  return s.str();
}

}  // namespace

void BaseProtocolRules::violation(const tlm::tlm_generic_payload* payload, const std::string& what) {
  ++violations_;
  std::ostringstream message;
  message << name_;
  if (const std::string target = target_ ? target_() : ""; !target.empty()) message << " before " << target;
  message << ": " << what;
  if (payload != nullptr) {
    message << " ("
            << (payload->is_write()  ? "write"
                : payload->is_read() ? "read"
                                     : "ignore")
            << " at address 0x" << std::hex << payload->get_address() << ")";
  }
  SC_REPORT_ERROR("regatta/protocol", message.str().c_str());
}

bool BaseProtocolRules::advance(tlm::tlm_generic_payload& payload, Transaction& t, const sc_core::sc_time& at) {
  const bool ordered = at >= t.time;
  const sc_core::sc_time last = t.time;
  if (ordered) t.time = at;
  if (!ordered) {
    violation(&payload, "time goes backwards within a transaction: from " + last.to_string() + " to " + at.to_string());
  }
  return ordered;
}

void BaseProtocolRules::check_delay(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& before,
                                    const sc_core::sc_time& after) {
  if (after < before) {
    violation(&payload,
              "the annotated delay shrank during the call, from " + before.to_string() + " to " + after.to_string());
  }
}

void BaseProtocolRules::check_new(tlm::tlm_generic_payload& payload) {
  const MemoryAccess* memory = payload.get_extension<MemoryAccess>();
  if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) {
    violation(&payload,
              "BEGIN_REQ with response status " + payload.get_response_string() + ", expected TLM_INCOMPLETE_RESPONSE");
  }
  if (!payload.is_read() && !payload.is_write()) violation(&payload, "BEGIN_REQ with command TLM_IGNORE_COMMAND");
  if (memory != nullptr && !payload.has_mm()) {
    violation(&payload, "BEGIN_REQ without a memory manager, which a payload of memory needs");
  }
  if (payload.get_data_length() == 0) violation(&payload, "BEGIN_REQ with data length 0");
  if (payload.get_streaming_width() == 0) violation(&payload, "BEGIN_REQ with streaming width 0");
  if (payload.get_data_ptr() == nullptr && (memory == nullptr || carries_data(memory->access))) {
    violation(&payload, "BEGIN_REQ with a null data pointer");
  }
  const unsigned char* enables = payload.get_byte_enable_ptr();
  if (enables != nullptr && payload.get_byte_enable_length() == 0) {
    violation(&payload, "BEGIN_REQ with byte enables of length 0");
    return;
  }
  const WarpAccess* warp = payload.get_extension<WarpAccess>();
  if (warp == nullptr) return;
  const unsigned lanes = payload.get_data_length() / trace::bytes_per_lane;
  for (unsigned lane = 0; lane < lanes && lane < trace::max_lanes; ++lane) {
    const bool in_mask = (warp->lanes >> lane) & 1;
    for (unsigned b = 0; b < trace::bytes_per_lane; ++b) {
      const unsigned byte = lane * trace::bytes_per_lane + b;
      const bool enabled = enables == nullptr || enables[byte % payload.get_byte_enable_length()] == TLM_BYTE_ENABLED;
      if (enabled == in_mask) continue;
      violation(&payload, "byte enables and WarpAccess disagree about lane " + std::to_string(lane) + ": byte " +
                              std::to_string(byte) +
                              (enabled ? " is enabled, the lane is not" : " is disabled, the lane is enabled"));
      return;
    }
  }
}

void BaseProtocolRules::check_same(tlm::tlm_generic_payload& payload, const Transaction& t) {
  const char* changed = nullptr;
  if (payload.get_command() != t.command)
    changed = "command";
  else if (payload.get_address() != t.address)
    changed = "address";
  else if (payload.get_data_ptr() != t.data)
    changed = "data pointer";
  else if (payload.get_data_length() != t.length)
    changed = "data length";
  else if (payload.get_streaming_width() != t.streaming_width)
    changed = "streaming width";
  else if (payload.get_byte_enable_ptr() != t.enables)
    changed = "byte enable pointer";
  else if (payload.get_byte_enable_length() != t.enable_length)
    changed = "byte enable length";
  else if (t.enables != nullptr && digest(t.enables, t.enable_length) != t.enable_digest)
    changed = "byte enables";
  else if (payload.is_write() && contents_matter(payload) && digest(t.data, t.length) != t.write_digest)
    changed = "bytes of a write";
  if (changed != nullptr) violation(&payload, std::string("payload modified on its way: ") + changed);
}

void BaseProtocolRules::begin_request(tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  if (open_.count(&payload) != 0) {
    violation(&payload, "BEGIN_REQ for a transaction that is not over");
    return;
  }
  if (requesting_ != nullptr)
    violation(&payload, "request exclusion: BEGIN_REQ before END_REQ of the request before");
  else if (at < request_free_)
    violation(&payload, "request exclusion: BEGIN_REQ at " + at.to_string() + ", END_REQ of the request before is at " +
                            request_free_.to_string());
  check_new(payload);
  Transaction t;
  t.time = at;
  t.command = payload.get_command();
  t.address = payload.get_address();
  t.data = payload.get_data_ptr();
  t.length = payload.get_data_length();
  t.streaming_width = payload.get_streaming_width();
  t.enables = payload.get_byte_enable_ptr();
  t.enable_length = payload.get_byte_enable_length();
  if (t.enables != nullptr) t.enable_digest = digest(t.enables, t.enable_length);
  if (payload.is_write() && contents_matter(payload)) t.write_digest = digest(t.data, t.length);
  open_.emplace(&payload, t);
  requesting_ = &payload;
  ++transactions_;
}

void BaseProtocolRules::end_request(tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  const auto found = open_.find(&payload);
  if (found == open_.end() || found->second.state != State::request) {
    violation(&payload, "END_REQ for a transaction that is not in its request");
    return;
  }
  found->second.state = State::requested;
  if (requesting_ == &payload) requesting_ = nullptr;
  request_free_ = at;
  advance(payload, found->second, at);
}

void BaseProtocolRules::begin_response(tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  const auto found = open_.find(&payload);
  if (found == open_.end() || found->second.state == State::response) {
    violation(&payload, found == open_.end() ? "BEGIN_RESP for a transaction that was not requested"
                                             : "BEGIN_RESP twice for a transaction");
    return;
  }
  Transaction& t = found->second;
  if (t.state == State::request) {  // END_REQ is implied
    if (requesting_ == &payload) requesting_ = nullptr;
    request_free_ = at;
  }
  t.state = State::response;
  const tlm::tlm_generic_payload* other = responding_;
  const sc_core::sc_time free = response_free_;
  responding_ = &payload;
  if (other != nullptr) {
    violation(&payload, "response exclusion: BEGIN_RESP before END_RESP of the response before");
  } else if (at < free) {
    violation(&payload, "response exclusion: BEGIN_RESP at " + at.to_string() +
                            ", END_RESP of the response before is at " + free.to_string());
  }
  if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
    violation(&payload, "BEGIN_RESP without a response status");
  }
  check_same(payload, t);
  advance(payload, t, at);
}

void BaseProtocolRules::end_response(tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  const auto found = open_.find(&payload);
  if (found == open_.end() || found->second.state != State::response) {
    violation(&payload, "END_RESP for a transaction that is not in its response");
    return;
  }
  Transaction t = found->second;
  open_.erase(found);
  if (responding_ == &payload) responding_ = nullptr;
  response_free_ = at;
  advance(payload, t, at);
}

void BaseProtocolRules::complete(tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  const auto found = open_.find(&payload);
  if (found == open_.end()) {
    violation(&payload, "TLM_COMPLETED for a transaction that was over");
    return;
  }
  Transaction t = found->second;
  open_.erase(found);
  if (requesting_ == &payload) requesting_ = nullptr;
  if (responding_ == &payload) responding_ = nullptr;
  if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
    violation(&payload, "TLM_COMPLETED without a response status");
  }
  check_same(payload, t);
  advance(payload, t, at);
}

void BaseProtocolRules::forward_call(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase,
                                     const sc_core::sc_time& delay) {
  const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
  if (phase == tlm::BEGIN_REQ)
    begin_request(payload, at);
  else if (phase == tlm::END_RESP)
    end_response(payload, at);
  else
    violation(&payload, "phase " + text(phase) + " on the forward path, expected BEGIN_REQ or END_RESP");
}

void BaseProtocolRules::forward_return(tlm::tlm_generic_payload& payload, tlm::tlm_phase called,
                                       tlm::tlm_sync_enum sync, tlm::tlm_phase phase, const sc_core::sc_time& before,
                                       const sc_core::sc_time& delay) {
  if (sync == tlm::TLM_ACCEPTED) return;  // phase and delay mean nothing then
  const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
  if (called == tlm::END_RESP) {
    if (sync == tlm::TLM_UPDATED) violation(&payload, "TLM_UPDATED returned for END_RESP");
    return;
  }
  check_delay(payload, before, delay);
  if (sync == tlm::TLM_COMPLETED)
    complete(payload, at);
  else if (phase == tlm::END_REQ)
    end_request(payload, at);
  else if (phase == tlm::BEGIN_RESP)
    begin_response(payload, at);
  else
    violation(&payload, std::string(text(sync)) + " with phase " + text(phase) +
                            " on the forward path, expected END_REQ or BEGIN_RESP");
}

void BaseProtocolRules::backward_call(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase,
                                      const sc_core::sc_time& delay) {
  const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
  if (phase == tlm::END_REQ)
    end_request(payload, at);
  else if (phase == tlm::BEGIN_RESP)
    begin_response(payload, at);
  else
    violation(&payload, "phase " + text(phase) + " on the backward path, expected END_REQ or BEGIN_RESP");
}

void BaseProtocolRules::backward_return(tlm::tlm_generic_payload& payload, tlm::tlm_phase called,
                                        tlm::tlm_sync_enum sync, tlm::tlm_phase phase, const sc_core::sc_time& before,
                                        const sc_core::sc_time& delay) {
  if (sync == tlm::TLM_ACCEPTED) return;
  const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
  if (called != tlm::BEGIN_RESP) {
    violation(&payload, std::string(text(sync)) + " returned for " + text(called) + ", expected TLM_ACCEPTED");
    return;
  }
  check_delay(payload, before, delay);
  if (sync == tlm::TLM_COMPLETED || phase == tlm::END_RESP)
    end_response(payload, at);
  else
    violation(&payload, "TLM_UPDATED with phase " + text(phase) + " on the backward path, expected END_RESP");
}

void BaseProtocolRules::finish() {
  if (!open_.empty()) {
    violation(nullptr, std::to_string(open_.size()) + " transactions were not finished");
  }
}

}  // namespace regatta::protocol
