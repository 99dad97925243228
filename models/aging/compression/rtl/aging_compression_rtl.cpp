// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/aging_compression_rtl.h>
#include <regatta/aging/unit_pins.h>
#include <regatta/cosim/direct_transactor.h>

#include "compression_unit_rtl.h"
#include "decompression_unit_rtl.h"

namespace regatta::models::aging {

namespace {

void check_lanes(const UnitShape& shape) {
  if (shape.lanes == 32 || shape.lanes == 64) return;
  throw support::ConfigError("configuration: compression.implementation is one in RTL, and a register has " +
                             std::to_string(shape.lanes) + " lanes; expected 32 or 64, which it is built for");
}

}  // namespace

unsigned compression_edges(const CompressionOperation&, const CompressionVerdict& verdict) { return 1 + verdict.beats; }

unsigned decompression_edges(const DecompressionRequest& request, const DecompressedRegister&) {
  return 1 + request.lanes / CompressionMachine::beat_lanes;
}

CompressionPinsFactory compression_rtl() { return compression_pins_of<compression_unit_rtl>(); }
DecompressionPinsFactory decompression_rtl() { return decompression_pins_of<decompression_unit_rtl>(); }

void add_unit_twins(const CompressionPinsFactory& compression, const DecompressionPinsFactory& decompression,
                    const std::string& prefix) {
  cosim::add_rtl_twins(
      compression_twins(), check_lanes, [compression](const UnitShape&) { return compression; }, 0, prefix,
      cosim::EdgesOf<CompressionOperation, CompressionVerdict>(compression_edges));
  cosim::add_rtl_twins(
      decompression_twins(), check_lanes, [decompression](const UnitShape&) { return decompression; }, 0, prefix,
      cosim::EdgesOf<DecompressionRequest, DecompressedRegister>(decompression_edges));
}

void add_aging_compression_rtl() { add_unit_twins(compression_rtl(), decompression_rtl(), ""); }

}  // namespace regatta::models::aging
