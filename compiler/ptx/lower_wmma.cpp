// SPDX-License-Identifier: Apache-2.0
//
// wmma: matrix products whose fragments have a layout of our own choice, because PTX leaves it open. A product of
// 16 x 16, 32 x 8 or 8 x 32 is two of mma's, of 16 x 8, side by side or one below the other; where A has 8 rows, the
// transposed matrices are multiplied. A fragment consists of those of mma, one behind the other; A and B of f16, which
// have more registers than elements, repeat theirs. Fragments do not depend on the layout in memory.
#include "lowering.h"

#include <array>
#include <map>
#include <optional>

namespace regatta::ptx {
namespace {

using ir::TensorFormat;
using ir::Type;
using trace::MemorySpace;

constexpr unsigned word_bits = 32, columns_of_tile = 8, row_lanes = 4;

struct Shape : MatrixShape {
  bool swaps() const { return m < n && n > columns_of_tile; }  ///< the left matrix is B, transposed
  unsigned tile_rows() const { return m == n && m == columns_of_tile ? 8 : 16; }
  unsigned left_tiles() const { return (swaps() ? n : m) / tile_rows(); }
  unsigned right_tiles() const { return (swaps() ? m : n) / columns_of_tile; }
};

/// Where the first element of a register of a fragment lies in the matrix, for lane 0. A lane adds its group to one
/// coordinate and a multiple of its number in the group to the other.
struct Part {
  unsigned row = 0, column = 0;
};

/// How a fragment lies in its matrix.
struct Fragment {
  unsigned elements = 1;           ///< of a register
  unsigned bits = 16;              ///< of an element
  bool groups_are_rows = true;     ///< a group of four lanes has a row; else a column
  unsigned lane_step = 1;          ///< between lanes of a group, along the other coordinate, in elements
  std::vector<Part> parts;         ///< its different registers
  unsigned registers = 0;          ///< as PTX has them
  unsigned height = 0, width = 0;  ///< of the matrix
  Type type() const { return bits == 64 ? Type::f64 : Type::b32; }
};

Fragment left_or_right(const Shape& s, bool is_a, TensorFormat format) {
  Fragment f;
  f.bits = ir::bits_of(format);
  f.elements = f.bits >= word_bits ? 1 : word_bits / f.bits;
  f.lane_step = f.elements;
  const bool is_left = is_a != s.swaps();
  f.groups_are_rows = is_a;
  f.height = is_a ? s.m : s.k;
  f.width = is_a ? s.k : s.n;
  const unsigned step = row_lanes * f.elements, halves = is_left ? s.tile_rows() / 8 : 1;
  for (unsigned tile = 0; tile < (is_left ? s.left_tiles() : s.right_tiles()); ++tile) {
    for (unsigned r = 0; r < halves * s.k / step; ++r) {
      const unsigned outer = tile * 8 * halves + 8 * (r % halves), k = r / halves * step;
      f.parts.push_back(is_a ? Part{outer, k} : Part{k, outer});
    }
  }
  f.registers = format == TensorFormat::f16 ? 8 : static_cast<unsigned>(f.parts.size());
  return f;
}

Fragment accumulator(const Shape& s, TensorFormat format) {
  Fragment f;
  f.bits = ir::bits_of(format);
  f.elements = format == TensorFormat::f16 ? 2 : 1;
  f.lane_step = 2;
  f.groups_are_rows = !s.swaps();
  f.height = s.m;
  f.width = s.n;
  for (unsigned left = 0; left < s.left_tiles(); ++left) {
    for (unsigned right = 0; right < s.right_tiles(); ++right) {
      for (unsigned half = 0; half < s.tile_rows() / 8; ++half) {
        for (unsigned i = 0; i < 2; i += f.elements) {
          const Part p{left * s.tile_rows() + 8 * half, right * columns_of_tile + i};
          f.parts.push_back(s.swaps() ? Part{p.column, p.row} : p);
        }
      }
    }
  }
  f.registers = static_cast<unsigned>(f.parts.size());
  return f;
}

Fragment fragment_of(const Statement& s) {
  const Shape shape = {matrix_shape(s)};
  const TensorFormat format = tensor_formats(s).at(0);
  if (has_modifier(s, "a")) return left_or_right(shape, true, format);
  if (has_modifier(s, "b")) return left_or_right(shape, false, format);
  return accumulator(shape, format);
}

/// Addresses of the parts of a fragment in memory.
class MatrixMemory {
 public:
  MatrixMemory(FunctionLowering& l, const Statement& s, const Fragment& f, const ir::Instruction& bare,
               ir::Operand base, std::int64_t offset, const ir::Operand* stride, bool is_row_major)
      : l_(l), f_(f), bare_(bare), base_(std::move(base)), offset_(offset), is_row_major_(is_row_major) {
    address_ = base_.words == 2 ? Type::u64 : Type::u32;
    // In bytes; elements narrower than a byte stand beside each other.
    if (stride == nullptr || stride->kind == ir::Operand::Kind::immediate) {
      is_known_ = true;
      known_ = stride == nullptr ? (is_row_major ? f.width : f.height) : static_cast<std::uint32_t>(stride->value);
      if (known_ * f.bits % 8 != 0) l.error(s.at, "'" + s.name + "' has a stride of no whole bytes");
      known_ = known_ * f.bits / 8;
    } else {
      stride_ = scaled(*stride);
    }
    place_lane();
  }

  /// Whether the elements of a register stand beside each other.
  bool is_contiguous() const { return is_row_major_ == f_.groups_are_rows; }

  /// Of element `n` of a part: a register with the address, and what to add.
  std::pair<ir::Operand, std::int64_t> place(const Part& p, unsigned n) {
    const unsigned row = p.row + (f_.groups_are_rows ? 0 : n), column = p.column + (f_.groups_are_rows ? n : 0);
    const unsigned far = is_row_major_ ? row : column, near = is_row_major_ ? column : row;
    const std::int64_t at = offset_ + std::int64_t{near} * f_.bits / 8;
    if (is_known_) return {lane_, at + std::int64_t{far} * known_};
    auto [found, is_new] = lines_.try_emplace(far, lane_);
    if (is_new && far != 0) found->second = sum(lane_, product(stride_, far));
    return {found->second, at};
  }

 private:
  ir::Operand emit(ir::Opcode op, Type type, std::vector<ir::Operand> sources) {
    const ir::Operand to = l_.temporary(type);
    l_.emit(bare_, op, type, {to}, std::move(sources));
    return to;
  }
  ir::Operand number(std::uint64_t n) const { return ir::Operand::immediate(n, 1); }
  ir::Operand product(const ir::Operand& a, unsigned n) { return emit(ir::Opcode::mul_lo, Type::u32, {a, number(n)}); }
  /// Of the address `a` and an offset of 32 bits.
  ir::Operand sum(const ir::Operand& a, ir::Operand b) {
    if (address_ == Type::u64) {
      const ir::Operand wide = l_.temporary(Type::u64);
      ir::Instruction convert = bare_;
      convert.op = ir::Opcode::cvt;
      convert.type = Type::u64;
      convert.source_type = Type::u32;
      convert.destinations = {wide};
      convert.sources = {b};
      l_.append(std::move(convert));
      b = wide;
    }
    return emit(ir::Opcode::add, address_, {a, b});
  }
  ir::Operand scaled(const ir::Operand& elements) {
    if (f_.bits >= 8) return f_.bits == 8 ? elements : product(elements, f_.bits / 8);
    return emit(ir::Opcode::shr, Type::u32, {elements, number(f_.bits == 4 ? 1 : 3)});
  }
  /// The group takes a lane to another row or column, and its number in the group along that.
  void place_lane() {
    const ir::Operand lane = l_.temporary(Type::u32);
    ir::Instruction read = bare_;
    read.op = ir::Opcode::mov;
    read.type = Type::u32;
    read.destinations = {lane};
    read.sources = {ir::Operand::special(ir::Special::laneid)};
    l_.append(std::move(read));
    const ir::Operand group = emit(ir::Opcode::shr, Type::u32, {lane, number(2)});
    const ir::Operand in_group = emit(ir::Opcode::and_, Type::b32, {lane, number(row_lanes - 1)});
    // Along the stride: groups if the fragment's groups are what stands apart in memory.
    const bool groups_stride = is_contiguous();
    const unsigned near_unit = groups_stride ? f_.lane_step * f_.bits / 8 : f_.bits / 8;
    const unsigned far_unit = groups_stride ? 1 : f_.lane_step;
    const ir::Operand &far = groups_stride ? group : in_group, &near = groups_stride ? in_group : group;
    const ir::Operand near_bytes = product(near, near_unit);
    ir::Operand all;
    if (is_known_) {
      all = emit(ir::Opcode::mad_lo, Type::u32, {far, number(std::uint64_t{known_} * far_unit), near_bytes});
    } else {
      const ir::Operand step = far_unit == 1 ? stride_ : product(stride_, far_unit);
      all = emit(ir::Opcode::mad_lo, Type::u32, {far, step, near_bytes});
    }
    lane_ = sum(base_, all);
  }

  FunctionLowering& l_;
  const Fragment& f_;
  const ir::Instruction& bare_;
  ir::Operand base_;
  std::int64_t offset_;
  bool is_row_major_;
  Type address_ = Type::u64;
  bool is_known_ = false;
  std::uint32_t known_ = 0;  ///< stride in bytes
  ir::Operand stride_;
  ir::Operand lane_;
  std::map<unsigned, ir::Operand> lines_;  ///< addresses of rows or columns, with a stride in a register
};

/// An access of `bits` bits, at a place.
ir::Instruction access(const ir::Instruction& bare, ir::Opcode op, MemorySpace space, unsigned bits,
                       const std::pair<ir::Operand, std::int64_t>& place) {
  ir::Instruction i = bare;
  i.op = op;
  i.type = bits == 64 ? Type::f64 : bits == 32 ? Type::b32 : bits == 16 ? Type::b16 : Type::b8;
  i.mod.space = space;
  i.sources = {place.first};
  i.offset = place.second;
  return i;
}

}  // namespace

void lower_wmma_memory(FunctionLowering& l, const Statement& s, const Form& form, const ir::Instruction& proto) {
  const bool is_load = form.op == ir::Opcode::ld;
  const Operand& address = s.operands[is_load ? 1 : 0];
  const bool is_row_major = has_modifier(s, "row");
  if (is_row_major == has_modifier(s, "col")) l.error(s.at, "'" + s.name + "' has no layout, expected .row or .col");
  const Fragment f = fragment_of(s);
  if (f.bits < 8 && is_row_major != f.groups_are_rows)
    l.error(s.at, "'" + s.name + "' would load parts of bytes, expected the other layout");
  const ir::Instruction bare = plain(proto);
  ir::Instruction base = proto;
  base.op = is_load ? ir::Opcode::ld : ir::Opcode::st;
  base.type = Type::b32;
  base.mod.space = has_modifier(s, "global")                                     ? MemorySpace::global
                   : has_modifier(s, "shared") || has_modifier(s, "shared::cta") ? MemorySpace::shared
                                                                                 : MemorySpace::generic;
  l.memory_address(s, address, base);
  ir::Operand first = base.sources[0];
  if (!first.is_reg()) {
    first = l.temporary(first.words == 2 ? Type::u64 : Type::u32);
    l.emit(bare, ir::Opcode::mov, first.words == 2 ? Type::b64 : Type::b32, {first}, {base.sources[0]});
  }
  std::optional<ir::Operand> stride;
  if (s.operands.size() > 2) stride = l.source(s.operands[2], Type::u32, bare);
  MatrixMemory memory(l, s, f, bare, first, base.offset, stride ? &*stride : nullptr, is_row_major);
  const MemorySpace space = base.mod.space;
  const bool whole = f.elements == 1 || memory.is_contiguous();
  const unsigned bits = f.bits == 64 ? 64 : whole ? word_bits : f.bits;
  if (is_load) {
    const std::vector<ir::Operand> to = l.matrix_destinations(s, s.operands[0], f.registers, f.type());
    for (std::size_t r = 0; r < f.parts.size(); ++r) {
      std::vector<ir::Operand> pieces;
      for (unsigned e = 0; e < (whole ? 1 : f.elements); ++e) {
        ir::Instruction i = access(bare, ir::Opcode::ld, space, bits, memory.place(f.parts[r], e));
        pieces.push_back(whole ? to[r] : l.temporary(bits == 8 ? Type::b32 : Type::b16));
        i.destinations = {pieces.back()};
        l.append(std::move(i));
      }
      if (!whole) l.emit(bare, ir::Opcode::pack, Type::b32, {to[r]}, pieces);
    }
    for (std::size_t r = f.parts.size(); r < f.registers; ++r)
      l.emit(bare, ir::Opcode::mov, Type::b32, {to[r]}, {to[r % f.parts.size()]});
    return;
  }
  const std::vector<Operand> from = l.data_elements(s, s.operands[1], f.registers);
  for (std::size_t r = 0; r < f.parts.size(); ++r) {
    const ir::Operand value = l.source(from[r], f.type(), bare);
    std::vector<ir::Operand> pieces{value};
    if (!whole) {
      pieces = {l.temporary(Type::b16), l.temporary(Type::b16)};  // accumulators: two halves
      l.emit(bare, ir::Opcode::unpack, Type::b32, pieces, {value});
    }
    for (unsigned e = 0; e < pieces.size(); ++e) {
      ir::Instruction i = access(bare, ir::Opcode::st, space, bits, memory.place(f.parts[r], e));
      i.sources.push_back(pieces[e]);
      l.append(std::move(i));
    }
  }
}

void lower_wmma(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  const Shape shape = {matrix_shape(s)};
  const std::vector<TensorFormat> formats = tensor_formats(s);
  // Of f16 products only D's and C's formats are named.
  const bool names_all = formats.size() == 4;
  const TensorFormat a = names_all ? formats[1] : TensorFormat::f16, b = names_all ? formats[2] : TensorFormat::f16;
  ir::Instruction product = proto;
  product.op = ir::Opcode::mma;
  const bool is_double = a == TensorFormat::f64;
  product.type = is_double ? Type::f64 : Type::none;
  product.mod.saturate = has_modifier(s, "satfinite");
  ir::TensorModifiers& t = product.mod.tensor;
  t.m = static_cast<std::uint8_t>(shape.tile_rows());
  t.k = static_cast<std::uint16_t>(shape.k);
  t.a = shape.swaps() ? b : a;
  t.b = shape.swaps() ? a : b;
  t.accumulator = formats[0];
  if (a == TensorFormat::b1)
    t.product = has_modifier(s, "and") ? ir::TensorProduct::and_popc : ir::TensorProduct::xor_popc;
  const Fragment of_a = left_or_right(shape, true, a), of_b = left_or_right(shape, false, b);
  const Fragment of_c = accumulator(shape, t.accumulator);
  const ir::Instruction bare = plain(proto);
  const auto values = [&](const Operand& o, const Fragment& f) {
    std::vector<ir::Operand> list;
    for (const Operand& e : l.data_elements(s, o, f.registers)) list.push_back(l.source(e, f.type(), bare));
    list.resize(f.parts.size());
    return list;
  };
  const std::vector<ir::Operand> d = l.matrix_destinations(s, s.operands[0], of_c.registers, of_c.type());
  std::vector<ir::Operand> left = values(s.operands[1], of_a), right = values(s.operands[2], of_b);
  if (shape.swaps()) std::swap(left, right);
  const std::vector<ir::Operand> c = values(s.operands[3], of_c);
  const std::size_t tiles = std::size_t{shape.left_tiles()} * shape.right_tiles(), each = c.size() / tiles;
  const std::size_t left_each = left.size() / shape.left_tiles(), right_each = right.size() / shape.right_tiles();
  // D may be C: what the second product reads must not be what the first has written.
  std::vector<ir::Operand> result = d;
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    ir::Instruction i = product;
    const std::size_t row = tile / shape.right_tiles(), column = tile % shape.right_tiles();
    const auto part = [&](const std::vector<ir::Operand>& from, std::size_t at, std::size_t count) {
      i.sources.insert(i.sources.end(), from.begin() + static_cast<std::ptrdiff_t>(at),
                       from.begin() + static_cast<std::ptrdiff_t>(at + count));
    };
    part(left, row * left_each, left_each);
    part(right, column * right_each, right_each);
    part(c, tile * each, each);
    for (std::size_t r = 0; r < each; ++r) {
      if (tile + 1 < tiles) result[tile * each + r] = l.temporary(is_double ? Type::f64 : Type::b32);
      i.destinations.push_back(result[tile * each + r]);
    }
    l.append(std::move(i));
  }
  for (std::size_t r = 0; r < (tiles - 1) * each; ++r)
    l.emit(bare, ir::Opcode::mov, is_double ? Type::b64 : Type::b32, {d[r]}, {result[r]});
}

}  // namespace regatta::ptx
