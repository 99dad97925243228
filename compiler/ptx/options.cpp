// SPDX-License-Identifier: Apache-2.0
//
// Modifiers: which belong to which group, and what each sets.
#include "forms.h"

#include <map>
#include <unordered_map>

namespace regatta::ptx {
namespace {

using ir::AtomicOp;
using ir::BoolOp;
using ir::Compare;
using ir::MemoryOrder;
using ir::MemoryScope;
using ir::Rounding;
using trace::MemorySpace;

}  // namespace

const std::map<std::string_view, const char*>& option_groups() {
  static const std::map<std::string_view, const char*> table = {
      {"$rounding", "rn rz rm rp"},
      {"$integer_rounding", "rni rzi rmi rpi"},
      {"$compare", "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan"},
      {"$bool", "and or xor"},
      {"$space", "global shared shared::cta shared::cluster local const param param::entry param::func"},
      {"$atomic_space", "global shared shared::cta shared::cluster"},
      {"$load_cache", "nc ca cg cs lu cv"},
      {"$store_cache", "wb cg cs wt"},
      {"$hint",
       "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::evict_normal "
       "L2::evict_first L2::evict_last L2::64B L2::128B L2::256B L2::cache_hint"},
      {"$load_order", "volatile relaxed acquire weak mmio"},
      {"$store_order", "volatile relaxed release weak mmio"},
      {"$atomic_order", "relaxed acquire release acq_rel"},
      {"$scope", "cta cluster gpu sys"},
      {"$vector", "v2 v4"},
      {"$bounds", "trap clamp zero"},
      {"$atomic", "add min max and or xor exch cas inc dec"},
      {"$shuffle", "up down bfly idx"},
      {"$vote", "all any uni ballot"}};
  return table;
}

namespace {

bool in_list(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = list.find(' ');
    const std::string_view item = list.substr(0, end);
    if (item == word) return true;
    if (!item.empty() && item.front() == '$') {
      const auto group = option_groups().find(item);
      if (group != option_groups().end() && in_list(group->second, word)) return true;
    }
    if (end == std::string_view::npos) break;
    list.remove_prefix(end + 1);
  }
  return false;
}

template <typename E>
bool lookup(const std::unordered_map<std::string_view, E>& table, std::string_view key, E& out) {
  const auto found = table.find(key);
  if (found == table.end()) return false;
  out = found->second;
  return true;
}

}  // namespace

bool is_option(const char* options, std::string_view modifier) { return in_list(options, modifier); }

namespace {

void apply_texture_option(ir::TextureModifiers& t, std::string_view m) {
  using ir::TextureGeometry;
  static const std::unordered_map<std::string_view, TextureGeometry> geometries = {
      {"1d", TextureGeometry::d1},   {"2d", TextureGeometry::d2},   {"3d", TextureGeometry::d3},
      {"a1d", TextureGeometry::a1d}, {"a2d", TextureGeometry::a2d}, {"cube", TextureGeometry::cube}};
  static const std::unordered_map<std::string_view, ir::SurfaceBounds> bounds = {
      {"trap", ir::SurfaceBounds::trap}, {"clamp", ir::SurfaceBounds::clamp}, {"zero", ir::SurfaceBounds::zero}};
  if (lookup(geometries, m, t.geometry) || lookup(bounds, m, t.bounds)) return;
  if (m == "v2" || m == "v4") t.elements = static_cast<std::uint8_t>(m[1] - '0');
  const std::size_t channel = std::string_view("rgba").find(m);
  if (m.size() == 1 && channel != std::string_view::npos) t.gathered = static_cast<std::uint8_t>(channel);
  for (auto q = static_cast<unsigned>(ir::TextureQuery::width);
       q <= static_cast<unsigned>(ir::TextureQuery::memory_layout); ++q) {
    if (m == ir::to_string(static_cast<ir::TextureQuery>(q))) t.query = static_cast<ir::TextureQuery>(q);
  }
}

}  // namespace

void apply_option(ir::Instruction& i, std::string_view m) {
  if (ir::takes_texture(i.op)) return apply_texture_option(i.mod.texture, m);
  static const std::unordered_map<std::string_view, Rounding> roundings = {
      {"rn", Rounding::rn},   {"rz", Rounding::rz},   {"rm", Rounding::rm},
      {"rp", Rounding::rp},   {"rni", Rounding::rni}, {"rzi", Rounding::rzi},
      {"rmi", Rounding::rmi}, {"rpi", Rounding::rpi}, {"rna", Rounding::rna}};
  static const std::unordered_map<std::string_view, Compare> compares = {
      {"eq", Compare::eq},   {"ne", Compare::ne},   {"lt", Compare::lt},   {"le", Compare::le},   {"gt", Compare::gt},
      {"ge", Compare::ge},   {"lo", Compare::lo},   {"ls", Compare::ls},   {"hi", Compare::hi},   {"hs", Compare::hs},
      {"equ", Compare::equ}, {"neu", Compare::neu}, {"ltu", Compare::ltu}, {"leu", Compare::leu}, {"gtu", Compare::gtu},
      {"geu", Compare::geu}, {"num", Compare::num}, {"nan", Compare::nan}};
  static const std::unordered_map<std::string_view, BoolOp> bools = {
      {"and", BoolOp::and_}, {"or", BoolOp::or_}, {"xor", BoolOp::xor_}};
  static const std::unordered_map<std::string_view, AtomicOp> atomics = {
      {"add", AtomicOp::add}, {"min", AtomicOp::min},  {"max", AtomicOp::max},   {"and", AtomicOp::and_},
      {"or", AtomicOp::or_},  {"xor", AtomicOp::xor_}, {"exch", AtomicOp::exch}, {"cas", AtomicOp::cas},
      {"inc", AtomicOp::inc}, {"dec", AtomicOp::dec}};
  static const std::unordered_map<std::string_view, MemorySpace> spaces = {
      {"global", MemorySpace::global},      {"shared", MemorySpace::shared},
      {"shared::cta", MemorySpace::shared}, {"shared::cluster", MemorySpace::shared},
      {"local", MemorySpace::local},        {"const", MemorySpace::constant},
      {"param", MemorySpace::param},        {"param::entry", MemorySpace::param},
      {"param::func", MemorySpace::param}};
  static const std::unordered_map<std::string_view, ir::ShuffleMode> shuffles = {{"up", ir::ShuffleMode::up},
                                                                                 {"down", ir::ShuffleMode::down},
                                                                                 {"bfly", ir::ShuffleMode::bfly},
                                                                                 {"idx", ir::ShuffleMode::idx}};
  static const std::unordered_map<std::string_view, ir::VoteMode> votes = {{"all", ir::VoteMode::all},
                                                                           {"any", ir::VoteMode::any},
                                                                           {"uni", ir::VoteMode::uni},
                                                                           {"ballot", ir::VoteMode::ballot}};
  static const std::unordered_map<std::string_view, MemoryOrder> orders = {
      {"volatile", MemoryOrder::volatile_}, {"mmio", MemoryOrder::volatile_},  {"relaxed", MemoryOrder::relaxed},
      {"acquire", MemoryOrder::acquire},    {"release", MemoryOrder::release}, {"acq_rel", MemoryOrder::acq_rel}};
  // No clusters are launched: a cluster is one CTA. membar.gl is fence.gpu.
  static const std::unordered_map<std::string_view, MemoryScope> ranges = {{"cta", MemoryScope::cta},
                                                                           {"cluster", MemoryScope::cta},
                                                                           {"gpu", MemoryScope::gpu},
                                                                           {"gl", MemoryScope::gpu},
                                                                           {"sys", MemoryScope::sys}};
  static const std::unordered_map<std::string_view, ir::BarrierMode> barriers = {{"sync", ir::BarrierMode::sync},
                                                                                 {"arrive", ir::BarrierMode::arrive},
                                                                                 {"popc", ir::BarrierMode::popc},
                                                                                 {"and", ir::BarrierMode::and_},
                                                                                 {"or", ir::BarrierMode::or_}};
  ir::Modifiers& mod = i.mod;
  const bool memory = i.op == ir::Opcode::ld || i.op == ir::Opcode::st;
  const bool atomic = i.op == ir::Opcode::atom || i.op == ir::Opcode::red;
  if (i.op == ir::Opcode::shfl && lookup(shuffles, m, mod.shuffle)) return;
  if ((i.op == ir::Opcode::vote || i.op == ir::Opcode::match) && lookup(votes, m, mod.vote)) return;
  if (i.op == ir::Opcode::bar) {
    lookup(barriers, m, mod.barrier);
    return;
  }
  if (i.op == ir::Opcode::redux && lookup(atomics, m, mod.atomic)) return;
  if (i.op == ir::Opcode::bra && m == "uni") {
    mod.uniform = true;
    return;
  }
  if (memory || atomic) {
    if (lookup(spaces, m, mod.space)) return;
    if (atomic && lookup(atomics, m, mod.atomic)) return;
    if (m == "v2" || m == "v4" || m == "v8") mod.vector = static_cast<std::uint8_t>(m[1] - '0');
    lookup(orders, m, mod.order);
    lookup(ranges, m, mod.scope);
    // An atomic goes to memory anyway.
    if (atomic) return;
    if (m == "volatile" || m == "relaxed" || m == "acquire" || m == "release" || m == "mmio" || m == "cv")
      mod.is_volatile = true;
    if (is_option("$load_cache $store_cache", m)) mod.cache = "." + std::string(m);
    return;
  }
  if (ir::is_asynchronous(i.op)) {
    if (i.op == ir::Opcode::mbarrier && (lookup(orders, m, mod.order) || lookup(ranges, m, mod.scope))) return;
    if (i.op == ir::Opcode::bulk_copy) lookup(atomics, m, mod.atomic);
    if (i.op == ir::Opcode::cp_async && (m == "ca" || m == "cg")) mod.cache = "." + std::string(m);
    return;
  }
  if (i.op == ir::Opcode::membar) {
    lookup(ranges, m, mod.scope);
    mod.cache += "." + std::string(m);
    return;
  }
  // .lo and .hi compare here, and choose a half of a product elsewhere.
  const bool compares_values = i.op == ir::Opcode::setp || i.op == ir::Opcode::set;
  if (compares_values && (lookup(compares, m, mod.compare) || lookup(bools, m, mod.bool_op))) return;
  if (lookup(roundings, m, mod.rounding)) return;
  if (m == "ftz")
    mod.ftz = true;
  else if (m == "sat")
    mod.saturate = true;
  else if (m == "approx")
    mod.approximate = true;
  else if (m == "NaN")
    mod.nan = true;
  else if (m == "full")
    mod.full = true;
  else if (m == "satfinite")
    mod.satfinite = i.op == ir::Opcode::cvt;
  else if (m == "relu")
    mod.relu = i.op == ir::Opcode::cvt;
  else if (m == "xorsign")
    mod.xorsign = true;
  else if (m == "cc")
    mod.carry_out = i.op == ir::Opcode::addc || i.op == ir::Opcode::subc;
  else if (m == "wrap")
    mod.wrap = true;
  else if (m == "l")
    mod.left = true;
  else if (m == "shiftamt")
    mod.shift_amount = true;
}

}  // namespace regatta::ptx
