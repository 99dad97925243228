// SPDX-License-Identifier: Apache-2.0
//
// The paths of a warp's lanes, from what the tracer knows: PCs, and the lanes that executed each instruction. The
// tracer does not say which of the other lanes were there and switched off by a guard, nor where a branch leads.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "sass.h"

namespace regatta::import {

/// What a path depends on, by static index.
struct FlowCode {
  struct Line {
    Control control = Control::none;
    std::uint32_t target = 0;  ///< of a branch: where most of its lanes go
    bool one_target = true;    ///< all of them, as far as was seen
    bool leads = false;        ///< control comes here from elsewhere
  };
  std::vector<Line> lines;
};

/// One executed instruction.
struct Step {
  std::uint32_t index = 0;
  std::uint32_t mask = 0;  ///< lanes that execute it
};

/// Lanes of a branch that go elsewhere than to its target.
struct Departure {
  std::size_t step = 0;  ///< of the branch
  std::uint32_t lanes = 0;
  std::uint32_t to = 0;
};

struct WarpPath {
  std::vector<std::uint32_t> lanes;   ///< by step: those on the path; the others of them are switched off by the guard
  std::vector<Departure> departures;  ///< ascending steps
};

/// Steps that no control flow explains.
class PathError : public std::runtime_error {
 public:
  PathError(std::size_t step, const std::string& what) : std::runtime_error(what), step_(step) {}
  std::size_t step() const { return step_; }

 private:
  std::size_t step_;
};

/// The rules (README.md, "Paths"): lanes stay together until a branch or an exit parts them; they go together from
/// where one part finds another that waits there, if a later instruction shows lanes of both. Throws PathError.
class PathFinder {
 public:
  explicit PathFinder(const FlowCode& code) : code_(code) {}
  /// `threads`: the lanes that exist. `out`: its memory is used again.
  void find(const std::vector<Step>& steps, std::uint32_t threads, WarpPath& out);

 private:
  /// Lanes that go on together.
  struct Group {
    std::uint32_t lanes = 0;
    std::uint32_t next = 0;
    bool fresh = true;       ///< parted at the last instruction
    bool guessed = false;    ///< its lanes took a branch, and may have gone elsewhere
    bool sure = true;        ///< they have not, as far as was seen
    std::size_t branch = 0;  ///< the step of that branch
  };
  /// Steps from `begin` to before `end`, without a branch or a meeting point between.
  struct Segment {
    std::size_t begin = 0, end = 0;
    std::uint32_t lanes = 0;  ///< that execute some of it
    std::uint32_t index = 0;  ///< of its first step
  };
  void cut(const std::vector<Step>& steps);
  std::uint32_t arrivals(std::size_t segment);
  void depart(Group& group, std::uint32_t lanes, std::uint32_t to);
  std::uint32_t companions(const Group& group, std::size_t segment) const;
  bool waits(const Group& group, std::size_t segment) const;
  void leave(const Step& last, std::size_t step, std::uint32_t path);
  [[noreturn]] void astray(const Segment& s, std::uint32_t lanes) const;

  const FlowCode& code_;
  std::vector<Segment> segments_;
  std::vector<Group> groups_;
  std::vector<Departure>* departures_ = nullptr;
};

}  // namespace regatta::import
