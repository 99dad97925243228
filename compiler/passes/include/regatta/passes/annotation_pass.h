// SPDX-License-Identifier: Apache-2.0
//
// A pass that annotates an allocated kernel for a scheme's hardware. Everything that regatta-annotate knows of a pass
// stands in one class: its options, what it writes into the trace, what the report and the listing say of it.
// README.md of this folder says how to add one; how readers see what it writes is regatta/trace/section_format.h.
#pragma once

#include <regatta/analysis/function_analyses.h>
#include <regatta/passes/pass_options.h>
#include <regatta/passes/renumber.h>
#include <regatta/trace/kernel.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace regatta::passes {

/// A number in the JSON report, or an object of several.
struct Figure {
  std::string key;
  std::variant<std::uint64_t, double, std::vector<Figure>> value;
};

/// A column of the table of `regatta-annotate --check`.
struct TableColumn {
  std::string heading;
  std::uint64_t value = 0;
};

/// What the user is told about one kernel.
struct PassSummary {
  std::vector<Figure> figures;       ///< of the JSON report; the keys are the same for every kernel
  std::vector<TableColumn> columns;  ///< likewise the headings
  std::string text;                  ///< "3 regions told by 7 words", for the line about the kernel; may be empty
};

/// One object works on one kernel: options, validate(), register_groups() unless registers keep their numbers, run(),
/// then the rest. `kernel` is always the same kernel, the static form of the function of `analyses`.
class AnnotationPass {
 public:
  virtual ~AnnotationPass() = default;

  virtual std::string name() const = 0;

  /// Declares the options, whose variables are members of the pass.
  virtual void declare(PassOptions&) {}
  /// Throws trace::InputError, in the words of the command line, for options that do not fit.
  virtual void validate() const {}

  /// Before the numbers of registers are final: the registers that the pass's hardware uses together and therefore
  /// wants in different banks. The numbers are about to change, within a kernel that is otherwise final.
  virtual std::vector<RegisterGroup> register_groups(const trace::Kernel&, analysis::FunctionAnalyses&) { return {}; }

  /// Adds the pass's section to kernel.annotations, and instructions that only its scheme has to kernel.inserted, which
  /// stays ascending. What other passes have added stays as it is.
  virtual void run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) = 0;

  /// After run(). Before it, of a kernel that was refused, with keys and headings and with any numbers.
  virtual PassSummary summary(const trace::Kernel& kernel) const = 0;

  /// A line at the head of the listing, without the comment sign; empty: none.
  virtual std::string listing_head() const { return {}; }
  /// What listing_note() tells, for the listing's line about its columns; empty where there are no notes.
  virtual std::string listing_column() const { return {}; }
  /// Whole lines above the instruction of this static index.
  virtual std::string listing_above(const trace::Kernel&, std::uint32_t /*index*/) const { return {}; }
  /// A note behind that instruction; empty: none.
  virtual std::string listing_note(const trace::Kernel&, std::uint32_t /*index*/) const { return {}; }
};

}  // namespace regatta::passes
