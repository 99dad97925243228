// SPDX-License-Identifier: Apache-2.0
//
// Matrix products, and loads and stores of matrices.
#include "lowering.h"

#include <array>
#include <optional>

namespace regatta::ptx {

using ir::TensorFormat;
using ir::Type;
std::optional<TensorFormat> tensor_format_named(const std::string& name) {
  for (unsigned f = 1; f <= static_cast<unsigned>(TensorFormat::b1); ++f)
    if (name == ir::to_string(static_cast<TensorFormat>(f))) return static_cast<TensorFormat>(f);
  return std::nullopt;
}

std::vector<TensorFormat> tensor_formats(const Statement& s) {
  std::vector<TensorFormat> list;
  for (const std::string& m : s.modifiers)
    if (const auto f = tensor_format_named(m)) list.push_back(*f);
  return list;
}

MatrixShape matrix_shape(const Statement& s) {
  MatrixShape shape;
  for (const std::string& m : s.modifiers) {
    const std::size_t n = m.find('n'), k = m.find('k');
    if (m[0] != 'm' || n == std::string::npos || k == std::string::npos || n > k) continue;
    shape.m = static_cast<unsigned>(std::stoul(m.substr(1, n - 1)));
    shape.n = static_cast<unsigned>(std::stoul(m.substr(n + 1, k - n - 1)));
    shape.k = static_cast<unsigned>(std::stoul(m.substr(k + 1)));
  }
  return shape;
}

void lower_mma(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  ir::Instruction i = proto;
  ir::TensorModifiers& t = i.mod.tensor;
  const MatrixShape shape = matrix_shape(s);
  t.m = static_cast<std::uint8_t>(shape.m);
  t.k = static_cast<std::uint16_t>(shape.k);
  const std::vector<TensorFormat> formats =
      tensor_formats(s);  // of D, A, B, C: the table has settled that they are there
  t.accumulator = formats.at(0);
  t.a = formats.at(1);
  t.b = formats.at(2);
  i.mod.saturate = has_modifier(s, "satfinite");
  if (t.a == TensorFormat::b1) {
    const bool is_and = has_modifier(s, "and");
    if (is_and == has_modifier(s, "xor"))
      l.error(s.at, "'" + s.name + "' has no operation, expected .and.popc or .xor.popc");
    t.product = is_and ? ir::TensorProduct::and_popc : ir::TensorProduct::xor_popc;
  }
  const bool is_double = t.a == TensorFormat::f64;
  const Type type = is_double ? Type::f64 : Type::b32;
  i.type = is_double ? Type::f64 : Type::none;
  const unsigned words = ir::words_of(type);
  const ir::Instruction bare = plain(proto);
  for (const ir::Operand& d : l.matrix_destinations(s, s.operands[0], ir::accumulator_words(t) / words, type))
    i.destinations.push_back(d);
  const std::array<unsigned, 3> count{ir::a_words(t), ir::b_words(t), ir::accumulator_words(t)};
  for (std::size_t o = 0; o < count.size(); ++o)
    for (const Operand& e : l.data_elements(s, s.operands[o + 1], count[o] / words))
      i.sources.push_back(l.source(e, type, bare));
  l.append(std::move(i));
}

std::vector<ir::Operand> FunctionLowering::matrix_destinations(const Statement& s, const Operand& o, unsigned count,
                                                               Type type) {
  std::vector<ir::Operand> list;
  for (const Operand& e : data_elements(s, o, count)) {
    list.push_back(destination(e, type));
    for (std::size_t before = 0; before + 1 < list.size(); ++before)
      if (list[before].id == list.back().id) error(e.at, "'" + e.name + "' is a destination twice");
  }
  return list;
}

void lower_matrix(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  ir::Instruction i = proto;
  i.type = Type::b32;
  i.mod.vector = has_modifier(s, "x4") ? 4 : has_modifier(s, "x2") ? 2 : 1;
  i.mod.tensor.transposed = has_modifier(s, "trans");
  i.mod.space = has_modifier(s, "shared") || has_modifier(s, "shared::cta") ? trace::MemorySpace::shared
                                                                            : trace::MemorySpace::generic;
  l.memory(s, std::move(i));
}

void lower_movmatrix(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  ir::Instruction i = proto;
  i.type = Type::b32;
  i.mod.tensor.transposed = true;
  i.destinations = {l.destination(s.operands[0], Type::b32)};
  i.sources = {l.source(s.operands[1], Type::b32, plain(proto))};
  l.append(std::move(i));
}

}  // namespace regatta::ptx
