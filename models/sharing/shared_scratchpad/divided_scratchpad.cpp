// SPDX-License-Identifier: Apache-2.0
#include <regatta/sharing/divided_scratchpad.h>

#include <regatta/support/energy.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace regatta::models {

using protocol::CtaSlot;
using protocol::LaneMask;

DividedScratchpad::DividedScratchpad(const sc_core::sc_module_name& name, unsigned bytes)
    : sc_module(name), boundary("boundary"), socket("socket"), rules_(socket), bytes_(bytes) {
  socket.bind(*this);
}

void DividedScratchpad::complain(const std::string& what) const {
  SC_REPORT_ERROR("regatta/shared_scratchpad", (std::string(name()) + ": " + what).c_str());
}

void DividedScratchpad::kernel_started(const protocol::KernelContext& context) {
  cta_bytes_ = context.launch->shared_bytes_per_cta;
  private_ = boundary_->private_bytes();
  if (const std::uint64_t used = used_bytes(); used > bytes_.size()) {
    complain(ctas_text() + ", take " + std::to_string(used) + " bytes; expected at most " +
             std::to_string(bytes_.size()));
  }
}

void DividedScratchpad::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  const protocol::SharedAccess& access = rules_.whole(payload);
  auto* const words = reinterpret_cast<protocol::WarpValue*>(payload.get_data_ptr());
  const bool reads = payload.is_read();
  const Parts parts = parts_of(access.cta);
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
      const std::size_t place = parts.place(at);
      if (place > bytes_.size() || bytes_.size() - place < bytes) {  // of a CTA that is not resident
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
      }
      std::uint8_t* const here = bytes_.data() + place;
      if (reads) {
        word = 0;
        std::memcpy(&word, here, bytes);
      } else {
        std::memcpy(here, &word, bytes);
      }
      ++(reads ? words_read_ : words_written_);
      common_words_ += at >= parts.split && parts.takes_turns ? 1 : 0;
    }
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

tlm::tlm_sync_enum DividedScratchpad::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                                      sc_core::sc_time&) {
  rules_.refuse_non_blocking(payload);
}

void DividedScratchpad::register_stats(support::StatGroup& g) {
  g.counter("words_read", words_read_, "words", "of up to 4 bytes that lanes read");
  g.counter("words_written", words_written_, "words", "of up to 4 bytes that lanes wrote");
  g.counter("common_words", common_words_, "words", "of these that lie in a common part");
}

void DividedScratchpad::register_energy(support::EnergyGroup& g) {
  g.costs_nothing("the energy of shared memory is the load-store unit's, with or without contents");
}

}  // namespace regatta::models
