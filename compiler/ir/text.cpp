// SPDX-License-Identifier: Apache-2.0
//
// Opcode and instruction text. The opcode text holds everything that makes two instructions the same operation
// on equal operands, so that interned texts can serve as opcode ids.
#include <regatta/ir/ir.h>

#include <cstdio>

namespace regatta::ir {
namespace {

const char* rounding_text(Rounding r) {
  static constexpr const char* names[] = {"", ".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi", ".rna"};
  return names[static_cast<std::size_t>(r)];
}

const char* compare_text(Compare c) {
  static constexpr const char* names[] = {"",     ".eq",  ".ne",  ".lt",  ".le",  ".gt",           ".ge",
                                          ".lo",  ".ls",  ".hi",  ".hs",  ".equ", ".neu",          ".ltu",
                                          ".leu", ".gtu", ".geu", ".num", ".nan", ".slow_division"};
  return names[static_cast<std::size_t>(c)];
}

const char* bool_text(BoolOp b) {
  static constexpr const char* names[] = {"", ".and", ".or", ".xor"};
  return names[static_cast<std::size_t>(b)];
}

const char* atomic_text(AtomicOp a) {
  static constexpr const char* names[] = {"",      ".add", ".min", ".max", ".and",    ".or",  ".xor",
                                          ".exch", ".cas", ".inc", ".dec", ".malloc", ".free"};
  return names[static_cast<std::size_t>(a)];
}

const char* shuffle_text(ShuffleMode m) {
  static constexpr const char* names[] = {"", ".up", ".down", ".bfly", ".idx"};
  return names[static_cast<std::size_t>(m)];
}

const char* vote_text(VoteMode m) {
  static constexpr const char* names[] = {"", ".all", ".any", ".uni", ".ballot"};
  return names[static_cast<std::size_t>(m)];
}

const char* barrier_text(BarrierMode m) {
  static constexpr const char* names[] = {".sync",   ".arrive",         ".red.popc",    ".red.and",
                                          ".red.or", ".cluster.arrive", ".cluster.wait"};
  return names[static_cast<std::size_t>(m)];
}

const char* space_text(trace::MemorySpace s) {
  switch (s) {  // .texture and .surface are in the instruction's name
    case trace::MemorySpace::global:
      return ".global";
    case trace::MemorySpace::shared:
      return ".shared";
    case trace::MemorySpace::local:
      return ".local";
    case trace::MemorySpace::constant:
      return ".const";
    case trace::MemorySpace::param:
      return ".param";
    default:
      return "";
  }
}

const char* bounds_text(SurfaceBounds b) {
  static constexpr const char* names[] = {"", ".trap", ".clamp", ".zero"};
  return names[static_cast<std::size_t>(b)];
}

/// ".level.2d.rg", ".b.2d.v2", ".width": what a texture or surface instruction has between its name and its types.
std::string texture_text(const Instruction& i) {
  const TextureModifiers& t = i.mod.texture;
  if (i.op == Opcode::txq || i.op == Opcode::suq) return std::string(".") + to_string(t.query);
  const bool surface = i.op == Opcode::suld || i.op == Opcode::sust;
  std::string text = surface ? ".b" : t.has_level ? ".level" : "";
  if (i.op == Opcode::tld4) text += std::string(".") + "rgba"[t.gathered];
  text += std::string(".") + to_string(t.geometry);
  if (surface) return text + (t.elements > 1 ? ".v" + std::to_string(t.elements) : "");
  text += ".";
  for (unsigned c = 0; c < 4; ++c) {
    if ((t.channels >> c & 1) != 0) text += (i.op == Opcode::tld4 ? "0123" : "rgba")[c];
  }
  return text;
}

/// ".m16n8k16.f32.f16.f16", ".trans"
std::string tensor_text(const Instruction& i) {
  const TensorModifiers& t = i.mod.tensor;
  if (i.op != Opcode::mma && i.op != Opcode::wgmma) return t.transposed ? ".trans" : "";
  std::string text = "." + shape_text(t);
  if (i.mod.saturate) text += ".satfinite";
  for (const TensorFormat f : {t.accumulator, t.a, t.b}) text += std::string(".") + to_string(f);
  if (t.product == TensorProduct::xor_popc) text += ".xor";
  if (t.product == TensorProduct::and_popc) text += ".and";
  if (t.a_in_memory) text += ".shared_a";
  if (t.a_across) text += ".trans_a";
  if (t.b_across) text += ".trans_b";
  if (t.negates_a) text += ".neg_a";
  if (t.negates_b) text += ".neg_b";
  return text;
}

/// ".arrive.noComplete", ".2d.to_shared": what an asynchronous operation has behind its name.
std::string async_text(const Instruction& i) {
  static constexpr const char* directions[] = {"", ".to_shared", ".to_global", ".reduce"};
  const AsyncModifiers& a = i.mod.async;
  std::string text = a.barrier == MbarrierOp::none ? "" : std::string(".") + to_string(a.barrier);
  if (a.dimensions != 0) text += "." + std::to_string(a.dimensions) + "d";
  text += directions[static_cast<std::size_t>(a.direction)];
  if (a.all) text += ".all";
  if (a.read) text += ".read";
  if (a.no_complete) text += ".noComplete";
  if (a.no_increment) text += ".noinc";
  if (a.parity) text += ".parity";
  if (a.has_size) text += ".zfill";
  if (a.has_ignore) text += ".ignore";
  return text;
}

/// The part of an opcode that is spelled in its mnemonic: mul.lo, add.cc, shf.l.
std::string variant_text(const Instruction& i) {
  switch (i.op) {
    case Opcode::add_cc:
    case Opcode::sub_cc:
      return ".cc";
    case Opcode::mul_lo:
    case Opcode::mad_lo:
    case Opcode::dp2a_lo:
      return ".lo";
    case Opcode::mul_hi:
    case Opcode::mad_hi:
    case Opcode::dp2a_hi:
      return ".hi";
    case Opcode::mul_wide:
    case Opcode::mad_wide:
      return ".wide";
    case Opcode::shf:
      return std::string(i.mod.left ? ".l" : ".r") + (i.mod.wrap ? ".wrap" : ".clamp");
    case Opcode::shfl:
    case Opcode::vote:
    case Opcode::match:
    case Opcode::redux:
    case Opcode::elect:
      return ".sync";
    case Opcode::set_registers:
      return i.mod.raises ? ".inc" : ".dec";
    case Opcode::bar:
      return barrier_text(i.mod.barrier);
    case Opcode::tex:
    case Opcode::tld4:
    case Opcode::txq:
    case Opcode::suq:
    case Opcode::suld:
    case Opcode::sust:
      return texture_text(i);
    case Opcode::warp_sync:
      return ".sync";
    case Opcode::cp_async:
    case Opcode::cp_async_commit:
    case Opcode::cp_async_wait:
    case Opcode::cp_async_arrive:
    case Opcode::mbarrier:
    case Opcode::bulk_copy:
    case Opcode::bulk_tensor:
    case Opcode::bulk_commit:
    case Opcode::bulk_wait:
      return async_text(i);
    default:
      return tensor_text(i);
  }
}

std::string hex(std::uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

std::string operand_text(const Operand& o, bool allocated) {
  switch (o.kind) {
    case Operand::Kind::reg:
      return (allocated ? "R" : "%v") + std::to_string(o.id) + (o.words == 2 ? ".64" : "");
    case Operand::Kind::predicate:
      return std::string(o.negated ? "!" : "") + (allocated ? "P" : "%v") + std::to_string(o.id);
    case Operand::Kind::immediate:
      if (o.symbol.empty()) return hex(o.value);
      return o.value == 0 ? o.symbol : o.symbol + "+" + hex(o.value);
    case Operand::Kind::special:
      return to_string(static_cast<Special>(o.value));
    case Operand::Kind::parameter:
      return "param[" + hex(o.value) + "]" + (o.words == 2 ? ".64" : "");
    case Operand::Kind::none:
      break;
  }
  return "_";
}

std::string list_text(const std::vector<Operand>& list, std::size_t first, std::size_t count, bool allocated) {
  std::string text;
  for (std::size_t i = first; i < first + count && i < list.size(); ++i) {
    if (i != first) text += ", ";
    text += operand_text(list[i], allocated);
  }
  return text;
}

std::string braced(const std::vector<Operand>& list, std::size_t first, std::size_t count, bool allocated) {
  const std::string text = list_text(list, first, count, allocated);
  return count > 1 ? "{" + text + "}" : text;
}

std::string address_text(const Instruction& i, bool allocated) {
  // Before allocation tests tell a variable's place from the offset.
  if (allocated && !i.sources.empty() && i.sources.front().kind == Operand::Kind::immediate &&
      i.sources.front().symbol.empty())
    return "[" + hex(i.sources.front().value + static_cast<std::uint64_t>(i.offset)) + "]";
  std::string text = "[" + (i.sources.empty() ? "?" : operand_text(i.sources.front(), allocated));
  if (i.offset > 0) text += "+" + hex(static_cast<std::uint64_t>(i.offset));
  if (i.offset < 0) text += "-" + hex(0 - static_cast<std::uint64_t>(i.offset));
  return text + "]";
}

void append(std::string& text, const std::string& item) {
  if (item.empty()) return;
  text += text.empty() ? " " : ", ";
  text += item;
}

}  // namespace

std::string opcode_text(const Instruction& i) {
  const Modifiers& m = i.mod;
  std::string text = to_string(i.op);
  text += variant_text(i);
  if (m.carry_out) text += ".cc";
  if (m.uniform) text += ".uni";
  if (m.is_volatile) text += ".volatile";
  text += space_text(m.space);
  text += m.cache;
  text += atomic_text(m.atomic);
  text += shuffle_text(m.shuffle);
  text += vote_text(m.vote);
  text += compare_text(m.compare);
  text += bool_text(m.bool_op);
  text += rounding_text(m.rounding);
  if (m.approximate) text += ".approx";
  if (m.full) text += ".full";
  if (m.ftz) text += ".ftz";
  if (m.saturate && i.op != Opcode::mma && i.op != Opcode::wgmma) text += ".sat";
  if (m.satfinite) text += ".satfinite";
  if (m.relu) text += ".relu";
  if (m.nan) text += ".NaN";
  if (m.xorsign) text += ".xorsign.abs";
  if (m.shift_amount) text += ".shiftamt";
  if (m.vector > 1) text += ".v" + std::to_string(m.vector);
  if (i.type != Type::none) text += std::string(".") + to_string(i.type);
  if (i.source_type != Type::none) text += std::string(".") + to_string(i.source_type);
  text += bounds_text(m.texture.bounds);
  return text;
}

std::string to_text(const Instruction& i, bool allocated) {
  std::string guard;
  if (i.guarded)
    guard = std::string("@") + (i.guard_negated ? "!" : "") + (allocated ? "P" : "%v") + std::to_string(i.guard) + " ";
  std::string operands;
  const TextureModifiers& m = i.mod.texture;
  switch (i.op) {
    case Opcode::bra:
      append(operands, "B" + std::to_string(i.target));
      break;
    case Opcode::ld:
    case Opcode::ldmatrix:
      append(operands, braced(i.destinations, 0, i.destinations.size(), allocated));
      append(operands, address_text(i, allocated));
      break;
    case Opcode::st:
    case Opcode::stmatrix:
      append(operands, address_text(i, allocated));
      append(operands, braced(i.sources, 1, i.sources.empty() ? 0 : i.sources.size() - 1, allocated));
      break;
    case Opcode::atom:
    case Opcode::red:
      append(operands, list_text(i.destinations, 0, i.destinations.size(), allocated));
      append(operands, address_text(i, allocated));
      append(operands, list_text(i.sources, 1, i.sources.empty() ? 0 : i.sources.size() - 1, allocated));
      break;
    case Opcode::tex:
    case Opcode::tld4:
    case Opcode::suld:
    case Opcode::sust: {
      const std::size_t coordinates = coordinates_of(m.geometry);
      append(operands, braced(i.destinations, 0, i.destinations.size(), allocated));
      std::string place = list_text(i.sources, 0, 1, allocated) + ", " + braced(i.sources, 1, coordinates, allocated);
      if (i.offset != 0) place += "+" + hex(static_cast<std::uint64_t>(i.offset));
      append(operands, "[" + place + "]");
      if (i.sources.size() > coordinates + 1)
        append(operands, braced(i.sources, coordinates + 1, i.sources.size() - coordinates - 1, allocated));
      break;
    }
    case Opcode::mma:
    case Opcode::wgmma:
      append(operands, braced(i.destinations, 0, i.destinations.size(), allocated));
      append(operands, list_text(i.sources, 0, i.sources.size(), allocated));
      break;
    case Opcode::pack:
      append(operands, list_text(i.destinations, 0, i.destinations.size(), allocated));
      append(operands, braced(i.sources, 0, i.sources.size(), allocated));
      break;
    case Opcode::unpack:
      append(operands, braced(i.destinations, 0, i.destinations.size(), allocated));
      append(operands, list_text(i.sources, 0, i.sources.size(), allocated));
      break;
    default:
      if (i.destinations.size() == 2) {
        append(operands, operand_text(i.destinations[0], allocated) + "|" + operand_text(i.destinations[1], allocated));
      } else {
        append(operands, list_text(i.destinations, 0, i.destinations.size(), allocated));
      }
      append(operands, list_text(i.sources, 0, i.sources.size(), allocated));
      break;
  }
  return guard + opcode_text(i) + operands + ";";
}

}  // namespace regatta::ir
