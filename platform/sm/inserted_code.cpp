// SPDX-License-Identifier: Apache-2.0
//
// Where the inserted instructions of a launch lie in the code.
#include <regatta/sm/decode.h>

#include "contract.h"
#include "front_end.h"

#include <algorithm>
#include <utility>

namespace regatta::sm {

bool FrontEnd::in_stream(const trace::InsertedInstruction& inserted, const std::string& decoded) const {
  const std::string& scheme = inserted.instruction.scheme;
  if (inserted.disposition == trace::Disposition::decode) return decode_point_ != nullptr && scheme == decoded;
  return std::find(schemes_.begin(), schemes_.end(), scheme) != schemes_.end();
}

void FrontEnd::find_inserted(const trace::Kernel& kernel) {
  std::string decoded;
  in_code_ = insertion_cache_ == nullptr || insertion_cache_->in_code();
  if (decode_point_ != nullptr) {
    decoded = decode_point_->scheme();
    if (decoded.empty()) {
      broken_contract(core_, "decode_point", support::block_name(*decode_point_), "scheme() answers an empty text",
                      "the name of the scheme whose instructions it takes");
    }
  }
  inserted_.clear();
  places_.assign(kernel.instructions.size(), Place{});
  std::uint32_t position = 0;
  std::vector<std::uint32_t> edges;   // indices into inserted_
  std::vector<Inserted> behind_code;  // of edges to a branch's target
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < places_.size(); ++i) {
    const std::size_t first = next;
    while (next < kernel.inserted.size() && kernel.inserted[next].before == i) ++next;
    for (const bool on_edge : {true, false}) {
      if (!on_edge) {
        places_[i].first = static_cast<std::uint32_t>(inserted_.size());
      }
      for (std::size_t n = first; n < next; ++n) {
        const trace::InsertedInstruction& inserted = kernel.inserted[n];
        if ((inserted.after >= 0) != on_edge || !in_stream(inserted, decoded)) continue;
        Inserted entry{static_cast<std::uint32_t>(n), position, inserted.disposition == trace::Disposition::issue,
                       on_edge};
        if (on_edge && inserted.after + 1 != static_cast<std::int64_t>(i)) {
          behind_code.push_back(entry);
          continue;
        }
        if (on_edge) edges.push_back(static_cast<std::uint32_t>(inserted_.size()));
        inserted_.push_back(entry);
        if (entry.issues || in_code_) ++position;
      }
    }
    places_[i].position = position;
    places_[i].insertions = static_cast<std::uint32_t>(inserted_.size()) - places_[i].first;
    ++position;
  }
  for (Inserted& entry : behind_code) {
    entry.position = position;
    if (entry.issues || in_code_) ++position;
    edges.push_back(static_cast<std::uint32_t>(inserted_.size()));
    inserted_.push_back(entry);
  }
  find_edges(kernel, std::move(edges));
  inserted_traits_.clear();
  issues_inserted_ = std::any_of(inserted_.begin(), inserted_.end(), [](const Inserted& i) { return i.issues; });
  for (std::size_t i = 0; issues_inserted_ && i < inserted_.size(); ++i) {
    const trace::InsertedInstruction& inserted = kernel.inserted[inserted_[i].index];
    inserted_traits_.push_back(traits_of(inserted.instruction, inserted.before, core_.config));
  }
  with_inserted_ = decode_point_ != nullptr || !inserted_.empty();
}

/// Sorts `edges`, indices into inserted_, by the instruction that they leave.
void FrontEnd::find_edges(const trace::Kernel& kernel, std::vector<std::uint32_t> edges) {
  on_edges_ = std::move(edges);
  edges_.clear();
  if (on_edges_.empty()) return;
  const auto after = [&](std::uint32_t e) {
    return static_cast<std::uint32_t>(kernel.inserted[inserted_[e].index].after);
  };
  std::stable_sort(on_edges_.begin(), on_edges_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return after(a) < after(b); });
  edges_.resize(kernel.instructions.size());
  for (std::size_t i = 0; i < on_edges_.size(); ++i) {
    Edges& e = edges_[after(on_edges_[i])];
    if (e.count++ == 0) e.first = static_cast<std::uint32_t>(i);
  }
}

}  // namespace regatta::sm
