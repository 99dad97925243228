// SPDX-License-Identifier: Apache-2.0
//
// Decoding of memory accesses, lane exchange and barriers.
#include "decoder.h"

namespace regatta::emulator {

using ir::Instruction;
using ir::Opcode;
using ir::Type;

void Decoder::values(Op& op, const Instruction& i, std::size_t first, unsigned words) {
  for (std::size_t n = first; n < i.sources.size(); ++n) {
    if (op.value_count == std::size(op.values)) operands_.fail(i, "too many values");
    op.values[op.value_count++] = operands_.source(op, i, i.sources[n], words);
  }
}

void Decoder::destinations(Op& op, const Instruction& i) {
  for (const ir::Operand& d : i.destinations) {
    if (op.destination_count == std::size(op.destinations)) operands_.fail(i, "too many destinations");
    op.destinations[op.destination_count] = operands_.destination(op, i, d, 0);
    op.destination_words[op.destination_count++] = d.words;
  }
}

void Decoder::pack(Op& op, const Instruction& i) {
  op.kind = i.op == Opcode::pack ? Kind::pack : Kind::unpack;
  expect(i, 1, 1);
  const std::size_t parts = i.op == Opcode::pack ? i.sources.size() : i.destinations.size();
  op.element_bytes = static_cast<std::uint8_t>(ir::size_of(i.type) / parts);
  if (op.element_bytes == 0) operands_.fail(i, "more parts than bytes");
  values(op, i, 0, i.op == Opcode::pack ? 1 : ir::words_of(i.type));
  destinations(op, i);
}

void Decoder::memory(Op& op, const Instruction& i) {
  expect(i, 0, 1);
  op.space = i.mod.space == trace::MemorySpace::none ? trace::MemorySpace::generic : i.mod.space;
  op.element_bytes = static_cast<std::uint8_t>(ir::size_of(i.type));
  op.vector = i.mod.vector;
  if (op.element_bytes == 0) operands_.fail(i, "a memory access without a type");
  const ir::Operand& address = i.sources[0];
  op.wide_address = address.is_reg() ? address.words == 2 : true;
  op.lane.source[0] = operands_.source(op, i, address, address.is_reg() ? address.words : 1);
  op.offset = i.offset;
  op.records_addresses = op.space == trace::MemorySpace::global || op.space == trace::MemorySpace::shared ||
                         op.space == trace::MemorySpace::local || op.space == trace::MemorySpace::generic;
}

void Decoder::load(Op& op, const Instruction& i) {
  op.kind = Kind::load;
  expect(i, 1, 1);
  const ir::Operand& address = i.sources[0];
  if (i.mod.space == trace::MemorySpace::param && i.mod.vector == 1 && i.destinations.size() == 1 &&
      address.kind == ir::Operand::Kind::immediate && address.symbol.empty()) {
    // The whole grid reads one value, known when the launch begins.
    op.kind = Kind::lane;
    const std::uint64_t offset = address.value + static_cast<std::uint64_t>(i.offset);
    op.lane.source[0] = {Bank::constants, operands_.parameter(offset, i.type, i)};
    lane_destination(op, i, 0);
    LaneKey key;
    key.op = Opcode::mov;
    key.type = i.destinations[0].words == 2 ? Type::b64 : Type::b32;
    op.lane.function = select_lane_function(key, program_.lanes);
    return;
  }
  memory(op, i);
  destinations(op, i);
  if (op.destination_count != op.vector) operands_.fail(i, "a vector load with another number of registers");
  for (unsigned d = 0; d < op.destination_count; ++d) {
    if (op.destination_words[d] < ir::words_of(i.type)) operands_.fail(i, "a 64-bit load into a 32-bit register");
  }
}

void Decoder::store(Op& op, const Instruction& i) {
  op.kind = Kind::store;
  memory(op, i);
  // A store only moves its values. Whether they must be initialised depends on the memory that they go to.
  const std::uint8_t address_reads = op.read_count;
  values(op, i, 1, ir::words_of(i.type));
  op.read_count = address_reads;
  if (op.value_count != op.vector) operands_.fail(i, "a vector store with another number of registers");
}

void Decoder::atomic(Op& op, const Instruction& i) {
  op.kind = Kind::atomic;
  memory(op, i);
  op.atomic = i.mod.atomic;
  values(op, i, 1, ir::words_of(i.type));
  const std::size_t needed = op.atomic == ir::AtomicOp::cas ? 2 : 1;
  if (op.value_count != needed) operands_.fail(i, "an atomic with another number of operands");
  const bool half = i.type >= Type::f16 && i.type <= Type::bf16x2;
  if ((ir::size_of(i.type) < 4 && op.atomic != ir::AtomicOp::cas && !half) ||
      (half && op.atomic != ir::AtomicOp::add)) {
    operands_.fail(i, "the emulator has no operation '" + ir::opcode_text(i) + "'");
  }
  destinations(op, i);
  op.has_result = op.destination_count != 0;
}

/// The handle and the coordinates become the lane sources 0, 1, 2 and 3.
void Decoder::texture(Op& op, const Instruction& i) {
  const unsigned coordinates = ir::coordinates_of(i.mod.texture.geometry);
  expect(i, 0, coordinates + 1);
  op.space = i.mod.space;
  op.records_addresses = true;
  for (unsigned s = 0; s <= coordinates; ++s) op.lane.source[s] = operands_.source(op, i, i.sources[s], 1);
  if (i.op == Opcode::suld || i.op == Opcode::sust) return;
  op.kind = Kind::texture;
  values(op, i, coordinates + 1, 1);  // the level, which has to have a value
  destinations(op, i);
  if (op.destination_count != static_cast<unsigned>(__builtin_popcount(i.mod.texture.channels)))
    operands_.fail(i, "a texture fetch with another number of registers");
}

void Decoder::texture_query(Op& op, const Instruction& i) {
  op.kind = Kind::texture_query;
  expect(i, 1, 1);
  op.lane.source[0] = operands_.source(op, i, i.sources[0], 1);
  lane_destination(op, i, 1);
}

void Decoder::surface(Op& op, const Instruction& i) {
  texture(op, i);
  op.element_bytes = static_cast<std::uint8_t>(ir::size_of(i.type));
  op.vector = i.mod.texture.elements;
  op.offset = i.offset;
  const unsigned coordinates = ir::coordinates_of(i.mod.texture.geometry);
  if (i.op == Opcode::sust) {
    op.kind = Kind::surface_store;
    values(op, i, coordinates + 1, ir::words_of(i.type));
  } else {
    op.kind = Kind::surface_load;
    destinations(op, i);
  }
  if ((i.op == Opcode::sust ? op.value_count : op.destination_count) != op.vector)
    operands_.fail(i, "a surface access with another number of registers");
}

void Decoder::shuffle(Op& op, const Instruction& i) {
  op.kind = Kind::shuffle;
  expect(i, 1, 3);
  op.shuffle = i.mod.shuffle;
  values(op, i, 0, 1);
  for (const ir::Operand& d : i.destinations) {
    if (d.is_predicate()) {
      operands_.predicate_destination(op, i, d);
    } else if (d.is_reg()) {
      op.destinations[op.destination_count] = operands_.destination(op, i, d, 1);
      op.destination_words[op.destination_count++] = 1;
    }
  }
}

void Decoder::vote(Op& op, const Instruction& i) {
  op.kind = Kind::vote;
  expect(i, 1, 1);
  op.vote = i.mod.vote;
  op.predicates[op.predicate_count++] = operands_.predicate(i, i.sources[0]);
  if (i.sources.size() > 1) values(op, i, 1, 1);
  if (op.vote == ir::VoteMode::ballot) {
    lane_destination(op, i, 0);
  } else {
    operands_.predicate_destination(op, i, i.destinations[0]);
  }
}

void Decoder::match(Op& op, const Instruction& i) {
  op.kind = Kind::match;
  expect(i, 1, 1);
  op.vote = i.mod.vote;
  op.values[op.value_count++] = operands_.source(op, i, i.sources[0], ir::words_of(i.type));
  if (i.sources.size() > 1) values(op, i, 1, 1);
  for (const ir::Operand& d : i.destinations) {
    if (d.is_predicate()) {
      operands_.predicate_destination(op, i, d);
    } else if (d.is_reg()) {
      op.destinations[op.destination_count] = operands_.destination(op, i, d, 0);
      op.destination_words[op.destination_count++] = d.words;
    }
  }
}

void Decoder::redux(Op& op, const Instruction& i) {
  op.kind = Kind::redux;
  expect(i, 1, 2);
  op.atomic = i.mod.atomic;
  values(op, i, 0, 1);
  lane_destination(op, i, 1);
}

void Decoder::elect(Op& op, const Instruction& i) {
  op.kind = Kind::elect;
  expect(i, 1, 1);
  values(op, i, 0, 1);
  for (const ir::Operand& d : i.destinations) {
    if (d.is_predicate()) {
      operands_.predicate_destination(op, i, d);
    } else if (d.is_reg()) {
      op.destinations[op.destination_count] = operands_.destination(op, i, d, 1);
      op.destination_words[op.destination_count++] = 1;
    }
  }
}

/// The registers of a product are its `reads`, in the order of A, B and C, and its `writes`.
void Decoder::matrix(Op& op, const Instruction& i) {
  switch (i.op) {
    case Opcode::mma:
      op.kind = Kind::matrix_product;
      for (const ir::Operand& o : i.sources) {
        if (!o.is_reg()) operands_.fail(i, "a source that is no register");
        operands_.source(op, i, o, o.words);
      }
      for (const ir::Operand& o : i.destinations) operands_.destination(op, i, o, 0);
      if (op.read_count !=
              ir::a_words(i.mod.tensor) + ir::b_words(i.mod.tensor) + ir::accumulator_words(i.mod.tensor) ||
          op.write_count != ir::accumulator_words(i.mod.tensor))
        operands_.fail(i, "a matrix product with another number of registers");
      return;
    case Opcode::wgmma: {
      // values[0] describes A, or is not used; values[1] B.
      op.kind = Kind::group_product;
      const std::size_t c = i.destinations.size();
      expect(i, 1, c + 4);
      const std::size_t first_c = i.sources.size() - c - 2;
      op.value_count = 2;
      for (std::size_t n = 0; n + 2 < i.sources.size(); ++n) {
        if (n == first_c) op.accumulator_reads = op.read_count;
        const ir::Operand& o = i.sources[n];
        const bool is_descriptor = n + 1 == first_c || (n == 0 && i.mod.tensor.a_in_memory);
        if (!is_descriptor && !o.is_reg()) operands_.fail(i, "a source that is no register");
        const LaneSource s = operands_.source(op, i, o, is_descriptor ? 2 : 1);
        if (is_descriptor) op.values[n + 1 == first_c ? 1 : 0] = s;
      }
      op.predicates[op.predicate_count++] = operands_.predicate(i, i.sources[i.sources.size() - 2]);
      op.offset = static_cast<std::int64_t>(i.sources.back().value);
      for (const ir::Operand& o : i.destinations) operands_.destination(op, i, o, 0);
      op.read_count = op.accumulator_reads;  // C is read only if it is added
      return;
    }
    case Opcode::movmatrix:
      op.kind = Kind::matrix_move;
      expect(i, 1, 1);
      values(op, i, 0, 1);
      lane_destination(op, i, 1);
      return;
    case Opcode::ldmatrix:
      memory(op, i);
      op.kind = Kind::matrix_load;
      destinations(op, i);
      if (op.destination_count != op.vector) operands_.fail(i, "a matrix load with another number of registers");
      return;
    default:
      memory(op, i);
      op.kind = Kind::matrix_store;
      values(op, i, 1, 1);
      for (unsigned v = 0; v < op.value_count; ++v)
        if (op.values[v].bank != Bank::registers) operands_.fail(i, "a source that is no register");
      if (op.value_count != op.vector) operands_.fail(i, "a matrix store with another number of registers");
  }
}

/// print and trap read strings: their sources are generic addresses, or integers in one register.
void Decoder::pointers(Op& op, const Instruction& i) {
  op.space = trace::MemorySpace::generic;
  op.element_bytes = 1;
  for (const ir::Operand& o : i.sources) {
    if (op.value_count == std::size(op.values)) operands_.fail(i, "too many values");
    op.values[op.value_count++] = operands_.source(op, i, o, o.words);
  }
}

void Decoder::barrier(Op& op, const Instruction& i) {
  op.kind = Kind::barrier;
  op.barrier = i.mod.barrier;
  if (ir::is_of_cluster(op.barrier)) return;
  std::size_t numbers = i.sources.size();
  if (op.barrier >= ir::BarrierMode::popc) {
    expect(i, 1, 2);
    --numbers;
    op.predicates[op.predicate_count++] = operands_.predicate(i, i.sources.back());
    if (op.barrier == ir::BarrierMode::popc) {
      lane_destination(op, i, 1);
    } else {
      operands_.predicate_destination(op, i, i.destinations[0]);
    }
  }
  if (numbers == 0) op.values[op.value_count++] = {Bank::constants, operands_.constant(0)};
  for (std::size_t n = 0; n < numbers; ++n) op.values[op.value_count++] = operands_.source(op, i, i.sources[n], 1);
}

}  // namespace regatta::emulator
