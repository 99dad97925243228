// SPDX-License-Identifier: Apache-2.0
//
// What the tools do with an input, as one function per kind of input: the fuzzing targets, the mutation tests and the
// regression tests all call these. An input is accepted, or refused with a trace::InputError whose message begins
// with the name of the file; anything else, another exception or an empty message, is a fault of ours and leaves the
// probe as std::logic_error (or as the crash it is).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace regatta::test {

struct Outcome {
  bool accepted = false;
  std::string message;  ///< why not
};

struct PtxOutcome {
  Outcome parse;              ///< of the text outside of bodies
  std::size_t entries = 0;    ///< in the module
  std::size_t compiled = 0;   ///< code was made for these, with each register limit
  std::size_t finished = 0;   ///< runs that came to their end
  std::size_t diagnosed = 0;  ///< runs that ended in a diagnostic
};

struct PtxLimits {
  std::size_t entries = 8;             ///< compile no more than these
  std::uint64_t instructions = 3000;   ///< of a warp, when run
  std::uint64_t memory = 64ull << 20;  ///< bytes: what needs more is compiled and not run
};

/// PTX text: every entry is parsed, lowered, compiled for 255 and for 16 registers, and run on one small CTA, its
/// streams encoded as for a trace.
PtxOutcome probe_ptx(const std::string& text, const PtxLimits& limits = {});

/// Launch file: text to buffers. Contents of more than 1 MiB are not made.
Outcome probe_launch(const std::string& text);

/// Trace: opened, all CTAs streamed, every column of every warp decoded.
Outcome probe_trace(const std::string& bytes);

/// Accel-Sim's trace of one kernel, text, xz or paged: imported. What is accepted passes the check of a program.
Outcome probe_import(const std::string& bytes);

/// As probe_trace, of a file.
Outcome probe_trace_file(const std::string& path);

}  // namespace regatta::test
