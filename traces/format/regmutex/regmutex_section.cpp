// SPDX-License-Identifier: Apache-2.0
#include "regmutex_section.h"

#include "../finereg/liveness_section.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>

namespace regatta::trace {

namespace {

std::optional<RegMutexRegisters> regmutex_of(const Kernel& kernel) {
  const AnnotationSection* section = find_section(kernel, regmutex_section, regmutex_section_version);
  if (section == nullptr) return std::nullopt;
  return parse_regmutex(kernel, section->payload);
}

std::optional<LiveRegisters> liveness_of(const Kernel& kernel) {
  const AnnotationSection* section = find_section(kernel, liveness_section, liveness_section_version);
  if (section == nullptr) return std::nullopt;
  return parse_live_registers(kernel, section->payload);
}

/// Ascending, each once.
std::set<unsigned> extended_named(const StaticInstruction& i, const RegMutexRegisters& registers) {
  std::set<unsigned> named;
  const auto add = [&](unsigned reg) {
    if (registers.is_extended(reg)) named.insert(reg);
  };
  std::for_each_n(i.destinations.begin(), i.destination_count, add);
  std::for_each_n(i.sources.begin(), i.source_count, add);
  return named;
}

/// Whether the section is held, along every path of a lane.
class Paths {
 public:
  Paths(const Kernel& kernel, const RegMutexRegisters& registers)
      : kernel_(kernel), registers_(registers), live_(liveness_of(kernel)), arrives_(kernel.instructions.size()) {}

  void follow() {
    arrive(0, false);
    while (!work_.empty()) {
      const std::uint32_t index = work_.back();
      work_.pop_back();
      const bool held = pass(index, -1, *arrives_[index]);
      check(index, held);
      const StaticInstruction& i = kernel_.instructions[index];
      if (i.branch_target >= 0) leave(index, static_cast<std::uint32_t>(i.branch_target), held);
      const bool ends = i.op_class == OpClass::branch || i.op_class == OpClass::exit;
      if (i.guard.predicate >= 0 || !ends) leave(index, index + 1, held);
    }
  }

 private:
  [[noreturn]] static void fail(std::uint32_t index, const std::string& what) {
    throw std::invalid_argument("regmutex: instruction " + std::to_string(index) + " " + what);
  }

  void leave(std::uint32_t from, std::uint32_t to, bool held) {
    if (to < kernel_.instructions.size()) arrive(to, pass(to, static_cast<std::int32_t>(from), held));
  }

  void arrive(std::uint32_t index, bool held) {
    std::optional<bool>& known = arrives_[index];
    if (known && *known != held) fail(index, "is reached with and without a section");
    if (!known) work_.push_back(index);
    known = held;
  }

  /// The state behind the acquires and releases of a place.
  bool pass(std::uint32_t before, std::int32_t after, bool held) const {
    const auto by_place = [](const InsertedInstruction& i, std::uint32_t place) { return i.before < place; };
    auto i = std::lower_bound(kernel_.inserted.begin(), kernel_.inserted.end(), before, by_place);
    for (; i != kernel_.inserted.end() && i->before == before; ++i) {
      if (i->after != after || i->instruction.scheme != regmutex_scheme) continue;
      const bool acquires = is_regmutex_acquire(i->instruction);
      if (acquires && held) fail(before, "follows an acquire with a section held");
      if (!acquires && !held) fail(before, "follows a release without a section");
      held = acquires;
    }
    return held;
  }

  void check(std::uint32_t index, bool held) const {
    const StaticInstruction& i = kernel_.instructions[index];
    if (held) {
      if (i.op_class == OpClass::barrier && !i.barrier_arrives) fail(index, "is a barrier, and a section is held");
      return;
    }
    if (const std::set<unsigned> named = extended_named(i, registers_); !named.empty())
      fail(index, "names R" + std::to_string(*named.begin()) + " of the extended set, and no section is held");
    for (unsigned r = 0; live_ && r < live_->registers; ++r)
      if (registers_.is_extended(r) && live_->live(index, r))
        fail(index, "has R" + std::to_string(r) + " of the extended set live, and no section is held");
  }

  const Kernel& kernel_;
  const RegMutexRegisters& registers_;
  std::optional<LiveRegisters> live_;
  std::vector<std::optional<bool>> arrives_;  ///< in front of what is inserted before the instruction, edges apart
  std::vector<std::uint32_t> work_;
};

}  // namespace

void RegMutexSection::validate(const Kernel& kernel) const { regmutex_of(kernel); }

void RegMutexSection::verify(const Kernel& kernel) const {
  const std::optional<RegMutexRegisters> registers = regmutex_of(kernel);
  for (const InsertedInstruction& i : kernel.inserted) {
    if (i.instruction.scheme != regmutex_scheme) continue;
    if (!registers) throw std::invalid_argument("regmutex: instructions of the scheme, and no section of version 1");
    if (!is_regmutex_acquire(i.instruction) && !is_regmutex_release(i.instruction))
      throw std::invalid_argument("regmutex: an inserted instruction '" + i.instruction.opcode +
                                  "', expected acquire or release");
    if (i.disposition != Disposition::issue)
      throw std::invalid_argument(
          "regmutex: an inserted instruction that is removed at decode, expected one that "
          "issues");
  }
  if (registers) Paths(kernel, *registers).follow();
}

std::vector<InfoRow> RegMutexSection::info(const Kernel& kernel) const {
  const std::optional<RegMutexRegisters> registers = regmutex_of(kernel);
  if (!registers) return {};
  std::size_t acquires = 0, releases = 0;
  for (const InsertedInstruction& i : kernel.inserted) {
    acquires += is_regmutex_acquire(i.instruction) ? 1 : 0;
    releases += is_regmutex_release(i.instruction) ? 1 : 0;
  }
  return {{"regmutex", std::to_string(registers->base) + " registers in the base set, " +
                           std::to_string(registers->extended) + " in the extended set, " + std::to_string(acquires) +
                           " acquires, " + std::to_string(releases) + " releases"}};
}

std::vector<std::string> RegMutexSection::notes(const Kernel& kernel) const {
  const std::optional<RegMutexRegisters> registers = regmutex_of(kernel);
  std::vector<std::string> notes;
  if (!registers) return notes;
  for (const StaticInstruction& i : kernel.instructions) {
    std::string text;
    for (const unsigned reg : extended_named(i, *registers)) text += " R" + std::to_string(reg);
    notes.push_back(text.empty() ? "" : "extended" + text);
  }
  return notes;
}

}  // namespace regatta::trace
