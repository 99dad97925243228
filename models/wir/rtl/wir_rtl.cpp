// SPDX-License-Identifier: Apache-2.0
#include <regatta/cosim/direct_transactor.h>
#include <regatta/wir/wir_pins.h>
#include <regatta/wir/wir_rtl.h>

#include "reuse_rtl.h"
#include "vsb_rtl32.h"
#include "vsb_rtl64.h"

namespace regatta::models::wir {

namespace {

[[noreturn]] void refuse(const char* block, const std::string& found, const std::string& expected) {
  throw support::ConfigError("configuration: " + std::string(block) + ".implementation is one in RTL, and " + found +
                             "; expected " + expected + ", which it is built for");
}

void check_signature_shape(const VsbShape& s) {
  const char* const block = "vsb";
  if (s.entries == 0) refuse(block, "this configuration has no value signature buffer", "256 entries");
  if (s.entries != rtl_entries) {
    refuse(block, "vsb.entries = " + std::to_string(s.entries), std::to_string(rtl_entries));
  }
  if (s.hash_bits != rtl_hash_bits) {
    refuse(block, "wir.hash_bits = " + std::to_string(s.hash_bits), std::to_string(rtl_hash_bits));
  }
  if (s.lanes != 32 && s.lanes != 64) refuse(block, "sm.lanes = " + std::to_string(s.lanes), "32 or 64");
}

void check_reuse_shape(const ReuseShape& s) {
  const char* const block = "reuse_buffer";
  if (s.entries == 0) refuse(block, "this configuration has no reuse buffer", "256 entries");
  if (s.associative) refuse(block, "reuse_buffer.associative = true", "false: it is directly indexed");
  if (s.entries != rtl_entries) {
    refuse(block, "reuse_buffer.entries = " + std::to_string(s.entries), std::to_string(rtl_entries));
  }
}

}  // namespace

VsbPinsFactory vsb_rtl(unsigned lanes) { return lanes == 64 ? vsb_pins_of<vsb_rtl64>() : vsb_pins_of<vsb_rtl32>(); }

ReusePinsFactory reuse_rtl() { return reuse_pins_of<::reuse_rtl>(); }

void add_signature_twins(const std::function<VsbPinsFactory(unsigned lanes)>& pins, const std::string& prefix) {
  cosim::add_rtl_twins(
      vsb_twin_kinds(), check_signature_shape, [pins](const VsbShape& s) { return pins(s.lanes); }, vsb_rtl_edges,
      prefix);
}

void add_reuse_twins(const ReusePinsFactory& pins, const std::string& prefix) {
  cosim::add_rtl_twins(
      reuse_twin_kinds(), check_reuse_shape, [pins](const ReuseShape&) { return pins; }, reuse_rtl_edges, prefix);
}

void add_wir_rtl() {
  add_signature_twins(vsb_rtl);
  add_reuse_twins(reuse_rtl());
}

}  // namespace regatta::models::wir
