// SPDX-License-Identifier: Apache-2.0
//
// An interposer that checks the TLM-2.0 base protocol (IEEE 1666-2011, clause 15) between two sockets.
#pragma once

#include <regatta/protocol/interposer.h>

#include <cstdint>
#include <functional>
#include <string>
#include <tlm>
#include <unordered_map>
#include <utility>

namespace regatta::protocol {

/// The rules, without sockets. Each violation is reported through SC_REPORT_ERROR (type "regatta/protocol") with the
/// checker's name, the target socket, the transaction and what was expected; checking continues when the report
/// returns.
///
///   phases          BEGIN_REQ, END_REQ, BEGIN_RESP, END_RESP of a transaction in order, each on its path; BEGIN_RESP
///                   may imply END_REQ, and TLM_COMPLETED all remaining phases
///   exclusion       no BEGIN_REQ before the previous END_REQ, no BEGIN_RESP before the previous END_RESP, including
///                   annotated delays
///   response        status incomplete at BEGIN_REQ and set at BEGIN_RESP or completion
///   attributes      command, address, data pointer and length, streaming width, byte enables and the bytes of a write
///                   do not change; the command is a read or a write; data pointer and length are set (a memory access
///                   without contents may have a null pointer)
///   memory manager  payloads with a MemoryAccess have one
///   WarpAccess      its lanes match the byte enables
///   time            the effective times of a transaction's phases do not decrease, nor does a delay during a call
class BaseProtocolRules {
 public:
  explicit BaseProtocolRules(std::string name) : name_(std::move(name)) {}
  /// For messages: the path of the target socket, asked for when there is something to say.
  void set_target(std::function<std::string()> target) { target_ = std::move(target); }

  void forward_call(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase, const sc_core::sc_time& delay);
  void forward_return(tlm::tlm_generic_payload& payload, tlm::tlm_phase called, tlm::tlm_sync_enum sync,
                      tlm::tlm_phase phase, const sc_core::sc_time& before, const sc_core::sc_time& delay);
  void backward_call(tlm::tlm_generic_payload& payload, tlm::tlm_phase phase, const sc_core::sc_time& delay);
  void backward_return(tlm::tlm_generic_payload& payload, tlm::tlm_phase called, tlm::tlm_sync_enum sync,
                       tlm::tlm_phase phase, const sc_core::sc_time& before, const sc_core::sc_time& delay);
  /// At the end of a run: reports unfinished transactions.
  void finish();

  std::uint64_t violations() const { return violations_; }
  std::uint64_t transactions() const { return transactions_; }
  std::size_t outstanding() const { return open_.size(); }

 private:
  enum class State : std::uint8_t { request, requested, response };
  struct Transaction {
    State state = State::request;
    sc_core::sc_time time;  ///< effective time of the last phase
    tlm::tlm_command command = tlm::TLM_IGNORE_COMMAND;
    std::uint64_t address = 0;
    const unsigned char* data = nullptr;
    unsigned length = 0, streaming_width = 0, enable_length = 0;
    const unsigned char* enables = nullptr;
    std::uint64_t write_digest = 0, enable_digest = 0;
  };

  void violation(const tlm::tlm_generic_payload* payload, const std::string& what);
  void begin_request(tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void end_request(tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void begin_response(tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void end_response(tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void complete(tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void check_new(tlm::tlm_generic_payload& payload);
  void check_same(tlm::tlm_generic_payload& payload, const Transaction& t);
  void check_delay(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& before,
                   const sc_core::sc_time& after);
  bool advance(tlm::tlm_generic_payload& payload, Transaction& t, const sc_core::sc_time& at);

  std::string name_;
  std::function<std::string()> target_;
  std::unordered_map<const tlm::tlm_generic_payload*, Transaction> open_;
  const tlm::tlm_generic_payload* requesting_ = nullptr;
  const tlm::tlm_generic_payload* responding_ = nullptr;
  sc_core::sc_time request_free_, response_free_;
  std::uint64_t violations_ = 0, transactions_ = 0;
};

/// The interposer that applies the rules.
template <unsigned BUSWIDTH>
class BaseProtocolChecker : public Interposer<BUSWIDTH> {
 public:
  explicit BaseProtocolChecker(const sc_core::sc_module_name& name)
      : Interposer<BUSWIDTH>(name), rules_(this->sc_module::name()) {
    rules_.set_target([this] { return this->target_socket(); });
  }
  /// Reports unfinished transactions. Call it when the traffic is over.
  void finish() { rules_.finish(); }
  const BaseProtocolRules& rules() const { return rules_; }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const tlm::tlm_phase called = phase;
    const sc_core::sc_time before = delay;
    rules_.forward_call(payload, phase, delay);
    const tlm::tlm_sync_enum sync = this->out->nb_transport_fw(payload, phase, delay);
    rules_.forward_return(payload, called, sync, phase, before, delay);
    return sync;
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const tlm::tlm_phase called = phase;
    const sc_core::sc_time before = delay;
    rules_.backward_call(payload, phase, delay);
    const tlm::tlm_sync_enum sync = this->in->nb_transport_bw(payload, phase, delay);
    rules_.backward_return(payload, called, sync, phase, before, delay);
    return sync;
  }

 private:
  BaseProtocolRules rules_;
};

}  // namespace regatta::protocol
