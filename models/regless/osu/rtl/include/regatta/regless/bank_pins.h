// SPDX-License-Identifier: Apache-2.0
//
// The pins of osu_bank.sv. `Top`: the Verilated class.
#pragma once

#include <regatta/cosim/verilated_pins.h>
#include <regatta/regless/bank_twin.h>

#include <memory>

namespace regatta::models {

using BankPinsFactory = cosim::PinsFactory<BankOperation, BankResult>;

template <class Top>
class BankPins final : public cosim::VerilatedPins<Top, BankOperation, BankResult> {
 public:
  using cosim::VerilatedPins<Top, BankOperation, BankResult>::VerilatedPins;
  void drive_request(const BankOperation* operation) override {
    Top& top = this->top();
    top.req_valid = operation != nullptr;
    if (operation == nullptr) return;
    top.req_op = static_cast<CData>(operation->kind);
    top.req_flags = operation->flags;
    top.req_line = static_cast<CData>(operation->line);
    top.req_warp = static_cast<CData>(operation->warp);
    top.req_register = operation->reg;
  }
  void read_answer(BankResult& result) const override {
    const Top& top = this->top();
    result.found = top.rsp_found != 0;
    result.lost = top.rsp_lost != 0;
    result.list = static_cast<BankList>(top.rsp_list);
    result.line = top.rsp_line;
    result.warp = top.rsp_warp;
    result.reg = top.rsp_register;
  }
};

template <class Top>
BankPinsFactory bank_pins_of() {
  return [](bool recorded) -> std::unique_ptr<cosim::Pins<BankOperation, BankResult>> {
    return std::make_unique<BankPins<Top>>(recorded);
  };
}

}  // namespace regatta::models
