// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/rfv.h>
#include <regatta/trace/divergent_paths.h>

#include <algorithm>
#include <array>
#include <string>

namespace regatta::passes {

namespace {

using analysis::BitSet;
using trace::RfvRegisters;

unsigned count_registers(RfvRegisters registers) { return static_cast<unsigned>(__builtin_popcountll(registers)); }

std::uint64_t weight_at(std::uint32_t loop_depth) {
  std::uint64_t weight = 1;
  for (std::uint32_t d = 0; d < std::min(loop_depth, 6u); ++d) weight *= 10;
  return weight;
}

class Planner {
 public:
  Planner(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses, const RfvOptions& options)
      : kernel_(kernel), analyses_(analyses), options_(options) {}

  RfvPlan run() {
    find_needed();
    plan_.section.table_entries = options_.table_entries;
    plan_.section.at_start = kernel_.blocks.empty() ? 0 : running_in_[0];
    choose_exempt();
    place_flags();
    place_block_releases();
    count();
    return std::move(plan_);
  }

 private:
  RfvRegisters registers_of(const BitSet& variables) const {
    RfvRegisters registers = 0;
    variables.for_each([&](std::uint32_t v) {
      if (v < kernel_.registers_per_thread) registers |= RfvRegisters{1} << v;
    });
    return registers;
  }

  /// What lanes may still read, anywhere on the SIMT stack: behind each instruction, and at the start of each block.
  void find_needed() {
    const analysis::WarpLiveness& liveness = analyses_.warp_liveness();
    analysis::LivenessWalker walker(liveness.running());
    needed_behind_.assign(kernel_.instructions.size(), 0);
    for (std::uint32_t b = 0; b < kernel_.blocks.size(); ++b) {
      const RfvRegisters waiting = registers_of(liveness.waiting(b));
      for (walker.start(b); walker.more(); walker.step())
        needed_behind_[kernel_.blocks[b].first + walker.index()] = registers_of(walker.live()) | waiting;
      running_in_.push_back(registers_of(liveness.running().live_in(b)));
      needed_at_.push_back(running_in_.back() | waiting);
    }
  }

  /// The registers that are needed for longest, weighted by loop depth; of equals the lowest number. They cost a table
  /// entry and give little back.
  void choose_exempt() {
    const unsigned registers = kernel_.registers_per_thread;
    if (options_.table_entries == 0 || options_.table_entries >= registers) return;
    std::array<std::uint64_t, 64> lifetime{};
    for (std::uint32_t b = 0; b < kernel_.blocks.size(); ++b) {
      const trace::BasicBlock& block = kernel_.blocks[b];
      const std::uint64_t weight = weight_at(analyses_.loops().depth(b));
      for (std::uint32_t i = block.first; i < block.first + block.count; ++i)
        for (RfvRegisters left = needed_behind_[i]; left != 0; left &= left - 1)
          lifetime[static_cast<unsigned>(__builtin_ctzll(left))] += weight;
    }
    std::vector<unsigned> order;
    for (unsigned r = 0; r < registers; ++r) order.push_back(r);
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return lifetime[a] > lifetime[b]; });
    for (unsigned n = 0; n < registers - options_.table_entries; ++n)
      plan_.section.exempt |= RfvRegisters{1} << order[n];
  }

  void place_flags() {
    plan_.releases.flags.assign(kernel_.instructions.size(), 0);
    plan_.releases.at_operand.assign(kernel_.instructions.size(), 0);
    for (std::size_t index = 0; index < kernel_.instructions.size(); ++index) {
      const trace::StaticInstruction& i = kernel_.instructions[index];
      const RfvRegisters keeps = needed_behind_[index] | trace::written_by(i) | plan_.section.exempt;
      const std::array<trace::UseSlot, trace::use_slots> slots = trace::use_slots_of(i);
      for (unsigned s = 0; s < trace::use_slots; ++s) {
        if (!trace::is_source(slots[s])) continue;
        const RfvRegisters registers = trace::registers_of(slots[s]);
        if ((registers & keeps) != 0) continue;
        plan_.releases.flags[index] = static_cast<std::uint8_t>(plan_.releases.flags[index] | 1u << s);
        plan_.releases.at_operand[index] |= registers;
      }
      const unsigned flagged = count_registers(plan_.releases.at_operand[index]);
      plan_.flagged += flagged;
      plan_.unflagged += count_registers(trace::read_by(i) & ~keeps) - flagged;
    }
  }

  RfvRegisters pass(std::uint32_t index, RfvRegisters owned) const {
    return (owned | trace::written_by(kernel_.instructions[index])) & ~plan_.releases.at_operand[index];
  }

  /// Per block, those that a warp may run next.
  std::vector<std::vector<std::uint32_t>> next_blocks() const {
    std::vector<std::vector<std::uint32_t>> next = trace::warp_successors(kernel_);
    if (const analysis::SeenFlow* seen = analyses_.seen_flow()) {
      for (std::size_t b = 0; b < next.size(); ++b)
        next[b].insert(next[b].end(), seen->next[b].begin(), seen->next[b].end());
    }
    return next;
  }

  /// What a warp may have of the registers that nothing needs any more goes back at the start of the next block. The
  /// sets only grow, so the answer is the least that is true for all orders of the sides.
  void place_block_releases() {
    const std::size_t blocks = kernel_.blocks.size();
    plan_.releases.at_block.assign(blocks, 0);
    owned_in_.assign(blocks, 0);
    if (blocks == 0) return;
    const std::vector<std::vector<std::uint32_t>> next = next_blocks();
    owned_in_[0] = plan_.section.at_start & ~plan_.section.exempt;
    std::vector<std::uint32_t> work = analyses_.cfg().reverse_post_order();
    std::reverse(work.begin(), work.end());
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      const trace::BasicBlock& block = kernel_.blocks[b];
      RfvRegisters owned = owned_in_[b] & needed_at_[b];
      for (std::uint32_t i = block.first; i < block.first + block.count; ++i) owned = pass(i, owned);
      owned &= ~plan_.section.exempt;
      for (const std::uint32_t s : next[b]) {
        if ((owned & ~owned_in_[s]) == 0) continue;
        owned_in_[s] |= owned;
        work.push_back(s);
      }
    }
    for (std::size_t b = 0; b < blocks; ++b) plan_.releases.at_block[b] = owned_in_[b] & ~needed_at_[b];
  }

  void count() {
    const RfvRegisters exempt = plan_.section.exempt;
    plan_.owned.assign(kernel_.instructions.size(), 0);
    plan_.section.most = count_registers(exempt | plan_.section.at_start);
    for (std::size_t b = 0; b < kernel_.blocks.size(); ++b) {
      const trace::BasicBlock& block = kernel_.blocks[b];
      RfvRegisters owned = (owned_in_[b] & needed_at_[b]) | exempt;
      for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
        plan_.owned[i] = owned | trace::written_by(kernel_.instructions[i]);
        plan_.section.most = std::max(plan_.section.most, count_registers(plan_.owned[i]));
        owned = pass(i, owned);
      }
    }
  }

  const trace::Kernel& kernel_;
  analysis::FunctionAnalyses& analyses_;
  const RfvOptions options_;
  RfvPlan plan_;
  std::vector<RfvRegisters> needed_behind_, needed_at_, running_in_;
  std::vector<RfvRegisters> owned_in_;  ///< per block: what a warp may have when it comes there, exempt ones apart
};

}  // namespace

void check(const RfvOptions& options) {
  if (options.table_entries > trace::max_rfv_registers)
    throw trace::InputError("error: --rfv-table is " + std::to_string(options.table_entries) + ", expected 0 to " +
                            std::to_string(trace::max_rfv_registers));
}

RfvPlan plan_rfv(const trace::Kernel& kernel, analysis::FunctionAnalyses& analyses, const RfvOptions& options) {
  check(options);
  if (kernel.registers_per_thread > trace::max_rfv_registers)
    throw trace::InputError("error: kernel " + kernel.name + " has " + std::to_string(kernel.registers_per_thread) +
                            " registers, expected at most " + std::to_string(trace::max_rfv_registers) +
                            " with --rfv: use --max-registers " + std::to_string(trace::max_rfv_registers));
  return Planner(kernel, analyses, options).run();
}

void add_rfv(trace::Kernel& kernel, const RfvPlan& plan) {
  std::uint32_t next_id = 0;
  for (const trace::StaticInstruction& i : kernel.instructions) next_id = std::max(next_id, i.opcode_id + 1);
  for (const trace::InsertedInstruction& i : kernel.inserted) next_id = std::max(next_id, i.instruction.opcode_id + 1);
  for (trace::InsertedInstruction& word : trace::rfv_words(kernel, plan.releases, next_id))
    kernel.inserted.push_back(std::move(word));
  std::stable_sort(kernel.inserted.begin(), kernel.inserted.end(),
                   [](const auto& a, const auto& b) { return a.before < b.before; });
  kernel.annotations.push_back({trace::rfv_section, trace::rfv_section_version, trace::encode(plan.section)});
}

}  // namespace regatta::passes
