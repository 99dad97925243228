// SPDX-License-Identifier: Apache-2.0
//
// regatta-annotate as a user calls it.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>

#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

#include "kernels.h"
#include "process.h"

using namespace regatta;
using test::Folder;
using test::ProcessResult;
using test::Size;

namespace {

ProcessResult annotate(const Folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), REGATTA_ANNOTATE);
  test::ProcessOptions o;
  o.directory = folder.path();
  return test::run_process(arguments, o);
}

void annotate_refuses(const Folder& folder, const std::vector<std::string>& arguments, const std::string& message) {
  const ProcessResult r = annotate(folder, arguments);
  CHECK(r.err == message + "\n");
  CHECK(r.out.empty());
  CHECK(r.status == 2);
}

const std::string small = test::launch_path("vector_add", Size::small);

}  // namespace

TEST_CASE("regatta-annotate: writes the trace, the report and the listing") {
  const Folder folder;
  const ProcessResult r = annotate(folder, {"--launch", small, "--out", "k.rgt", "--report", "r.json", "--listing",
                                            "l.txt", "--dump-buffer", "c=c.bin"});
  CHECK(r.status == 0);
  CHECK(r.err.empty());
  CHECK(r.out.find("k.rgt: 157 CTAs traced\n") != std::string::npos);
  CHECK(folder.read("c.bin").size() == 160012);
  CHECK(folder.read("l.txt").find("ld.global.nc.f32") != std::string::npos);
  const auto report = nlohmann::json::parse(folder.read("r.json"));
  CHECK(report.at("entries").at(0).at("name") == "vector_add");
  CHECK(report.at("entries").at(0).at("accepted") == true);
}

TEST_CASE("regatta-annotate: two runs write the same trace") {
  const Folder folder;
  // The command is part of the trace, so it has to be the same.
  CHECK(annotate(folder, {"--launch", small, "--out", "k.rgt"}).status == 0);
  const std::string first = folder.read("k.rgt");
  CHECK(annotate(folder, {"--launch", small, "--out", "k.rgt"}).status == 0);
  CHECK(first == folder.read("k.rgt"));
}

TEST_CASE("regatta-annotate: a trace of another target gets annotations for the same code") {
  const Folder folder;
  const std::string launch = test::launch_path("srad", Size::small);
  const auto digests = [&](const std::string& file) {
    const trace::Reader reader(folder.file(file));
    std::vector<std::uint64_t> all;
    for (const trace::Kernel& k : reader.kernels()) all.push_back(trace::code_digest(k));
    return all;
  };
  const std::vector<std::string> common{"--launch", launch, "--annotations", "none", "--out"};
  const auto made = [&](const std::string& file, const std::vector<std::string>& more) {
    auto arguments = common;
    arguments.push_back(file);
    arguments.insert(arguments.end(), more.begin(), more.end());
    CHECK(annotate(folder, arguments).status == 0);
    return digests(file);
  };
  const auto generic = made("generic.rgt", {}), bare = made("bare.rgt", {"--target", "sm_90"}),
             executed = made("executed.rgt", {"--target", "sm_90", "--for", "rfv"});
  CHECK(bare != generic);
  CHECK(bare == executed);
  const ProcessResult r = annotate(folder, {"--trace", "bare.rgt", "--for", "rfv", "--out", "added.rgt"});
  CHECK(r.err.empty());
  REQUIRE(r.status == 0);
  CHECK(digests("added.rgt") == bare);
  CHECK(trace::Reader(folder.file("added.rgt")).producer().find("--target sm_90") != std::string::npos);
  // The section is the one that compiling at once gives.
  const trace::Reader added(folder.file("added.rgt")), at_once(folder.file("executed.rgt"));
  for (std::size_t k = 0; k < added.kernels().size(); ++k) {
    const auto text = [&](const trace::Reader& reader) {
      for (const trace::AnnotationSection& a : reader.kernels()[k].annotations)
        if (a.name == "rfv") return a.payload;
      return std::string("none");
    };
    CHECK(text(added) != "none");
    CHECK(text(added) == text(at_once));
  }
}

TEST_CASE("regatta-annotate: bad usage") {
  const Folder folder;
  annotate_refuses(folder, {}, "regatta-annotate: --launch is missing (or --ptx with --check)");
  annotate_refuses(folder, {"--launch", "none.toml", "--out", "k.rgt"},
                   "regatta-annotate: cannot read 'none.toml': No such file or directory");
  annotate_refuses(folder, {"--launch", small, "--max-registers", "3"},
                   "regatta-annotate: --max-registers is 3, expected 16 to 255");
  annotate_refuses(folder, {"--launch", small, "--warp-size", "31"},
                   "regatta-annotate: --warp-size is 31, expected 32 or 64");
  annotate_refuses(folder, {"--launch", small, "--ctas", "4"}, "regatta-annotate: --ctas '4', expected FIRST:COUNT");
  annotate_refuses(folder, {"--launch", small, "--dump-buffer", "nix=x"},
                   "regatta-annotate: --dump-buffer: no buffer or variable is called 'nix', there are: a, b, c");
  annotate_refuses(folder, {"--launch", small, "--out", "none/k.rgt"},
                   "regatta-annotate: cannot write 'none/k.rgt': No such file or directory");
  annotate_refuses(folder, {"--launch", small, "--target", "sm_91"},
                   "regatta-annotate: --target 'sm_91', expected generic or sm_90; did you mean 'sm_90'?");
  annotate_refuses(folder, {"--lunch", small}, "regatta-annotate: unknown option '--lunch'; did you mean '--launch'?");
}

TEST_CASE("regatta-annotate: bad PTX is refused with its place, and no trace is left") {
  const Folder folder;
  folder.write("bad.ptx",
               ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n  frobnicate %r1;\n}\n");
  folder.write("l.toml", "ptx = \"bad.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [32]\n");
  const ProcessResult r = annotate(folder, {"--launch", "l.toml", "--out", "k.rgt"});
  CHECK(r.status == 2);
  CHECK(r.err.rfind("bad.ptx:6:3: error: ", 0) == 0);
  CHECK(r.err.find("frobnicate") != std::string::npos);
  CHECK(!folder.has("k.rgt"));
  CHECK(folder.count("partial") == 0);
}

TEST_CASE("regatta-annotate: a buffer that is not what was expected ends it with status 3") {
  const Folder folder;
  const std::string text =
      "ptx = \"" REGATTA_SOURCE_DIR
      "/traces/kernels/vector_add/vector_add.sm75.ptx\"\n"
      "entry = \"vector_add\"\ngrid = [1]\nblock = [32]\n"
      "[[param]]\nname = \"a\"\nbuffer = 128\ninit = \"iota\"\ntype = \"f32\"\n"
      "[[param]]\nname = \"b\"\nbuffer = 128\ninit = \"zero\"\ntype = \"f32\"\n"
      "[[param]]\nname = \"c\"\nbuffer = 128\ninit = \"zero\"\ntype = \"f32\"\nexpect = \"c.bin\"\n"
      "[[param]]\nscalar = 32\ntype = \"s32\"\n";
  folder.write("l.toml", text);
  std::vector<float> expected(32);
  for (unsigned i = 0; i < 32; ++i) expected[i] = static_cast<float>(i);
  const auto bytes = [&] { return std::string(reinterpret_cast<const char*>(expected.data()), 128); };
  folder.write("c.bin", bytes());
  ProcessResult r = annotate(folder, {"--launch", "l.toml"});
  CHECK(r.err.empty());
  CHECK(r.status == 0);
  expected[17] = 3.5f;
  folder.write("c.bin", bytes());
  r = annotate(folder, {"--launch", "l.toml"});
  CHECK(r.status == 3);
  CHECK(r.err.find("17") != std::string::npos);
  CHECK(r.err.find("3.5") != std::string::npos);
}

TEST_CASE("regatta-annotate: --list-instructions prints the page on supported PTX") {
  const Folder folder;
  const ProcessResult r = annotate(folder, {"--list-instructions"});
  CHECK(r.status == 0);
  CHECK(r.err.empty());
  std::ifstream in(REGATTA_SOURCE_DIR "/compiler/ptx/SUPPORTED.md");
  std::stringstream page;
  page << in.rdbuf();
  CHECK(page.str().size() > 1000);
  const bool same = r.out == page.str();
  CHECK(same);
}

TEST_CASE(
    "regatta-annotate: a program that waits for a CTA that has not started ends with status 2 and leaves no trace") {
  const Folder folder;
  folder.write("l.toml",
               "ptx = \"" REGATTA_SOURCE_DIR
               "/tests/compiler/emulator/samples/waits.sm75.ptx\"\nentry = \"grid_barrier\"\ngrid = [8]\nblock "
               "= [64]\n[[param]]\nbuffer = 4\n");
  const ProcessResult r = annotate(folder, {"--launch", "l.toml", "--out", "k.rgt"});
  INFO(r.err);
  CHECK(r.status == 2);
  CHECK(r.err.find("waits.sm75.ptx:") != std::string::npos);
  CHECK(r.err.find("kernel 'grid_barrier', CTA (0,0,0), thread (0,0,0): endless loop: it reads global address ") !=
        std::string::npos);
  CHECK(r.err.find("7 CTAs have not started, from (1,0,0) on") != std::string::npos);
  CHECK_FALSE(folder.has("k.rgt"));
}

TEST_CASE("regatta-annotate: a line for each kernel, and a word where nothing is written") {
  const Folder folder;
  folder.write(
      "k.ptx",
      ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a) {\n"
      ".reg .b64 %p; .reg .b32 %t; ld.param.u64 %p, [a]; mov.u32 %t, %tid.x; st.global.u32 [%p], 1;\nret;\n}\n");
  folder.write("l.toml", "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n[[param]]\nbuffer = 4\n");
  const std::string none = "no trace written; --out FILE.rgt writes one\n";
  const auto says = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--launch", "l.toml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult r = annotate(folder, arguments);
    CHECK(r.status == 0);
    CHECK(r.err.empty());
    return r.out;
  };
  const std::string quiet = says({});
  CHECK(quiet.rfind("k: 2 registers a thread, 3 instructions\n1 launch, ", 0) == 0);
  CHECK(quiet.find(none) == quiet.size() - none.size());
  CHECK(says({"--annotations", "regions"}).rfind("k: 2 registers a thread, 3 instructions, 1 regions told by ", 0) ==
        0);
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--out", "k.rgt"},
                                             {"--report", "r.json"},
                                             {"--listing", "l.txt"},
                                             {"--check-races"},
                                             {"--dump-buffer", "param0=a.bin"}}) {
    CAPTURE(more);
    CHECK(says(more).find("no trace written") == std::string::npos);
  }
}
