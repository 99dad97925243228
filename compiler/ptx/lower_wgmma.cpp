// SPDX-License-Identifier: Apache-2.0
//
// wgmma.mma_async: products of a group of four warps, of which each has 16 rows of A, C and D. A warp's part becomes a
// train of products of 16 x 8, one for each eight columns, which read B, and A unless it is in registers, from shared
// memory. They are complete where they stand: fences and waits for groups are no instructions of their own, since
// dependences between registers, and the order of accesses to shared memory, are kept anyway.
#include "form_tables.h"
#include "lowering.h"

namespace regatta::ptx {
namespace {

using ir::TensorFormat;
using ir::Type;

constexpr unsigned warp_rows = 16, tile_columns = 8;

/// ".m64n8k16 .m64n16k16 ...": all widths.
std::string shapes(unsigned k) {
  std::string list;
  for (unsigned n = tile_columns; n <= 256; n += tile_columns)
    list += (list.empty() ? "m64n" : " m64n") + std::to_string(n) + "k" + std::to_string(k);
  return list;
}

/// An immediate operand that is one of two values.
bool chosen(FunctionLowering& l, const Statement& s, const Operand& o, std::int64_t otherwise, std::int64_t one) {
  const auto value = static_cast<std::int64_t>(o.bits);
  if (o.kind != Operand::Kind::integer || (value != otherwise && value != one))
    l.error(o.at, "'" + s.name + "' has '" + o.text + "' here, expected " + std::to_string(otherwise) + " or " +
                      std::to_string(one));
  return value == one;
}

}  // namespace

std::vector<Form> group_forms() {
  static const std::string of_16 = shapes(16), of_8 = shapes(8), of_32 = shapes(32), of_256 = shapes(256);
  static const std::string of_bytes = of_32 + " satfinite";
  return {
      {"wgmma.mma_async.sync.aligned", of_16.c_str(), "* f32.f16.f16 f16.f16.f16 f32.bf16.bf16", "", ir::Opcode::wgmma,
       "7..8", lower_wgmma},
      {"wgmma.mma_async.sync.aligned", of_8.c_str(), "* f32.tf32.tf32", "", ir::Opcode::wgmma, "6..6", lower_wgmma},
      {"wgmma.mma_async.sync.aligned", of_32.c_str(),
       "* f32.e4m3.e4m3 f32.e4m3.e5m2 f32.e5m2.e4m3 f32.e5m2.e5m2 f16.e4m3.e4m3 f16.e4m3.e5m2 f16.e5m2.e4m3 "
       "f16.e5m2.e5m2",
       "", ir::Opcode::wgmma, "6..6", lower_wgmma},
      {"wgmma.mma_async.sync.aligned", of_bytes.c_str(), "* s32.u8.u8 s32.u8.s8 s32.s8.u8 s32.s8.s8", "",
       ir::Opcode::wgmma, "4..4", lower_wgmma},
      {"wgmma.mma_async.sync.aligned.and.popc", of_256.c_str(), "* s32.b1.b1", "", ir::Opcode::wgmma, "4..4",
       lower_wgmma},
      {"wgmma.fence.sync.aligned", "", "", "", ir::Opcode::nop, "0..0", lower_nothing},
      {"wgmma.commit_group.sync.aligned", "", "", "", ir::Opcode::nop, "0..0", lower_nothing},
      {"wgmma.wait_group.sync.aligned", "", "", "", ir::Opcode::nop, "1..1", lower_nothing},
  };
}

void lower_wgmma(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const MatrixShape shape = matrix_shape(s);
  if (shape.n == 0) l.error(s.at, "'" + s.name + "' has no shape, expected one as .m64n64k16");
  ir::Instruction product = proto;
  product.type = Type::none;
  product.mod.saturate = has_modifier(s, "satfinite");
  ir::TensorModifiers& t = product.mod.tensor;
  t.m = warp_rows;
  t.k = static_cast<std::uint16_t>(shape.k);
  const std::vector<TensorFormat> formats = tensor_formats(s);
  t.accumulator = formats.at(0);
  t.a = formats.at(1);
  t.b = formats.at(2);
  if (t.a == TensorFormat::b1) t.product = ir::TensorProduct::and_popc;
  t.b_in_memory = true;
  t.a_in_memory = s.operands[1].kind != Operand::Kind::vector;
  const bool is_half = shape.k == 16, is_float = s.operands.size() > 4;
  const std::size_t expected = !is_float ? 4 : !is_half ? 6 : t.a_in_memory ? 8 : 7;
  if (s.operands.size() != expected)
    l.error(s.at, "'" + s.name + "' has " + std::to_string(s.operands.size()) + " operands, expected " +
                      std::to_string(expected));
  if (is_float) {
    t.negates_a = chosen(l, s, s.operands[4], 1, -1);
    t.negates_b = chosen(l, s, s.operands[5], 1, -1);
  }
  if (is_half) {
    if (t.a_in_memory) t.a_across = chosen(l, s, s.operands[6], 0, 1);
    t.b_across = chosen(l, s, s.operands.back(), 0, 1);
  }
  const ir::Instruction bare = plain(proto);
  const unsigned words = t.accumulator == TensorFormat::f16 ? 2 : 4, tiles = shape.n / tile_columns;
  std::vector<ir::Operand> a;
  if (t.a_in_memory) {
    a.push_back(l.source(s.operands[1], Type::b64, bare));
  } else {
    for (const Operand& e : l.data_elements(s, s.operands[1], ir::a_words(t)))
      a.push_back(l.source(e, Type::b32, bare));
  }
  const ir::Operand b = l.source(s.operands[2], Type::b64, bare);
  const ir::Operand adds = l.predicate_source(s.operands[3]);
  const std::vector<ir::Operand> d = l.matrix_destinations(s, s.operands[0], tiles * words, Type::b32);
  for (unsigned tile = 0; tile < tiles; ++tile) {
    ir::Instruction i = product;
    const auto first = d.begin() + std::ptrdiff_t{tile} * words, last = first + words;
    i.destinations.assign(first, last);
    i.sources = a;
    i.sources.push_back(b);
    i.sources.insert(i.sources.end(), first, last);
    i.sources.push_back(adds);
    i.sources.push_back(ir::Operand::immediate(tile * tile_columns));
    l.append(std::move(i));
  }
}

}  // namespace regatta::ptx
