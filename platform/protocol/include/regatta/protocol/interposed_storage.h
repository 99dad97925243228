// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/forwarding.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <memory>
#include <systemc>
#include <tlm>
#include <utility>

namespace regatta::protocol {

/// A storage in front of another one: every access passes through it, unchanged unless a derived class overrides the
/// call. It serves the wrapped storage as the SM would, over two sockets.
class InterposedStorage : public sc_core::sc_module, public ForwardingStorage {
 public:
  InterposedStorage(const sc_core::sc_module_name& name, std::unique_ptr<OperandStorage> storage)
      : sc_module(name), ForwardingStorage(std::move(storage)) {
    connect();
  }
  /// Makes the storage from `arguments`, as a module inside this one.
  template <class Storage, class... Arguments>
  InterposedStorage(const sc_core::sc_module_name& name, std::in_place_type_t<Storage>, Arguments&&... arguments)
      : sc_module(name), ForwardingStorage(std::make_unique<Storage>(std::forward<Arguments>(arguments)...)) {
    connect();
  }
  OperandTargetSocket& read_socket() override { return reads_; }
  OperandTargetSocket& write_socket() override { return writes_; }

 protected:
  using Payload = tlm::tlm_generic_payload;
  /// nb_transport_fw: BEGIN_REQ of an access, or END_RESP.
  virtual tlm::tlm_sync_enum read(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    return inside_reads_->nb_transport_fw(payload, phase, delay);
  }
  virtual tlm::tlm_sync_enum write(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    return inside_writes_->nb_transport_fw(payload, phase, delay);
  }
  /// nb_transport_bw: END_REQ, or BEGIN_RESP of an access that did not complete in its call.
  virtual tlm::tlm_sync_enum read_answered(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    return reads_->nb_transport_bw(payload, phase, delay);
  }
  virtual tlm::tlm_sync_enum write_answered(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    return writes_->nb_transport_bw(payload, phase, delay);
  }

 private:
  void connect() {
    reads_.register_nb_transport_fw(this, &InterposedStorage::read);
    writes_.register_nb_transport_fw(this, &InterposedStorage::write);
    inside_reads_.register_nb_transport_bw(this, &InterposedStorage::read_answered);
    inside_writes_.register_nb_transport_bw(this, &InterposedStorage::write_answered);
    inside_reads_.bind(inside().read_socket());
    inside_writes_.bind(inside().write_socket());
  }

  tlm_utils::simple_target_socket<InterposedStorage, 1024> reads_{"reads"}, writes_{"writes"};
  tlm_utils::simple_initiator_socket<InterposedStorage, 1024> inside_reads_{"inside_reads"},
      inside_writes_{"inside_writes"};
};

}  // namespace regatta::protocol
