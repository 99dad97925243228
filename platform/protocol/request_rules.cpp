// SPDX-License-Identifier: Apache-2.0
#include <regatta/protocol/request_rules.h>

#include <sstream>
#include <stdexcept>
#include <string>

namespace regatta::protocol {
namespace {

const char* text(tlm::tlm_command command) {
  switch (command) {
    case tlm::TLM_READ_COMMAND:
      return "read";
    case tlm::TLM_WRITE_COMMAND:
      return "write";
    default:
      return "ignore";
  }
}

std::string hex(std::uint64_t value) {
  std::ostringstream s;
  s << "0x" << std::hex << value;
  return s.str();
}

}  // namespace

void RequestRules::refuse(const tlm::tlm_generic_payload& payload, const std::string& found,
                          const std::string& expected) const {
  std::string socket = payload.is_write() ? writes_->name() : socket_->name();
  if (socket_ != writes_ && !payload.is_read() && !payload.is_write()) {
    socket = std::string(socket_->name()) + " or " + writes_->name();
  }
  const std::string what = socket + " at " + sc_core::sc_time_stamp().to_string() + ": " + found + "; expected " +
                           expected + " (" + text(payload.get_command()) + " at address " + hex(payload.get_address()) +
                           ")";
  SC_REPORT_ERROR("regatta/protocol", what.c_str());
  throw std::logic_error(what);  // for report handlers that let an error pass
}

void RequestRules::refuse_blocking(const tlm::tlm_generic_payload& payload) const {
  refuse(payload, "b_transport()", "nb_transport_fw(): the target is approximately timed");
}

void RequestRules::refuse_non_blocking(const tlm::tlm_generic_payload& payload) const {
  refuse(payload, "nb_transport_fw()", "b_transport(), which takes no time");
}

void RequestRules::wrong_time(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) const {
  refuse(payload, "a call with a delay of " + delay.to_string(),
         "one in a whole cycle of the clock, with a delay of whole cycles");
}

void RequestRules::wrong_phase(const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase, bool forward) const {
  std::ostringstream name;
  name << phase;
  refuse(payload, "phase " + name.str() + " on the " + (forward ? "forward" : "backward") + " path",
         forward ? "BEGIN_REQ or END_RESP" : "END_REQ or BEGIN_RESP");
}

void AnswerRules::explain(const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase) const {
  if (phase != tlm::BEGIN_RESP) wrong_phase(payload, phase, false);
  refuse(payload, "an answer without a response status", "TLM_OK_RESPONSE or an error");
}

void RequestRules::explain_shape(const tlm::tlm_generic_payload& p, unsigned bytes, const char* unit) const {
  const unsigned length = p.get_data_length();
  if (!p.is_read() && !p.is_write()) {
    refuse(p, "command TLM_IGNORE_COMMAND", "TLM_READ_COMMAND or TLM_WRITE_COMMAND");
  }
  if (bytes == 0 ? length == 0 : length != bytes) {
    refuse(p, "data length " + std::to_string(length),
           bytes == 0 ? "1 or more" : std::to_string(bytes) + ", the bytes of " + unit);
  }
  if (p.get_streaming_width() < length) {
    refuse(p, "streaming width " + std::to_string(p.get_streaming_width()),
           "the data length " + std::to_string(length) + " or more: data in one piece");
  }
  if (p.get_byte_enable_ptr() != nullptr && p.get_byte_enable_length() != length) {
    refuse(p, "byte enables of length " + std::to_string(p.get_byte_enable_length()),
           std::to_string(length) + ", one for each byte of the data");
  }
}

void MemoryRequestRules::explain(const tlm::tlm_generic_payload& p, tlm::tlm_phase phase,
                                 const MemoryAccess* access) const {
  if (phase != tlm::BEGIN_REQ) wrong_phase(p, phase);
  if (access == nullptr) refuse(p, "a payload without its MemoryAccess extension", "one");
  if (!p.has_mm()) {
    refuse(p, "a payload without a memory manager",
           "one, such as MemoryPayloadPool: the target keeps the payload until it has answered");
  }
  explain_shape(p, line_bytes_, "a line");
  if (p.get_byte_enable_ptr() != nullptr)
    refuse(p, "byte enables", "none: MemoryAccess::sectors says what is accessed");
  if (line_bytes_ != 0 && (p.get_address() & (line_bytes_ - 1)) != 0) {
    refuse(p, "an address within a line", "that of the first of the line's " + std::to_string(line_bytes_) + " bytes");
  }
  const std::string access_class = to_string(access->access);
  if (!agrees(p, *access)) {
    refuse(p, std::string("a ") + text(p.get_command()) + " of class " + access_class,
           p.is_write() ? "a read" : "a write");
  }
  refuse(p, "a null data pointer", "the contents of the line, for class " + access_class);
}

void OperandRequestRules::explain(const tlm::tlm_generic_payload& p, tlm::tlm_phase phase,
                                  const WarpAccess* access) const {
  if (phase != tlm::BEGIN_REQ) wrong_phase(p, phase);
  if (access == nullptr) refuse(p, "a payload without its WarpAccess extension", "one");
  explain_shape(p, bytes_, "a warp register");
  refuse(p, "a null data pointer", "the value of a warp register");
}

void SharedRequestRules::explain(const tlm::tlm_generic_payload& p, const SharedAccess* access) const {
  if (access == nullptr) refuse(p, "a payload without its SharedAccess extension", "one");
  if (access->bytes == 0 || access->words() > trace::max_stored_words) {
    refuse(p, "an access of " + std::to_string(access->bytes) + " bytes in a lane",
           "1 to " + std::to_string(trace::max_stored_words * 4));
  }
  if (access->addresses == nullptr) refuse(p, "an access without addresses", "one for each lane");
  explain_shape(p, bytes_of(*access), "the values of the access");
  if (p.get_byte_enable_ptr() != nullptr) refuse(p, "byte enables", "none: SharedAccess::lanes says what is accessed");
  refuse(p, "a null data pointer", "the values of the access");
}

}  // namespace regatta::protocol
