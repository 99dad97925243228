// SPDX-License-Identifier: Apache-2.0
//
// What is known of a launch without simulating it: the mix of its instructions, its memory footprint and how regular
// its values are. Launches with equal signatures are alike for most machines, so a sample of launches is drawn by them.
#pragma once

#include <regatta/trace/types.h>

#include <array>
#include <cstdint>
#include <memory>

namespace regatta::trace {

struct Cta;
struct WarpColumns;
struct Kernel;
class Reader;

/// Names of the value kinds (warp_stream.h), in their order: "none", "constant", ... "raw".
inline constexpr unsigned value_kind_count = 7;
const char* value_kind_name(unsigned kind);

/// Sums over the traced CTAs of a launch.
struct LaunchSignature {
  /// Line size of `lines` and `requests`, whatever the machine's is.
  static constexpr unsigned line_bytes = 128;

  std::array<std::uint64_t, op_class_count> classes{};   ///< warp instructions by OpClass
  std::array<std::uint64_t, value_kind_count> values{};  ///< register results by ValueKind
  std::uint64_t lines = 0;                               ///< distinct lines of global memory
  std::uint64_t requests = 0;                            ///< lines touched by each warp instruction, summed
  std::uint64_t bytes = 0;                               ///< moved from and to global memory by active lanes

  friend bool operator==(const LaunchSignature& a, const LaunchSignature& b) {
    return a.classes == b.classes && a.values == b.values && a.lines == b.lines && a.requests == b.requests &&
           a.bytes == b.bytes;
  }
};

/// Builds a launch's signature CTA by CTA.
class SignatureBuilder {
 public:
  SignatureBuilder();
  ~SignatureBuilder();
  SignatureBuilder(const SignatureBuilder&) = delete;
  SignatureBuilder& operator=(const SignatureBuilder&) = delete;

  /// Throws InputError for malformed columns.
  void add(const Cta& cta, const Kernel& kernel);
  /// The next segment of warp `columns.warp` of the CTA that is added next.
  void add_segment(WarpColumns&& columns, const Kernel& kernel);
  /// The signature of the CTAs so far; the next add() begins another launch.
  LaunchSignature finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The signature of a launch: as the trace has it, else by a pass over the launch's CTAs.
LaunchSignature signature_of(const Reader& reader, std::size_t launch);

}  // namespace regatta::trace
