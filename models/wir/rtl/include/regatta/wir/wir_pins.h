// SPDX-License-Identifier: Apache-2.0
//
// The pins of vsb.sv and reuse_buffer.sv. `Top`: the Verilated class.
#pragma once

#include <regatta/cosim/verilated_pins.h>
#include <regatta/wir/reuse_operations.h>
#include <regatta/wir/vsb_operations.h>

#include <cstddef>
#include <cstring>
#include <memory>

namespace regatta::models::wir {

template <class Top>
class VsbPins final : public cosim::VerilatedPins<Top, VsbOperation, VsbResult> {
 public:
  using cosim::VerilatedPins<Top, VsbOperation, VsbResult>::VerilatedPins;
  void drive_request(const VsbOperation* operation) override {
    Top& top = this->top();
    top.req_valid = operation != nullptr;
    if (operation == nullptr) return;
    top.req_op = static_cast<unsigned char>(operation->kind);
    std::memcpy(&top.req_value[0], operation->value.data(), sizeof top.req_value);
    top.req_hash = operation->hash;
    top.req_register = operation->reg.value();
  }
  void read_answer(VsbResult& result) const override {
    const Top& top = this->top();
    result.hash = top.rsp_hash;
    result.reg = top.rsp_found != 0 ? PhysicalRegister(top.rsp_register) : no_register;
  }
};

template <class Top>
class ReusePins final : public cosim::VerilatedPins<Top, ReuseOperation, ReuseOutcome> {
 public:
  using cosim::VerilatedPins<Top, ReuseOperation, ReuseOutcome>::VerilatedPins;
  void drive_request(const ReuseOperation* operation) override {
    Top& top = this->top();
    top.req_valid = operation != nullptr;
    if (operation == nullptr) return;
    const ReuseTag& tag = operation->tag;
    top.req_op = static_cast<unsigned char>(operation->kind);
    top.req_place = static_cast<unsigned char>(operation->fold);
    static_assert(sizeof top.req_tag == 20 && before_block == 16, "136 bits: opcode, six registers; barriers");
    std::memcpy(&top.req_tag[0], &tag, before_block);
    top.req_tag[before_block / 4] = tag.barriers;
    top.req_block = tag.block;
    top.req_owner = operation->owner;
    top.req_result = static_cast<IData>(operation->result[0].value()) | static_cast<IData>(operation->result[1].value())
                                                                            << 16;
  }
  void read_answer(ReuseOutcome& outcome) const override {
    const Top& top = this->top();
    outcome = {};
    outcome.found = static_cast<ReuseEntries::Found>(top.rsp_outcome);
    if (top.rsp_dropped != 0) {
      std::memcpy(static_cast<void*>(&outcome.tag), &top.rsp_tag[0], before_block);
      outcome.tag.barriers = static_cast<std::uint8_t>(top.rsp_tag[before_block / 4]);
      outcome.tag.block = top.rsp_block;
    }
    if (outcome.found == ReuseEntries::Found::result) {
      outcome.result[0] = PhysicalRegister(static_cast<std::uint16_t>(top.rsp_result));
      outcome.result[1] = PhysicalRegister(static_cast<std::uint16_t>(top.rsp_result >> 16));
    }
  }

 private:
  static constexpr std::size_t before_block = offsetof(ReuseTag, block);
};

/// A factory of instances of `Top`'s pins, for a transactor.
template <class Top>
cosim::PinsFactory<VsbOperation, VsbResult> vsb_pins_of() {
  return [](bool recorded) -> std::unique_ptr<cosim::Pins<VsbOperation, VsbResult>> {
    return std::make_unique<VsbPins<Top>>(recorded);
  };
}
template <class Top>
cosim::PinsFactory<ReuseOperation, ReuseOutcome> reuse_pins_of() {
  return [](bool recorded) -> std::unique_ptr<cosim::Pins<ReuseOperation, ReuseOutcome>> {
    return std::make_unique<ReusePins<Top>>(recorded);
  };
}

}  // namespace regatta::models::wir
