// SPDX-License-Identifier: Apache-2.0
//
// The source lines of a module's code, from its .loc and .file directives.
#pragma once

#include "ast.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regatta::ptx {

/// Whether a file is a header of CUDA, clang or the system, in which no user looks for a line of a kernel. A PTX file
/// may name headers of CUDA without their folders.
bool is_toolkit_header(const std::string& path);

/// Collects the places that .loc directives state. Code of an inlined function has two or more: `inlined_at` states the
/// place of its call, and if the caller is inlined too, the last .loc at that place says where. nvcc repeats the .loc
/// of the callers in front of that of the code.
class SourcePlaces {
 public:
  /// As in .file and .loc.
  struct Position {
    std::uint64_t file = 0, line = 0, column = 0;
  };

  void begin_function();
  void add(const Position& at);
  void add_inlined(const Position& at, const Position& call);
  /// A number for the place of the last .loc.
  std::uint32_t current() const { return current_; }
  /// The places by their numbers. The source of code is its innermost place in a file that is no toolkit header, as
  /// profilers have it; its caller is the outermost one. `index` maps .file numbers to `files`.
  std::vector<SourcePlace> resolve(const std::map<std::uint64_t, std::uint32_t>& index,
                                   const std::vector<std::string>& files) const;

 private:
  struct Place {
    std::uint64_t file = 0;
    std::uint32_t line = 0;
    std::uint32_t caller = 0;  ///< a number; 0: none
  };
  std::uint32_t put(const Position& at, std::uint32_t caller);

  std::vector<Place> places_{Place{}};                          ///< the first is unknown
  std::map<std::array<std::uint64_t, 3>, std::uint32_t> last_;  ///< of the function: the last place there
  std::uint32_t current_ = 0;
};

}  // namespace regatta::ptx
