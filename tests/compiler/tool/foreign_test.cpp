// SPDX-License-Identifier: Apache-2.0
//
// Annotations for traces of other programs: hand-written traces of Accel-Sim, imported, whose live registers and
// releases are known.
#include <regatta/import/import.h>
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>
#include <regatta/trace/live_registers.h>
#include <regatta/trace/power_states.h>
#include <regatta/trace/rfv.h>
#include <regatta/trace/trace_recorder.h>
#include <regatta/trace/verify.h>

#include <filesystem>
#include <set>

#include "folder.h"
#include "harness.h"
#include "process.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::error_of;
using test::Folder;

namespace {

using Lines = std::vector<std::string>;
using Registers = std::set<unsigned>;

/// One warp of 32 threads. `registers`: of a thread.
std::string traceg(const Lines& warp, const std::string& registers = "8") {
  std::string text =
      "-kernel name = k\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = " +
      registers +
      "\n-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x00007f0000000000\n"
      "-local mem base_addr = 0x00007f0001000000\n-nvbit version = 1.5\n-accelsim tracer version = 3\n\n"
      "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
      "[mem_addresses]\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = 0\ninsts = " +
      std::to_string(warp.size()) + "\n";
  for (const std::string& line : warp) text += line + "\n";
  return text + "\n#END_TB\n";
}

const char* const store = " 0 STG.E.SYS 3 R2 R4 R255 4 1 0x7efe00000000 4";

/// A guarded write of R2; then half of the lanes take a branch. Which lanes run first, and how far, is the test's.
Lines diamond(const Lines& behind_the_branch) {
  Lines all = {"0000 ffffffff 1 R0 S2R 0 0",          // R0
               "0010 ffffffff 1 R1 MOV 0 0",          // R1
               "0020 ffffffff 1 R2 IADD3 1 R0 0",     // R2 of R0
               "0030 0000ffff 1 R2 MOV 1 R1 0",       // R2 of R1, some lanes
               "0040 ffffffff 1 R3 IADD3 2 R2 R0 0",  // R3 of R2 and R0
               "0050 0000ffff 0 BRA 0 0"};
  all.insert(all.end(), behind_the_branch.begin(), behind_the_branch.end());
  return all;
}

/// As with a SIMT stack: both sides to where they meet.
Lines met() {
  return diamond({"0060 ffff0000 1 R4 MOV 1 R1 0", "0070 ffff0000 0 BRA 0 0", "0080 0000ffff 1 R4 MOV 1 R1 0",
                  std::string("0090 ffffffff") + store, "00a0 ffffffff 0 EXIT 0 0"});
}

/// One side runs to its end before the other one begins.
Lines apart() {
  return diamond({"0060 ffff0000 1 R4 MOV 1 R1 0", "0070 ffff0000 0 BRA 0 0", std::string("0090 ffff0000") + store,
                  "00a0 ffff0000 0 EXIT 0 0", "0080 0000ffff 1 R4 MOV 1 R1 0", std::string("0090 0000ffff") + store,
                  "00a0 0000ffff 0 EXIT 0 0"});
}

/// The sides in turns, in the middle of one of them.
Lines in_turns() {
  return diamond({"0060 ffff0000 1 R4 MOV 1 R1 0", "0080 0000ffff 1 R4 MOV 1 R1 0", "0070 ffff0000 0 BRA 0 0",
                  std::string("0090 ffffffff") + store, "00a0 ffffffff 0 EXIT 0 0"});
}

std::string imported(const Folder& folder, const std::string& text) {
  import::ImportOptions o;
  o.input = folder.write("k.traceg", text);
  o.out = folder.file("imported.rgt");
  import::import_trace(o);
  return o.out;
}

struct Annotated {
  Annotated(const Folder& folder, const std::string& from, const std::vector<std::string>& schemes = {}) {
    tool::AnnotateOptions o;
    o.trace = from;
    o.out = folder.file("annotated.rgt");
    o.schemes = schemes;
    result = tool::annotate(o);
    reader = std::make_unique<trace::Reader>(o.out);
    // What is dynamic is as it was, and so is the code.
    const trace::Reader before(from);
    CHECK(before.data_digest() == reader->data_digest());
    CHECK(before.code_digest(0) == reader->code_digest(0));
    CHECK(reader->kernels()[0].version_tags == before.kernels()[0].version_tags);
    trace::verify(*reader, trace::VerifyDepth::program);
  }
  const trace::Kernel& kernel() const { return reader->kernels()[0]; }

  tool::AnnotateResult result;
  std::unique_ptr<trace::Reader> reader;
};

std::vector<Registers> live_before(const trace::Kernel& kernel) {
  const auto live = trace::find_live_registers(kernel);
  REQUIRE(live);
  std::vector<Registers> all(live->instructions());
  for (std::uint32_t i = 0; i < all.size(); ++i)
    for (unsigned r = 0; r < live->registers; ++r)
      if (live->live(i, r)) all[i].insert(r);
  return all;
}

trace::RfvReleases releases_of(const trace::Kernel& kernel) {
  const auto section = trace::find_rfv(kernel);
  REQUIRE(section);
  return trace::read_rfv_words(kernel, *section);
}

const std::vector<Registers> diamond_live = {{},        {0},       {0, 1},    {0, 1, 2}, {0, 1, 2}, {1, 2, 3},
                                             {1, 2, 3}, {2, 3, 4}, {1, 2, 3}, {2, 3, 4}, {}};

}  // namespace

TEST_CASE("foreign trace: live registers of a hand-written kernel; a guarded write does not end a life") {
  const Folder folder;
  const Annotated a(folder, imported(folder, traceg(met())));
  CHECK(live_before(a.kernel()) == diamond_live);
  CHECK(a.result.added == folder.file("annotated.rgt") + ": annotations of '" + folder.file("imported.rgt") +
                              "' added: regions, power, liveness, regmutex, rfv, rfh");
  CHECK(a.result.without_variant.empty());
  CHECK(a.reader->producer().rfind("regatta-import ", 0) == 0);
  CHECK_THAT(a.reader->producer(), Contains("; regatta-annotate ") && Contains(" --trace "));
}

TEST_CASE("foreign trace: what waiting lanes may need is released where the sides meet") {
  const Folder folder;
  const Annotated a(folder, imported(folder, traceg(met())));
  const trace::RfvReleases releases = releases_of(a.kernel());
  CHECK(releases.at_operand[4] == 1u << 0);  // R0; R2 is live
  CHECK(releases.at_operand[6] == 0);        // R1: the lanes of the other side may wait, whichever goes first
  CHECK(releases.at_operand[8] == 0);
  CHECK(releases.at_block == std::vector<trace::RfvRegisters>{0, 0, 0, 1u << 1});
  CHECK(releases.at_operand[9] == (1u << 2 | 1u << 3 | 1u << 4));
  const trace::AnnotationSection* power = trace::find_power_section(a.kernel());
  REQUIRE(power != nullptr);
  const trace::PowerStates states = trace::decode_power_states(a.kernel(), power->payload);
  CHECK(states.next[6].at(1).live);
  CHECK(states.next[8].at(1).live);
  CHECK_FALSE(states.next[9].at(0).live);
}

TEST_CASE("foreign trace: lanes that wait where no post-dominator has them wait keep their registers") {
  const Folder folder;
  const Annotated a(folder, imported(folder, traceg(apart())));
  CHECK(live_before(a.kernel()) == diamond_live);
  const trace::RfvReleases releases = releases_of(a.kernel());
  CHECK(releases.at_operand[6] == 0);
  // Half of the lanes are at the store while the others stand before instruction 8, and need R1, R2 and R3.
  CHECK(releases.at_block == std::vector<trace::RfvRegisters>{0, 0, 0, 0});
  CHECK(releases.at_operand[9] == 0);
  const std::string why =
      "': lanes wait elsewhere than at the sides of a branch and at its post-dominator, and it holds only if they wait "
      "there";
  CHECK(a.result.without_variant ==
        std::vector<std::string>{"k: no annotation 'regmutex" + why, "k: no annotation 'rfh" + why});
  CHECK_THAT(a.result.added, Contains("added: regions, power, liveness, rfv"));
  tool::AnnotateOptions o;
  o.trace = folder.file("imported.rgt");
  o.out = folder.file("rfh.rgt");
  o.schemes = {"greener", "rfh"};
  CHECK(error_of(o) == "error: --for rfh: k: no annotation 'rfh" + why);
  CHECK_FALSE(std::filesystem::exists(o.out));
}

TEST_CASE("foreign trace: warps that turn to other lanes within a block") {
  const Folder folder;
  const Annotated a(folder, imported(folder, traceg(in_turns())));
  CHECK(live_before(a.kernel()) == diamond_live);
  CHECK(a.result.without_variant.size() == 4);
  CHECK(a.result.without_variant.at(0) ==
        "k: no annotation 'regions': warps turn to other lanes in the middle of a basic block, and it holds only if "
        "they do so between blocks");
  const trace::AnnotationSection* power = trace::find_power_section(a.kernel());
  REQUIRE(power != nullptr);
  const trace::PowerStates states = trace::decode_power_states(a.kernel(), power->payload);
  CHECK(states.next[6].at(1).live);
  CHECK_FALSE(states.next[9].at(0).live);
}

TEST_CASE("foreign trace: only what the schemes that are named need; again, for more") {
  const Folder folder;
  const Annotated first(folder, imported(folder, traceg(met())), {"greener", "finereg"});
  std::vector<std::string> names;
  for (const trace::AnnotationSection& s : first.kernel().annotations) names.push_back(s.name);
  CHECK(names == std::vector<std::string>{"power", "liveness"});
  std::filesystem::rename(folder.file("annotated.rgt"), folder.file("first.rgt"));
  const Annotated more(folder, folder.file("first.rgt"), {"regless", "finereg"});
  names.clear();
  for (const trace::AnnotationSection& s : more.kernel().annotations) names.push_back(s.name);
  CHECK(names == std::vector<std::string>{"power", "liveness", "regions"});
  CHECK(live_before(more.kernel()) == diamond_live);
}

TEST_CASE("foreign trace: what is refused, and with which words") {
  const Folder folder;
  const std::string trace = imported(folder, traceg(met(), "80")), out = folder.file("new.rgt");
  const auto refusal = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command{REGATTA_ANNOTATE, "--trace", trace, "--out", out};
    command.insert(command.end(), more.begin(), more.end());
    const auto r = test::run_process(command);
    CHECK(r.status == 2);
    CHECK(r.out.empty());
    return r.err;
  };
  const std::string start = "regatta-annotate: --trace: '" + trace + "'";
  const auto other_code = [&](const std::string& scheme, const std::string& options) {
    return start + ": the scheme " + scheme + " runs on another code (" + options +
           ") than kernel k has (80 registers, 32 lanes); only the code of a trace that regatta-annotate made can be "
           "changed\n";
  };
  CHECK(refusal({"--for", "rfv"}) == other_code("rfv", "--max-registers 63"));
  CHECK(refusal({"--for", "argo"}) == other_code("argo", "--warp-size 64"));
  CHECK(refusal({"--for", "baseline"}) == start + " has all that these schemes need; nothing can be added for them\n");
  CHECK(refusal({"--control"}) ==
        start + ": the annotation 'control' needs the program, and regatta-annotate did not make the trace\n");
  CHECK(refusal({"--for", "rfx"}).rfind("regatta-annotate: --for 'rfx', expected all or schemes of regatta-sim: ", 0) ==
        0);
  CHECK(refusal({"--max-registers", "63"}) ==
        "regatta-annotate: --trace adds annotations to a trace: --max-registers does not go with it, expected --for, "
        "--out and options of annotations\n");
  CHECK(refusal({"--for", "rfh", "--rfh", "9"}) == "regatta-annotate: --rfh is 9, expected 1 to 8\n");
  CHECK_FALSE(std::filesystem::exists(out));
  // Of all annotations, RFV's is left out.
  const auto r = test::run_process({REGATTA_ANNOTATE, "--trace", trace, "--out", out});
  CHECK(r.status == 0);
  CHECK(r.out == out + ": annotations of '" + trace +
                     "' added: regions, power, liveness, regmutex, rfh\nk: no annotation 'rfv': the scheme rfv runs on "
                     "another code (--max-registers 63) than kernel k has (80 registers, 32 lanes); only the code of a "
                     "trace that regatta-annotate made can be changed\n");
}

TEST_CASE("foreign trace: lanes that take an edge which the code does not have") {
  const Folder folder;
  const std::string path = folder.file("r.rgt");
  {
    trace::KernelBuilder code("jumps");
    code.op("mov.u32", trace::OpClass::int_add).writes({0});
    code.branch("brx", 2);
    code.op("add.u32", trace::OpClass::int_add).writes({1}).reads({0});
    code.branch("bra", 4);
    code.exit();
    trace::TraceRecorder out(path, "by hand");
    const auto kernel = out.add(code.build());
    out.launch(kernel, {1, 1, 1}, {32, 1, 1});
    out.begin_cta();
    trace::WarpRecorder& w = out.warp(0);
    const auto value = [](unsigned lane) { return lane; };
    w.step(0);
    w.result(value);
    w.step(1);
    w.goes_to(w.threads(), 4);  // and nobody said add_edge(1, 4)
    w.step(4, w.threads());
    out.end_cta();
    out.finish();
  }
  tool::AnnotateOptions o;
  o.trace = path;
  o.out = folder.file("new.rgt");
  CHECK(error_of(o) ==
        "kernel jumps, CTA 0, warp 0, instruction 3 (static index 4): lanes come from static index 1, and the kernel's "
        "basic blocks have no edge from there to here; the trace is malformed");
}
