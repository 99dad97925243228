// SPDX-License-Identifier: Apache-2.0
//
// Video instructions: vadd, vadd2, vadd4 and their kin. GPUs since Maxwell have vabsdiff4 alone, of whole operands; the
// others are several instructions there too (PTX ISA, "SIMD Video Instructions", target notes).
#include "lowering.h"

#include <algorithm>
#include <functional>

namespace regatta::ptx {
namespace {

using ir::Opcode;
using ir::Type;

/// The parts of an operand that its selector names, "%r1.b3210", the lowest first; empty: none are named.
struct Selected {
  Operand operand;
  char unit = ' ';  ///< b or h
  std::vector<unsigned> parts;
};

class Video {
 public:
  Video(FunctionLowering& l, const Statement& s, const ir::Instruction& proto)
      : l_(l), s_(s), bare_(plain(proto)), name_(s.mnemonic) {
    if (name_.back() == '2' || name_.back() == '4') {
      lanes_ = static_cast<unsigned>(name_.back() - '0');
      name_.pop_back();
    }
    for (const std::string& m : s.modifiers) {
      if (m == "u32" || m == "s32") types_.push_back(m == "u32" ? Type::u32 : Type::s32);
    }
    const std::size_t expected = name_ == "vset" ? 2 : 3;
    if (types_.size() != expected) {
      l.error(s.at, "'" + s.name + "' has " + std::to_string(types_.size()) + " types, expected " +
                        std::to_string(expected) + " of .u32 and .s32");
    }
    if (name_ == "vset") types_.insert(types_.begin(), Type::u32);
  }

  void run() {
    for (const Operand& o : s_.operands) operands_.push_back(selected(o));
    if (operands_.size() > 3 && !operands_[3].parts.empty())
      l_.error(s_.operands[3].at, "'" + s_.operands[3].text + "' cannot have a selector");
    for (std::size_t n = 1; n < operands_.size(); ++n)
      sources_.push_back(l_.source(operands_[n].operand, Type::b32, bare_));
    if (lanes_ == 0) {
      scalar();
    } else {
      simd();
    }
  }

 private:
  Selected selected(const Operand& o) const {
    Selected r{o, ' ', {}};
    const std::size_t dot = o.name.rfind('.');
    if (o.kind != Operand::Kind::name || dot == std::string::npos || dot + 2 >= o.name.size()) return r;
    r.unit = o.name[dot + 1];
    // Of a source, a lane may be one of either source.
    const bool is_result = &o == &s_.operands[0];
    const unsigned limit = lanes_ == 0 ? (r.unit == 'b' ? 4 : 2) : is_result ? lanes_ : 2 * lanes_;
    const bool unit_fits = lanes_ == 0 ? r.unit == 'b' || r.unit == 'h' : r.unit == (lanes_ == 4 ? 'b' : 'h');
    for (std::size_t n = o.name.size(); n-- > dot + 2;) {
      const auto part = static_cast<unsigned>(o.name[n] - '0');
      if (part < limit) r.parts.push_back(part);
    }
    const std::size_t count = o.name.size() - dot - 2;
    bool good = unit_fits && r.parts.size() == count;
    if (lanes_ == 0) good = good && count == 1;
    if (lanes_ != 0 && !is_result) good = good && count == lanes_;
    if (lanes_ != 0 && is_result)
      good = good && std::adjacent_find(r.parts.begin(), r.parts.end(), std::greater_equal<>()) == r.parts.end();
    if (!good) l_.error(o.at, "'" + o.text + "' has no selector of '" + s_.name + "'");
    r.operand.name.resize(dot);
    r.operand.text = r.operand.name;
    return r;
  }

  ir::Operand emitted(Opcode op, Type type, std::vector<ir::Operand> sources) {
    const ir::Operand t = l_.temporary(type);
    l_.emit(bare_, op, type, {t}, std::move(sources));
    return t;
  }
  static ir::Operand number(std::uint64_t v, Type type) {
    const bool wide = ir::size_of(type) == 8;
    return ir::Operand::immediate(wide ? v : v & 0xffffffffu, wide ? 2 : 1);
  }

  /// a op b in `type`, s32 for lanes or s64, so that nothing is lost.
  ir::Operand operation(const ir::Operand& a, const ir::Operand& b, Type type) {
    if (name_ == "vadd") return emitted(Opcode::add, type, {a, b});
    if (name_ == "vsub") return emitted(Opcode::sub, type, {a, b});
    if (name_ == "vmin") return emitted(Opcode::min, type, {a, b});
    if (name_ == "vmax") return emitted(Opcode::max, type, {a, b});
    if (name_ == "vabsdiff")
      return emitted(Opcode::sub, type, {emitted(Opcode::max, type, {a, b}), emitted(Opcode::min, type, {a, b})});
    if (name_ == "vavrg") {
      // Halves are rounded away from zero.
      const ir::Operand sum = emitted(Opcode::add, type, {a, b});
      const ir::Operand negative = emitted(Opcode::shr, Type::u32, {sum, number(31, Type::u32)});
      const ir::Operand rounded =
          emitted(Opcode::add, type, {emitted(Opcode::sub, type, {sum, negative}), number(1, type)});
      return emitted(Opcode::shr, type, {rounded, number(1, Type::u32)});
    }
    return comparison(a, b, type);
  }
  ir::Operand comparison(const ir::Operand& a, const ir::Operand& b, Type type) {
    static const std::map<std::string, ir::Compare> compares = {{"eq", ir::Compare::eq}, {"ne", ir::Compare::ne},
                                                                {"lt", ir::Compare::lt}, {"le", ir::Compare::le},
                                                                {"gt", ir::Compare::gt}, {"ge", ir::Compare::ge}};
    ir::Compare compare = ir::Compare::none;
    for (const std::string& m : s_.modifiers) {
      if (const auto found = compares.find(m); found != compares.end()) compare = found->second;
    }
    if (compare == ir::Compare::none) l_.error(s_.at, "'" + s_.name + "' has no comparison operator");
    const ir::Operand holds = l_.temporary(Type::pred);
    l_.emit(bare_, Opcode::setp, type, {holds}, {a, b});
    l_.last().mod.compare = compare;
    return emitted(Opcode::selp, type, {number(1, type), number(0, type), holds});
  }

  /// Clamped to `bits` bits of the result's type.
  ir::Operand saturated(const ir::Operand& v, unsigned bits, Type type) {
    if (!has_modifier(s_, "sat")) return v;
    const bool is_signed = types_[0] == Type::s32;
    const std::uint64_t span = std::uint64_t{1} << (is_signed ? bits - 1 : bits);
    const ir::Operand below = emitted(Opcode::min, type, {v, number(span - 1, type)});
    if (type == Type::u64) return below;
    return emitted(Opcode::max, type, {below, number(is_signed ? 0 - span : 0, type)});
  }

  void simd() {
    const unsigned bits = 32 / lanes_;
    const bool sums = has_modifier(s_, "add");
    std::vector<unsigned> mask = operands_[0].parts;
    const bool whole = mask.empty() || mask.size() == lanes_;
    if (mask.empty()) {
      for (unsigned n = 0; n < lanes_; ++n) mask.push_back(n);
    }
    if (sums && has_modifier(s_, "sat")) l_.error(s_.at, "'" + s_.name + "' has both .sat and .add");
    const ir::Operand d = l_.destination(operands_[0].operand, Type::b32);
    const bool plain_sources = operands_[1].parts.empty() && operands_[2].parts.empty() && types_[1] == types_[2];
    if (name_ == "vabsdiff" && lanes_ == 4 && whole && plain_sources && !has_modifier(s_, "sat")) {
      std::vector<ir::Operand> sources{sources_[0], sources_[1]};
      if (sums) sources.push_back(sources_[2]);
      l_.emit(bare_, Opcode::vabsdiff4, types_[1], {d}, std::move(sources));
      return;
    }
    ir::Operand result = sums || !whole ? sources_[2] : number(0, Type::b32);
    for (const unsigned lane : mask) {
      const ir::Operand value =
          saturated(operation(element(1, lane, bits), element(2, lane, bits), Type::s32), bits, Type::s32);
      const ir::Operand next = lane == mask.back() ? d : l_.temporary(Type::b32);
      if (sums) {
        l_.emit(bare_, Opcode::add, Type::u32, {next}, {result, value});
      } else {
        l_.emit(bare_, Opcode::bfi, Type::b32, {next},
                {value, result, number(lane * bits, Type::u32), number(bits, Type::u32)});
      }
      result = next;
    }
  }
  /// Lane `lane` of source operand n, which its selector takes from one of both sources.
  ir::Operand element(std::size_t n, unsigned lane, unsigned bits) {
    const std::vector<unsigned>& parts = operands_[n].parts;
    const unsigned from = parts.empty() ? lane + (n == 2 ? lanes_ : 0) : parts[lane];
    return emitted(Opcode::bfe, types_[n],
                   {sources_[from < lanes_ ? 0 : 1], number(from % lanes_ * bits, Type::u32), number(bits, Type::u32)});
  }

  void scalar() {
    const bool shifts = name_ == "vshl" || name_ == "vshr";
    const bool secondary = has_modifier(s_, "add") || has_modifier(s_, "min") || has_modifier(s_, "max");
    const bool merges = !operands_[0].parts.empty();
    if ((secondary || merges) != (sources_.size() == 3)) {
      l_.error(s_.at, "'" + s_.name + "' has " + std::to_string(s_.operands.size()) + " operands, expected " +
                          std::to_string(secondary || merges ? 4 : 3));
    }
    if (secondary && merges) l_.error(s_.at, "'" + s_.name + "' has both a second operation and a selected result");
    if (shifts && has_modifier(s_, "clamp") == has_modifier(s_, "wrap"))
      l_.error(s_.at, "'" + s_.name + "' has no mode, expected .clamp or .wrap");
    const ir::Operand a = wide(1);
    const bool keeps_top = name_ == "vshl" && types_[1] == Type::u32;  // a shifted number may have 64 bits
    ir::Operand value = shifts ? shifted(a) : operation(a, wide(2), Type::s64);
    const unsigned bits = !merges ? 32 : operands_[0].unit == 'b' ? 8 : 16;
    value = saturated(value, bits, keeps_top ? Type::u64 : Type::s64);
    const ir::Operand d = l_.destination(operands_[0].operand, Type::b32);
    if (secondary) {
      const ir::Operand c = extended(sources_[2], types_[0]);
      const Opcode op = has_modifier(s_, "add") ? Opcode::add : has_modifier(s_, "min") ? Opcode::min : Opcode::max;
      value = emitted(op, Type::s64, {value, c});
    }
    const ir::Operand low = merges ? l_.temporary(Type::u32) : d;
    l_.emit(bare_, Opcode::cvt, Type::u32, {low}, {value});
    l_.last().source_type = Type::u64;
    if (!merges) return;
    l_.emit(bare_, Opcode::bfi, Type::b32, {d},
            {low, sources_[2], number(operands_[0].parts[0] * bits, Type::u32), number(bits, Type::u32)});
  }
  ir::Operand shifted(const ir::Operand& a) {
    const ir::Operand count = part(2);
    const ir::Operand amount = has_modifier(s_, "wrap")
                                   ? emitted(Opcode::and_, Type::b32, {count, number(31, Type::u32)})
                                   : emitted(Opcode::min, Type::u32, {count, number(32, Type::u32)});
    return emitted(name_ == "vshl" ? Opcode::shl : Opcode::shr, name_ == "vshl" ? Type::b64 : Type::s64, {a, amount});
  }
  /// The selected part of a source in 32 bits, and in 64.
  ir::Operand part(std::size_t n) {
    const Selected& o = operands_[n];
    if (o.parts.empty()) return sources_[n - 1];
    const unsigned bits = o.unit == 'b' ? 8 : 16;
    return emitted(Opcode::bfe, types_[n],
                   {sources_[n - 1], number(o.parts[0] * bits, Type::u32), number(bits, Type::u32)});
  }
  ir::Operand wide(std::size_t n) { return extended(part(n), types_[n]); }
  ir::Operand extended(const ir::Operand& v, Type type) {
    const ir::Operand t = l_.temporary(Type::s64);
    l_.emit(bare_, Opcode::cvt, type == Type::s32 ? Type::s64 : Type::u64, {t}, {v});
    l_.last().source_type = type;
    return t;
  }

  FunctionLowering& l_;
  const Statement& s_;
  const ir::Instruction bare_;
  std::string name_;
  unsigned lanes_ = 0;  ///< 0: of whole registers
  std::vector<Type> types_;
  std::vector<Selected> operands_;
  std::vector<ir::Operand> sources_;
};

}  // namespace

void lower_video(FunctionLowering& l, const Statement& s, const Form&, const ir::Instruction& proto) {
  Video(l, s, proto).run();
}

}  // namespace regatta::ptx
