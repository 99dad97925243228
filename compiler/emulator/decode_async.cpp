// SPDX-License-Identifier: Apache-2.0
//
// Decoding of asynchronous copies and mbarriers, whose sources are more than an Op has places for.
#include "decoder.h"

namespace regatta::emulator {

using ir::Instruction;
using ir::Opcode;

void Decoder::asynchronous(Op& op, const Instruction& i) {
  const bool waits = i.mod.async.barrier >= ir::MbarrierOp::test_wait;
  op.kind = waits ? Kind::mbarrier_wait : Kind::asynchronous;
  op.space = i.mod.space;
  op.element_bytes = static_cast<std::uint8_t>(ir::size_of(i.type));
  op.vector = i.mod.vector;
  op.atomic = i.mod.atomic;
  AsyncOperands operands;
  for (const ir::Operand& o : i.sources) {
    if (o.is_predicate()) {
      op.predicates[op.predicate_count++] = operands_.predicate(i, o);
      continue;
    }
    if (operands.count == AsyncOperands::most) operands_.fail(i, "too many sources");
    operands.wide[operands.count] = o.words == 2;
    operands.source[operands.count++] = operands_.source(op, i, o, o.words);
  }
  op.records_addresses = i.op != Opcode::cp_async_commit && i.op != Opcode::cp_async_wait &&
                         i.op != Opcode::bulk_commit && i.op != Opcode::bulk_wait;
  op.target = static_cast<std::uint32_t>(program_.async_operands.size());
  program_.async_operands.push_back(operands);
  if (waits) {
    expect(i, 1, 2);
    operands_.predicate_destination(op, i, i.destinations[0]);
  } else if (!i.destinations.empty()) {
    lane_destination(op, i, 2);
    op.has_result = true;
  }
}

}  // namespace regatta::emulator
