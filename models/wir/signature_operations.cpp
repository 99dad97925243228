// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/signature_operations.h>

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

SignatureOperation SignatureOperation::find(const std::uint32_t* value, unsigned lanes) {
  SignatureOperation operation;
  std::copy_n(value, lanes, operation.value.begin());
  return operation;
}

std::string describe(const SignatureOperation& operation) {
  using Kind = SignatureOperation::Kind;
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

std::string describe(const SignatureResult& result) {
  return "hash " + hexadecimal(result.hash) + ", " +
         (result.reg == no_register ? "no register" : "register " + std::to_string(result.reg.value()));
}

SignatureResult perform(const H3Hash& hash, SignatureEntries& entries, const SignatureOperation& operation) {
  using Kind = SignatureOperation::Kind;
  SignatureResult result;
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

SignatureTwinKinds& signature_twin_kinds() {
  static SignatureTwinKinds kinds("value_signature_buffer");
  return kinds;
}

}  // namespace regatta::models::wir
