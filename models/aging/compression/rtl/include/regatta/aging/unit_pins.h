// SPDX-License-Identifier: Apache-2.0
//
// The pins of compression_top.sv and decompression_top.sv. `Top`: the Verilated class.
#pragma once

#include <regatta/aging/compression_machine.h>
#include <regatta/aging/unit_operations.h>
#include <regatta/cosim/verilated_pins.h>

#include <cstring>
#include <memory>

namespace regatta::models::aging {

template <class Top>
class CompressionPins final : public cosim::VerilatedPins<Top, CompressionOperation, CompressionVerdict> {
 public:
  using cosim::VerilatedPins<Top, CompressionOperation, CompressionVerdict>::VerilatedPins;
  void drive_request(const CompressionOperation* operation) override {
    Top& top = this->top();
    top.req_valid = operation != nullptr;
    if (operation == nullptr) return;
    top.req_beats = operation->lanes / CompressionMachine::beat_lanes;
    std::memcpy(&top.req_components[0], operation->components.data(), sizeof operation->components);
  }
  void read_answer(CompressionVerdict& verdict) const override {
    const Top& top = this->top();
    verdict.compressible = top.rsp_compressible != 0;
    verdict.beats = top.rsp_beats;
    verdict.code = verdict.compressible ? DeltaCode{top.rsp_base, top.rsp_element, top.rsp_block} : DeltaCode{};
  }
};

template <class Top>
class DecompressionPins final : public cosim::VerilatedPins<Top, DecompressionRequest, DecompressedRegister> {
 public:
  using cosim::VerilatedPins<Top, DecompressionRequest, DecompressedRegister>::VerilatedPins;
  void drive_request(const DecompressionRequest* request) override {
    Top& top = this->top();
    top.req_valid = request != nullptr;
    if (request == nullptr) return;
    top.req_beats = request->lanes / CompressionMachine::beat_lanes;
    top.req_base = request->code.base;
    top.req_element = request->code.element;
    top.req_block = request->code.block;
  }
  void read_answer(DecompressedRegister& value) const override {
    std::memcpy(value.components.data(), &this->top().rsp_components[0], sizeof value.components);
  }
};

using CompressionPinsFactory = cosim::PinsFactory<CompressionOperation, CompressionVerdict>;
using DecompressionPinsFactory = cosim::PinsFactory<DecompressionRequest, DecompressedRegister>;

template <class Top>
CompressionPinsFactory compression_pins_of() {
  return [](bool recorded) { return std::make_unique<CompressionPins<Top>>(recorded); };
}
template <class Top>
DecompressionPinsFactory decompression_pins_of() {
  return [](bool recorded) { return std::make_unique<DecompressionPins<Top>>(recorded); };
}

}  // namespace regatta::models::aging
