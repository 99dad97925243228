// SPDX-License-Identifier: Apache-2.0
//
// Places of relssp: known answers, and all paths of random control flow graphs walked instruction by instruction.
#include <regatta/passes/sharing.h>
#include <regatta/test/catch.h>
#include <regatta/trace/section_registry.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "../hand_code.h"

using namespace regatta;
using test::HandCode;
using trace::RelsspPoint;

namespace {

/// Code of which some instructions access the one shared variable, all of it common.
class ReleaseCode : public HandCode {
 public:
  ReleaseCode() {
    f.shared_variables.push_back({"v", 0, 4, false, 4});
    f.static_shared_bytes = 4;
  }
  void work() { op({0}, {0}); }
  void access() { op({0}, {0}).shared_accesses = 1; }
  void guarded_exit() { under(exit()); }
};

struct Placed {
  trace::Kernel kernel;  ///< without annotations
  passes::SharingPlan plan;

  trace::Kernel annotated() const {
    trace::Kernel k = kernel;
    passes::add_sharing(k, plan);
    return k;
  }
};

Placed place(ReleaseCode& c) {
  ir::build_edges(c.f);
  analysis::FunctionAnalyses analyses(c.f);
  Placed p;
  p.kernel = ir::to_trace(c.f, analyses.reconvergence().immediate(), 32);
  p.plan = passes::plan_sharing(p.kernel, analyses, trace::parse_share("0.1").value(), 0, false);
  return p;
}

/// "3", "1-5" on the edge from 1 to 5, "1-5j" with a jump.
std::string text(const std::vector<RelsspPoint>& points) {
  std::string text;
  for (const RelsspPoint& p : points)
    text += (text.empty() ? "" : " ") + (p.after >= 0 ? std::to_string(p.after) + "-" : std::string()) +
            std::to_string(p.before) + (p.jump ? "j" : "");
  return text;
}

/// What `regatta-trace verify` says, "" if nothing.
std::string release_error(const trace::Kernel& kernel) {
  const trace::SectionRegistry sections = trace::SectionRegistry::with_builtin();
  const trace::SectionFormat* format = sections.of_scheme(trace::relssp_optimal_scheme);
  REQUIRE(format != nullptr);
  try {
    format->validate(kernel);
    format->verify(kernel);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

/// A thread's ways through the kernel, by instructions alone: neither blocks nor data flow.
class ThreadPaths {
 public:
  ThreadPaths(const trace::Kernel& kernel, const std::vector<bool>& common)
      : kernel_(kernel), next_(kernel.instructions.size()), may_access_(kernel.instructions.size()) {
    const auto count = static_cast<std::uint32_t>(kernel.instructions.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      const trace::StaticInstruction& s = kernel.instructions[i];
      const bool guarded = s.guard.predicate >= 0;
      const bool leaves = s.op_class == trace::OpClass::branch || s.op_class == trace::OpClass::exit;
      if (s.op_class == trace::OpClass::branch) next_[i].insert(static_cast<std::uint32_t>(s.branch_target));
      if (guarded || !leaves) next_[i].insert(i + 1);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      std::vector<bool> seen(count);
      std::vector<std::uint32_t> work{i};
      while (!work.empty()) {
        const std::uint32_t at = work.back();
        work.pop_back();
        if (seen[at]) continue;
        seen[at] = true;
        may_access_[i] = may_access_[i] || common[at];
        work.insert(work.end(), next_[at].begin(), next_[at].end());
      }
    }
    std::vector<std::uint32_t> path{0};
    walk(path);
  }

  bool is_exit(std::uint32_t i) const { return kernel_.instructions[i].op_class == trace::OpClass::exit; }
  bool is_guarded(std::uint32_t i) const { return kernel_.instructions[i].guard.predicate >= 0; }
  /// Whether a common access is at the instruction or behind it.
  bool may_access(std::uint32_t i) const { return may_access_[i]; }
  const std::set<std::uint32_t>& next(std::uint32_t i) const { return next_[i]; }
  /// From the entry to an exit; an edge is taken twice at most.
  const std::vector<std::vector<std::uint32_t>>& complete() const { return complete_; }
  std::size_t ways_to(std::uint32_t i) const {
    std::size_t ways = i == 0 ? 1 : 0;
    for (const auto& next : next_) ways += next.count(i);
    return ways;
  }
  /// Gaps of the path in which it executes a relssp: gap k is in front of its k-th instruction.
  static std::vector<std::size_t> executed(const std::vector<std::uint32_t>& path,
                                           const std::vector<RelsspPoint>& points) {
    std::vector<std::size_t> gaps;
    for (std::size_t k = 0; k < path.size(); ++k)
      for (const RelsspPoint& p : points) {
        const bool on_way = p.after < 0 || (k > 0 && path[k - 1] == static_cast<std::uint32_t>(p.after));
        if (p.before == path[k] && on_way) gaps.push_back(k);
      }
    return gaps;
  }

 private:
  static constexpr std::size_t most_paths = 3000;
  static constexpr std::size_t most_steps = 100'000;

  void walk(std::vector<std::uint32_t>& path) {
    if (complete_.size() == most_paths || ++steps_ > most_steps) return;
    const std::uint32_t at = path.back();
    if (is_exit(at)) complete_.push_back(path);
    for (const std::uint32_t to : next_[at]) {
      unsigned& taken = taken_[{at, to}];
      if (taken == 2) continue;
      ++taken;
      path.push_back(to);
      walk(path);
      path.pop_back();
      --taken;
    }
  }

  const trace::Kernel& kernel_;
  std::vector<std::set<std::uint32_t>> next_;
  std::vector<bool> may_access_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, unsigned> taken_;
  std::vector<std::vector<std::uint32_t>> complete_;
  std::size_t steps_ = 0;
};

/// Any control flow: loops without an exit, blocks that nothing reaches, jumps to the entry.
ReleaseCode random_release_code(std::mt19937& random) {
  ReleaseCode c;
  const auto blocks = static_cast<std::uint32_t>(1 + random() % 10);
  const unsigned sparse = 1 + static_cast<unsigned>(random() % 8);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    if (b != 0) c.block();
    for (unsigned n = static_cast<unsigned>(random() % 3); n-- > 0;) random() % sparse == 0 ? c.access() : c.work();
    const bool is_last = b + 1 == blocks;
    switch (random() % 14) {
      case 0:
        c.exit();
        break;
      case 1:
        is_last ? static_cast<void>(c.exit()) : c.guarded_exit();
        break;
      case 2:
        c.branch(static_cast<std::uint32_t>(random() % blocks), false);
        break;
      case 3:
      case 4:
        if (is_last) {
          c.exit();
        } else {
          random() % sparse == 0 ? c.access() : c.work();
        }
        break;
      default:
        if (is_last) {
          c.exit();
        } else {
          c.branch(static_cast<std::uint32_t>(random() % blocks), true);
        }
    }
  }
  return c;
}

/// Along one path: as early as no access can follow, and not where one still can.
void check_optimal(const ThreadPaths& paths, const std::vector<std::uint32_t>& path,
                   const std::vector<RelsspPoint>& points) {
  const std::vector<std::size_t> executed = ThreadPaths::executed(path, points);
  std::size_t first_safe = 0;
  while (first_safe < path.size() && paths.may_access(path[first_safe])) ++first_safe;
  // The path leaves at a guarded exit, and a thread that stays may access the common part.
  if (first_safe == path.size()) {
    REQUIRE(paths.is_guarded(path.back()));
    REQUIRE(executed.empty());
    return;
  }
  REQUIRE(executed == std::vector<std::size_t>{first_safe});
}

/// Which block a relssp that every thread passes once belongs to; -1: there is none. By the paths alone.
std::int32_t first_common_block(const trace::Kernel& kernel, const ThreadPaths& paths) {
  std::int32_t found = -1;
  std::size_t found_at = 0;
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
    const std::uint32_t first = kernel.blocks[b].first, last = first + kernel.blocks[b].count - 1;
    bool fits = true;
    for (const std::uint32_t n : paths.next(last)) fits = fits && !paths.may_access(n);
    for (const auto& path : paths.complete()) fits = fits && std::count(path.begin(), path.end(), first) == 1;
    if (!fits) continue;
    const auto& path = paths.complete().front();
    const auto at = static_cast<std::size_t>(std::find(path.begin(), path.end(), first) - path.begin());
    if (found < 0 || at < found_at) {
      found = static_cast<std::int32_t>(b);
      found_at = at;
    }
  }
  return found;
}

}  // namespace

TEST_CASE("relssp stands behind the last access of straight code") {
  ReleaseCode c;
  c.work();
  c.access();
  c.access();
  c.work();
  c.exit();
  const Placed p = place(c);
  CHECK(text(p.plan.optimal) == "3");
  CHECK(text(p.plan.postdom) == "3");
  CHECK(p.plan.layout.boundary == 0);
  CHECK(p.plan.layout.common_variables == std::vector<bool>{true});
  CHECK(p.plan.layout.common_accesses == std::vector<bool>{false, true, true, false, false});
  const trace::Kernel k = p.annotated();
  CHECK(release_error(k) == "");
  REQUIRE(k.inserted.size() == 2);
  CHECK(k.inserted[0].instruction.opcode == "relssp");
  CHECK(k.inserted[0].instruction.op_class == trace::OpClass::fence);
  CHECK(k.inserted[0].instruction.space == trace::MemorySpace::shared);
  CHECK(k.inserted[0].disposition == trace::Disposition::issue);
  CHECK(k.inserted[0].instruction.scheme == trace::relssp_optimal_scheme);
  CHECK(k.inserted[1].instruction.scheme == trace::relssp_postdom_scheme);
}

TEST_CASE("an arm without an access releases on its edge, which costs a jump") {
  ReleaseCode c;
  c.compare(0);       // 0
  c.branch(2, true);  // 1: past the access
  c.block();
  c.access();  // 2
  c.work();    // 3
  c.block();
  c.work();  // 4
  c.exit();  // 5
  const Placed p = place(c);
  CHECK(text(p.plan.optimal) == "3 1-4j");
  CHECK(p.plan.layout.optimal == 2);
  CHECK(p.plan.layout.optimal_jumps == 1);
  CHECK(text(p.plan.postdom) == "4");
  CHECK(release_error(p.annotated()) == "");
  // The jump is an instruction of its own, behind its relssp.
  const trace::Kernel k = p.annotated();
  REQUIRE(k.inserted.size() == 4);
  CHECK(k.inserted[1].instruction.opcode == "relssp");
  CHECK(k.inserted[2].instruction.opcode == "bra");
  CHECK(k.inserted[2].instruction.branch_target == 4);
  CHECK(k.inserted[2].after == 1);
  const std::vector<RelsspPoint> back = trace::relssp_points(k, trace::relssp_optimal_scheme);
  CHECK(text(back) == "3 1-4j");
}

TEST_CASE("a loop with an access is left with a relssp on its exit edge") {
  ReleaseCode c;
  c.work();  // 0
  c.block();
  c.access();         // 1
  c.compare(0);       // 2
  c.branch(1, true);  // 3
  c.block();
  c.work();  // 4
  c.exit();  // 5
  CHECK(text(place(c).plan.optimal) == "4");
  CHECK(text(place(c).plan.postdom) == "4");

  // Both ways out of the loop meet: the one that falls through has its relssp in line, the other a jump.
  ReleaseCode d;
  d.work();  // 0
  d.block();
  d.compare(0);       // 1
  d.branch(3, true);  // 2: out, to 6
  d.block();
  d.access();         // 3
  d.compare(0);       // 4
  d.branch(1, true);  // 5: again; falls out to 6
  d.block();
  d.work();  // 6
  d.exit();  // 7
  const Placed p = place(d);
  CHECK(text(p.plan.optimal) == "2-6j 5-6");
  CHECK(p.plan.layout.optimal_jumps == 1);
  CHECK(text(p.plan.postdom) == "6");
  CHECK(release_error(p.annotated()) == "");
}

TEST_CASE("an access that ends its block releases on the edge if the next block has other ways in") {
  ReleaseCode c;
  c.compare(0);       // 0
  c.branch(2, true);  // 1
  c.block();
  c.access();  // 2, falls through to 3
  c.block();
  c.work();  // 3
  c.exit();  // 4
  const Placed p = place(c);
  CHECK(text(p.plan.optimal) == "1-3j 2-3");
  CHECK(release_error(p.annotated()) == "");
}

TEST_CASE("threads that leave early need no relssp") {
  ReleaseCode c;
  c.compare(0);      // 0
  c.guarded_exit();  // 1
  c.block();
  c.access();  // 2
  c.work();    // 3
  c.exit();    // 4
  const Placed p = place(c);
  CHECK(text(p.plan.optimal) == "3");
  // No block is passed by all threads behind the access, so there is one in front of each unguarded exit.
  CHECK(text(p.plan.postdom) == "4");
  CHECK(release_error(p.annotated()) == "");
}

TEST_CASE("a kernel without common accesses releases at its start, unless that is in a loop") {
  ReleaseCode c;
  c.work();
  c.exit();
  CHECK(text(place(c).plan.optimal) == "0");
  CHECK(text(place(c).plan.postdom) == "0");

  ReleaseCode loop;
  loop.compare(0);
  loop.branch(0, true);
  loop.block();
  loop.exit();
  CHECK(text(place(loop).plan.optimal) == "");
  CHECK(text(place(loop).plan.postdom) == "2");
  CHECK(release_error(place(loop).annotated()) == "");

  // Without shared memory there is nothing to release.
  ReleaseCode none;
  none.f.shared_variables.clear();
  none.f.static_shared_bytes = 0;
  none.work();
  none.exit();
  CHECK(place(none).plan.optimal.empty());
  CHECK(place(none).plan.postdom.empty());
}

TEST_CASE("threads that never leave need no post-dominating relssp") {
  ReleaseCode c;
  c.access();         // 0
  c.branch(3, true);  // 1: to the endless loop, which the others may enter too
  c.block();
  c.work();           // 2
  c.branch(3, true);  // 3
  c.block();
  c.exit();  // 4
  c.block();
  c.work();            // 5
  c.branch(3, false);  // 6
  const Placed p = place(c);
  CHECK(text(p.plan.optimal) == "1");
  CHECK(text(p.plan.postdom) == "1");
  CHECK(release_error(p.annotated()) == "");

  ReleaseCode d;
  d.compare(0);       // 0
  d.branch(3, true);  // 1: past the access, for ever
  d.block();
  d.access();         // 2
  d.branch(3, true);  // 3: likewise
  d.block();
  d.exit();  // 4
  d.block();
  d.branch(3, false);  // 5
  const Placed q = place(d);
  CHECK(text(q.plan.optimal) == "3 1-5j");
  CHECK(text(q.plan.postdom) == "3");
  CHECK(release_error(q.annotated()) == "");
}

TEST_CASE("relssp on every path of random kernels: once, behind the last access, and no later than needed") {
  std::mt19937 random(28);
  std::size_t paths_seen = 0, with_edges = 0, with_jumps = 0, early_leaves = 0, one_block = 0, fallbacks = 0,
              cycles = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    ReleaseCode c = random_release_code(random);
    const Placed p = place(c);
    const trace::Kernel& k = p.kernel;
    const ThreadPaths paths(k, p.plan.layout.common_accesses);
    CAPTURE(round, text(p.plan.optimal), text(p.plan.postdom));
    paths_seen += paths.complete().size();

    const bool any_access = paths.may_access(0);
    const bool starts_in_loop = paths.ways_to(0) > 1;
    if (!any_access) {
      REQUIRE(text(p.plan.optimal) == (starts_in_loop ? "" : "0"));
    } else {
      for (const auto& path : paths.complete()) {
        check_optimal(paths, path, p.plan.optimal);
        early_leaves += paths.may_access(path.back()) ? 1 : 0;
        cycles += std::set<std::uint32_t>(path.begin(), path.end()).size() != path.size() ? 1 : 0;
      }
    }
    for (const RelsspPoint& point : p.plan.optimal) {
      // An edge is split only where other ways lead to its end, and a jump is needed only from a taken branch.
      if (point.after >= 0) {
        REQUIRE(paths.ways_to(point.before) > 1);
        REQUIRE(paths.next(static_cast<std::uint32_t>(point.after)).count(point.before) == 1);
      }
      REQUIRE(point.jump == (point.after >= 0 && point.before != static_cast<std::uint32_t>(point.after) + 1));
      with_edges += point.after >= 0 ? 1 : 0;
      with_jumps += point.jump ? 1 : 0;
    }

    if (!paths.complete().empty()) {
      const std::int32_t block = first_common_block(k, paths);
      block >= 0 ? ++one_block : ++fallbacks;
      for (const auto& path : paths.complete()) {
        const std::vector<std::size_t> executed = ThreadPaths::executed(path, p.plan.postdom);
        // Without a block that all threads pass, those that leave at guarded exits have none.
        const bool expects_one = block >= 0 || !paths.is_guarded(path.back());
        REQUIRE(executed.size() == (expects_one ? 1 : 0));
        if (!expects_one) continue;
        for (std::size_t at = executed[0]; at < path.size(); ++at)
          REQUIRE_FALSE(p.plan.layout.common_accesses[path[at]]);
      }
      if (block >= 0) {
        REQUIRE(p.plan.postdom.size() == 1);
        const trace::BasicBlock& b = k.blocks[static_cast<std::size_t>(block)];
        std::uint32_t expected = b.first;
        for (std::uint32_t i = b.first; i < b.first + b.count; ++i)
          if (p.plan.layout.common_accesses[i]) expected = i + 1;
        REQUIRE(p.plan.postdom[0].before == expected);
      }
    }
    REQUIRE(release_error(p.annotated()) == "");
  }
  // The cases are there.
  CHECK(paths_seen > 10000);
  CHECK(with_edges > 400);
  CHECK(with_jumps > 250);
  CHECK(early_leaves > 100);
  CHECK(one_block > 500);
  CHECK(fallbacks > 200);
  CHECK(cycles > 1000);
}

TEST_CASE("verification refuses relssp that are missing, doubled or too early") {
  std::mt19937 random(29);
  unsigned refused = 0;
  for (unsigned round = 0; round < 300; ++round) {
    ReleaseCode c = random_release_code(random);
    Placed p = place(c);
    const ThreadPaths paths(p.kernel, p.plan.layout.common_accesses);
    if (paths.complete().empty() || !paths.may_access(0)) continue;
    CAPTURE(round, text(p.plan.optimal));
    // One relssp at the start as well: every thread with a second one, or an access behind the first, is refused.
    p.plan.optimal.insert(p.plan.optimal.begin(), {0, -1, false});
    ++p.plan.layout.optimal;
    REQUIRE(release_error(p.annotated()).rfind("sharing: relssp_optimal: instruction ", 0) == 0);
    ++refused;
  }
  CHECK(refused > 100);

  ReleaseCode c;
  c.compare(0);
  c.branch(2, true);
  c.block();
  c.access();
  c.work();
  c.block();
  c.work();
  c.exit();
  const Placed good = place(c);
  Placed missing = good;
  missing.plan.optimal.pop_back();
  missing.plan.layout.optimal = 1;
  missing.plan.layout.optimal_jumps = 0;
  CHECK(release_error(missing.annotated()) ==
        "sharing: relssp_optimal: instruction 5 ends a thread that executed no relssp");
  Placed early = good;
  early.plan.optimal[0].before = 2;
  CHECK(release_error(early.annotated()) ==
        "sharing: relssp_optimal: instruction 2 may access the common part after a relssp");
  Placed late = good;
  late.plan.postdom[0].before = 3;
  CHECK(release_error(late.annotated()) ==
        "sharing: relssp_postdom: instruction 5 ends a thread that executed no relssp");
  Placed twice = good;
  twice.plan.postdom.push_back({5, -1, false});
  twice.plan.layout.postdom = 2;
  CHECK(release_error(twice.annotated()) == "sharing: relssp_postdom: instruction 5 follows a second relssp");
  Placed uncounted = good;
  uncounted.plan.layout.postdom = 7;
  CHECK(release_error(uncounted.annotated()) ==
        "sharing: 2 relssp with 1 jumps and 1 relssp, the section has 2 with 1 and 7");
  // Instructions without the section.
  trace::Kernel bare = good.annotated();
  bare.annotations.clear();
  CHECK(release_error(bare) == "sharing: instructions of scheme relssp_optimal, and no section of version 1");
  trace::Kernel removed = good.annotated();
  removed.inserted[0].disposition = trace::Disposition::decode;
  CHECK(release_error(removed) ==
        "sharing: an inserted instruction that is removed at decode, expected one that issues");
  trace::Kernel other = good.annotated();
  other.inserted[0].instruction.opcode = "acquire";
  CHECK(release_error(other) == "sharing: an inserted instruction 'acquire', expected relssp or bra");
}
