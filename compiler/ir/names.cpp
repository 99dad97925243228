// SPDX-License-Identifier: Apache-2.0
#include <regatta/ir/ir.h>
#include <regatta/trace/instruction_text.h>

#include <cstddef>

namespace regatta::ir {
namespace {

struct TypeInfo {
  const char* name;
  std::uint8_t bytes;
};

constexpr TypeInfo type_info[] = {{"none", 0},  {"pred", 0}, {"b8", 1},     {"b16", 2},    {"b32", 4},
                                  {"b64", 8},   {"u8", 1},   {"u16", 2},    {"u32", 4},    {"u64", 8},
                                  {"s8", 1},    {"s16", 2},  {"s32", 4},    {"s64", 8},    {"u16x2", 4},
                                  {"s16x2", 4}, {"f16", 2},  {"f16x2", 4},  {"bf16", 2},   {"bf16x2", 4},
                                  {"f32", 4},   {"f64", 8},  {"e4m3x2", 2}, {"e5m2x2", 2}, {"tf32", 4}};
static_assert(sizeof(type_info) / sizeof(type_info[0]) == static_cast<std::size_t>(Type::tf32) + 1);

constexpr const char* opcode_names[] = {"nop",
                                        "mov",
                                        "pack",
                                        "unpack",
                                        "add",
                                        "sub",
                                        "add",
                                        "addc",
                                        "sub",
                                        "subc",
                                        "mul",
                                        "mul",
                                        "mul",
                                        "mad",
                                        "mad",
                                        "mad",
                                        "mul",
                                        "fma",
                                        "div",
                                        "rem",
                                        "neg",
                                        "abs",
                                        "min",
                                        "max",
                                        "and",
                                        "or",
                                        "xor",
                                        "not",
                                        "shl",
                                        "shr",
                                        "setp",
                                        "selp",
                                        "set",
                                        "cvt",
                                        "ld",
                                        "st",
                                        "atom",
                                        "red",
                                        "rcp",
                                        "sqrt",
                                        "rsqrt",
                                        "ex2",
                                        "lg2",
                                        "sin",
                                        "cos",
                                        "tanh",
                                        "popc",
                                        "clz",
                                        "brev",
                                        "bfe",
                                        "bfi",
                                        "bfind",
                                        "fns",
                                        "prmt",
                                        "shf",
                                        "sad",
                                        "lop3",
                                        "dp4a",
                                        "dp2a",
                                        "dp2a",
                                        "shfl",
                                        "vote",
                                        "match",
                                        "redux",
                                        "activemask",
                                        "bra",
                                        "exit",
                                        "bar",
                                        "membar",
                                        "bar.warp",
                                        "trap",
                                        "print",
                                        "tex",
                                        "tld4",
                                        "txq",
                                        "suq",
                                        "suld",
                                        "sust",
                                        "elect",
                                        "setmaxnreg",
                                        "mma",
                                        "wgmma",
                                        "ldmatrix",
                                        "stmatrix",
                                        "movmatrix",
                                        "vabsdiff4",
                                        "cp.async",
                                        "cp.async.commit_group",
                                        "cp.async.wait_group",
                                        "cp.async.mbarrier.arrive",
                                        "mbarrier",
                                        "cp.async.bulk",
                                        "cp.async.bulk.tensor",
                                        "cp.async.bulk.commit_group",
                                        "cp.async.bulk.wait_group",
                                        "fnma",
                                        "add3",
                                        "lea",
                                        "uldc",
                                        "bssy",
                                        "bsync"};
static_assert(sizeof(opcode_names) / sizeof(opcode_names[0]) == static_cast<std::size_t>(Opcode::bsync) + 1);

static_assert(trace::special_register_count == static_cast<std::size_t>(Special::grid_barrier_low) + 1);

constexpr const char* geometry_names[] = {"", "1d", "2d", "3d", "a1d", "a2d", "cube"};
static_assert(sizeof(geometry_names) / sizeof(geometry_names[0]) ==
              static_cast<std::size_t>(TextureGeometry::cube) + 1);

constexpr const char* query_names[] = {"",
                                       "width",
                                       "height",
                                       "depth",
                                       "channel_data_type",
                                       "channel_order",
                                       "normalized_coords",
                                       "filter_mode",
                                       "addr_mode_0",
                                       "addr_mode_1",
                                       "addr_mode_2",
                                       "array_size",
                                       "num_mipmap_levels",
                                       "num_samples",
                                       "memory_layout"};
static_assert(sizeof(query_names) / sizeof(query_names[0]) ==
              static_cast<std::size_t>(TextureQuery::memory_layout) + 1);

constexpr const char* mbarrier_names[] = {"",
                                          "init",
                                          "inval",
                                          "arrive",
                                          "arrive_drop",
                                          "expect_tx",
                                          "complete_tx",
                                          "arrive.expect_tx",
                                          "arrive_drop.expect_tx",
                                          "test_wait",
                                          "try_wait"};
static_assert(sizeof(mbarrier_names) / sizeof(mbarrier_names[0]) == static_cast<std::size_t>(MbarrierOp::try_wait) + 1);

}  // namespace

const char* to_string(TensorFormat f) {
  static constexpr const char* names[] = {"none", "f16", "bf16", "tf32", "f32", "f64", "e4m3",
                                          "e5m2", "s32", "u8",   "s8",   "u4",  "s4",  "b1"};
  return names[static_cast<std::size_t>(f)];
}
unsigned bits_of(TensorFormat f) {
  static constexpr unsigned bits[] = {0, 16, 16, 32, 32, 64, 8, 8, 32, 8, 8, 4, 4, 1};
  return bits[static_cast<std::size_t>(f)];
}
unsigned size_of(Type t) { return type_info[static_cast<std::size_t>(t)].bytes; }
bool is_float(Type t) { return t >= Type::f16; }
bool is_signed(Type t) { return t >= Type::s8 && t <= Type::s64; }
const char* to_string(Type t) { return type_info[static_cast<std::size_t>(t)].name; }
const char* to_string(Opcode op) { return opcode_names[static_cast<std::size_t>(op)]; }
const char* to_string(TextureGeometry g) { return geometry_names[static_cast<std::size_t>(g)]; }
const char* to_string(MbarrierOp op) { return mbarrier_names[static_cast<std::size_t>(op)]; }
const char* to_string(TextureQuery q) { return query_names[static_cast<std::size_t>(q)]; }
unsigned coordinates_of(TextureGeometry g) {
  static constexpr unsigned counts[] = {0, 1, 2, 3, 2, 3, 3};
  return counts[static_cast<std::size_t>(g)];
}
const char* to_string(Special s) { return trace::special_register_names[static_cast<std::size_t>(s)]; }

}  // namespace regatta::ir
