// SPDX-License-Identifier: Apache-2.0
//
// Where the lanes of a warp that a branch has split come together again.
#pragma once

#include <regatta/analysis/loops.h>

namespace regatta::analysis {

/// The control flow that counts for reconvergence: a branch's lanes meet at the branch's immediate post-dominator in
/// this graph (PostDominators).
///
/// In the whole graph, lanes that leave the kernel early move that point to the kernel's end for all others. Hardware
/// does not wait for lanes that have left, and ptxas places its convergence barriers (BSSY, BSYNC) accordingly: an edge
/// from which every path leaves the kernel does not count, unless all sides of the branch leave.
///
/// Sooner or later every path leaves, so early exits have to be told from the end of the kernel. The *tail* of an exit
/// is the set of blocks from which no other exit is reached. As long as there are several exits, the least of them is
/// set aside: the edges that enter its tail no longer count, which makes the tails of other exits grow. Then the next
/// one follows. An exit is less than another one if
/// - its tail has no barrier, and the other tail has: all threads that are left have to come to a barrier together;
/// - otherwise, if every loop keeps a regular way out without it, and one does not without the other exit: a regular
/// way
///   out is tested in each turn (its block dominates the ends of the loop), so lanes leave the loop where they meet
///   anyway;
/// - otherwise, if its tail is entered once (by one edge, outside of loops), and the other one more often: nothing is
///   executed twice if its lanes go alone;
/// - otherwise, if its tail has fewer instructions;
/// - otherwise, if it comes first in the program.
///
/// Compilers merge returns that end alike, and the end of the kernel may be one of them. So each way into the last
/// exit's block is then looked at as an exit of its own, and counts all the same unless it keeps a branch from meeting
/// earlier, and what is executed together from there to the end has a barrier or at least as many instructions as the
/// end. A way that starts between a branch and the end at which that branch's lanes meet always counts.
///
/// Every block from which an exit is reached keeps a way to one. A path that enters a tail which was set aside never
/// comes to the reconvergence point of an enclosing branch, so the entries of a SIMT stack stay nested. A guarded exit
/// is not an edge (Cfg).
Graph without_early_exits(const ir::Function& f, const Cfg& cfg, const Dominators& dominators, const Loops& loops);

}  // namespace regatta::analysis
