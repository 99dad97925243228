// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/wir/reuse_buffer.h>

#include <unordered_set>
#include <vector>

namespace regatta::models::wir {

/// For checkers: the loads whose results the CTAs that are resident have entered in the reuse buffer. A load whose tag
/// names a CTA slot must not get a result of the slot's earlier CTA, even if that result is right by chance.
class EnteredLoads : public protocol::LifecycleListener {
 public:
  void enter(const ReuseUpdate& u) {
    if (u.tag.block == 0 || u.result[0] == no_register) return;
    if (slots_.size() < u.tag.block) slots_.resize(u.tag.block);
    slots_[u.tag.block - 1u].insert(u.tag);
  }
  /// Whether a resident CTA has entered the result; true for a tag that names no CTA.
  bool has(const ReuseTag& tag) const {
    return tag.block == 0 || (tag.block <= slots_.size() && slots_[tag.block - 1u].count(tag) != 0);
  }
  void cta_finished(const protocol::CtaInfo& cta) override {
    if (cta.cta.value() < slots_.size()) slots_[cta.cta.value()].clear();
  }

 private:
  struct Fold {
    std::size_t operator()(const ReuseTag& tag) const { return tag.fold(); }
  };
  std::vector<std::unordered_set<ReuseTag, Fold>> slots_;
};

}  // namespace regatta::models::wir
