// SPDX-License-Identifier: Apache-2.0
//
// Kernels with setmaxnreg from the PTX to the trace: reports, other budgets, codes of schemes.
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>

#include <nlohmann/json.hpp>

#include "folder.h"
#include "harness.h"

#include <algorithm>
#include <cstring>

using namespace regatta;
using test::error_of;
using test::Folder;

namespace {

/// Warps 0 to 3 give registers to warps 4 to 7, whose threads sum `values` words that are all live at a barrier.
std::string kernel(unsigned values, const std::string& bounds) {
  std::string text =
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 o, .param .u64 x) " + bounds +
      "\n{\n.reg .b32 %q<" + std::to_string(values) +
      ">, %r<3>; .reg .b64 %d<4>; .reg .pred %p;\n"
      "ld.param.u64 %d1, [o]; ld.param.u64 %d2, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4;\n"
      "add.s64 %d1, %d1, %d3; setp.ge.u32 %p, %r1, 128; @%p bra SUM;\n"
      "setmaxnreg.dec.sync.aligned.u32 24;\nbar.sync 0;\nst.global.u32 [%d1], %r1;\nret;\n"
      "SUM:\nsetmaxnreg.inc.sync.aligned.u32 96;\n";
  for (unsigned i = 0; i < values; ++i)
    text += "ld.global.u32 %q" + std::to_string(i) + ", [%d2+" + std::to_string(4 * i) + "];\n";
  text += "bar.sync 0;\nmov.u32 %r2, 0;\n";
  for (unsigned i = values; i-- > 0;) text += "mad.lo.u32 %r2, %r2, 3, %q" + std::to_string(i) + ";\n";
  return text + "st.global.u32 [%d1], %r2;\nret;\n}\n";
}

struct Roles {
  Folder folder;
  tool::AnnotateOptions options;
  nlohmann::json entry;
  unsigned values;

  explicit Roles(unsigned live, const std::string& bounds = ".maxnreg 64") : values(live) {
    folder.write("k.ptx", kernel(values, bounds));
    options.launch =
        folder.write("l.toml",
                     "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [256]\n[[param]]\nname = \"o\"\nbuffer "
                     "= 1024\n[[param]]\nname = \"x\"\nbuffer = " +
                         std::to_string(4 * values) + "\ninit = \"iota\"\ntype = \"u32\"\nlow = 5\nstep = 7\n");
    options.report = folder.file("report.json");
    options.out = folder.file("k.rgt");
    options.dumps = {{"o", folder.file("o.bin")}};
  }
  /// Annotates, and checks the result of every thread.
  trace::Kernel run() {
    tool::annotate(options);
    entry = nlohmann::json::parse(folder.read("report.json")).at("entries").at(0);
    const std::string bytes = folder.read("o.bin");
    std::uint32_t sum = 0, got = 0;
    for (unsigned i = values; i-- > 0;) sum = 3 * sum + 5 + 7 * i;
    for (unsigned t = 0; t < 256; ++t) {
      std::memcpy(&got, bytes.data() + 4 * t, 4);
      REQUIRE(got == (t < 128 ? t : sum));
    }
    return trace::Reader(options.out).kernels().at(0);
  }
};

}  // namespace

TEST_CASE("budgets: a kernel runs with more registers than it is launched with") {
  Roles r(80);
  const trace::Kernel k = r.run();
  CHECK(k.launch_registers == 64);
  CHECK(k.registers_per_thread > 80);
  CHECK(trace::most_registers(k) == 96);
  CHECK(trace::Reader(r.options.out).version() == trace::roles_format_version);
  CHECK(r.entry.at("spills") == 0);
  CHECK(r.entry.at("entry_registers") == 64);
  CHECK(r.entry.at("register_budget") == 96);
  CHECK(r.entry.at("budget_set_by") == ".maxnreg 64");
}

TEST_CASE("budgets: other registers than the kernel's own") {
  Roles r(80);
  r.options.registers = passes::budget_override("48:24,64", "--registers");
  const trace::Kernel k = r.run();
  CHECK(k.launch_registers == 48);
  CHECK(k.registers_per_thread <= 64);
  CHECK(r.entry.at("spills").get<unsigned>() >= 80 - 62);
  CHECK(r.entry.at("budget_set_by") == "--registers");
  // A kernel without setmaxnreg has them all the time.
  Roles plain(80, ".maxnreg 64");
  std::string text = plain.folder.read("k.ptx");
  for (const char* line : {"setmaxnreg.dec.sync.aligned.u32 24;\n", "setmaxnreg.inc.sync.aligned.u32 96;\n"})
    text.erase(text.find(line), std::strlen(line));
  plain.folder.write("k.ptx", text);
  plain.options.registers = passes::budget_override("96", "--registers");
  const trace::Kernel p = plain.run();
  CHECK(p.launch_registers == 0);
  CHECK(p.registers_per_thread > 80);
}

TEST_CASE("budgets: a kernel that does not say what it begins with keeps its registers") {
  Roles r(80, "");
  const trace::Kernel k = r.run();
  CHECK(k.launch_registers == 0);
  CHECK(k.registers_per_thread > 80);
  CHECK(trace::Reader(r.options.out).version() == trace::plain_format_version);
  CHECK(!r.entry.contains("entry_registers"));
  CHECK_THAT(r.entry.at("warnings").at(0).get<std::string>(), Catch::Contains("setmaxnreg is ignored"));
}

TEST_CASE("budgets: codes of schemes that cannot be made are left out") {
  Roles r(80);
  r.options.schemes = {"register_sharing"};
  CHECK_THAT(error_of(r.options), Catch::Contains("its registers cannot be numbered in the order of first use") &&
                                      Catch::Contains("for register_sharing)"));
  r.options.all_schemes = true;
  const tool::AnnotateResult result = tool::annotate(r.options);
  CHECK(std::any_of(result.without_variant.begin(), result.without_variant.end(), [](const std::string& text) {
    return text.find("register_sharing") == 0 && text.find("order of first use") != std::string::npos;
  }));
}
