// SPDX-License-Identifier: Apache-2.0
#include <regatta/cosim/twin.h>
#include <regatta/regless/units.h>

#include <cstdio>

namespace regatta::models {

namespace {

std::string hex(std::uint32_t word) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", word);
  return text;
}

CompressorUnits model_units(const CompressorUnitsConfig& c) {
  const std::string number = std::to_string(c.shard);
  auto matcher = std::make_unique<PatternMatcher>(("matcher" + number).c_str());
  auto expander = std::make_unique<PatternExpander>(("expander" + number).c_str());
  CompressorUnits units;
  units.matcher = &matcher->lookups;
  units.expander = &expander->lookups;
  units.modules.push_back(std::move(matcher));
  units.modules.push_back(std::move(expander));
  return units;
}

}  // namespace

std::string describe(const WarpValue& value) {
  std::string text = "lanes 0-31:";
  for (const std::uint32_t lane : value) text += " " + hex(lane);
  return text;
}

std::string describe(const CompressedValue& value) {
  std::string text = std::string(to_string(value.pattern)) + ", slot bytes 0-7:";
  for (const unsigned char byte : value.slot) text += " " + hex(byte).substr(6);
  return text;
}

std::map<std::string, CompressorImplementation>& compressor_implementations() {
  static std::map<std::string, CompressorImplementation> all{
      {"model", {[](const CompressorUnitsConfig&) {}, model_units}}};
  return all;
}

const CompressorImplementation& compressor_implementation(const std::string& name) {
  const auto found = compressor_implementations().find(name);
  if (found != compressor_implementations().end()) return found->second;
  cosim::no_implementation("compressor", name, compressor_implementations());
}

}  // namespace regatta::models
