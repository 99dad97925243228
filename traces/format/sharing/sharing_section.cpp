// SPDX-License-Identifier: Apache-2.0
#include "sharing_section.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace regatta::trace {

namespace {

std::optional<SharingLayout> sharing_of(const Kernel& kernel) {
  const AnnotationSection* section = find_section(kernel, sharing_section, sharing_section_version);
  if (section == nullptr) return std::nullopt;
  return parse_sharing(kernel, section->payload);
}

bool is_relssp_scheme(const std::string& scheme) {
  return scheme == relssp_optimal_scheme || scheme == relssp_postdom_scheme;
}

/// Whether a thread has executed its relssp, along every path. An instruction may be reached both ways: threads that
/// never leave a loop need no relssp. Where an exit follows, one of the two ways ends in an error.
class ReleasePaths {
 public:
  ReleasePaths(const Kernel& kernel, const SharingLayout& layout, std::string scheme)
      : kernel_(kernel), layout_(layout), scheme_(std::move(scheme)) {
    for (std::vector<bool>& arrives : arrives_) arrives.resize(kernel.instructions.size());
  }

  void follow() {
    if (kernel_.instructions.empty()) return;
    arrive(0, false);
    while (!work_.empty()) {
      const auto [index, arrived_released] = work_.back();
      work_.pop_back();
      const bool released = pass(index, -1, arrived_released);
      const StaticInstruction& i = kernel_.instructions[index];
      const bool guarded = i.guard.predicate >= 0;
      if (released && layout_.common_accesses[index]) fail(index, "may access the common part after a relssp");
      if (!released && i.op_class == OpClass::exit && !guarded) fail(index, "ends a thread that executed no relssp");
      if (i.branch_target >= 0) leave(index, static_cast<std::uint32_t>(i.branch_target), released);
      const bool ends = i.op_class == OpClass::branch || i.op_class == OpClass::exit;
      if (guarded || !ends) leave(index, index + 1, released);
    }
  }

 private:
  [[noreturn]] void fail(std::uint32_t index, const std::string& what) const {
    throw std::invalid_argument("sharing: " + scheme_ + ": instruction " + std::to_string(index) + " " + what);
  }

  void leave(std::uint32_t from, std::uint32_t to, bool released) {
    if (to < kernel_.instructions.size()) arrive(to, pass(to, static_cast<std::int32_t>(from), released));
  }

  void arrive(std::uint32_t index, bool released) {
    std::vector<bool>& arrives = arrives_[released ? 1 : 0];
    if (!arrives[index]) work_.emplace_back(index, released);
    arrives[index] = true;
  }

  /// The state behind the relssp of a place.
  bool pass(std::uint32_t before, std::int32_t after, bool released) const {
    const auto by_place = [](const InsertedInstruction& i, std::uint32_t place) { return i.before < place; };
    auto i = std::lower_bound(kernel_.inserted.begin(), kernel_.inserted.end(), before, by_place);
    for (; i != kernel_.inserted.end() && i->before == before; ++i) {
      if (i->after != after || i->instruction.scheme != scheme_ || !is_relssp(i->instruction)) continue;
      if (released) fail(before, "follows a second relssp");
      released = true;
    }
    return released;
  }

  const Kernel& kernel_;
  const SharingLayout& layout_;
  const std::string scheme_;
  /// By whether it has one, in front of what is inserted before the instruction, edges apart.
  std::array<std::vector<bool>, 2> arrives_;
  std::vector<std::pair<std::uint32_t, bool>> work_;
};

/// Relssp and jumps of one scheme.
struct InsertedCount {
  std::uint32_t relssp = 0, jumps = 0;
};

InsertedCount count_inserted(const Kernel& kernel, const std::string& scheme) {
  InsertedCount count;
  for (const RelsspPoint& p : relssp_points(kernel, scheme)) {
    ++count.relssp;
    count.jumps += p.jump ? 1 : 0;
  }
  return count;
}

}  // namespace

void SharingSection::validate(const Kernel& kernel) const { sharing_of(kernel); }

void SharingSection::verify(const Kernel& kernel) const {
  const std::optional<SharingLayout> layout = sharing_of(kernel);
  for (const InsertedInstruction& i : kernel.inserted) {
    if (!is_relssp_scheme(i.instruction.scheme)) continue;
    if (!layout)
      throw std::invalid_argument("sharing: instructions of scheme " + i.instruction.scheme +
                                  ", and no section of version 1");
    if (!is_relssp(i.instruction) && i.instruction.opcode != relssp_jump_opcode)
      throw std::invalid_argument("sharing: an inserted instruction '" + i.instruction.opcode +
                                  "', expected relssp or bra");
    if (i.disposition != Disposition::issue)
      throw std::invalid_argument(
          "sharing: an inserted instruction that is removed at decode, expected one that issues");
  }
  if (!layout) return;
  const InsertedCount optimal = count_inserted(kernel, relssp_optimal_scheme);
  const InsertedCount postdom = count_inserted(kernel, relssp_postdom_scheme);
  if (optimal.relssp != layout->optimal || optimal.jumps != layout->optimal_jumps ||
      postdom.relssp != layout->postdom || postdom.jumps != 0)
    throw std::invalid_argument("sharing: " + std::to_string(optimal.relssp) + " relssp with " +
                                std::to_string(optimal.jumps) + " jumps and " + std::to_string(postdom.relssp) +
                                " relssp, the section has " + std::to_string(layout->optimal) + " with " +
                                std::to_string(layout->optimal_jumps) + " and " + std::to_string(layout->postdom));
  // A placement without any instruction leaves the release to the exits.
  if (optimal.relssp != 0) ReleasePaths(kernel, *layout, relssp_optimal_scheme).follow();
  if (postdom.relssp != 0) ReleasePaths(kernel, *layout, relssp_postdom_scheme).follow();
}

std::vector<InfoRow> SharingSection::info(const Kernel& kernel) const {
  const std::optional<SharingLayout> layout = sharing_of(kernel);
  if (!layout) return {};
  std::vector<InfoRow> rows;
  rows.push_back({"sharing", "t " + to_string(layout->t) + ", " + std::to_string(layout->boundary) + " of " +
                                 std::to_string(layout->shared_bytes) + " shared bytes private, registers " +
                                 (layout->registers_reordered ? "in the order of first use" : "as allocated")});
  for (std::size_t v = 0; v < kernel.shared_variables.size(); ++v) {
    const SharedVariable& variable = kernel.shared_variables[v];
    const std::string bytes = variable.bytes == 0 ? "dynamic" : std::to_string(variable.bytes) + " bytes";
    rows.push_back({layout->common_variables[v] ? "  common" : "  private",
                    variable.name + " at " + std::to_string(variable.offset) + ", " + bytes});
  }
  rows.push_back({"  relssp", std::to_string(layout->optimal) + " optimal with " +
                                  std::to_string(layout->optimal_jumps) + " jumps, " + std::to_string(layout->postdom) +
                                  " post-dominating"});
  return rows;
}

std::vector<std::string> SharingSection::notes(const Kernel& kernel) const {
  const std::optional<SharingLayout> layout = sharing_of(kernel);
  std::vector<std::string> notes;
  if (!layout) return notes;
  for (const bool common : layout->common_accesses) notes.emplace_back(common ? "common" : "");
  return notes;
}

}  // namespace regatta::trace
