// SPDX-License-Identifier: Apache-2.0
//
// An annotation pass from outside, with a section that readers know: how many source registers each instruction has, up
// to a limit. What stands here is all that a third pass needs besides its registration.
#pragma once

#include <regatta/passes/annotation_pass.h>
#include <regatta/trace/section_format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace regatta::test {

inline constexpr const char* toy = "toy";

inline std::uint64_t toy_sum(const std::string& payload) {
  std::uint64_t sum = 0;
  for (const char count : payload) sum += static_cast<unsigned char>(count);
  return sum;
}

/// The section has a byte per instruction. An instruction of the scheme "toy" at the kernel's start has their sum.
class ToySection : public trace::SectionFormat {
 public:
  std::string name() const override { return toy; }
  std::string scheme() const override { return toy; }
  void validate(const trace::Kernel& kernel) const override {
    const trace::AnnotationSection* section = trace::find_section(kernel, toy, 1);
    if (section != nullptr && section->payload.size() != kernel.instructions.size())
      throw std::invalid_argument("toy: expected a byte per instruction");
  }
  void verify(const trace::Kernel& kernel) const override {
    const trace::AnnotationSection* section = trace::find_section(kernel, toy, 1);
    for (const trace::InsertedInstruction& i : kernel.inserted) {
      if (section == nullptr || i.instruction.scheme != toy) continue;
      if (i.instruction.operands.at(0).value != toy_sum(section->payload))
        throw std::invalid_argument("toy: the hint is not the sum of the section");
    }
  }
  std::vector<trace::InfoRow> info(const trace::Kernel& kernel) const override {
    const trace::AnnotationSection* section = trace::find_section(kernel, toy, 1);
    if (section == nullptr) return {};
    return {{"toy registers", std::to_string(toy_sum(section->payload)) + " in all"}};
  }
  std::vector<std::string> notes(const trace::Kernel& kernel) const override {
    std::vector<std::string> notes;
    const trace::AnnotationSection* section = trace::find_section(kernel, toy, 1);
    if (section == nullptr) return notes;
    for (const char count : section->payload) notes.push_back(count == 0 ? "" : "toy " + std::to_string(count));
    return notes;
  }
  std::string inserted_text(const trace::StaticInstruction& i) const override {
    if (i.operands.empty()) throw std::invalid_argument("says nothing");
    return "sum " + std::to_string(i.operands[0].value);
  }
};

class ToyPass : public passes::AnnotationPass {
 public:
  std::string name() const override { return toy; }
  void declare(passes::PassOptions& o) override {
    o.number("toy-limit", limit_, "N", "source registers that count, 1 to 6");
    o.choice<bool>("toy-hint", hint_, {{"none", false}, {"first", true}}, "WHERE", "where the sum stands");
  }
  void validate() const override {
    if (limit_ < 1 || limit_ > 6) throw trace::InputError("error: --toy-limit is out of range, expected 1 to 6");
  }
  void run(trace::Kernel& kernel, analysis::FunctionAnalyses&) override {
    for (const trace::StaticInstruction& i : kernel.instructions)
      counts_.push_back(static_cast<char>(std::min<unsigned>(i.source_count, limit_)));
    kernel.annotations.push_back({toy, 1, counts_});
    if (!hint_) return;
    trace::StaticInstruction hint;
    hint.opcode = "toy.hint";
    hint.opcode_id = 1u << 19;  // behind all that a kernel has
    hint.op_class = trace::OpClass::metadata;
    hint.scheme = toy;
    trace::Operand sum;
    sum.kind = trace::Operand::Kind::immediate;
    sum.value = toy_sum(counts_);
    hint.operands.push_back(sum);
    kernel.inserted.insert(kernel.inserted.begin(), {0, hint});
  }
  passes::PassSummary summary(const trace::Kernel&) const override {
    passes::PassSummary s;
    s.figures = {
        {"toy", std::vector<passes::Figure>{{"registers", toy_sum(counts_)}, {"limit", std::uint64_t{limit_}}}}};
    s.columns = {{"toy registers", toy_sum(counts_)}};
    s.text = std::to_string(toy_sum(counts_)) + " toy registers";
    return s;
  }
  std::string listing_head() const override { return "toy registers: " + std::to_string(toy_sum(counts_)); }
  std::string listing_column() const override { return "toy registers of it"; }
  std::string listing_above(const trace::Kernel&, std::uint32_t index) const override {
    return index == 0 ? "  // toy: the first instruction\n" : "";
  }
  std::string listing_note(const trace::Kernel&, std::uint32_t index) const override {
    return counts_.at(index) == 0 ? "" : "toy " + std::to_string(counts_.at(index));
  }

 private:
  unsigned limit_ = 2;
  bool hint_ = true;
  std::string counts_;
};

}  // namespace regatta::test
