// SPDX-License-Identifier: Apache-2.0
//
// Calls that no target socket of the platform takes, and what the error says (protocol/request_rules.h). Every test of
// a target sends all of them through its sockets.
#pragma once

#include <regatta/protocol/request_rules.h>
#include <regatta/test/catch.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <functional>
#include <string>
#include <vector>

namespace regatta::test {

/// An initiator of somebody else's, that calls outside of the platform's clock and ignores what comes back.
template <unsigned width>
struct StrangerInitiator : sc_core::sc_module {
  explicit StrangerInitiator(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_nb_transport_bw(this, &StrangerInitiator::ignore);
  }
  tlm::tlm_sync_enum ignore(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) {
    return tlm::TLM_COMPLETED;
  }
  tlm_utils::simple_initiator_socket<StrangerInitiator, width> socket;
};

/// A target of somebody else's, that takes requests and calls back when a test says so.
template <unsigned width>
struct StrangerTarget : sc_core::sc_module {
  explicit StrangerTarget(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_nb_transport_fw(this, &StrangerTarget::take);
  }
  tlm::tlm_sync_enum take(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  tlm_utils::simple_target_socket<StrangerTarget, width> socket;
};

/// The message of the error that `call` ends in; "" if it returns.
inline std::string protocol_error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const sc_core::sc_report& r) {
    CHECK(r.get_severity() == sc_core::SC_ERROR);
    CHECK(std::string(r.get_msg_type()) == "regatta/protocol");
    return r.get_msg();
  }
  return "";
}

/// What is wrong with a request, made by `spoil`, and what the error says of it.
struct BadRequest {
  std::function<void(tlm::tlm_generic_payload&)> spoil;
  std::string found;
};

inline std::vector<BadRequest> badly_shaped(unsigned bytes, const std::string& unit) {
  using Payload = tlm::tlm_generic_payload;
  const std::string n = std::to_string(bytes), half = std::to_string(bytes / 2), more = std::to_string(2 * bytes);
  return {
      {[](Payload& p) { p.set_command(tlm::TLM_IGNORE_COMMAND); },
       "command TLM_IGNORE_COMMAND; expected TLM_READ_COMMAND or TLM_WRITE_COMMAND (ignore at address "},
      {[=](Payload& p) { p.set_data_length(bytes / 2); },
       "data length " + half + "; expected " + n + ", the bytes of " + unit + " ("},
      {[=](Payload& p) { p.set_data_length(2 * bytes); },
       "data length " + more + "; expected " + n + ", the bytes of " + unit + " ("},
      {[](Payload& p) { p.set_data_length(0); }, "data length 0; expected " + n},
      {[](Payload& p) { p.set_streaming_width(0); },
       "streaming width 0; expected the data length " + n + " or more: data in one piece ("},
      {[=](Payload& p) { p.set_streaming_width(bytes / 2); }, "streaming width " + half + "; expected the data length"},
      {[](Payload& p) {
         p.set_byte_enable_ptr(p.get_data_ptr());
         p.set_byte_enable_length(4);
       },
       "byte enables of length 4; expected " + n + ", one for each byte of the data ("},
  };
}

/// One call at a socket, which must end in an error that begins with `target` and `found`.
inline void refuses(const std::string& target, const std::string& found, const std::function<void()>& call) {
  const std::string message = protocol_error_of(call);
  INFO("found: " << found << "\nmessage: " << message);
  CHECK(message.rfind(target + " at ", 0) == 0);
  CHECK(message.find(": " + found) != std::string::npos);
}

template <class Socket>
void begin(Socket& socket, tlm::tlm_generic_payload& payload, tlm::tlm_phase phase = tlm::BEGIN_REQ,
           sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
  socket->nb_transport_fw(payload, phase, delay);
}

/// Phases, and times that are no whole cycles of `period`. Time goes on by a fraction of a cycle.
template <class Socket>
void refuses_phases_and_times(Socket& socket, const std::string& target, tlm::tlm_generic_payload& payload) {
  refuses(target, "phase END_REQ on the forward path; expected BEGIN_REQ or END_RESP (",
          [&] { begin(socket, payload, tlm::END_REQ); });
  refuses(target, "phase BEGIN_RESP on the forward path;", [&] { begin(socket, payload, tlm::BEGIN_RESP); });
  const sc_core::sc_time fraction(300, sc_core::SC_PS);
  const std::string expected = "; expected one in a whole cycle of the clock, with a delay of whole cycles (";
  refuses(target, "a call with a delay of 300 ps" + expected,
          [&] { begin(socket, payload, tlm::BEGIN_REQ, fraction); });
  refuses(target, "a call with a delay of 300 ps" + expected, [&] { begin(socket, payload, tlm::END_RESP, fraction); });
}

/// An initiator socket called `initiator`, which `target` calls back.
template <class Socket>
void refuses_bad_answers(Socket& target, const std::string& initiator) {
  protocol::MemoryPayloadPool pool(128);
  tlm::tlm_generic_payload* const p = pool.take(tlm::TLM_READ_COMMAND, 0x1000);
  const auto answer = [&](tlm::tlm_phase phase, sc_core::sc_time delay) {
    return [&target, p, phase, delay]() mutable { target->nb_transport_bw(*p, phase, delay); };
  };
  const sc_core::sc_time none, fraction(300, sc_core::SC_PS);
  refuses(initiator, "phase BEGIN_REQ on the backward path; expected END_REQ or BEGIN_RESP (",
          answer(tlm::BEGIN_REQ, none));
  refuses(initiator, "phase END_RESP on the backward path;", answer(tlm::END_RESP, none));
  refuses(initiator, "an answer without a response status; expected TLM_OK_RESPONSE or an error (",
          answer(tlm::BEGIN_RESP, none));
  p->set_response_status(tlm::TLM_OK_RESPONSE);
  refuses(initiator, "a call with a delay of 300 ps; expected one in a whole cycle", answer(tlm::BEGIN_RESP, fraction));
  refuses(initiator, "a call with a delay of 300 ps; expected one in a whole cycle", answer(tlm::END_REQ, fraction));
  p->release();
}

/// A memory target of lines of `line` bytes (0: of any), whose socket is called `target`.
template <class Socket>
void refuses_bad_memory_requests(Socket& socket, const std::string& target, unsigned line,
                                 protocol::AccessClass read = protocol::AccessClass::data_load) {
  using protocol::AccessClass;
  using Payload = tlm::tlm_generic_payload;
  const bool registers = read == AccessClass::register_read;
  const AccessClass write = registers ? AccessClass::register_write : AccessClass::data_store;
  protocol::MemoryPayloadPool pool(line == 0 ? 128 : line);
  std::vector<BadRequest> all;
  if (line != 0) {
    all = badly_shaped(line, "a line");
    all.push_back({[](Payload& p) { p.set_address(0x1004); }, "an address within a line; expected that of the first"});
    all.push_back({[=](Payload& p) {
                     p.set_byte_enable_ptr(p.get_data_ptr());
                     p.set_byte_enable_length(line);
                   },
                   "byte enables; expected none"});
  }
  all.push_back({[=](Payload& p) { protocol::memory_access(p).access = write; },
                 std::string("a read of class ") + to_string(write) + "; expected a write ("});
  all.push_back({[](Payload& p) { p.set_command(tlm::TLM_WRITE_COMMAND); },
                 std::string("a write of class ") + to_string(read) + "; expected a read ("});
  all.push_back({[](Payload& p) {
                   protocol::memory_access(p).access = AccessClass::register_read;
                   p.set_data_ptr(nullptr);
                 },
                 "a null data pointer; expected the contents of the line, for class register_read ("});
  for (const BadRequest& bad : all) {
    Payload* const p = pool.take(tlm::TLM_READ_COMMAND, 0x1000);
    protocol::memory_access(*p).access = read;
    unsigned char* const data = p->get_data_ptr();
    bad.spoil(*p);
    refuses(target, bad.found, [&] { begin(socket, *p); });
    p->set_data_ptr(data);
    p->release();
  }
  CHECK(pool.outstanding() == 0);

  std::vector<unsigned char> data(256);
  const auto plain = [&](Payload& p) {
    p.set_command(tlm::TLM_READ_COMMAND);
    p.set_address(0x1000);
    p.set_data_ptr(data.data());
    p.set_data_length(line == 0 ? 128 : line);
    p.set_streaming_width(line == 0 ? 128 : line);
  };
  Payload bare;
  plain(bare);
  refuses(target, "a payload without its MemoryAccess extension; expected one (", [&] { begin(socket, bare); });
  Payload unmanaged;
  plain(unmanaged);
  protocol::MemoryAccess access;
  access.access = read;
  unmanaged.set_extension(&access);
  refuses(target, "a payload without a memory manager; expected one, such as MemoryPayloadPool",
          [&] { begin(socket, unmanaged); });
  unmanaged.clear_extension(&access);

  Payload* const p = pool.take(tlm::TLM_READ_COMMAND, 0x1000);
  protocol::memory_access(*p).access = read;
  refuses(target, "b_transport(); expected nb_transport_fw(): the target is approximately timed (", [&] {
    sc_core::sc_time delay;
    socket->b_transport(*p, delay);
  });
  CHECK(socket->transport_dbg(*p) == 0);
  tlm::tlm_dmi dmi;
  CHECK_FALSE(socket->get_direct_mem_ptr(*p, dmi));
  refuses_phases_and_times(socket, target, *p);
  p->release();
}

/// An operand target of `lanes` lanes. `reads` and `writes` are the names of its sockets, of which the initiator has
/// one.
template <class Socket>
void refuses_bad_operand_requests(Socket& socket, const std::string& reads, const std::string& writes, unsigned lanes,
                                  bool blocking) {
  using Payload = tlm::tlm_generic_payload;
  std::vector<BadRequest> all = badly_shaped(lanes * trace::bytes_per_lane, "a warp register");
  all.push_back({[](Payload& p) { p.set_data_ptr(nullptr); }, "a null data pointer; expected the value of a warp "});
  protocol::OperandPayload operand;
  trace::WarpValue value{};
  const auto prepare = [&](tlm::tlm_command command) -> Payload& {
    // Another shape first, so that all of the payload is set again.
    operand.prepare(command, protocol::WarpSlot(0), protocol::RegisterId(0), 1, lanes, value);
    operand.prepare(command, protocol::WarpSlot(0), protocol::RegisterId(0), trace::all_lanes(lanes), lanes, value);
    return operand.payload();
  };
  for (const BadRequest& bad : all) {
    for (const tlm::tlm_command command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
      Payload& p = prepare(command);
      bad.spoil(p);
      const std::string target = p.is_write()                     ? writes
                                 : p.is_read() || reads == writes ? reads
                                                                  : reads + " or " + writes;
      refuses(target, bad.found, [&] { begin(socket, p); });
      if (!blocking) continue;
      refuses(target, bad.found, [&] {
        sc_core::sc_time delay;
        socket->b_transport(p, delay);
      });
    }
  }
  Payload bare;
  bare.set_command(tlm::TLM_READ_COMMAND);
  refuses(reads, "a payload without its WarpAccess extension; expected one (", [&] { begin(socket, bare); });
  Payload& p = prepare(tlm::TLM_READ_COMMAND);
  if (!blocking) {
    refuses(reads, "b_transport(); expected nb_transport_fw()", [&] {
      sc_core::sc_time delay;
      socket->b_transport(p, delay);
    });
  }
  tlm::tlm_dmi dmi;
  CHECK_FALSE(socket->get_direct_mem_ptr(p, dmi));
  refuses_phases_and_times(socket, reads, p);
}

}  // namespace regatta::test
