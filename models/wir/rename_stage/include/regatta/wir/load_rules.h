// SPDX-License-Identifier: Apache-2.0
//
// When a load may take another load's result (WIR section VI-A, corrected as README.md describes): store flags per
// warp, barrier counts per CTA.
#pragma once

#include <regatta/wir/static_code.h>

#include <cstdint>
#include <vector>

namespace regatta::models::wir {

class LoadRules {
 public:
  /// `barrier_bits`: width of a CTA's barrier count; when it is exhausted, the CTA's loads are no longer reused.
  explicit LoadRules(unsigned barrier_bits = 5) : most_((1u << barrier_bits) - 1) {}

  void warp_started(const protocol::WarpInfo& warp);
  /// A CTA begins: no barrier passed.
  void cta_started(protocol::CtaSlot cta) { at(barriers_, cta.value()) = 0; }

  /// In program order per warp, at rename: stores set the warp's flag for their space; a fence counts as a barrier of
  /// the CTA that clears nothing.
  void renamed(const protocol::DynamicInstruction& d, const StaticCode& code);
  /// The barrier at which the warp waited has opened in cycle `now`: clears the warp's flags. The CTA's count rises
  /// once per cycle in which barriers open, however many warps continue.
  void barrier_opened(const protocol::WarpInfo& warp, std::uint64_t now);

  /// Whether a load may look up and update the reuse buffer; if so, its CTA and barrier fields are set.
  bool tag_load(const protocol::DynamicInstruction& d, ReuseKind kind, ReuseTag& tag) const;

  unsigned barriers(protocol::CtaSlot cta) const { return cta.value() < barriers_.size() ? barriers_[cta.value()] : 0; }

 private:
  struct Flags {
    bool shared = false;
    bool global = false;
  };
  template <class T>
  static T& at(std::vector<T>& all, std::size_t i) {
    if (all.size() <= i) all.resize(i + 1);
    return all[i];
  }
  void count(protocol::CtaSlot cta) {
    unsigned& n = at(barriers_, cta.value());
    if (n < most_) ++n;
  }

  unsigned most_;
  std::vector<Flags> flags_;              ///< by warp slot
  std::vector<unsigned> barriers_;        ///< by CTA slot, most_ at most
  std::vector<std::uint64_t> opened_at_;  ///< by CTA slot: the last cycle in which a barrier opened, + 1
};

}  // namespace regatta::models::wir
