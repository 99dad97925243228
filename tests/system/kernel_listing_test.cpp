// SPDX-License-Identifier: Apache-2.0
//
// The listing of regatta-annotate, the dump of regatta-trace and the labels of the pipeline view write an instruction
// alike.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>
#include <regatta/trace/instruction_text.h>

#include <map>
#include <regex>
#include <sstream>

#include "kernel_references.h"
#include "kernels.h"
#include "process.h"

using namespace regatta;
using test::Folder;
using test::ProcessResult;

namespace {

std::string run(const std::vector<std::string>& command) {
  const ProcessResult r = test::run_process(command);
  INFO(r.err);
  REQUIRE(r.status == 0);
  return r.out;
}

/// Code of a listing by kernel and static index: "  12   4  add.s32 R1, R2, 0x1;    // 30".
std::map<std::string, std::vector<std::string>> listed(const std::string& listing) {
  static const std::regex row("^ +([0-9]+) +[0-9]+  ([^;]*);.*");
  std::map<std::string, std::vector<std::string>> kernels;
  std::vector<std::string>* code = nullptr;
  std::istringstream lines(listing);
  std::smatch m;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("// kernel ", 0) == 0) code = &kernels[line.substr(10, line.find(' ', 10) - 10)];
    if (!std::regex_match(line, m, row)) continue;
    REQUIRE(code != nullptr);
    REQUIRE(std::stoul(m[1]) == code->size());
    code->push_back(m[2]);
  }
  return kernels;
}

}  // namespace

TEST_CASE("an instruction is written alike in the listing, in the dump and in the pipeline view") {
  const Folder folder;
  std::size_t compared = 0;
  for (const std::string& kernel : test::kernel_names()) {
    CAPTURE(kernel);
    const std::string trace_path = folder.file(kernel + ".rgt");
    run({REGATTA_ANNOTATE, "--launch", test::launch_path(kernel, test::Size::small), "--out", trace_path, "--listing",
         folder.file("listing.txt")});
    const auto listing = listed(folder.read("listing.txt"));
    const trace::Reader trace(trace_path);
    for (const trace::Kernel& k : trace.kernels()) {
      const std::vector<std::string>& code = listing.at(k.name);
      REQUIRE(code.size() == k.instructions.size());
      for (std::size_t i = 0; i < code.size(); ++i) {
        const trace::StaticInstruction& s = k.instructions[i];
        // A listing knows where parameters and blocks are by name, and variables before they have an address.
        std::string expected = std::regex_replace(code[i], std::regex("param\\["), "c[");
        if (s.branch_target >= 0)
          expected = std::regex_replace(expected, std::regex("B[0-9]+$"), "-> " + std::to_string(s.branch_target));
        if (std::regex_search(code[i], std::regex("[ \\[][a-zA-Z_$][a-zA-Z_0-9$]{3,}(\\+0x[0-9a-f]+)?[\\],]|[a-z_]$")))
          continue;
        CHECK(trace::instruction_text(s) == expected);
        ++compared;
      }
    }
    const std::string dump = run({REGATTA_TRACE, "dump", trace_path, "--cta", "0", "--warp", "0", "--limit", "1"});
    const std::string first = trace::instruction_text(trace.kernels()[0].instructions[0]);
    CHECK(dump.find("  " + first + "  ; PTX line ") != std::string::npos);
  }
  CHECK(compared > 1000);
}

TEST_CASE("labels of the pipeline view carry the whole instruction") {
  const Folder folder;
  const std::string trace_path = test::annotate_kernel(folder, "hotspot", test::Size::small);
  run({REGATTA_SIM, trace_path, "--pipeline", folder.file("p.kanata")});
  const std::string view = folder.read("p.kanata");
  CHECK(view.find("warp 0: 0x0000 mov.u32 R5, %ctaid.y\n") != std::string::npos);
  CHECK(view.find(": 0x00a0 st.shared.f32 [R11+0x4c], R4\n") != std::string::npos);
  const trace::Reader trace(trace_path);
  for (const trace::StaticInstruction& s : trace.kernels()[0].instructions) {
    CAPTURE(s.opcode);
    if (s.branch_target < 0) CHECK(view.find(" " + trace::instruction_text(s) + "\n") != std::string::npos);
  }
}
