// SPDX-License-Identifier: Apache-2.0
//
// --rfv and --rfv-table: the report, the listing and the trace, and the release points of our kernels, obeyed on the
// paths of their small launches.
#include <regatta/passes/rfv.h>
#include <regatta/ptx/ptx.h>
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/tool/compile.h>
#include <regatta/trace/file.h>
#include <regatta/trace/rfv.h>
#include <regatta/trace/section_registry.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../passes/rfv/rfv_warp.h"
#include "folder.h"
#include "harness.h"

using namespace regatta;
using test::error_of;
using test::Folder;

namespace {

constexpr const char* kernel_text =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry one(.param .u64 out)\n{\n"
    ".reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %d<5>;\n"
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.lo.s32 %r2, %r1, %r1;\n"
    "setp.gt.s32 %p1, %r1, 16; @%p1 bra over;\n"
    "mad.lo.s32 %r2, %r2, %r1, %r2;\n"
    "over: mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r2; ret;\n}\n";

constexpr const char* launch_text =
    "ptx = \"k.ptx\"\nentry = \"one\"\ngrid = [1]\nblock = [64]\n"
    "[[param]]\nname = \"out\"\nbuffer = 256\ninit = \"zero\"\ntype = \"u32\"\n";

/// Words of scheme rfv on the path of the warp.
std::uint64_t words_of(const trace::Kernel& kernel, const trace::WarpColumns& columns) {
  std::vector<std::uint32_t> before(kernel.instructions.size(), 0);
  for (const trace::InsertedInstruction& i : kernel.inserted)
    before[i.before] += i.instruction.scheme == trace::rfv_scheme;
  std::uint64_t words = 0;
  for (trace::PathCursor path(kernel, columns); path.next();) words += before[path.index()];
  return words;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Files below the folder of our kernels, sorted, by the end of their name.
std::vector<std::filesystem::path> kernel_files(const std::string& end) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(REGATTA_KERNELS)) {
    const std::string name = entry.path().filename().string();
    if (name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0)
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return test::some_of(files, 5);
}

}  // namespace

TEST_CASE("release points of RFV") {
  const Folder folder;
  folder.write("k.ptx", kernel_text);
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml", launch_text);
  o.out = folder.file("k.rgt");
  o.report = folder.file("r.json");
  o.listing = folder.file("k.txt");
  const auto report = [&] { return nlohmann::json::parse(folder.read("r.json"))["entries"][0]; };
  o.annotations = std::set<std::string>{"rfh"};
  tool::annotate(o);
  CHECK_FALSE(trace::find_rfv(trace::Reader(o.out).kernels()[0]));
  CHECK_FALSE(report().contains("rfv"));
  CHECK(folder.read("k.txt").find("rfv") == std::string::npos);

  o.annotations.reset();
  tool::annotate(o);
  const trace::Reader reader(o.out);
  const trace::Kernel& kernel = reader.kernels()[0];
  const auto section = trace::find_rfv(kernel);
  REQUIRE(section);
  CHECK(section->exempt == 0);
  std::size_t pir = 0, pbr = 0;
  for (const trace::InsertedInstruction& i : kernel.inserted) {
    pir += i.instruction.opcode == trace::rfv_pir;
    pbr += i.instruction.opcode == trace::rfv_pbr;
  }
  CHECK(pir > 0);
  const auto figures = report()["rfv"];
  CHECK(figures["most"] == section->most);
  CHECK(figures["exempt"] == 0);
  CHECK(figures["pir"] == pir);
  CHECK(figures["pbr"] == pbr);
  CHECK(figures["flagged"] > 0);
  const std::string listing = folder.read("k.txt");
  CHECK(listing.find("\n// rfv: at most " + std::to_string(section->most) + " registers at once; exempt: -\n") !=
        std::string::npos);
  CHECK(listing.find("; releases R") != std::string::npos);

  o.pass_options = {{"rfv", "on"}, {"rfv-table", "2"}};
  tool::annotate(o);
  CHECK(report()["rfv"]["exempt"] == kernel.registers_per_thread - 2);
  o.pass_options = {{"rfv-table", "2"}};
  tool::annotate(o);
  CHECK(report()["rfv"]["exempt"] == kernel.registers_per_thread - 2);
  o.pass_options = {{"rfv", "on"}, {"rfv-table", "64"}};
  CHECK(error_of(o) == "error: --rfv-table is 64, expected 0 to 63");
  o.pass_options = {{"rfv", "on"}};
  o.min_registers = 64;
  const std::string reason = "kernel one has 64 registers, expected at most 63 with --rfv: use --max-registers 63";
  CHECK(error_of(o) == "error: " + reason);
  o.pass_options = {{"rfv-table", "8"}};
  CHECK(error_of(o) == "error: " + reason);

  // Nobody asked for it: the kernel goes without it.
  o.pass_options.clear();
  const tool::AnnotateResult result = tool::annotate(o);
  CHECK(error_of(o).empty());
  CHECK(report()["rfv"].is_null());
  CHECK(report()["left_out"] == nlohmann::json{{"rfv", reason}});
  CHECK(report()["rfh"]["strands"] > 0);
  CHECK_FALSE(trace::find_rfv(trace::Reader(o.out).kernels()[0]));
  CHECK(folder.read("k.txt").find("\n// no annotation 'rfv': " + reason + "\n") != std::string::npos);
  CHECK(folder.read("k.txt").find("releases R") == std::string::npos);
  const auto left_out = [](const passes::PassSummary& pass) { return !pass.left_out.empty(); };
  const std::vector<passes::PassSummary>& summaries = result.entries[0].passes;
  CHECK(std::count_if(summaries.begin(), summaries.end(), left_out) == 1);
}

TEST_CASE("release points of all kernels verify, and few last reads have no flag") {
  const trace::SectionRegistry sections = trace::SectionRegistry::with_builtin();
  const trace::SectionFormat& format = *sections.of_scheme(trace::rfv_scheme);
  std::uint64_t kernels = 0, flagged = 0, unflagged = 0, most = 0, registers = 0;
  for (const auto& file : kernel_files(".ptx")) {
    const ir::Module module = ptx::parse_module(read_text(file), file.filename().string());
    for (const ir::Function& function : module.functions) {
      for (const char* table : {"0", "12"}) {
        CAPTURE(file.filename().string(), function.name, table);
        tool::CompileOptions options;
        options.allocation.max_registers = 63;
        options.pass_options = {{"rfv", "on"}, {"rfv-table", table}};
        const tool::CompiledKernel k = tool::compile(ir::Function(function), options);
        REQUIRE_NOTHROW(format.validate(k.trace_kernel));
        REQUIRE_NOTHROW(format.verify(k.trace_kernel));
        const auto section = trace::find_rfv(k.trace_kernel);
        REQUIRE(section);
        if (section->table_entries != 0) continue;
        const passes::RfvPlan plan = passes::plan_rfv(k.trace_kernel, *k.analyses, {});
        ++kernels;
        flagged += plan.flagged;
        unflagged += plan.unflagged;
        most += section->most;
        registers += k.trace_kernel.registers_per_thread;
      }
    }
  }
  CAPTURE(kernels, flagged, unflagged, most, registers);
  CHECK(kernels >= test::times<std::uint64_t>(20, 100));
  CHECK(flagged > test::times<std::uint64_t>(1000, 10000));
  CHECK(unflagged * 10 < flagged);
  CHECK(most <= registers);
}

TEST_CASE("small launches of all kernels read no released value") {
  std::uint64_t programs = 0, warps = 0, released = 0, steps = 0, owned = 0, all = 0, words = 0;
  for (const auto& file : kernel_files("launch.small.toml")) {
    for (const char* table : {"0", "12"}) {
      CAPTURE(file.string(), table);
      const Folder folder;
      tool::AnnotateOptions o;
      o.launch = file.string();
      o.out = folder.file("k.rgt");
      o.max_registers = 63;
      o.cta_count = 64;
      o.pass_options = {{"rfv", "on"}, {"rfv-table", table}};
      REQUIRE(tool::annotate(o).failed_expectations.empty());
      const trace::Reader reader(o.out);
      std::vector<trace::RfvSection> section;
      std::vector<trace::RfvReleases> releases;
      for (const trace::Kernel& kernel : reader.kernels()) {
        section.push_back(trace::find_rfv(kernel).value());
        releases.push_back(trace::read_rfv_words(kernel, section.back()));
      }
      ++programs;
      const auto stream = reader.stream(0, reader.ctas().size());
      while (const auto cta = stream->next()) {
        const std::uint32_t k = reader.launches()[cta->launch].kernel;
        for (const trace::WarpColumns& columns : cta->warps) {
          test::RfvWarp warp(reader.kernels()[k], section[k], releases[k]);
          REQUIRE(warp.replay(columns) == "");
          ++warps;
          if (*table != '0') continue;
          released += warp.released();
          steps += warp.steps();
          words += words_of(reader.kernels()[k], columns);
          owned += warp.owned_steps();
          all += warp.steps() * reader.kernels()[k].registers_per_thread;
        }
      }
    }
  }
  CAPTURE(programs, warps, released, steps, owned, all, words);
  CHECK(programs >= test::times<std::uint64_t>(20, 100));
  CHECK(released > test::times<std::uint64_t>(10000, 100000));
  CHECK(owned < all);
  CHECK(words < steps);
}
