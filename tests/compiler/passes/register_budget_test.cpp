// SPDX-License-Identifier: Apache-2.0
//
// Launch bounds against what ptxas 13.0 allots (EIATTR_MAXREG_COUNT of its output).
#include <regatta/passes/register_budget.h>
#include <regatta/test/catch.h>

using namespace regatta;

namespace {

ir::Function kernel(std::uint32_t target, std::uint32_t threads, std::uint32_t ctas, std::uint32_t registers = 0) {
  ir::Function f;
  f.name = "k";
  f.ptx_file = "k.ptx";
  f.target = target;
  f.bounds.block = {threads, threads != 0 ? 1u : 0u, threads != 0 ? 1u : 0u};
  f.bounds.min_ctas = ctas;
  f.bounds.max_registers = registers;
  f.bounds.where = {4, 16, 0, 0};
  return f;
}

struct Measured {
  std::uint32_t target, threads, ctas;  ///< .target, .maxntid, .minnctapersm (0: not there)
  unsigned budget;
  bool ignored;  ///< ptxas warns that it ignores .minnctapersm
};

constexpr Measured measured[] = {
    {80, 1, 5, 255, false},    {80, 1, 32, 64, false},   {80, 32, 4, 255, false},   {80, 32, 9, 168, false},
    {80, 32, 10, 168, false},  {80, 64, 13, 72, false},  {80, 64, 20, 48, false},   {80, 96, 1, 255, false},
    {80, 96, 13, 48, false},   {80, 97, 1, 255, false},  {80, 97, 3, 168, false},   {80, 97, 7, 72, false},
    {80, 97, 17, 255, true},   {80, 128, 8, 64, false},  {80, 160, 0, 255, false},  {80, 160, 8, 48, false},
    {80, 192, 4, 80, false},   {80, 192, 6, 56, false},  {80, 192, 7, 40, false},   {80, 224, 7, 32, false},
    {80, 256, 0, 255, false},  {80, 257, 1, 168, false}, {80, 288, 3, 72, false},   {80, 288, 6, 32, false},
    {80, 320, 0, 168, false},  {80, 320, 3, 64, false},  {80, 320, 4, 48, false},   {80, 352, 6, 168, true},
    {80, 384, 1, 168, false},  {80, 448, 3, 40, false},  {80, 480, 1, 128, false},  {80, 544, 0, 96, false},
    {80, 544, 2, 56, false},   {80, 544, 3, 32, false},  {80, 608, 0, 96, false},   {80, 640, 3, 32, false},
    {80, 736, 2, 40, false},   {80, 800, 2, 32, false},  {80, 864, 0, 72, false},   {80, 960, 2, 32, false},
    {75, 256, 4, 64, false},   {75, 256, 5, 255, true},  {75, 1, 16, 128, false},   {75, 1, 17, 255, true},
    {75, 100, 10, 255, true},  {86, 1024, 2, 64, true},  {86, 256, 6, 40, false},   {86, 64, 17, 255, true},
    {89, 1, 24, 80, false},    {89, 1, 25, 255, true},   {90, 1, 32, 64, false},    {90, 100, 17, 255, true},
    {100, 1024, 2, 32, false}, {110, 32, 24, 80, false}, {120, 128, 12, 40, false}, {121, 1024, 1, 64, false},
};

std::string warning(const std::string& text) { return "k.ptx:4:16: warning: kernel 'k': " + text; }

}  // namespace

TEST_CASE("register budget: of .maxntid and .minnctapersm as ptxas allots") {
  for (const Measured& m : measured) {
    INFO("sm_" << m.target << " " << m.threads << " threads, " << m.ctas << " CTAs");
    const passes::RegisterBudget b = passes::register_budget(kernel(m.target, m.threads, m.ctas), 255);
    CHECK(b.registers == m.budget);
    CHECK(b.warnings.empty() != m.ignored);
  }
}

TEST_CASE("register budget: is the most that the register file holds") {
  for (unsigned threads = 1; threads <= 1024; threads += 31) {
    for (unsigned ctas = 1; ctas <= 32 && ctas * threads <= 2048; ++ctas) {
      // Each of four sub-cores has 512 warp registers, and its share of the warps.
      const unsigned warps = (threads + 31) / 32 * ctas, of_sub_core = (warps + 3) / 4;
      const unsigned n = passes::registers_for(threads, ctas);
      REQUIRE(n * of_sub_core <= 512);
      REQUIRE((n == 255 || (n % 8 == 0 && (n + 8) * of_sub_core > 512)));
    }
  }
}

TEST_CASE("register budget: which bound sets it") {
  struct Row {
    ir::Function f;
    unsigned max_registers, registers;
    std::string set_by;
  };
  const Row rows[] = {
      {kernel(80, 0, 0), 255, 255, "--max-registers"},
      {kernel(80, 0, 0), 63, 63, "--max-registers"},
      {kernel(75, 0, 0, 24), 255, 24, ".maxnreg 24"},
      {kernel(75, 0, 0, 41), 255, 41, ".maxnreg 41"},
      {kernel(75, 0, 0, 64), 40, 40, "--max-registers"},
      {kernel(80, 256, 8), 255, 32, ".maxntid 256 with .minnctapersm 8"},
      {kernel(80, 256, 8, 24), 255, 24, ".maxnreg 24"},
      {kernel(80, 256, 8, 40), 255, 32, ".maxntid 256 with .minnctapersm 8"},
      {kernel(80, 1024, 0), 255, 64, ".maxntid 1024"},
      {kernel(80, 1024, 0), 32, 32, "--max-registers"},
      // .maxnreg is stronger than .maxntid alone, as for ptxas.
      {kernel(80, 1024, 0, 100), 255, 100, ".maxnreg 100"},
      {kernel(80, 1024, 1, 100), 255, 64, ".maxntid 1024 with .minnctapersm 1"},
  };
  for (const Row& r : rows) {
    INFO(r.set_by);
    const passes::RegisterBudget b = passes::register_budget(r.f, r.max_registers);
    CHECK(b.registers == r.registers);
    CHECK(b.set_by == r.set_by);
    CHECK(b.warnings.empty());
  }
  ir::Function exact = kernel(80, 1024, 0);
  exact.bounds.exact = true;
  CHECK(passes::register_budget(exact, 255).set_by == ".reqntid 1024");
}

TEST_CASE("register budget: bounds that do not hold are named") {
  const auto warnings = [](const ir::Function& f) { return passes::register_budget(f, 255).warnings; };
  using Texts = std::vector<std::string>;
  CHECK(warnings(kernel(80, 0, 4)) == Texts{warning(".minnctapersm is ignored without .maxntid or .reqntid")});
  CHECK(warnings(kernel(80, 256, 9)) ==
        Texts{warning(
            ".minnctapersm 9 with .maxntid 256 is ignored: an SM of .target sm_80 has 2048 threads and 32 CTAs")});
  CHECK(warnings(kernel(75, 1025, 0)) ==
        Texts{warning(".maxntid 1025 is ignored: an SM of .target sm_75 has 1024 threads")});
  CHECK(warnings(kernel(80, 0, 0, 300)) == Texts{warning(".maxnreg 300 is ignored, expected at most 255")});
  CHECK(warnings(kernel(80, 0, 0, 8)) == Texts{warning(".maxnreg 8 counts as 24, the least that ptxas allocates by")});
  CHECK(passes::register_budget(kernel(80, 0, 0, 8), 255).registers == 24);
  CHECK(passes::register_budget(kernel(80, 0, 0, 8), 20).registers == 20);
  CHECK(passes::register_budget(kernel(80, 0, 0, 300), 255).registers == 255);
  CHECK(passes::register_budget(kernel(75, 1025, 0), 255).registers == 255);
}
