// SPDX-License-Identifier: Apache-2.0
//
// An annotation pass prepares an allocated kernel for the hardware of one scheme. One class holds everything that
// regatta-annotate knows of the pass: its options, its output in the trace, its part of the report and of the listing.
// README.md of compiler/passes says how to add one; regatta/trace/section_format.h is the counterpart for readers.
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

/// The results for one kernel.
struct PassSummary {
  std::vector<Figure> figures;       ///< of the JSON report; the keys are the same for every kernel
  std::vector<TableColumn> columns;  ///< likewise the headings
  /// "7 live registers at most", for the line about the kernel when the annotation was asked for; may be empty.
  std::string text;
  // Set by the tool.
  std::string name;         ///< of the pass
  bool is_default = false;  ///< AnnotationPass::by_default()
  std::string left_out;     ///< why the kernel is without the annotation; empty: it has it
};

/// What an annotation takes for granted about when the lanes of a warp wait for others. Our emulator has them meet at
/// the branch's post-dominator. The trace of a GPU, or of another emulator, may show something else.
enum class LaneOrder : std::uint8_t {
  any,       ///< lanes may wait anywhere
  by_block,  ///< a warp turns to other lanes between basic blocks only
  /// After a branch, one side runs until it comes to the branch's post-dominator or exits; other lanes wait at the
  /// other sides and there.
  nested,
};

/// One object serves one kernel. Order of calls: declare(), validate(), shared_placement() if the pass places shared
/// variables, register_groups() if registers are renumbered, run(), then the others. `kernel` is the static form of the
/// function of `analyses`.
class AnnotationPass {
 public:
  virtual ~AnnotationPass() = default;

  /// Unique among the passes of a registry.
  virtual std::string name() const = 0;

  /// Declares the options. Their variables are members of the pass.
  virtual void declare(PassOptions&) {}
  /// Throws trace::InputError, in the words of the command line, for values out of range.
  virtual void validate() const {}

  /// Whether the pass annotates every kernel, without an option. It then leaves the code as it is.
  virtual bool by_default() const { return true; }
  /// Whether a kernel that run() refuses is refused altogether, because the annotation was asked for. Otherwise the
  /// kernel is left without the annotation, and the report, the listing and the console say why.
  virtual bool is_required() const { return true; }

  /// Whether the annotation holds only where one side of a branch runs to the place where the lanes meet before the
  /// other side does. Kernels whose lanes went otherwise (emulator::Divergence::barriers) are left without it.
  virtual bool needs_stack_order() const { return true; }
  /// The same of a kernel of a trace, where FunctionAnalyses::seen_flow() has the places at which lanes wait. A kernel
  /// whose lanes were seen to do otherwise is left without the annotation.
  virtual LaneOrder lane_order() const { return LaneOrder::nested; }

  /// Whether the pass moves the shared variables. At most one pass may.
  virtual bool places_shared_variables() const { return false; }
  /// Where they are to lie. `kernel` and `analyses` are a first allocation of the function, with the front end's places
  /// and Instruction::shared_accesses; `dynamic_bytes` the least dynamic shared memory of a launch. The function is
  /// then allocated anew with the new places.
  virtual ir::SharedPlacement shared_placement(const trace::Kernel&, analysis::FunctionAnalyses&,
                                               std::uint32_t /*dynamic_bytes*/) {
    return {};
  }
  /// Whether registers are to be numbered in the order of their first use (reorder.h), which overrides the groups of
  /// all passes.
  virtual bool orders_registers() const { return false; }

  /// Registers that the scheme's hardware uses together, so that they should lie in different banks. Renumbering
  /// follows and respects the groups of all passes: afterwards the kernel is the same but for the numbers of its
  /// registers.
  virtual std::vector<RegisterGroup> register_groups(const trace::Kernel&, analysis::FunctionAnalyses&) { return {}; }

  /// Adds the pass's section to kernel.annotations and the instructions of its scheme to kernel.inserted, which stays
  /// in ascending order. The annotations of other passes stay as they are. Throws trace::InputError for a kernel that
  /// cannot have the annotation, and leaves it as it is.
  virtual void run(trace::Kernel& kernel, analysis::FunctionAnalyses& analyses) = 0;

  /// The results of run(). For a kernel that was refused, by the tool or by run(), it is called without run(): only
  /// keys and headings matter then.
  virtual PassSummary summary(const trace::Kernel& kernel) const = 0;

  /// A line at the head of the listing, without the comment sign; empty: none.
  virtual std::string listing_head() const { return {}; }
  /// The subject of the notes, for the listing's line about its columns; empty if the pass writes no notes.
  virtual std::string listing_column() const { return {}; }
  /// Lines above the instruction with this static index, each with its line end.
  virtual std::string listing_above(const trace::Kernel&, std::uint32_t /*index*/) const { return {}; }
  /// A note behind that instruction; empty: none.
  virtual std::string listing_note(const trace::Kernel&, std::uint32_t /*index*/) const { return {}; }
};

}  // namespace regatta::passes
