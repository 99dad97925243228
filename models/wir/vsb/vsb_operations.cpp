// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/vsb_operations.h>

#include <algorithm>
#include <cstdio>

namespace regatta::models::wir {

namespace {

std::string hexadecimal(std::uint32_t word) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", word);
  return text;
}

}  // namespace

VsbOperation VsbOperation::find(const std::uint32_t* value, unsigned lanes) {
  VsbOperation operation;
  std::copy_n(value, lanes, operation.value.begin());
  return operation;
}

std::string describe(const VsbOperation& operation) {
  using Kind = VsbOperation::Kind;
  switch (operation.kind) {
    case Kind::insert:
      return "insert register " + std::to_string(operation.reg.value()) + " for hash " + hexadecimal(operation.hash);
    case Kind::evict:
      return "evict the entry in the place of hash " + hexadecimal(operation.hash);
    case Kind::drop_first:
      return "drop the first entry";
    case Kind::find:
      break;
  }
  // Lanes above the last that is not 0 are left out.
  unsigned lanes = trace::max_lanes;
  while (lanes > 1 && operation.value[lanes - 1] == 0) --lanes;
  std::string text = "find the value with lanes 0-" + std::to_string(lanes - 1) + ":";
  for (unsigned i = 0; i < lanes; ++i) text += " " + hexadecimal(operation.value[i]);
  return text;
}

std::string describe(const VsbResult& result) {
  return "hash " + hexadecimal(result.hash) + ", " +
         (result.reg == no_register ? "no register" : "register " + std::to_string(result.reg.value()));
}

VsbResult perform(const H3Hash& hash, VsbEntries& entries, const VsbOperation& operation) {
  using Kind = VsbOperation::Kind;
  VsbResult result;
  result.hash = operation.hash;
  switch (operation.kind) {
    case Kind::find:
      result.hash = hash(operation.value.data());
      result.reg = entries.find(result.hash);
      break;
    case Kind::insert:
      result.reg = entries.insert(operation.hash, operation.reg);
      break;
    case Kind::evict:
      result.reg = entries.evict(operation.hash);
      break;
    case Kind::drop_first:
      result.reg = entries.drop_first();
      break;
  }
  return result;
}

VsbTwinKinds& vsb_twin_kinds() {
  static VsbTwinKinds kinds("vsb");
  return kinds;
}

}  // namespace regatta::models::wir
