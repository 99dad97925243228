// SPDX-License-Identifier: Apache-2.0
//
// What the sockets of this platform ask of the calls that come to them, checked by every target and every initiator
// when a call comes. The rules keep a foreign block from making ours read or write where it must not, or count what
// cannot be counted. They are those without which a block cannot work; BaseProtocolChecker looks at the rest of the
// base protocol.
#pragma once

#include <regatta/protocol/payload.h>
#include <regatta/protocol/shared_contents.h>

#include <cstdint>
#include <systemc>
#include <tlm>

namespace regatta::protocol {

/// The rules of all kinds of sockets. A request that breaks one ends the simulation (SC_REPORT_ERROR of type
/// "regatta/protocol"): "<socket> at <time>: <found>; expected <expected> (<command> at address <address>)".
class RequestRules {
 public:
  /// Ends the simulation: a call of blocking transport at a socket that has none.
  [[noreturn, gnu::noinline, gnu::cold]] void refuse_blocking(const tlm::tlm_generic_payload& payload) const;
  /// Ends the simulation: a call of non-blocking transport at a socket that has none.
  [[noreturn, gnu::noinline, gnu::cold]] void refuse_non_blocking(const tlm::tlm_generic_payload& payload) const;

 protected:
  /// `socket` and `writes`: of reads and of writes; the same if the target has one for both.
  RequestRules(const sc_core::sc_object& socket, const sc_core::sc_object& writes)
      : socket_(&socket), writes_(&writes) {}
  /// Ends the simulation. `found`, `expected`: "data length 64", "128, one line".
  [[noreturn, gnu::noinline, gnu::cold]] void refuse(const tlm::tlm_generic_payload& payload, const std::string& found,
                                                     const std::string& expected) const;
  [[noreturn, gnu::noinline, gnu::cold]] void wrong_time(const tlm::tlm_generic_payload& payload,
                                                         const sc_core::sc_time& delay) const;
  [[noreturn, gnu::noinline, gnu::cold]] void wrong_phase(const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase,
                                                          bool forward = true) const;
  /// What all kinds ask: a command, data of `bytes` bytes in one piece, and byte enables for each of them or none.
  /// `bytes` 0: any number but 0.
  static bool has_shape(const tlm::tlm_generic_payload& p, unsigned bytes) {
    const unsigned length = p.get_data_length();
    const bool command = p.get_command() == tlm::TLM_READ_COMMAND || p.get_command() == tlm::TLM_WRITE_COMMAND;
    const bool enables = p.get_byte_enable_ptr() == nullptr || p.get_byte_enable_length() == length;
    return command & (bytes != 0 ? length == bytes : length != 0) & (p.get_streaming_width() >= length) & enables;
  }
  /// Ends the simulation with what has_shape() found, if it is one of these.
  void explain_shape(const tlm::tlm_generic_payload& payload, unsigned bytes, const char* unit) const;
  /// Whether a call comes in a whole cycle, and takes effect in one. `Clock`: CycleClock or ClockDomain.
  template <class Clock>
  void check_time(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay, const Clock& clock) const {
    if (__builtin_expect(!clock.whole(delay), 0)) wrong_time(payload, delay);
  }

 private:
  const sc_core::sc_object* socket_;
  const sc_core::sc_object* writes_;
};

/// Of an initiator socket (or a pair): what may come on the backward path.
class AnswerRules : public RequestRules {
 public:
  explicit AnswerRules(const sc_core::sc_object& socket) : RequestRules(socket, socket) {}
  AnswerRules(const sc_core::sc_object& reads, const sc_core::sc_object& writes) : RequestRules(reads, writes) {}
  /// A call of nb_transport_bw: true for BEGIN_RESP, false for END_REQ.
  template <class Clock>
  bool answers(const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase, const sc_core::sc_time& delay,
               const Clock& clock) const {
    check_time(payload, delay, clock);
    if (phase == tlm::END_REQ) return false;
    if (__builtin_expect(phase != tlm::BEGIN_RESP || payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE,
                         0)) {
      explain(payload, phase);
    }
    return true;
  }

 private:
  [[noreturn, gnu::noinline, gnu::cold]] void explain(const tlm::tlm_generic_payload& payload,
                                                      tlm::tlm_phase phase) const;
};

/// Of a memory socket: the payload has a MemoryAccess and, because targets keep it, a memory manager. It is for one
/// line, whose first byte it addresses; lines of registers have contents. No byte enables: the extension has sectors.
class MemoryRequestRules : public RequestRules {
 public:
  /// `line_bytes` 0: of any length, for a target that only passes on.
  MemoryRequestRules(const sc_core::sc_object& socket, unsigned line_bytes)
      : RequestRules(socket, socket), line_bytes_(line_bytes) {}

  /// A call of nb_transport_fw. The extension of a request; null for END_RESP.
  template <class Clock>
  MemoryAccess* begin(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase, const sc_core::sc_time& delay,
                      const Clock& clock) const {
    check_time(payload, delay, clock);
    if (phase == tlm::END_RESP) return nullptr;
    auto* const access = static_cast<MemoryAccess*>(payload.get_extension(MemoryAccess::ID));
    if (__builtin_expect(phase != tlm::BEGIN_REQ || access == nullptr || !fits(payload, *access), 0)) {
      explain(payload, phase, access);
    }
    return access;
  }

 private:
  bool fits(const tlm::tlm_generic_payload& p, const MemoryAccess& a) const {
    const bool start = line_bytes_ == 0 || (p.get_address() & (line_bytes_ - 1)) == 0;
    return has_shape(p, line_bytes_) && p.has_mm() && start && p.get_byte_enable_ptr() == nullptr && agrees(p, a) &&
           (p.get_data_ptr() != nullptr || !carries_data(a.access));
  }
  /// Whether command and class say the same.
  static bool agrees(const tlm::tlm_generic_payload& p, const MemoryAccess& a) {
    constexpr auto bit = [](AccessClass c) { return 1u << static_cast<unsigned>(c); };
    constexpr unsigned writes =
        bit(AccessClass::data_store) | bit(AccessClass::local_store) | bit(AccessClass::register_write);
    constexpr unsigned either = bit(AccessClass::atomic) | bit(AccessClass::register_invalidate);
    const unsigned c = bit(a.access);
    return (c & (either | (p.is_write() ? writes : ~writes))) != 0;
  }
  [[noreturn, gnu::noinline, gnu::cold]] void explain(const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase,
                                                      const MemoryAccess* access) const;

  unsigned line_bytes_;
};

/// Of an operand socket: the payload has a WarpAccess, and its data are one warp register.
class OperandRequestRules : public RequestRules {
 public:
  OperandRequestRules(const sc_core::sc_object& reads, const sc_core::sc_object& writes)
      : RequestRules(reads, writes) {}
  /// From now on registers have so many lanes.
  void set_lanes(unsigned lanes) { bytes_ = lanes * trace::bytes_per_lane; }

  /// A call of nb_transport_fw. The extension of a request; null for END_RESP.
  template <class Clock>
  WarpAccess* begin(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase, const sc_core::sc_time& delay,
                    const Clock& clock) const {
    check_time(payload, delay, clock);
    if (phase == tlm::END_RESP) return nullptr;
    auto* const access = static_cast<WarpAccess*>(payload.get_extension(WarpAccess::ID));
    if (__builtin_expect(phase != tlm::BEGIN_REQ || access == nullptr || !fits(payload), 0)) {
      explain(payload, phase, access);
    }
    return access;
  }
  /// A call of b_transport or transport_dbg.
  WarpAccess& whole(tlm::tlm_generic_payload& payload) const {
    auto* const access = static_cast<WarpAccess*>(payload.get_extension(WarpAccess::ID));
    if (access == nullptr || !fits(payload)) explain(payload, tlm::BEGIN_REQ, access);
    return *access;
  }

 private:
  bool fits(const tlm::tlm_generic_payload& p) const { return has_shape(p, bytes_) && p.get_data_ptr() != nullptr; }
  [[noreturn, gnu::noinline, gnu::cold]] void explain(const tlm::tlm_generic_payload& payload, tlm::tlm_phase phase,
                                                      const WarpAccess* access) const;

  unsigned bytes_ = 32 * trace::bytes_per_lane;
};

/// Of the socket of shared memory's contents: the payload has a SharedAccess with addresses, and its data are as many
/// warp registers as the access has words.
class SharedRequestRules : public RequestRules {
 public:
  explicit SharedRequestRules(const sc_core::sc_object& socket) : RequestRules(socket, socket) {}

  /// A call of b_transport.
  SharedAccess& whole(tlm::tlm_generic_payload& payload) const {
    auto* const access = static_cast<SharedAccess*>(payload.get_extension(SharedAccess::ID));
    if (__builtin_expect(access == nullptr || !fits(payload, *access), 0)) explain(payload, access);
    return *access;
  }

 private:
  static unsigned bytes_of(const SharedAccess& a) { return static_cast<unsigned>(a.words() * sizeof(WarpValue)); }
  static bool fits(const tlm::tlm_generic_payload& p, const SharedAccess& a) {
    return a.bytes != 0 && a.words() <= trace::max_stored_words && a.addresses != nullptr &&
           p.get_data_ptr() != nullptr && p.get_byte_enable_ptr() == nullptr && has_shape(p, bytes_of(a));
  }
  [[noreturn, gnu::noinline, gnu::cold]] void explain(const tlm::tlm_generic_payload& payload,
                                                      const SharedAccess* access) const;
};

}  // namespace regatta::protocol
