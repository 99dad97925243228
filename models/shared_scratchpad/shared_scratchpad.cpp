// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/shared_scratchpad/shared_scratchpad.h>

#include <regatta/support/energy.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace regatta::models {

using protocol::CtaSlot;
using protocol::LaneMask;

SharedScratchpad::SharedScratchpad(const sc_core::sc_module_name& name, unsigned bytes)
    : sc_module(name), pairs("pairs"), boundary("boundary"), socket("socket"), bytes_(bytes) {
  socket.bind(*this);
}

void SharedScratchpad::end_of_elaboration() {
  pairs_ = pairs.operator->();
  boundary_ = boundary.operator->();
}

void SharedScratchpad::kernel_started(const protocol::KernelContext& context) {
  cta_bytes_ = context.launch->shared_bytes_per_cta;
  private_ = boundary_->private_bytes();
  const SharingPlan& plan = pairs_->plan();
  const std::uint64_t used = std::uint64_t{plan.ctas} * boundary_->cta_bytes() -
                             std::uint64_t{plan.pairs} * (boundary_->cta_bytes() - private_);
  if (used > bytes_.size()) {
    SC_REPORT_ERROR(
        "regatta/shared_scratchpad",
        (std::string(name()) + ": " + std::to_string(plan.ctas) + " CTAs, of which " + std::to_string(plan.pairs) +
         " pairs, take " + std::to_string(used) + " bytes; expected at most " + std::to_string(bytes_.size()))
            .c_str());
  }
}

std::uint32_t SharedScratchpad::place(CtaSlot cta, std::uint32_t offset) const {
  const unsigned whole = boundary_->cta_bytes();
  const std::optional<PairMember> member = pairs_->member(cta);
  if (!member) return cta.value() * whole + offset;
  const std::uint32_t first = pairs_->plan().unshared() * whole + member->pair * (whole + private_);
  return offset < private_ ? first + member->side * private_ + offset : first + private_ + offset;
}

void SharedScratchpad::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  const protocol::SharedAccess& access = protocol::shared_access(payload);
  auto* const words = reinterpret_cast<protocol::WarpValue*>(payload.get_data_ptr());
  const bool reads = payload.is_read();
  for (LaneMask m = access.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
    const std::uint64_t offset = access.offset(lane);
    if (offset > cta_bytes_ || cta_bytes_ - offset < access.bytes) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    for (unsigned done = 0; done < access.bytes; done += 4) {
      const auto at = static_cast<std::uint32_t>(offset) + done;
      const unsigned bytes = std::min(4u, access.bytes - done);
      std::uint32_t& word = words[done / 4].lane[lane];
      // The boundary is between words, and words of an access are in order: none lies on both sides, if it is aligned.
      std::uint8_t* const here = bytes_.data() + place(access.cta, at);
      if (reads) {
        word = 0;
        std::memcpy(&word, here, bytes);
      } else {
        std::memcpy(here, &word, bytes);
      }
      ++(reads ? words_read_ : words_written_);
      common_words_ += at >= private_ && pairs_->member(access.cta) ? 1 : 0;
    }
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

tlm::tlm_sync_enum SharedScratchpad::nb_transport_fw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) {
  SC_REPORT_ERROR("regatta/shared_scratchpad",
                  (std::string(name()) + ": nb_transport_fw(); expected b_transport(), which takes no time").c_str());
  return tlm::TLM_COMPLETED;
}

void SharedScratchpad::register_stats(support::StatGroup& g) {
  g.counter("words_read", words_read_, "words", "of up to 4 bytes that lanes read");
  g.counter("words_written", words_written_, "words", "of up to 4 bytes that lanes wrote");
  g.counter("common_words", common_words_, "words", "of these that lie in the common part of a pair");
}

void SharedScratchpad::register_energy(support::EnergyGroup& g) {
  g.costs_nothing("the energy of shared memory is the load-store unit's, with or without contents");
}

}  // namespace regatta::models
