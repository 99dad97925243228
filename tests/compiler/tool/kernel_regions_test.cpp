// SPDX-License-Identifier: Apache-2.0
//
// Regions and register sets of our kernels, from both compilers: what goes into the words comes out, and the limits
// hold.
#include <regatta/passes/regions.h>
#include <regatta/ptx/ptx.h>
#include <regatta/test/catch.h>
#include <regatta/tool/compile.h>
#include <regatta/trace/region_words.h>
#include <regatta/trace/regmutex.h>
#include <regatta/trace/section_registry.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace regatta;

namespace {

std::vector<std::filesystem::path> ptx_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(REGATTA_KERNELS))
    if (entry.path().extension() == ".ptx") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return test::some_of(files, 5);
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void check_words(const trace::Kernel& kernel, const std::vector<passes::Region>& regions) {
  const auto decoded = trace::regions_of(kernel);
  REQUIRE(decoded.size() == regions.size());
  for (std::size_t n = 0; n < regions.size(); ++n) {
    REQUIRE(decoded[n].begin == regions[n].begin);
    REQUIRE(decoded[n].end == regions[n].end);
    REQUIRE(decoded[n].head_words <= passes::RegionOptions().head_words);
    REQUIRE(decoded[n].words.uses == regions[n].words.uses);
    REQUIRE(decoded[n].words.entries.size() == regions[n].words.entries.size());
    for (std::size_t e = 0; e < regions[n].words.entries.size(); ++e) {
      REQUIRE(decoded[n].words.entries[e].reg == regions[n].words.entries[e].reg);
      REQUIRE(decoded[n].words.entries[e].kind == regions[n].words.entries[e].kind);
    }
    for (unsigned b = 0; b < trace::region_banks; ++b) REQUIRE(decoded[n].words.lines[b] >= regions[n].words.lines[b]);
  }
}

}  // namespace

TEST_CASE("regions of all kernels come back from their words and keep the limits") {
  std::size_t entries = 0;
  for (const auto& file : ptx_files()) {
    const ir::Module module = ptx::parse_module(read(file), file.filename().string());
    for (const ir::Function& function : module.functions) {
      CAPTURE(file.filename().string(), function.name);
      ++entries;
      std::size_t fewest = 0;
      // From a staging unit of 2048 entries to one of 128, and less.
      for (const auto& [registers, lines] : {std::pair(248u, 31u), {64u, 16u}, {16u, 4u}, {8u, 2u}}) {
        tool::CompileOptions options;
        options.pass_options = {{"region-registers", std::to_string(registers)},
                                {"region-bank-lines", std::to_string(lines)}};
        const tool::CompiledKernel k = tool::compile(ir::Function(function), options);
        passes::RegionOptions limits;
        limits.max_registers = registers;
        limits.lines_per_bank = lines;
        const passes::RegionPlan plan = passes::plan_regions(k.trace_kernel, *k.analyses, limits);
        check_words(k.trace_kernel, plan.regions);
        for (const passes::Region& r : plan.regions) {
          if (r.size() == 1) continue;
          REQUIRE(r.live <= registers);
          REQUIRE(*std::max_element(r.words.lines.begin(), r.words.lines.end()) <= lines);
        }
        // Every instruction of every kernel fits the smallest unit of the paper.
        if (lines >= 4) REQUIRE(plan.oversized == 0);
        REQUIRE(plan.regions.size() >= fewest);
        fewest = plan.regions.size();
      }
    }
  }
  CHECK(entries >= 24);
}

TEST_CASE("two sources of one instruction seldom share a bank in our kernels") {
  std::size_t conflicts = 0, instructions = 0;
  for (const auto& file : ptx_files()) {
    const ir::Module module = ptx::parse_module(read(file), file.filename().string());
    for (const ir::Function& function : module.functions) {
      const tool::CompiledKernel k = tool::compile(ir::Function(function), {});
      for (const trace::StaticInstruction& i : k.trace_kernel.instructions) {
        bool shares = false;
        for (unsigned x = 0; x < i.source_count; ++x)
          for (unsigned y = 0; y < x; ++y)
            shares |= i.sources[x] != i.sources[y] && i.sources[x] % 8 == i.sources[y] % 8;
        conflicts += shares;
        ++instructions;
      }
    }
  }
  CHECK(instructions > test::times<std::size_t>(1000, 3000));
  CHECK(conflicts * 100 < instructions);
}

TEST_CASE("acquires and releases of all kernels are where the extended set needs them") {
  const trace::SectionRegistry sections = trace::SectionRegistry::with_builtin();
  const trace::SectionFormat& format = *sections.of_scheme(trace::regmutex_scheme);
  std::size_t extended = 0;
  for (const auto& file : ptx_files()) {
    const ir::Module module = ptx::parse_module(read(file), file.filename().string());
    for (const ir::Function& function : module.functions) {
      for (const char* base : {"0", "1", "12"}) {
        CAPTURE(file.filename().string(), function.name, base);
        tool::CompileOptions options;
        options.pass_options = {{"regmutex-base", base}};
        const tool::CompiledKernel k = tool::compile(ir::Function(function), options);
        REQUIRE_NOTHROW(format.validate(k.trace_kernel));
        REQUIRE_NOTHROW(format.verify(k.trace_kernel));
        extended += trace::find_regmutex(k.trace_kernel)->extended;
      }
    }
  }
  CHECK(extended > test::times<std::size_t>(100, 1000));
}
