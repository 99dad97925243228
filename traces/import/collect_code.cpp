// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include "code.h"

namespace regatta::import {
namespace {

/// Instructions that are looked through for where a branch's lanes are seen next.
constexpr std::size_t look_ahead = 4096;
/// A larger frame of local memory, or shared memory of a CTA, does not exist.
constexpr std::uint64_t most_window_bytes = std::uint64_t{1} << 24;

std::string text_of(const TracedInstruction& i) {
  std::string text = i.opcode + " (";
  for (const unsigned r : i.destinations) text += "R" + std::to_string(r) + " ";
  text += "<-";
  for (const unsigned r : i.sources) text += " R" + std::to_string(r);
  return text + ")";
}

bool same(const TracedInstruction& a, const TracedInstruction& b) {
  return a.opcode == b.opcode && a.destinations == b.destinations && a.sources == b.sources;
}

class Collector : public KernelVisitor {
 public:
  Collector(const Header& header, bool strict) : header_(header), strict_(strict) {}

  void begin_cta(std::uint64_t, const LineReader&) override { ++code_.ctas; }
  void begin_warp(std::uint32_t, const LineReader&) override { warp_.clear(); }

  void instruction(const InstructionLine& line) override {
    CodeLine& code = line_of(line);
    warp_.push_back({line.pc, line.mask, &code});
    ++code_.instructions;
    if (warp_.size() == 1) {
      if (code_.lines.size() == 1) code_.entry = line.pc;
      if (line.pc != code_.entry) line.at->fail(1, "a warp begins at another PC than the first warp of the file");
    }
    if (line.memory_width != 0 && code.meaning.space != trace::MemorySpace::none) extents(line, code.meaning);
  }

  void end_warp(const LineReader& at) override {
    if (warp_.empty()) at.fail(1, "a warp without an instruction, expected its exit");
    for (std::size_t e = 0; e < warp_.size(); ++e) {
      const Control c = warp_[e].code->meaning.control;
      if ((c == Control::target || c == Control::anywhere) && warp_[e].mask != 0) successor(e);
    }
  }
  void end_cta(const LineReader&) override {}

  Code take() { return std::move(code_); }

 private:
  struct Entry {
    std::uint64_t pc;
    std::uint32_t mask;
    CodeLine* code;
  };

  CodeLine& line_of(const InstructionLine& line) {
    traced_.opcode.assign(line.opcode);
    traced_.destinations = line.destinations;
    traced_.sources = line.sources;
    traced_.memory_width = line.memory_width;
    const auto known = by_pc_.find(line.pc);
    if (known != by_pc_.end()) {
      CodeLine& code = *known->second;
      if (!same(code.traced, traced_)) {
        line.at->fail(line.opcode_column,
                      text_of(traced_) + " has the PC of " + text_of(code.traced) + " in line " +
                          std::to_string(code.line) +
                          ": the trace has the code of two functions, which it does not tell apart");
      }
      return code;
    }
    CodeLine code;
    code.traced = traced_;
    code.file = line.at->path();
    code.line = line.at->number();
    try {
      code.meaning = meaning_of(traced_);
    } catch (const std::invalid_argument& e) {
      line.at->fail(line.opcode_column, e.what());
    }
    if (strict_ && !code.meaning.remarks.empty())
      line.at->fail(line.opcode_column, code.meaning.remarks.front() + " (--strict)");
    CodeLine& added = code_.lines.emplace(line.pc, std::move(code)).first->second;
    by_pc_.emplace(line.pc, &added);
    return added;
  }

  void extents(const InstructionLine& line, const Meaning& meaning) {
    for (std::uint32_t m = line.mask; m != 0; m &= m - 1) {
      const std::uint64_t address = line.address[static_cast<unsigned>(__builtin_ctz(m))];
      const auto [space, offset] = place_of(header_, meaning.space, address);
      if (space != trace::MemorySpace::local && space != trace::MemorySpace::shared) continue;
      Extent& extent = space == trace::MemorySpace::local ? code_.local : code_.shared;
      extent.add(std::min(offset, std::uint64_t{1} << 48), meaning.access_bytes);
      const std::uint64_t span = extent.end - (space == trace::MemorySpace::local ? extent.first : 0);
      if (span <= most_window_bytes) continue;
      line.at->fail(line.opcode_column,
                    space == trace::MemorySpace::local
                        ? "the local memory of a thread has more than 16 MiB from its first to its last access"
                        : "an access to shared memory beyond 16 MiB");
    }
  }

  void successor(std::size_t e) {
    std::uint32_t lanes = warp_[e].mask;
    const bool all_ways = warp_[e].code->meaning.control == Control::anywhere;
    std::map<std::uint64_t, Evidence>& to = warp_[e].code->successors;
    if (e + 1 < warp_.size() && (warp_[e + 1].mask & lanes) != 0) {
      ++to[warp_[e + 1].pc].at_once;
      lanes &= ~warp_[e + 1].mask;
      if (!all_ways || lanes == 0) return;
    }
    // Lanes that go on alone come to where their part of the warp begins, of which they may execute a later instruction
    // only. Lanes that waited for others come to where they are seen with these.
    std::uint64_t start = 0;
    bool alone = true;
    for (std::size_t n = e + 1; n < std::min(warp_.size(), e + look_ahead); ++n) {
      const bool begins = warp_[n - 1].code->meaning.control != Control::none ||
                          !follows(warp_[n - 1].pc, warp_[n].pc, header_.binary_version);
      if (begins) {
        start = warp_[n].pc;
        alone = true;
      }
      if ((warp_[n].mask & lanes) == 0) {
        alone = alone && warp_[n].mask == 0;
        continue;
      }
      if (!all_ways || alone) ++to[alone ? start : warp_[n].pc].later;
      lanes &= ~warp_[n].mask;
      if (!all_ways || lanes == 0) return;
      alone = false;
    }
  }

  const Header& header_;
  const bool strict_;
  Code code_;
  std::unordered_map<std::uint64_t, CodeLine*> by_pc_;
  std::vector<Entry> warp_;
  TracedInstruction traced_;
};

}  // namespace

bool Code::merge(const Code& other) {
  if (other.entry != entry) return false;
  for (const auto& [pc, line] : other.lines) {
    const auto known = lines.find(pc);
    if (known != lines.end() && !same(known->second.traced, line.traced)) return false;
  }
  for (const auto& [pc, line] : other.lines) {
    const auto [mine, is_new] = lines.emplace(pc, line);
    if (is_new) continue;
    for (const auto& [to, evidence] : line.successors) {
      mine->second.successors[to].at_once += evidence.at_once;
      mine->second.successors[to].later += evidence.later;
    }
  }
  local.add(other.local);
  shared.add(other.shared);
  return true;
}

Code collect_code(const std::string& path, KernelFile& file, bool strict) {
  Collector collector(file.header(), strict);
  file.read(collector);
  Code code = collector.take();
  if (code.ctas == 0) fail(path, {}, "the trace has no thread block");
  return code;
}

}  // namespace regatta::import
