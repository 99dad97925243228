// SPDX-License-Identifier: Apache-2.0
//
// Turns one instruction into an Op; used by decode(). What goes wrong throws trace::InputError with its place.
#pragma once

#include "decode.h"

namespace regatta::emulator {

class Decoder {
 public:
  Decoder(Program& program, const ir::Function& f, const ModuleImage& image)
      : program_(program), operands_(program, f, image) {}

  Op instruction(const ir::Instruction& i);

 private:
  void expect(const ir::Instruction& i, std::size_t destinations, std::size_t sources) const;
  void lane_destination(Op& op, const ir::Instruction& i, unsigned words);
  void bind(Op& op, const ir::Instruction& i, LaneKey key);
  void arithmetic(Op& op, const ir::Instruction& i);
  void bind_operands(Op& op, const ir::Instruction& i, const unsigned* words, std::size_t count);
  void compare(Op& op, const ir::Instruction& i);
  void select(Op& op, const ir::Instruction& i);
  void logic(Op& op, const ir::Instruction& i);
  void values(Op& op, const ir::Instruction& i, std::size_t first, unsigned words);
  void destinations(Op& op, const ir::Instruction& i);
  void pack(Op& op, const ir::Instruction& i);
  void memory(Op& op, const ir::Instruction& i);
  void load(Op& op, const ir::Instruction& i);
  void store(Op& op, const ir::Instruction& i);
  void atomic(Op& op, const ir::Instruction& i);
  void shuffle(Op& op, const ir::Instruction& i);
  void vote(Op& op, const ir::Instruction& i);
  void match(Op& op, const ir::Instruction& i);
  void redux(Op& op, const ir::Instruction& i);
  void elect(Op& op, const ir::Instruction& i);
  void texture(Op& op, const ir::Instruction& i);
  void texture_query(Op& op, const ir::Instruction& i);
  void surface(Op& op, const ir::Instruction& i);
  void matrix(Op& op, const ir::Instruction& i);
  void pointers(Op& op, const ir::Instruction& i);
  void barrier(Op& op, const ir::Instruction& i);
  void asynchronous(Op& op, const ir::Instruction& i);

  Program& program_;
  OperandDecoder operands_;
};

}  // namespace regatta::emulator
