// SPDX-License-Identifier: Apache-2.0
#include <regatta/aging/unit_operations.h>

#include <cstdio>

namespace regatta::models::aging {

namespace {

std::string hex_of(std::uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}

template <class Components>
std::string list_of(const Components& components, unsigned lanes) {
  std::string text = "components 0-" + std::to_string(lanes - 1) + ":";
  for (unsigned i = 0; i < lanes; ++i) text += " " + hex_of(components[i]);
  return text;
}

std::string text_of(const DeltaCode& code) {
  return "base " + hex_of(code.base) + ", codes of element and block delta " + std::to_string(code.element) + ", " +
         std::to_string(code.block);
}

constexpr const char* knob_block = "compression";

}  // namespace

std::string describe(const CompressionOperation& operation) { return list_of(operation.components, operation.lanes); }

std::string describe(const CompressionVerdict& verdict) {
  return (verdict.compressible ? "compressible, " + text_of(verdict.code) : "not compressible") + ", after " +
         std::to_string(verdict.beats) + " sub-wavefronts";
}

std::string describe(const DecompressionRequest& request) {
  return text_of(request.code) + ", " + std::to_string(request.lanes) + " lanes";
}

std::string describe(const DecompressedRegister& value) { return list_of(value.components, most_lanes); }

cosim::TwinKinds<CompressionOperation, CompressionVerdict, UnitShape>& compression_twins() {
  static cosim::TwinKinds<CompressionOperation, CompressionVerdict, UnitShape> kinds(knob_block);
  return kinds;
}

cosim::TwinKinds<DecompressionRequest, DecompressedRegister, UnitShape>& decompression_twins() {
  static cosim::TwinKinds<DecompressionRequest, DecompressedRegister, UnitShape> kinds(knob_block);
  return kinds;
}

}  // namespace regatta::models::aging
