// SPDX-License-Identifier: Apache-2.0
//
// The pins of matcher_serial.sv. `Top`: the class that Verilator made of it.
#pragma once

#include <regatta/cosim/verilated_pins.h>
#include <regatta/regless/units.h>

#include <cstring>
#include <memory>

namespace serial {

using regatta::models::CompressedValue;
using regatta::models::WarpValue;

/// VerilatedPins drives clock, reset, valid and ready. What a request and an answer are is left to say.
template <class Top>
class SerialPins final : public regatta::cosim::VerilatedPins<Top, WarpValue, CompressedValue> {
 public:
  using regatta::cosim::VerilatedPins<Top, WarpValue, CompressedValue>::VerilatedPins;

  void drive_request(const WarpValue* value) override {
    Top& top = this->top();
    top.req_valid = value != nullptr;
    if (value != nullptr) std::memcpy(&top.req_lanes[0], value->data(), sizeof *value);
  }
  void read_answer(CompressedValue& answer) const override {
    const Top& top = this->top();
    answer.pattern = static_cast<regatta::models::Pattern>(top.rsp_pattern);
    for (unsigned i = 0; i < answer.slot.size(); ++i) {
      answer.slot[i] = static_cast<unsigned char>(top.rsp_slot >> (8 * i));
    }
  }
};

/// Makes instances for a transactor, whatever latency the knobs have: the RTL has its own.
template <class Top>
regatta::cosim::PinsFactory<WarpValue, CompressedValue> pins(unsigned /*latency*/) {
  return [](bool recorded) { return std::make_unique<SerialPins<Top>>(recorded); };
}

}  // namespace serial
