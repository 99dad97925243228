// SPDX-License-Identifier: Apache-2.0
//
// What readers of a trace know about the annotations of one compiler pass: the payload of its section and the
// instructions that it inserts for its scheme. All of it stands in one class per pass, so that the reader, the writer
// and regatta-trace name no pass. README.md of this folder says how to add one.
#pragma once

#include <regatta/trace/kernel.h>

#include <string>
#include <vector>

namespace regatta::trace {

/// A row of `regatta-trace info`.
struct InfoRow {
  std::string name;  ///< at most 22 characters
  std::string text;
};

/// The annotations of one pass. A kernel need not have any: each function below then finds nothing to say.
/// Functions throw std::invalid_argument, saying what is wrong, for annotations that do not fit the kernel.
class SectionFormat {
 public:
  virtual ~SectionFormat() = default;

  /// AnnotationSection::name.
  virtual std::string name() const = 0;
  /// The scheme of the instructions that the pass inserts; empty: it inserts none.
  virtual std::string scheme() const { return {}; }

  /// What must hold before anyone uses the kernel. Reader and Writer refuse a kernel for which it throws. Everything
  /// else in the kernel has been checked before.
  virtual void validate(const Kernel&) const {}
  /// What `regatta-trace verify` checks besides: what need not hold to read a trace under another scheme.
  virtual void verify(const Kernel&) const {}

  /// Rows of `regatta-trace info` about the kernel, below the names and sizes of its sections.
  virtual std::vector<InfoRow> info(const Kernel&) const { return {}; }
  /// What `regatta-trace dump` writes behind each instruction ("power R2 ON"): one text per instruction of the kernel,
  /// empty where there is nothing to say; or no text at all.
  virtual std::vector<std::string> notes(const Kernel&) const { return {}; }
  /// What an inserted instruction of scheme() says, for people; dump writes it behind the opcode.
  virtual std::string inserted_text(const StaticInstruction&) const { return {}; }
};

/// The first section of this name and version, nullptr when the kernel has none.
const AnnotationSection* find_section(const Kernel& kernel, const std::string& name, std::uint32_t version);

}  // namespace regatta::trace
