// SPDX-License-Identifier: Apache-2.0
//
// Texture fetches, surface accesses and queries. Textures have one level: a level of detail has no effect, and
// gradients are not even read. The handle is the lower half of a texture object, which has all that counts.
#include "lowering.h"

namespace regatta::ptx {
namespace {

constexpr unsigned max_surface_bytes = 16;

/// What PTX wants in a coordinate: vectors of three have a fourth element without a meaning.
unsigned written_coordinates(ir::TextureGeometry g) {
  const unsigned count = ir::coordinates_of(g);
  return count == 3 ? 4 : count;
}

bool is_zero(const ir::Operand& o) { return o.kind == ir::Operand::Kind::immediate && o.value == 0; }

}  // namespace

void lower_texture(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  l.texture(s, proto);
}
void lower_texture_query(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  l.texture_query(s, proto);
}
void lower_surface(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  l.surface(s, proto);
}

ir::Operand FunctionLowering::texture_handle(const Operand& o, const ir::Instruction& bare) {
  if (o.kind != Operand::Kind::address) error(o.at, "'" + o.text + "' is not a texture or surface, expected '[...]'");
  if (o.name.empty() || o.offset != 0) error(o.at, "'" + o.text + "' is not a texture or surface");
  const Symbol symbol = register_symbol(o);
  if (symbol.kind == Symbol::Kind::reference) return symbol_address(symbol, o, 1);
  if (symbol.kind != Symbol::Kind::reg || ir::size_of(symbol.type) != 8 || ir::is_float(symbol.type))
    error(o.at, "'" + o.name + "' is not a texture or surface, expected a .texref, a .surfref or a 64-bit register");
  const ir::Operand low = temporary(ir::Type::u32);
  emit(bare, ir::Opcode::cvt, ir::Type::u32, {low}, {ir::Operand::reg(symbol.id, 2)});
  last().source_type = ir::Type::u64;
  return low;
}

/// A coordinate needs a register: the instruction has no place for a number.
ir::Operand FunctionLowering::coordinate(const Operand& o, ir::Type type, const ir::Instruction& bare) {
  const ir::Operand value = source(o, type, bare);
  if (value.is_reg()) return value;
  const ir::Operand t = temporary(type);
  emit(bare, ir::Opcode::mov, ir::Type::b32, {t}, {value});
  return t;
}

void FunctionLowering::texture_place(const Statement& s, const Operand& o, ir::Instruction& i) {
  const ir::Instruction bare = plain(i);
  i.sources.push_back(texture_handle(o, bare));
  const ir::TextureGeometry geometry = i.mod.texture.geometry;
  const unsigned written = written_coordinates(geometry);
  if (o.elements.size() != written)
    error(o.at, "'" + s.name + "' has " + std::to_string(o.elements.size()) + " coordinates, expected " +
                    std::to_string(written));
  const bool is_fetch = i.op == ir::Opcode::tex || i.op == ir::Opcode::tld4;
  const ir::Type type = is_fetch ? i.source_type : ir::Type::s32;
  for (unsigned c = 0; c < ir::coordinates_of(geometry); ++c) {
    const bool is_layer = c == 0 && ir::has_layer(geometry);
    i.sources.push_back(coordinate(o.elements[c], is_layer ? ir::Type::u32 : type, bare));
  }
}

void FunctionLowering::texture(const Statement& s, ir::Instruction proto) {
  const ir::Instruction bare = plain(proto);
  ir::TextureModifiers& t = proto.mod.texture;
  proto.mod.space = trace::MemorySpace::texture;
  if (proto.op == ir::Opcode::tld4) {
    unsigned named = 0;
    for (const char* channel : {"r", "g", "b", "a"}) named += has_modifier(s, channel) ? 1 : 0;
    if (named != 1)
      error(s.at, "'" + s.name + "' names " + std::to_string(named) + " channels, expected one of .r .g .b .a");
  }
  texture_place(s, s.operands[1], proto);
  if (has_modifier(s, "level")) {
    const ir::Operand level = source(s.operands[2], proto.source_type, bare);
    t.has_level = !is_zero(level);
    if (t.has_level)
      proto.sources.push_back(level.is_reg() ? level : coordinate(s.operands[2], proto.source_type, bare));
  } else if (has_modifier(s, "grad")) {
    const unsigned written = written_coordinates(t.geometry) - (ir::has_layer(t.geometry) ? 1 : 0);
    const unsigned wanted = t.geometry == ir::TextureGeometry::a2d ? 2 : written;
    for (std::size_t n = 2; n < 4; ++n)
      for (const Operand& o : data_elements(s, s.operands[n], wanted)) source(o, ir::Type::f32, bare);
  }
  unsigned element = 0;
  for (const Operand& o : data_elements(s, s.operands[0], 4)) {
    const unsigned bit = 1u << element++;
    if (o.kind == Operand::Kind::sink) continue;
    const ir::Operand d = destination(o, proto.type);
    for (const ir::Operand& earlier : proto.destinations)
      if (earlier.id == d.id) error(o.at, "'" + o.name + "' is loaded twice");
    proto.destinations.push_back(d);
    t.channels = static_cast<std::uint8_t>(t.channels | bit);
  }
  append(std::move(proto));
}

void FunctionLowering::texture_query(const Statement& s, ir::Instruction proto) {
  const ir::Instruction bare = plain(proto);
  const Operand& o = s.operands[1];
  proto.sources.push_back(texture_handle(o, bare));
  if (!o.elements.empty()) error(o.at, "'" + s.name + "' takes no coordinates");
  proto.destinations.push_back(destination(s.operands[0], proto.type));
  append(std::move(proto));
}

void FunctionLowering::surface(const Statement& s, ir::Instruction proto) {
  const ir::Instruction bare = plain(proto);
  ir::TextureModifiers& t = proto.mod.texture;
  if (t.bounds == ir::SurfaceBounds::none) t.bounds = ir::SurfaceBounds::trap;
  t.access_bytes = static_cast<std::uint8_t>(ir::size_of(proto.type) * t.elements);
  if (t.access_bytes > max_surface_bytes) error(s.at, "'" + s.name + "' moves more than 16 bytes per thread");
  proto.mod.space = trace::MemorySpace::surface;
  const ir::Type type = proto.type;
  if (proto.op == ir::Opcode::sust) {
    texture_place(s, s.operands[0], proto);
    std::vector<ir::Operand> values;
    for (const Operand& o : data_elements(s, s.operands[1], t.elements))
      values.push_back(relaxed_source(o, type, bare));
    surface_store(std::move(proto), values);
    return;
  }
  texture_place(s, s.operands[1], proto);
  std::vector<RelaxedDestination> wide;
  for (const Operand& o : data_elements(s, s.operands[0], t.elements)) {
    wide.push_back(relaxed_destination(o, type));
    for (const ir::Operand& earlier : proto.destinations)
      if (earlier.id == wide.back().operand.id) error(o.at, "'" + o.name + "' is loaded twice");
    proto.destinations.push_back(wide.back().operand);
  }
  append(std::move(proto));
  for (const RelaxedDestination& d : wide) finish_wide(d, type, bare);
}

/// As one instruction, or as two halves where it would read more registers than an instruction can.
void FunctionLowering::surface_store(ir::Instruction store, const std::vector<ir::Operand>& values) {
  const std::size_t registers = store.sources.size() + values.size() * ir::words_of(store.type);
  store.mod.texture.elements = static_cast<std::uint8_t>(values.size());
  if (registers <= trace::max_plain_source_registers) {
    store.sources.insert(store.sources.end(), values.begin(), values.end());
    append(std::move(store));
    return;
  }
  const auto half = static_cast<std::ptrdiff_t>(values.size() / 2);
  surface_store(store, {values.begin(), values.begin() + half});
  store.offset += half * static_cast<std::ptrdiff_t>(ir::size_of(store.type));
  surface_store(std::move(store), {values.begin() + half, values.end()});
}

}  // namespace regatta::ptx
