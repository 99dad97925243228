// SPDX-License-Identifier: Apache-2.0
//
// Programs made to catch an illegal reuse: parameters (.u64 in, .u64 out), an entry of the program's name.
#pragma once

#include <string>

namespace regatta::test::wir {

/// Threads exchange values through scratchpad memory, 40 times, over and over at the same addresses: a value from
/// before a barrier is always wrong behind it. Twice as many barriers as a CTA's count can hold, and more.
extern const char* const exchange;
/// Global loads of what all CTAs share, of what the thread itself has just stored, and, behind a barrier, of what the
/// CTA's other warp has stored at the same place; atomics and fences in between. Many CTAs, so that slots are reused.
extern const char* const across;
/// Registers that are shared by warps and then written by some lanes, again and again, with nested branches; sums of
/// them in between by all lanes.
extern const char* const diverge;
/// Sums with a carry whose register sources are the same in every warp, and whose carries are not.
extern const char* const carry;
/// A warp reads what another has stored when a flag says so; a third had read the place before.
extern const char* const flags;
/// Warps of a CTA hand an array round by counters in `space` ("global", "shared") that atomics and fences order, and by
/// barriers: all have read it when the first one writes it, and they read it again behind its atomic and behind a
/// barrier.
std::string handover(const std::string& space);
/// The first warp of a CTA stores where all of them load, and nothing orders the two.
extern const char* const racy;
/// Module variables read where they are, of which nothing but the address tells one from another; and places next to
/// one another, of which nothing but the offset does.
extern const char* const variables;
/// 64-bit sums and products of few values, whose halves are shared; loads and stores of pairs.
extern const char* const wide;

}  // namespace regatta::test::wir
