// SPDX-License-Identifier: Apache-2.0
//
// What the compression and the decompression unit are asked and answer, by value: for their twins in RTL.
#pragma once

#include <regatta/aging/delta_code.h>
#include <regatta/cosim/twin.h>

#include <array>
#include <cstdint>
#include <string>

namespace regatta::models::aging {

inline constexpr unsigned most_lanes = 64;

/// A register leaves its SIMD unit.
struct CompressionOperation {
  std::array<std::uint32_t, most_lanes> components{};
  unsigned lanes = most_lanes;  ///< 32 or 64; further components are 0
  friend bool operator==(const CompressionOperation& a, const CompressionOperation& b) {
    return a.lanes == b.lanes && a.components == b.components;
  }
};
struct CompressionVerdict {
  bool compressible = false;
  DeltaCode code;      ///< if it is
  unsigned beats = 0;  ///< sub-wavefronts that have passed the unit when the verdict is known
  friend bool operator==(const CompressionVerdict& a, const CompressionVerdict& b) {
    return a.compressible == b.compressible && a.code == b.code && a.beats == b.beats;
  }
};

/// A register is read from its table entry.
struct DecompressionRequest {
  DeltaCode code;
  unsigned lanes = most_lanes;  ///< 32 or 64
  friend bool operator==(const DecompressionRequest& a, const DecompressionRequest& b) {
    return a.lanes == b.lanes && a.code == b.code;
  }
};
struct DecompressedRegister {
  std::array<std::uint32_t, most_lanes> components{};  ///< 0 beyond the register's lanes
  friend bool operator==(const DecompressedRegister& a, const DecompressedRegister& b) {
    return a.components == b.components;
  }
};

/// A line of text for the report of a difference.
std::string describe(const CompressionOperation& operation);
std::string describe(const CompressionVerdict& verdict);
std::string describe(const DecompressionRequest& request);
std::string describe(const DecompressedRegister& value);

/// The size of both units: the lanes of the machine.
struct UnitShape {
  unsigned lanes = most_lanes;
};
using CompressionTwin = cosim::OperationTwin<CompressionOperation, CompressionVerdict>;
using DecompressionTwin = cosim::OperationTwin<DecompressionRequest, DecompressedRegister>;
/// What --compression.implementation selects from, for both units. A program adds its own before it reads options.
cosim::TwinKinds<CompressionOperation, CompressionVerdict, UnitShape>& compression_twins();
cosim::TwinKinds<DecompressionRequest, DecompressedRegister, UnitShape>& decompression_twins();

}  // namespace regatta::models::aging
