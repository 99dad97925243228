// SPDX-License-Identifier: Apache-2.0
//
// --reorder-registers and --scratchpad-layout: the program stays the same, and its trace and reports say what was done.
#include <regatta/launch/launch_file.h>
#include <regatta/ptx/ptx.h>
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/tool/compile.h>
#include <regatta/trace/file.h>
#include <regatta/trace/live_registers.h>
#include <regatta/trace/regmutex.h>
#include <regatta/trace/sharing.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "folder.h"
#include "harness.h"

using namespace regatta;
using test::error_of;
using test::Folder;

namespace {

/// 1,056 bytes of shared memory: `early` is needed at the start only, `late` up to the end. n threads; out[i] = i + 1.
constexpr const char* two_variables =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry two(.param .u64 out)\n{\n"
    ".reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %d<5>;\n"
    ".shared .align 4 .b8 early[512];\n"
    ".shared .align 4 .b8 late[544];\n"
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;\n"
    "mov.u32 %r3, early; add.s32 %r4, %r3, %r2; mov.u32 %r5, late; add.s32 %r6, %r5, %r2;\n"
    "st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r7, [%r4]; st.shared.u32 [%r6], %r7;\n"
    "bar.sync 0; ld.shared.u32 %r8, [%r6]; add.s32 %r9, %r8, 1;\n"
    "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r9; ret;\n}\n";

constexpr const char* two_launch =
    "ptx = \"k.ptx\"\nentry = \"two\"\ngrid = [1]\nblock = [128]\n"
    "[[param]]\nname = \"out\"\nbuffer = 512\ninit = \"zero\"\ntype = \"u32\"\n";

std::string numbers_from_one() {
  std::string bytes;
  for (unsigned i = 1; i <= 128; ++i) bytes += std::string(1, static_cast<char>(i)) + std::string(3, '\0');
  return bytes;
}

/// A static check of one kernel's sections, "" if nothing is wrong.
std::string section_errors(const trace::Kernel& kernel) {
  const trace::SectionRegistry sections = trace::SectionRegistry::with_builtin();
  for (const trace::SectionFormat* format :
       {sections.of_scheme(trace::relssp_optimal_scheme), sections.of_scheme(trace::regmutex_scheme),
        sections.of_scheme("regless")}) {
    REQUIRE(format != nullptr);
    try {
      format->validate(kernel);
      format->verify(kernel);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
  }
  return "";
}

std::map<std::string, std::string> outputs_of(const std::string& kernel, const passes::PassOptionValues& options) {
  const Folder folder;
  tool::AnnotateOptions o;
  o.launch = std::string(REGATTA_KERNELS) + "/" + kernel + "/launch.small.toml";
  o.pass_options = options;
  for (const launch::Buffer& b : launch::read_launch_file(o.launch).buffers)
    o.dumps.emplace_back(b.name, folder.file(b.name));
  const tool::AnnotateResult result = tool::annotate(o);
  REQUIRE(result.failed_expectations.empty());
  std::map<std::string, std::string> outputs;
  for (const auto& [name, file] : o.dumps) outputs[name] = folder.read(name);
  REQUIRE_FALSE(outputs.empty());
  return outputs;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("a layout of shared memory, if it is asked for") {
  const Folder folder;
  folder.write("k.ptx", two_variables);
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml", two_launch);
  o.out = folder.file("k.rgt");
  o.report = folder.file("r.json");
  o.listing = folder.file("k.txt");
  o.dumps = {{"out", folder.file("out.bin")}};
  const auto report = [&] { return nlohmann::json::parse(folder.read("r.json"))["entries"][0]; };
  const auto kernel_of_trace = [&] { return trace::Kernel(trace::Reader(o.out).kernels()[0]); };
  tool::annotate(o);
  CHECK(folder.read("out.bin") == numbers_from_one());
  CHECK_FALSE(trace::find_sharing(kernel_of_trace()));
  CHECK_FALSE(report().contains("sharing"));
  CHECK(folder.read("k.txt").find("sharing") == std::string::npos);
  CHECK(folder.read("k.txt").find("relssp") == std::string::npos);
  CHECK(kernel_of_trace().shared_variables[0].name == "early");
  CHECK(kernel_of_trace().shared_variables[0].offset == 0);

  // 532 bytes are private: one variable fits, and `early` is needed for fewer instructions.
  o.pass_options = {{"scratchpad-layout", "0.52"}};
  tool::annotate(o);
  CHECK(folder.read("out.bin") == numbers_from_one());
  const trace::Kernel kernel = kernel_of_trace();
  const auto layout = trace::find_sharing(kernel);
  REQUIRE(layout);
  CHECK_FALSE(layout->registers_reordered);
  CHECK(layout->shared_bytes == 1056);
  CHECK(layout->boundary == 548);
  CHECK(layout->common_variables == std::vector<bool>{true, false});
  CHECK(kernel.shared_variables[0].offset == 544);
  CHECK(kernel.shared_variables[1].offset == 0);
  CHECK(kernel.static_shared_bytes == 1056);
  const std::vector<trace::RelsspPoint> points = trace::relssp_points(kernel, trace::relssp_optimal_scheme);
  REQUIRE(points.size() == 1);
  // Behind the load, which is the last access to `early`.
  CHECK(kernel.instructions[points[0].before - 1].opcode == "ld.shared.u32");
  CHECK(layout->common_accesses[points[0].before - 1]);
  CHECK(std::count(layout->common_accesses.begin(), layout->common_accesses.end(), true) == 2);
  CHECK(section_errors(kernel) == "");

  const auto figures = report()["sharing"];
  CHECK(figures["t_numerator"] == 13);
  CHECK(figures["t_denominator"] == 25);
  CHECK(figures["shared_bytes"] == 1056);
  CHECK(figures["boundary"] == 548);
  CHECK(figures["variables"] == 2);
  CHECK(figures["common_variables"] == 1);
  CHECK(figures["common_range"] ==
        points[0].before - 1 -
            static_cast<unsigned>(std::find(layout->common_accesses.begin(), layout->common_accesses.end(), true) -
                                  layout->common_accesses.begin()) +
            1);
  CHECK(figures["exact"] == 1);
  CHECK(figures["relssp_optimal"] == 1);
  CHECK(figures["relssp_optimal_jumps"] == 0);
  CHECK(figures["relssp_postdom"] == 1);
  CHECK(figures["registers_reordered"] == 0);
  const std::string listing = folder.read("k.txt");
  CHECK(listing.find("\n// sharing: t 13/25, 548 of 1056 shared bytes private; ") != std::string::npos);
  CHECK(listing.find("; variables: early common, late private\n") != std::string::npos);
  CHECK(listing.find("\n  // relssp, relssp_optimal\n") != std::string::npos);
  CHECK(listing.find("\n  // relssp, relssp_postdom\n") != std::string::npos);

  // A tenth holds neither: the first one is split, and all are common.
  o.pass_options = {{"scratchpad-layout", "0.1"}, {"reorder-registers", "on"}};
  tool::annotate(o);
  CHECK(folder.read("out.bin") == numbers_from_one());
  const auto tenth = trace::find_sharing(kernel_of_trace());
  REQUIRE(tenth);
  CHECK(tenth->boundary == 104);
  CHECK(tenth->registers_reordered);
  CHECK(tenth->common_variables == std::vector<bool>{true, true});
  CHECK(report()["sharing"]["common_variables"] == 2);
}

TEST_CASE("registers in the order of first use, if it is asked for") {
  const Folder folder;
  folder.write("k.ptx", two_variables);
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml", two_launch);
  o.out = folder.file("k.rgt");
  o.listing = folder.file("k.txt");
  o.dumps = {{"out", folder.file("out.bin")}};
  const auto kernel_of_trace = [&] { return trace::Kernel(trace::Reader(o.out).kernels()[0]); };
  tool::annotate(o);
  const trace::Kernel before = kernel_of_trace();
  o.pass_options = {{"reorder-registers", "on"}};
  tool::annotate(o);
  const trace::Kernel after = kernel_of_trace();
  CHECK(folder.read("out.bin") == numbers_from_one());
  // Straight code: single registers come in ascending order, but for those that fill a gap in front of a pair.
  CHECK(after.registers_per_thread == before.registers_per_thread);
  REQUIRE(after.instructions.size() == before.instructions.size());
  for (std::size_t i = 0; i < after.instructions.size(); ++i)
    CHECK(after.instructions[i].opcode == before.instructions[i].opcode);
  CHECK_FALSE(trace::find_sharing(after));
  CHECK(folder.read("k.txt").find("\n// sharing: registers in the order of first use\n") != std::string::npos);
  const auto live_before = trace::find_live_registers(before), live_after = trace::find_live_registers(after);
  REQUIRE(live_before);
  REQUIRE(live_after);
  for (std::uint32_t i = 0; i < after.instructions.size(); ++i) CHECK(live_after->count(i) == live_before->count(i));
  // The first register that the code names is R0.
  const trace::StaticInstruction* first = nullptr;
  for (const trace::StaticInstruction& i : after.instructions)
    if (first == nullptr && i.destination_count == 1) first = &i;
  REQUIRE(first != nullptr);
  CHECK(first->destinations[0] <= 2);
}

TEST_CASE("values of --scratchpad-layout") {
  const Folder folder;
  folder.write("k.ptx", two_variables);
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml", two_launch);
  for (const char* t : {"", "0", "0.0", "1.01", "-0.1", "half", "1e-1", "0.0000000001", ".5", "0.5 "}) {
    o.pass_options = {{"scratchpad-layout", t}};
    CHECK(error_of(o) == std::string("error: --scratchpad-layout is '") + t +
                             "', expected a decimal number above 0 and at most 1, with at most 9 decimals");
  }
  for (const char* t : {"0.000000001", "0.1", "1", "1.0"}) {
    o.pass_options = {{"scratchpad-layout", t}};
    CHECK(error_of(o) == "");
  }
  o.pass_options = {{"reorder-registers", "yes"}};
  CHECK(error_of(o) == "error: --reorder-registers 'yes', expected no value");
}

TEST_CASE("layouts beside regions, register sets and a stated number of registers") {
  const Folder folder;
  folder.write("k.ptx", two_variables);
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml", two_launch);
  o.out = folder.file("k.rgt");
  o.min_registers = 21;
  o.pass_options = {{"scratchpad-layout", "0.52"}, {"reorder-registers", "on"}, {"regmutex-base", "2"}};
  o.dumps = {{"out", folder.file("out.bin")}};
  tool::annotate(o);
  CHECK(folder.read("out.bin") == numbers_from_one());
  const trace::Reader reader(o.out);
  const trace::Kernel& kernel = reader.kernels()[0];
  CHECK(kernel.registers_per_thread == 21);
  CHECK(section_errors(kernel) == "");
  std::map<std::string, unsigned> inserted;
  for (const trace::InsertedInstruction& i : kernel.inserted) ++inserted[i.instruction.scheme];
  CHECK(inserted["regless"] > 0);
  CHECK(inserted["regmutex"] > 0);
  CHECK(inserted[trace::relssp_optimal_scheme] == 1);
  CHECK(inserted[trace::relssp_postdom_scheme] == 1);
  // One place, several schemes: ascending all the same, and different operations.
  std::map<std::uint32_t, std::string> operations;
  for (std::size_t n = 0; n < kernel.inserted.size(); ++n) {
    if (n > 0) CHECK(kernel.inserted[n - 1].before <= kernel.inserted[n].before);
    const trace::StaticInstruction& i = kernel.inserted[n].instruction;
    if (i.scheme == "regless") continue;
    const auto known = operations.emplace(i.opcode_id, i.opcode).first;
    CHECK(known->second == i.opcode);
  }
  // Without the layout the schemes' own instructions are the same.
  o.pass_options.erase("scratchpad-layout");
  tool::annotate(o);
  std::map<std::string, unsigned> without;
  const trace::Reader plain(o.out);
  for (const trace::InsertedInstruction& i : plain.kernels()[0].inserted) ++without[i.instruction.scheme];
  CHECK(without["regmutex"] == inserted["regmutex"]);
  CHECK(without.count(trace::relssp_optimal_scheme) == 0);
}

TEST_CASE("our kernels compute the same under all options") {
  // Several variables, dynamic shared memory, divergent accesses, and one kernel without shared memory.
  for (const char* kernel : {"reduction", "lud", "backprop", "fast_walsh", "scan", "streamcluster", "vector_add"}) {
    CAPTURE(kernel);
    const auto outputs = outputs_of(kernel, {});
    CHECK(outputs_of(kernel, {{"reorder-registers", "on"}}) == outputs);
    for (const char* t : {"0.1", "0.5"}) {
      CAPTURE(t);
      CHECK(outputs_of(kernel, {{"scratchpad-layout", t}, {"reorder-registers", "on"}, {"regmutex-base", "0"}}) ==
            outputs);
    }
  }
}

TEST_CASE("layouts of all kernels verify, and shared memory grows by no more than alignment") {
  std::size_t private_variables = 0, relssp = 0, jumps = 0, entries = 0, followed = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(REGATTA_KERNELS)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".ptx" || name.find(".sm35") != std::string::npos) continue;  // clang's
    const ir::Module module = ptx::parse_module(read_text(entry.path()), name);
    for (const ir::Function& function : module.functions) {
      // setmaxnreg limits the numbers that registers may have.
      const bool changes_registers =
          std::any_of(function.blocks.begin(), function.blocks.end(), [](const ir::Block& b) {
            return std::any_of(b.instructions.begin(), b.instructions.end(),
                               [](const ir::Instruction& i) { return i.op == ir::Opcode::set_registers; });
          });
      if (function.shared_variables.empty() || changes_registers) continue;
      ++entries;
      std::uint32_t strictest = 1;
      for (const ir::SharedVariable& v : function.shared_variables) strictest = std::max(strictest, v.alignment);
      for (const char* t : {"0.1", "0.6"}) {
        CAPTURE(name, function.name, t);
        tool::CompileOptions options;
        options.pass_options = {{"scratchpad-layout", t}, {"reorder-registers", "on"}};
        options.dynamic_shared_bytes = 256;
        const tool::CompiledKernel k = tool::compile(ir::Function(function), options);
        REQUIRE(section_errors(k.trace_kernel) == "");
        REQUIRE(k.trace_kernel.static_shared_bytes < function.static_shared_bytes + strictest);
        const auto layout = trace::find_sharing(k.trace_kernel);
        REQUIRE(layout);
        REQUIRE(layout->registers_reordered);
        private_variables += static_cast<std::size_t>(
            std::count(layout->common_variables.begin(), layout->common_variables.end(), false));
        relssp += layout->optimal;
        jumps += layout->optimal_jumps;
        // Accesses that are known not to touch the common part.
        for (std::size_t i = 0; i < k.trace_kernel.instructions.size(); ++i)
          followed += k.trace_kernel.instructions[i].space == trace::MemorySpace::shared && !layout->common_accesses[i];
      }
    }
  }
  CHECK(entries > 20);
  CHECK(private_variables > 10);
  CHECK(relssp > entries);
  CHECK(jumps > 5);
  CHECK(followed > 50);
}
