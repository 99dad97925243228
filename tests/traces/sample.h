// SPDX-License-Identifier: Apache-2.0
// Random warps with a plain record of what they did, for comparison with what comes out of a trace.
#pragma once

#include <regatta/trace/warp_stream.h>

#include <random>
#include <string>
#include <vector>

namespace regatta::test {

using Random = std::mt19937_64;

/// One executed instruction, spelt out.
struct Step {
  std::uint32_t index = 0;
  trace::LaneMask simt = 0;
  trace::LaneMask active = 0;
  std::vector<trace::WarpValue> results;
  std::vector<trace::LaneMask> predicates;
  std::vector<std::uint64_t> addresses;  ///< empty or one per lane
  trace::LaneMask shared = 0;            ///< lanes that write shared memory
  std::vector<trace::WarpValue> stored;  ///< what that leaves there, if the kernel has shared values
  std::vector<trace::StackEvent> events;
};

/// A kernel with every sort of column: guards, several destinations, spaces with and without addresses; with 64 lanes,
/// what writes of shared memory leave there.
trace::Kernel sample_kernel(unsigned warp_size);
/// A value of a random sort: constant, stride, half-stride, narrow, raw; whatever in the inactive lanes.
trace::WarpValue random_value(Random& random, unsigned warp_size);
/// No lane, one lane, all lanes, or any.
trace::LaneMask random_mask(Random& random, unsigned warp_size);
std::vector<Step> random_steps(Random& random, const trace::Kernel& kernel, std::size_t count);
trace::WarpColumns encode(const trace::Kernel& kernel, const std::vector<Step>& steps);
/// The same in segments: `ends` has for each step whether a segment ends behind it; the last step ends one anyway.
trace::WarpColumns encode_in_segments(const trace::Kernel& kernel, const std::vector<Step>& steps,
                                      const std::vector<bool>& ends);
/// What differs between the steps and what a cursor says, "" if nothing.
std::string difference(const trace::Kernel& kernel, const trace::WarpColumns& columns, const std::vector<Step>& steps);

/// A directory of its own, removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A trace of two kernels (32 and 64 lanes) and three launches; `steps[cta][warp]` in file order if wanted.
void write_sample(const std::string& path, std::uint64_t seed,
                  std::vector<std::vector<std::vector<Step>>>* steps = nullptr);
/// The same with two further variants, "fewer" for the schemes a and b and "wide" for c.
void write_variants(const std::string& path, std::uint64_t seed);
std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, const std::string& bytes);

}  // namespace regatta::test
