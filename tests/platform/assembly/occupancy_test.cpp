// SPDX-License-Identifier: Apache-2.0
//
// Occupancy of the presets: resident CTAs by the vendors' published rules, written down here a second time in the
// vendors' own units (registers of a thread, bytes), and as constants worked out beforehand.
#include <regatta/baseline/occupancy_residency.h>

#include <algorithm>
#include <vector>

#include "harness.h"

using namespace regatta;
using test::named_machine;

namespace {

struct Case {
  unsigned registers;  ///< per thread
  unsigned shared;     ///< bytes per CTA
  unsigned threads;    ///< per CTA
  unsigned ctas;       ///< expected
};

/// A compute capability as cuda_occupancy.h and the programming guide's table of technical specifications give it;
/// GCN's rules have the same form (its vector registers are counted per wavefront of 64).
struct Published {
  unsigned warp;
  unsigned ctas, warps, threads;             ///< per SM
  unsigned registers, register_unit, parts;  ///< of threads per SM; allocated per warp in units; in sub-partitions
  unsigned shared, shared_cta, shared_unit;  ///< bytes per SM, per CTA, allocation unit
};
const Published capability_2_0{32, 8, 48, 1536, 32768, 64, 2, 49152, 49152, 128};
const Published capability_3_5{32, 16, 64, 2048, 65536, 256, 4, 49152, 49152, 256};
const Published capability_5_2{32, 32, 64, 2048, 65536, 256, 4, 98304, 49152, 256};
const Published capability_7_5{32, 16, 32, 1024, 65536, 256, 4, 65536, 65536, 256};
const Published capability_8_6{32, 16, 48, 1536, 65536, 256, 4, 102400, 101376, 128};
const Published gcn{64, 16, 64, 4096, 65536, 4 * 64, 4, 65536, 32768, 256};

unsigned round_up(unsigned n, unsigned unit) { return (n + unit - 1) / unit * unit; }

unsigned by_the_rule(const Published& p, const Case& c) {
  const unsigned warps = round_up(c.threads, p.warp) / p.warp;
  if (c.shared > p.shared_cta) return 0;
  unsigned ctas = std::min({p.ctas, p.warps / warps, p.threads / (warps * p.warp)});
  const unsigned per_warp = round_up(c.registers * p.warp, p.register_unit);
  if (per_warp * round_up(warps, p.parts) > p.registers) return 0;  // the hardware's check
  ctas = std::min(ctas, p.registers / p.parts / per_warp * p.parts / warps);
  if (c.shared != 0) ctas = std::min(ctas, p.shared / round_up(c.shared, p.shared_unit));
  return ctas;
}

unsigned by_the_model(const assembly::MachineConfig& m, const Case& c) {
  const unsigned warps = (c.threads + m.sm.lanes - 1) / m.sm.lanes;
  return models::occupancy(m.sm.limits(m.sm.lanes, m.register_file.registers), warps,
                           m.sm.allocated_registers(c.registers), c.shared)
      .ctas();
}

void compare(const std::string& machine, const Published& rule, const std::vector<Case>& cases) {
  const assembly::MachineConfig m = named_machine(machine);
  for (const Case& c : cases) {
    CAPTURE(machine, c.registers, c.shared, c.threads);
    CHECK(by_the_rule(rule, c) == c.ctas);
    CHECK(by_the_model(m, c) == c.ctas);
  }
  // And everywhere else.
  unsigned differ = 0;
  for (unsigned registers = 1; registers <= m.sm.registers_per_thread; ++registers) {
    for (unsigned threads = 1; threads <= 1024; threads += 31) {
      for (unsigned shared = 0; shared <= m.sm.shared_bytes + 999; shared += 997) {
        const Case c{registers, shared, threads, 0};
        differ += by_the_rule(rule, c) == by_the_model(m, c) ? 0 : 1;
      }
    }
  }
  CHECK(differ == 0);
}

}  // namespace

TEST_CASE("occupancy: gtx480 as compute capability 2.0") {
  // 32 registers a thread: 1024 a warp, 16 warps on each side, 4 CTAs of 8. 21: 672, allotted as 704, 23 a side.
  compare("gtx480", capability_2_0,
          {
              {16, 0, 256, 6},     {20, 0, 256, 6},    {21, 0, 256, 5},     {22, 0, 256, 5},     {32, 0, 256, 4},
              {33, 0, 256, 3},     {40, 0, 192, 4},    {42, 0, 192, 4},     {43, 0, 192, 3},     {63, 0, 256, 2},
              {63, 0, 512, 1},     {63, 0, 1024, 0},   {18, 0, 1024, 1},    {32, 0, 1024, 1},    {10, 0, 32, 8},
              {63, 0, 32, 8},      {24, 0, 96, 8},     {36, 0, 160, 5},     {26, 0, 100, 8},     {16, 4096, 128, 8},
              {16, 6144, 128, 8},  {16, 6145, 128, 7}, {16, 8192, 128, 6},  {16, 12288, 256, 4}, {16, 16384, 128, 3},
              {16, 16385, 128, 2}, {16, 24576, 64, 2}, {16, 49152, 256, 1}, {16, 49153, 256, 0}, {27, 5000, 200, 5},
              {48, 3000, 320, 2},  {30, 0, 768, 1},
          });
}

TEST_CASE("occupancy: gtx980 as compute capability 5.2") {
  // 33 registers a thread: 1056, allotted as 1280 a warp, 12 warps in each quarter, 6 CTAs of 8.
  compare("gtx980", capability_5_2,
          {
              {16, 0, 256, 8},     {32, 0, 256, 8},     {33, 0, 256, 6},     {40, 0, 256, 6},    {41, 0, 256, 5},
              {64, 0, 256, 4},     {65, 0, 256, 3},     {72, 0, 128, 7},     {80, 0, 192, 4},    {96, 0, 512, 1},
              {128, 0, 256, 2},    {128, 0, 512, 1},    {129, 0, 256, 1},    {200, 0, 64, 4},    {255, 0, 32, 8},
              {255, 0, 256, 1},    {64, 0, 1024, 1},    {65, 0, 1024, 0},    {32, 0, 1024, 2},   {16, 0, 32, 32},
              {24, 0, 96, 21},     {36, 0, 160, 9},     {30, 0, 100, 16},    {16, 3072, 64, 32}, {16, 3073, 64, 29},
              {16, 8192, 128, 12}, {16, 12288, 256, 8}, {16, 16384, 128, 6}, {16, 24577, 64, 3}, {16, 49152, 256, 2},
              {16, 49153, 256, 0}, {27, 5000, 200, 9},  {48, 3000, 320, 4},  {104, 0, 160, 3},
          });
}

TEST_CASE("occupancy: k20x as compute capability 3.5") {
  // As gtx980, with half of the shared memory and of the CTAs.
  compare("k20x", capability_3_5,
          {
              {16, 0, 256, 8},     {32, 0, 256, 8},     {33, 0, 256, 6},     {40, 0, 256, 6},    {41, 0, 256, 5},
              {64, 0, 256, 4},     {65, 0, 256, 3},     {72, 0, 128, 7},     {80, 0, 192, 4},    {96, 0, 512, 1},
              {128, 0, 256, 2},    {128, 0, 512, 1},    {129, 0, 256, 1},    {200, 0, 64, 4},    {255, 0, 32, 8},
              {255, 0, 256, 1},    {64, 0, 1024, 1},    {65, 0, 1024, 0},    {32, 0, 1024, 2},   {16, 0, 32, 16},
              {24, 0, 96, 16},     {36, 0, 160, 9},     {30, 0, 100, 16},    {16, 3072, 64, 16}, {16, 3073, 64, 14},
              {16, 8192, 128, 6},  {16, 12288, 256, 4}, {16, 16384, 128, 3}, {16, 24577, 64, 1}, {16, 49152, 256, 1},
              {16, 49153, 256, 0}, {27, 5000, 200, 9},  {48, 3000, 320, 4},  {104, 0, 160, 3},
          });
}

TEST_CASE("occupancy: rtx_a6000 as compute capability 8.6") {
  // 33 registers a thread: 1280 a warp, 12 warps in each quarter, which are the most.
  compare("rtx_a6000", capability_8_6,
          {
              {16, 0, 256, 6},
              {33, 0, 256, 6},
              {41, 0, 256, 5},
              {64, 0, 256, 4},
              {255, 0, 32, 8},
              {16, 0, 32, 16},
              {32, 0, 1024, 1},
              {65, 0, 1024, 0},
              {36, 0, 160, 9},
              {16, 6400, 64, 16},
              {16, 6401, 64, 15},
              {16, 51200, 64, 2},
              {16, 101376, 64, 1},
              {16, 101377, 64, 0},
          });
}

TEST_CASE("occupancy: rtx_2080ti as compute capability 7.5") {
  compare("rtx_2080ti", capability_7_5,
          {
              {16, 0, 256, 4},
              {33, 0, 256, 4},
              {64, 0, 256, 4},
              {65, 0, 256, 3},
              {255, 0, 32, 8},
              {16, 0, 32, 16},
              {32, 0, 1024, 1},
              {65, 0, 1024, 0},
              {36, 0, 160, 6},
              {16, 4096, 64, 16},
              {16, 4097, 64, 15},
              {16, 32768, 64, 2},
              {16, 65536, 64, 1},
              {16, 65537, 64, 0},
          });
}

TEST_CASE("occupancy: hd7770 as GCN") {
  // 24 registers: 10 wavefronts in each slice of 256 rows, 40 in all. 85: allotted as 88, 2 in a slice.
  compare("hd7770", gcn,
          {
              {16, 0, 256, 16},    {24, 0, 256, 10},    {25, 0, 256, 9},    {28, 0, 256, 9},     {32, 0, 256, 8},
              {36, 0, 256, 7},     {48, 0, 256, 5},     {64, 0, 256, 4},    {65, 0, 256, 3},     {84, 0, 256, 3},
              {85, 0, 256, 2},     {86, 0, 256, 2},     {100, 0, 64, 8},    {128, 0, 64, 8},     {129, 0, 64, 4},
              {128, 0, 256, 2},    {129, 0, 256, 1},    {256, 0, 64, 4},    {256, 0, 256, 1},    {256, 0, 320, 0},
              {84, 0, 192, 4},     {40, 0, 320, 4},     {20, 0, 1024, 3},   {16, 0, 64, 16},     {16, 0, 100, 16},
              {16, 4096, 64, 16},  {16, 4097, 64, 15},  {16, 8192, 128, 8}, {16, 16384, 256, 4}, {16, 20000, 256, 3},
              {16, 32768, 256, 2}, {16, 32769, 256, 0}, {44, 6000, 448, 2},
          });
}

TEST_CASE("occupancy: the thesis's Fermi") {
  // Its examples: lavaMD's 7200 bytes of 16384 (Example 2.1.2); a CTA of 256 threads with 36 registers each.
  const assembly::MachineConfig m = named_machine("fermi_sharing");
  CHECK(by_the_model(m, {16, 7200, 128, 0}) == 2);
  CHECK(by_the_model(m, {36, 0, 256, 0}) == 3);
  CHECK(by_the_model(m, {16, 0, 128, 0}) == 8);
  const assembly::MachineConfig third = named_machine("fermi_sharing_ch3");
  CHECK(by_the_model(third, {16, 0, 128, 0}) == 16);
  CHECK(by_the_model(third, {16, 0, 256, 0}) == 12);
  CHECK(by_the_model(third, {36, 0, 256, 0}) == 7);
  CHECK(by_the_model(third, {16, 7200, 128, 0}) == 2);
}
