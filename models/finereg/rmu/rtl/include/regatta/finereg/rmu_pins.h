// SPDX-License-Identifier: Apache-2.0
//
// The pins of rmu.sv. `Top`: the Verilated class.
#pragma once

#include <regatta/cosim/verilated_pins.h>
#include <regatta/finereg/operations.h>

#include <memory>

namespace regatta::models {

template <class Top>
class RmuPins final : public cosim::VerilatedPins<Top, RmuOperation, RmuResult> {
 public:
  using cosim::VerilatedPins<Top, RmuOperation, RmuResult>::VerilatedPins;
  void drive_request(const RmuOperation* operation) override {
    Top& top = this->top();
    top.req_valid = operation != nullptr;
    if (operation == nullptr) return;
    top.req_op = static_cast<unsigned char>(operation->kind);
    top.req_index = operation->index;
    top.req_set = operation->set;
    top.req_vector = operation->vector;
    top.req_warp = operation->warp;
    top.req_register = operation->reg;
  }
  void read_answer(RmuResult& result) const override {
    const Top& top = this->top();
    result.ok = top.rsp_ok != 0;
    result.reg = top.rsp_register;
    result.entry = top.rsp_entry;
    result.count = top.rsp_count;
    result.vector = top.rsp_vector;
    const std::uint32_t tag = top.rsp_tag;  // from bit 0 on: 6 bits register, 5 warp, 10 next, end, valid
    result.tag.reg = static_cast<std::uint8_t>(tag & 63);
    result.tag.warp = static_cast<std::uint8_t>(tag >> 6 & 31);
    result.tag.next = static_cast<std::uint16_t>(tag >> 11 & 1023);
    result.tag.end = (tag >> 21 & 1) != 0;
    result.tag.valid = (tag >> 22 & 1) != 0;
  }
};

/// A factory of instances, for a transactor.
template <class Top>
cosim::PinsFactory<RmuOperation, RmuResult> rmu_pins_of() {
  return [](bool recorded) -> std::unique_ptr<cosim::Pins<RmuOperation, RmuResult>> {
    return std::make_unique<RmuPins<Top>>(recorded);
  };
}

}  // namespace regatta::models
