// SPDX-License-Identifier: Apache-2.0
//
// The pins of compressor_matcher.sv and compressor_expander.sv. `Top`: the Verilated class.
#pragma once

#include <regatta/cosim/verilated_pins.h>
#include <regatta/regless/units.h>

#include <cstring>
#include <memory>

namespace regatta::models {

template <class Top>
class MatcherPins final : public cosim::VerilatedPins<Top, WarpValue, CompressedValue> {
 public:
  using cosim::VerilatedPins<Top, WarpValue, CompressedValue>::VerilatedPins;
  void drive_request(const WarpValue* value) override {
    Top& top = this->top();
    top.req_valid = value != nullptr;
    if (value != nullptr) std::memcpy(&top.req_lanes[0], value->data(), sizeof *value);
  }
  void read_answer(CompressedValue& answer) const override {
    const Top& top = this->top();
    answer.pattern = static_cast<Pattern>(top.rsp_pattern);
    for (unsigned i = 0; i < slot_bytes; ++i) answer.slot[i] = static_cast<unsigned char>(top.rsp_slot >> (8 * i));
  }
};

template <class Top>
class ExpanderPins final : public cosim::VerilatedPins<Top, CompressedValue, WarpValue> {
 public:
  using cosim::VerilatedPins<Top, CompressedValue, WarpValue>::VerilatedPins;
  void drive_request(const CompressedValue* value) override {
    Top& top = this->top();
    top.req_valid = value != nullptr;
    if (value == nullptr) return;
    top.req_pattern = static_cast<unsigned char>(value->pattern);
    top.req_slot = 0;
    for (unsigned i = 0; i < slot_bytes; ++i) {
      top.req_slot |= static_cast<QData>(value->slot[i]) << (8 * i);
    }
  }
  void read_answer(WarpValue& lanes) const override {
    std::memcpy(lanes.data(), &this->top().rsp_lanes[0], sizeof lanes);
  }
};

/// A factory of instances of `P`, for a transactor.
template <class P, class Request, class Answer>
cosim::PinsFactory<Request, Answer> pins_of() {
  return [](bool recorded) -> std::unique_ptr<cosim::Pins<Request, Answer>> { return std::make_unique<P>(recorded); };
}
template <class Top>
cosim::PinsFactory<WarpValue, CompressedValue> matcher_pins_of() {
  return pins_of<MatcherPins<Top>, WarpValue, CompressedValue>();
}
template <class Top>
cosim::PinsFactory<CompressedValue, WarpValue> expander_pins_of() {
  return pins_of<ExpanderPins<Top>, CompressedValue, WarpValue>();
}

}  // namespace regatta::models
