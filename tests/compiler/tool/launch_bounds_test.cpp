// SPDX-License-Identifier: Apache-2.0
//
// Launch bounds from the PTX to the allocation, the result and the launch.
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>

#include <nlohmann/json.hpp>

#include "folder.h"
#include "harness.h"

#include <cstring>

using namespace regatta;
using test::error_of;
using test::Folder;

namespace {

/// Every thread folds `values` words that all live across a barrier; so many registers are wanted.
std::string folding_kernel(const std::string& target, const std::string& bounds, unsigned values) {
  std::string text = ".version 8.0\n.target " + target +
                     "\n.address_size 64\n.visible .entry k(.param .u64 o, .param .u64 x)\n" + bounds +
                     "\n{\n.reg .b32 %q<" + std::to_string(values) +
                     ">, %r<3>; .reg .b64 %d<7>;\nld.param.u64 %d1, [o]; ld.param.u64 %d2, [x]; mov.u32 %r1, %tid.x; "
                     "mul.wide.u32 %d3, %r1, 4; add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;\n";
  for (unsigned i = 0; i < values; ++i)
    text += "ld.global.u32 %q" + std::to_string(i) + ", [%d2+" + std::to_string(128 * i) + "];\n";
  text += "bar.sync 0;\nmov.u32 %r2, 0;\n";
  for (unsigned i = values; i-- > 0;) text += "mad.lo.u32 %r2, %r2, 3, %q" + std::to_string(i) + ";\n";
  return text + "st.global.u32 [%d1], %r2;\nret;\n}\n";
}

struct Bounded {
  Folder folder;
  tool::AnnotateOptions options;
  unsigned threads, values;
  nlohmann::json entry;

  Bounded(const std::string& target, const std::string& bounds, unsigned block, unsigned live)
      : threads(block), values(live) {
    folder.write("k.ptx", folding_kernel(target, bounds, values));
    options.launch = folder.write(
        "l.toml", "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [" + std::to_string(threads) +
                      "]\n[[param]]\nname = \"o\"\nbuffer = " + std::to_string(4 * threads) +
                      "\n[[param]]\nname = \"x\"\nbuffer = " + std::to_string(4 * (32 * (values - 1) + threads)) +
                      "\ninit = \"iota\"\ntype = \"u32\"\nlow = 5\nstep = 7\n");
    options.report = folder.file("report.json");
    options.listing = folder.file("k.txt");
    options.out = folder.file("k.rgt");
    options.dumps = {{"o", folder.file("o.bin")}};
  }
  /// Annotates and checks the result; the registers per thread in the trace.
  unsigned registers() {
    tool::annotate(options);
    entry = nlohmann::json::parse(folder.read("report.json")).at("entries").at(0);
    const std::string bytes = folder.read("o.bin");
    REQUIRE(bytes.size() == 4 * threads);
    for (unsigned t = 0; t < threads; ++t) {
      std::uint32_t expected = 0, got = 0;
      for (unsigned i = values; i-- > 0;) expected = 3 * expected + 5 + 7 * (32 * i + t);
      std::memcpy(&got, bytes.data() + 4 * t, 4);
      REQUIRE(got == expected);
    }
    return trace::Reader(options.out).kernels().at(0).registers_per_thread;
  }
};

/// One launch of a kernel that stores nothing, with bounds `header`.
std::string launch_error(const std::string& header, const std::string& block) {
  Folder folder;
  folder.write("k.ptx",
               ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n" + header + "\n{ ret; }\n");
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml", "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = " + block + "\n");
  std::string error = error_of(o);
  const std::size_t name = error.rfind('/');
  return name == std::string::npos ? error : error.substr(name + 1);
}

}  // namespace

TEST_CASE("public report: Enzyme-JAX 2904: launch bounds cap the registers, and code that needs more spills") {
  Bounded limit("sm_75", ".maxnreg 24", 32, 40);
  CHECK(limit.registers() <= 24);
  CHECK(limit.entry.at("register_budget") == 24);
  CHECK(limit.entry.at("budget_set_by") == ".maxnreg 24");
  CHECK(limit.entry.at("spills") > 0);
  CHECK(limit.folder.read("k.txt").find("\n// register budget 24, set by .maxnreg 24\n") != std::string::npos);
  Bounded eight("sm_80", ".maxntid 256, 1, 1\n.minnctapersm 8", 256, 40);
  CHECK(eight.registers() <= 32);
  CHECK(eight.entry.at("budget_set_by") == ".maxntid 256 with .minnctapersm 8");
  Bounded all("sm_80", ".maxntid 1024, 1, 1", 1024, 90);
  CHECK(all.registers() <= 64);
  CHECK(all.entry.at("budget_set_by") == ".maxntid 1024");
  Bounded free("sm_80", "", 32, 90);
  CHECK(free.registers() > 90);
  CHECK(free.entry.at("register_budget") == 255);
  CHECK(free.entry.at("budget_set_by") == "--max-registers");
  CHECK(free.entry.at("spills") == 0);
  // A bound that leaves enough changes nothing.
  Bounded wide("sm_80", ".maxntid 32, 1, 1", 32, 90);
  CHECK(wide.registers() == free.registers());
  CHECK(wide.folder.read("k.txt").find("register budget 255") != std::string::npos);
}

TEST_CASE("a bound that does not hold is a warning of the report") {
  Bounded b("sm_75", ".minnctapersm 4", 32, 40);
  b.registers();
  const std::vector<std::string> warnings = b.entry.at("warnings");
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0],
             Catch::Matchers::EndsWith(
                 "k.ptx:4:17: warning: kernel 'k': .minnctapersm is ignored without .maxntid or .reqntid"));
}

TEST_CASE("public report: gpgpu-sim 115: .reqntid is exact, .maxntid a maximum of the product") {
  CHECK(launch_error(".reqntid 8, 4, 1", "[8, 4]").empty());
  CHECK(
      launch_error(".reqntid 8, 4, 1", "[32]") ==
      "l.toml:1:1: error: kernel 'k' was compiled for exactly 8 x 4 x 1 threads (.reqntid), the launch has 32 x 1 x 1");
  CHECK(
      launch_error(".reqntid 8, 4, 1", "[16]") ==
      "l.toml:1:1: error: kernel 'k' was compiled for exactly 8 x 4 x 1 threads (.reqntid), the launch has 16 x 1 x 1");
  CHECK(launch_error(".reqntid 64", "[128]") ==
        "l.toml:1:1: error: kernel 'k' was compiled for exactly 64 x 1 x 1 threads (.reqntid), the launch has 128 x 1 "
        "x 1");
  CHECK(launch_error(".maxntid 8, 4, 1", "[32]").empty());
  CHECK(launch_error(".maxntid 8, 4, 1", "[16]").empty());
  CHECK(launch_error(".maxntid 8, 4, 1", "[33]") ==
        "l.toml:1:1: error: kernel 'k' was compiled for at most 32 threads (.maxntid), the launch has 33");
}

TEST_CASE("directives of a kernel's header: what holds, what is refused") {
  const char* accepted[] = {".maxnreg 32",
                            ".maxntid 64\n.minnctapersm 2",
                            ".maxclusterrank 4",
                            ".reqnctapercluster 1, 1, 1",
                            ".explicitcluster\n.reqnctapercluster 1",
                            ".explicitcluster",
                            ".reqntid 32\n.reqnctapercluster 1\n.blocksareclusters",
                            ".pragma \"nounroll\";",
                            ".maxntid 32, 2\n.maxntid 64"};
  for (const char* header : accepted) {
    INFO(header);
    CHECK(launch_error(header, "[32]").empty());
  }
  const std::pair<const char*, const char*> refused[] = {
      {".maxntid 0", "k.ptx:5:10: error: found '0', expected a number from 1 on after '.maxntid'"},
      {".maxntid 8, 8, 8, 8", "k.ptx:5:19: error: found '8', expected at most three dimensions after '.maxntid'"},
      {".maxnreg 0", "k.ptx:5:10: error: found '0', expected a number from 1 on after '.maxnreg'"},
      {".maxnreg", "k.ptx:6:1: error: found '{', expected a number"},
      {".minnctapersm 0", "k.ptx:5:15: error: found '0', expected a number from 1 on after '.minnctapersm'"},
      {".maxntid 32\n.reqntid 32", "k.ptx:6:1: error: .maxntid and .reqntid exclude each other"},
      {".maxnctapersm 2", "k.ptx:5:1: error: '.maxnctapersm' is not supported since PTX 2.1, expected '.minnctapersm'"},
      {".noreturn", "k.ptx:5:1: error: '.noreturn' belongs to a .func"},
      {".reqnctapercluster 2",
       "k.ptx:5:1: error: '.reqnctapercluster': launches with clusters of several CTAs are not supported"},
      {".blocksareclusters",
       "k.ptx:5:1: error: '.blocksareclusters': launches with clusters of several CTAs are not supported"},
      {".maxthreads 3", "k.ptx:5:1: error: found '.maxthreads', expected a performance directive or '{'"}};
  for (const auto& [header, message] : refused) CHECK(launch_error(header, "[32]") == message);
}
