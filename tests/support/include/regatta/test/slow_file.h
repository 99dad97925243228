// SPDX-License-Identifier: Apache-2.0
//
// A register file that takes its time: some accesses are served at once, some later.
#pragma once

#include <regatta/baseline/window_mapping.h>
#include <regatta/protocol/payload.h>
#include <regatta/support/clock_domain.h>

#include <array>
#include <optional>
#include <random>
#include <vector>

#include <regatta/test/clock.h>
#include <regatta/test/cta_blocks.h>

namespace regatta::test::cta_blocks {

using Row = std::array<std::uint32_t, 32>;

/// Rows by the mapping, at the other end of the sockets of a block that moves registers.
class SlowFile : public sc_core::sc_module, tlm::tlm_fw_transport_if<> {
 public:
  protocol::OperandTargetSocket reads{"reads"}, writes{"writes"};
  models::WindowMapping mapping;
  std::vector<Row> rows;
  unsigned held = 0;  ///< of 100 accesses, those that wait up to `longest` cycles
  unsigned longest = 20;
  std::uint64_t accesses = 0;

  SlowFile(const sc_core::sc_module_name& name, unsigned seed)
      : sc_module(name),
        clock_(test::clock(period)),
        random_(seed),
        wakeup_(
            test::clock(period), [](void* f) { static_cast<SlowFile*>(f)->work(); }, this) {
    reads.bind(*this);
    writes.bind(*this);
  }
  Row& row(unsigned warp, unsigned reg) {
    const std::uint32_t at = mapping.row(warp_at(warp), protocol::RegisterId(static_cast<std::uint8_t>(reg)));
    REQUIRE(at != models::WindowMapping::no_row);
    return rows.at(at);
  }

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
    ++accesses;
    std::optional<Waiting>& waiting = payload.is_read() ? read_ : write_;
    REQUIRE_FALSE(waiting.has_value());  // one at a time each way
    if (random_() % 100 < held) {
      waiting = Waiting{&payload, clock_.now() + 1 + random_() % longest};
      wakeup_.request(waiting->due);
      return tlm::TLM_ACCEPTED;
    }
    transfer(payload);
    delay += clock_.time(1 + random_() % 3);
    return tlm::TLM_COMPLETED;
  }
  void transfer(tlm::tlm_generic_payload& payload) {
    const protocol::WarpAccess& access = protocol::warp_access(payload);
    CHECK(access.instruction == nullptr);
    Row& row_of = row(access.warp.value(), access.reg.value());
    auto* data = reinterpret_cast<std::uint32_t*>(payload.get_data_ptr());
    for (unsigned lane = 0; lane < 32; ++lane)
      payload.is_read() ? data[lane] = row_of[lane] : row_of[lane] = data[lane];
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  void work() {
    for (std::optional<Waiting>* waiting : {&read_, &write_}) {
      if (!*waiting) continue;
      if ((*waiting)->due > clock_.now()) {
        wakeup_.request((*waiting)->due);
        continue;
      }
      tlm::tlm_generic_payload& payload = *(*waiting)->payload;
      waiting->reset();
      transfer(payload);
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time delay = clock_.time(1);
      (payload.is_read() ? reads : writes)->nb_transport_bw(payload, phase, delay);
    }
  }
  void b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&) override {}
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }

  struct Waiting {
    tlm::tlm_generic_payload* payload = nullptr;
    std::uint64_t due = 0;
  };
  support::ClockDomain& clock_;
  std::mt19937 random_;
  std::optional<Waiting> read_, write_;
  support::CycleClient wakeup_;
};

}  // namespace regatta::test::cta_blocks
