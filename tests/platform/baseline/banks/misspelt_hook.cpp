// SPDX-License-Identifier: Apache-2.0
//
// A banked file that supplies all that it must, with names that the test replaces by misspelt ones.
#include <regatta/baseline/banked_file.h>

#ifndef BANK
#define BANK bank
#endif
#ifndef DEBUG_TRANSFER
#define DEBUG_TRANSFER debug_transfer
#endif
#ifndef ANSWERS_LATE
#define ANSWERS_LATE answers_late
#endif

using namespace regatta;

namespace {

class File : public models::BankedFile<File> {
 public:
  using BankedFile::BankedFile;
  void register_energy(support::EnergyGroup&) override {}

 private:
  friend class BankedFile<File>;
  static constexpr bool ANSWERS_LATE = false;
  unsigned BANK(const tlm::tlm_generic_payload&, const protocol::WarpAccess& access) const {
    return bank_of(access.warp, access.reg);
  }
  std::size_t row(const tlm::tlm_generic_payload&, const protocol::WarpAccess&) const { return 0; }
  std::uint64_t transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess&, unsigned, std::uint64_t done) {
    copy_row(payload, cells_);
    return done;
  }
  void DEBUG_TRANSFER(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank) {
    transfer_now(payload, access, bank);
  }
  std::uint32_t cells_[64] = {};
};

}  // namespace

void make_file(const models::RegisterFileConfig& config, support::ClockDomain& clock) {
  const File file("file", config, clock);
}
