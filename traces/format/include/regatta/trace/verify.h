// SPDX-License-Identifier: Apache-2.0
//
// Whether the parts of a trace fit each other, beyond what a reader needs in order to read it safely. A checksum
// says that a file is as it was written; this says that a program can have run that way.
#pragma once

#include <regatta/trace/file.h>

#include <cstdint>
#include <functional>

namespace regatta::trace {

/// What was looked at.
struct Verified {
  std::uint64_t warps = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
};

/// The static part: every section says of every kernel what its pass may say. Throws InputError "path: kernel N: ...".
void verify_kernels(const Reader& reader);

/// How far verify() looks.
enum class VerifyDepth : std::uint8_t {
  columns,  ///< every column is decoded to its end
  program,  ///< and the warps do what the kernel has them do
};

/// verify_kernels(), then every warp. Throws InputError "path: byte N: launch N: kernel NAME, CTA N, warp N,
/// instruction N (static index N): ...; the trace is malformed" for the first warp in which a column ends early, has
/// entries that no instruction uses, or counts are wrong; with VerifyDepth::program also for one in which
///   - control goes where neither the instruction before nor the SIMT stack leads, or with other lanes;
///   - lanes are left that never exit;
///   - a lane accesses shared memory beyond that of its CTA;
///   - an operation has another result than before for the same operands;
///   - a barrier is never complete.
/// `done` is called with the number of CTAs behind us.
Verified verify(const Reader& reader, VerifyDepth depth, const std::function<void(std::size_t)>& done = {});

}  // namespace regatta::trace
