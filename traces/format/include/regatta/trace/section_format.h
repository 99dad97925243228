// SPDX-License-Identifier: Apache-2.0
//
// A section format describes the annotations of one compiler pass to readers of a trace: the payload of its section and
// the instructions that the pass inserts for its scheme. One class per pass holds all of it, so the reader, the writer
// and regatta-trace name no pass. README.md of traces/format says how to add one.
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

/// The annotations of one pass. A kernel may have none; each function then does nothing. Functions throw
/// std::invalid_argument, with the reason, for annotations that do not fit the kernel.
class SectionFormat {
 public:
  virtual ~SectionFormat() = default;

  /// AnnotationSection::name.
  virtual std::string name() const = 0;
  /// The scheme of the instructions that the pass inserts; empty: it inserts none.
  virtual std::string scheme() const { return {}; }
  /// All schemes that the pass inserts instructions for: one, unless hardware has a choice between several sets.
  virtual std::vector<std::string> schemes() const {
    const std::string only = scheme();
    return only.empty() ? std::vector<std::string>{} : std::vector<std::string>{only};
  }

  /// Checks that the kernel can be used at all; Reader and Writer refuse it otherwise. They have checked the rest of
  /// the kernel before.
  virtual void validate(const Kernel&) const {}
  /// Further checks, for `regatta-trace verify`. A trace that fails them can still be used under other schemes.
  virtual void verify(const Kernel&) const {}

  /// Rows of `regatta-trace info` about the kernel, below the names and sizes of its sections.
  virtual std::vector<InfoRow> info(const Kernel&) const { return {}; }
  /// Notes that `regatta-trace dump` prints behind the instructions ("live R2 R4"): one text per instruction of the
  /// kernel, empty where there is no note; or an empty list.
  virtual std::vector<std::string> notes(const Kernel&) const { return {}; }
  /// The content of an inserted instruction of one of schemes(), as text. dump prints it behind the opcode.
  virtual std::string inserted_text(const StaticInstruction&) const { return {}; }
};

/// The first section of this name and version, nullptr when the kernel has none.
const AnnotationSection* find_section(const Kernel& kernel, const std::string& name, std::uint32_t version);

}  // namespace regatta::trace
