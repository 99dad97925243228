// SPDX-License-Identifier: Apache-2.0
//
// Warp instruction reuse on whole programs: every kernel of traces/kernels under every model, with all physical
// registers, half of them, and as few as there may be; and kernels made to catch an illegal reuse. What a reuse
// delivers is compared with what the program computed, references are recounted, and nothing may leak (the program
// fails otherwise).
#include <regatta/test/catch.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "kernels.h"
#include "process.h"

using namespace regatta;
using test::Folder;
using test::Size;

namespace {

const std::vector<std::string> models{"r", "rl", "rlp", "rlpv", "rpv", "rlpvc", "novsb", "affine", "affine_rlpv"};

test::ProcessResult run(const std::string& trace, const std::vector<std::string>& knobs,
                        const std::string& machine = "gtx480") {
  std::vector<std::string> command{REGATTA_SIM, trace, "--machine", machine, "--scheme", "wir"};
  command.insert(command.end(), knobs.begin(), knobs.end());
  return test::run_process(command);
}

/// The smallest number of physical registers that the program says it takes.
std::string smallest(const std::string& trace) {
  std::string number = "8";
  for (unsigned n = 0; n < 20; ++n) {
    const auto r = run(trace, {"--wir.physical_registers", number});
    if (r.status == 0) return number;
    REQUIRE(r.status == 2);
    std::smatch found;
    INFO(r.err);
    REQUIRE(std::regex_search(r.err, found, std::regex("expected at least (\\d+)")));
    number = found[1];
  }
  FAIL("no number of physical registers is enough");
  return number;
}

void check_all(const std::string& trace, const std::vector<std::string>& knobs) {
  for (const std::string& physical : {std::string("1024"), std::string("512"), smallest(trace)}) {
    for (const std::string& model : models) {
      std::vector<std::string> all{"--wir.model", model, "--wir.physical_registers", physical};
      all.insert(all.end(), knobs.begin(), knobs.end());
      const auto r = run(trace, all);
      CAPTURE(model, physical, r.err);
      REQUIRE(r.status == 0);
    }
  }
}

void check_kernel(const std::string& kernel) {
  const Folder folder;
  check_all(test::annotate_kernel(folder, kernel, Size::small), {"--wir.recount", "1000"});
}

/// Threads exchange values through scratchpad memory, 40 times, over and over at the same addresses: a value from
/// before a barrier is always wrong behind it. Twice as many barriers as a CTA's count can hold, and more.
const char* const exchange = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry exchange(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<20>;
  .reg .b64 %d<10>;
  .shared .align 4 .b8 box[512];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  shl.b32 %r3, %r1, 2;
  mov.u32 %r4, box;
  add.s32 %r5, %r4, %r3;
  add.s32 %r6, %r1, 32;
  and.b32 %r7, %r6, 127;
  shl.b32 %r8, %r7, 2;
  add.s32 %r9, %r4, %r8;
  mov.u32 %r10, 0;
  and.b32 %r11, %r1, 31;
  and.b32 %r16, %r2, 1;
  add.s32 %r11, %r11, %r16;
LOOP:
  st.shared.u32 [%r5], %r11;
  bar.sync 0;
  ld.shared.u32 %r12, [%r9];
  ld.shared.u32 %r13, [%r4];
  ld.shared.u32 %r14, [%r4+4];
  bar.sync 0;
  add.s32 %r11, %r12, %r13;
  add.s32 %r11, %r11, %r14;
  and.b32 %r11, %r11, 255;
  add.s32 %r10, %r10, 1;
  setp.lt.u32 %p1, %r10, 40;
  @%p1 bra LOOP;
  ld.param.u64 %d1, [out];
  cvta.to.global.u64 %d2, %d1;
  mad.lo.s32 %r15, %r2, 128, %r1;
  mul.wide.u32 %d3, %r15, 4;
  add.s64 %d4, %d2, %d3;
  st.global.u32 [%d4], %r11;
  ret;
}
)";

/// Global loads of what all CTAs share, of what the thread itself has just stored, and, behind a barrier, of what the
/// CTA's other warp has stored at the same place; atomics and fences in between. Many CTAs, so that slots are reused.
const char* const across = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry across(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<30>;
  .reg .b64 %d<20>;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  cvta.to.global.u64 %d3, %d1;
  cvta.to.global.u64 %d4, %d2;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  and.b32 %r3, %r1, 31;
  mul.wide.u32 %d5, %r3, 4;
  add.s64 %d6, %d3, %d5;
  ld.global.u32 %r4, [%d6];
  ld.global.u32 %r5, [%d6+4];
  add.s32 %r6, %r4, %r5;
  shl.b32 %r7, %r2, 6;
  add.s32 %r8, %r7, %r1;
  mul.wide.u32 %d7, %r8, 4;
  add.s64 %d8, %d4, %d7;
  xor.b32 %r9, %r1, 32;
  add.s32 %r10, %r7, %r9;
  mul.wide.u32 %d9, %r10, 4;
  add.s64 %d10, %d4, %d9;
  mov.u32 %r11, 0;
LOOP:
  ld.global.u32 %r12, [%d8];
  add.s32 %r13, %r12, %r6;
  st.global.u32 [%d8], %r13;
  ld.global.u32 %r14, [%d8];
  ld.global.u32 %r15, [%d6];
  bar.sync 0;
  ld.global.u32 %r16, [%d10];
  ld.global.u32 %r17, [%d10];
  add.s32 %r6, %r16, %r17;
  membar.gl;
  bar.sync 0;
  ld.global.u32 %r18, [%d8];
  add.s32 %r6, %r6, %r18;
  add.s32 %r6, %r6, %r14;
  add.s32 %r6, %r6, %r15;
  atom.global.add.u32 %r19, [%d8], 1;
  ld.global.u32 %r20, [%d8];
  add.s32 %r6, %r6, %r20;
  and.b32 %r6, %r6, 1023;
  add.s32 %r11, %r11, 1;
  setp.lt.u32 %p1, %r11, 6;
  @%p1 bra LOOP;
  bar.sync 0;
  st.global.u32 [%d8], %r6;
  ret;
}
)";

/// Registers that are shared by warps and then written by some lanes, again and again, with nested branches; sums of
/// them in between by all lanes.
const char* const diverge = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry diverge(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<6>;
  .reg .b32 %r<30>;
  .reg .b64 %d<10>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  and.b32 %r3, %r1, 31;
  mov.u32 %r4, 3;
  mov.u32 %r5, 3;
  add.s32 %r6, %r3, 5;
  add.s32 %r7, %r3, 5;
  mov.u32 %r8, 0;
  mov.u32 %r9, 0;
LOOP:
  and.b32 %r10, %r8, 4;
  shr.u32 %r11, %r3, %r10;
  and.b32 %r12, %r11, 1;
  setp.eq.u32 %p1, %r12, 0;
  @%p1 bra ELSE;
  add.s32 %r4, %r4, 1;
  add.s32 %r6, %r6, %r4;
  setp.gt.u32 %p2, %r3, 20;
  @%p2 add.s32 %r7, %r7, %r4;
  @%p2 bra JOIN;
  mov.u32 %r5, %r4;
  bra.uni JOIN;
ELSE:
  add.s32 %r5, %r5, %r3;
  add.s32 %r6, %r6, 7;
JOIN:
  add.s32 %r13, %r4, %r5;
  add.s32 %r14, %r6, %r7;
  add.s32 %r15, %r4, %r5;
  add.s32 %r9, %r9, %r13;
  add.s32 %r9, %r9, %r14;
  add.s32 %r9, %r9, %r15;
  and.b32 %r4, %r4, 7;
  and.b32 %r5, %r5, 7;
  setp.lt.u32 %p3, %r8, 9;
  @%p3 mov.u32 %r6, 11;
  add.s32 %r8, %r8, 1;
  setp.lt.u32 %p4, %r8, 24;
  @%p4 bra LOOP;
  ld.param.u64 %d1, [out];
  cvta.to.global.u64 %d2, %d1;
  shl.b32 %r16, %r2, 6;
  add.s32 %r17, %r16, %r1;
  mul.wide.u32 %d3, %r17, 4;
  add.s64 %d4, %d2, %d3;
  st.global.u32 [%d4], %r9;
  ret;
}
)";

/// Sums with a carry whose register sources are the same in every warp, and whose carries are not.
const char* const carry = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry carry(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<20>;
  .reg .b64 %d<10>;
  ld.param.u64 %d1, [out];
  cvta.to.global.u64 %d2, %d1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  and.b32 %r3, %r1, 31;
  shr.u32 %r4, %r1, 5;
  mov.u32 %r5, 0;
  mov.u32 %r6, 0;
LOOP:
  add.s32 %r7, %r4, %r5;
  and.b32 %r8, %r7, 1;
  setp.eq.u32 %p1, %r8, 0;
  selp.b32 %r9, 4294967295, 1, %p1;
  add.cc.u32 %r10, %r9, 5;
  addc.u32 %r11, %r3, 0;
  add.s32 %r6, %r6, %r11;
  add.s32 %r12, %r3, 7;
  add.s32 %r6, %r6, %r12;
  add.s32 %r5, %r5, 1;
  setp.lt.u32 %p2, %r5, 8;
  @%p2 bra LOOP;
  shl.b32 %r13, %r2, 7;
  add.s32 %r14, %r13, %r1;
  mul.wide.u32 %d3, %r14, 4;
  add.s64 %d4, %d2, %d3;
  st.global.u32 [%d4], %r6;
  ret;
}
)";

/// A warp reads what another has stored when a flag says so; a third had read the place before.
const char* const flags = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry flags(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<8>;
  .reg .b32 %r<20>;
  .reg .b64 %d<10>;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  cvta.to.global.u64 %d3, %d1;
  cvta.to.global.u64 %d4, %d2;
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  and.b32 %r3, %r1, 31;
  mul.wide.u32 %d5, %r3, 4;
  add.s64 %d6, %d3, %d5;
  mul.wide.u32 %d7, %r1, 4;
  add.s64 %d8, %d4, %d7;
  setp.eq.u32 %p1, %r2, 0;
  setp.eq.u32 %p2, %r2, 1;
  @%p1 bra FIRST;
  @%p2 bra SECOND;
THIRD:
  ld.acquire.gpu.global.u32 %r4, [%d3+1028];
  setp.eq.u32 %p3, %r4, 257;
  @%p3 bra THIRD;
  mov.u32 %r5, 0;
PAUSE:
  ld.volatile.global.u32 %r6, [%d3+2048];
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p4, %r5, 6;
  @%p4 bra PAUSE;
  ld.global.u32 %r7, [%d6+3072];
  st.global.u32 [%d8], %r7;
  ret;
FIRST:
  ld.global.u32 %r7, [%d6+3072];
  st.global.u32 [%d8], %r7;
  st.release.gpu.global.u32 [%d3+1024], 1;
  ret;
SECOND:
  ld.acquire.gpu.global.u32 %r4, [%d3+1024];
  setp.eq.u32 %p3, %r4, 256;
  @%p3 bra SECOND;
  mov.u32 %r8, 1;
  st.global.u32 [%d6+3072], %r8;
  st.release.gpu.global.u32 [%d3+1028], 1;
  ret;
}
)";

/// The first warp of a CTA stores where all of them load, and nothing orders the two.
const char* const racy = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry racy(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<20>;
  .reg .b64 %d<10>;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  cvta.to.global.u64 %d3, %d1;
  cvta.to.global.u64 %d4, %d2;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, 0;
  mov.u32 %r4, 0;
  setp.lt.u32 %p1, %r1, 32;
LOOP:
  ld.global.u32 %r5, [%d3];
  add.s32 %r4, %r4, %r5;
  add.s32 %r4, %r4, 1;
  @!%p1 bra SKIP;
  st.global.u32 [%d3], %r4;
SKIP:
  add.s32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, 6;
  @%p2 bra LOOP;
  shl.b32 %r6, %r2, 7;
  add.s32 %r7, %r6, %r1;
  mul.wide.u32 %d5, %r7, 4;
  add.s64 %d6, %d4, %d5;
  st.global.u32 [%d6], %r4;
  ret;
}
)";

std::string annotate(const Folder& folder, const std::string& name, const char* ptx, unsigned ctas, unsigned threads,
                     bool check_races = true, bool races = false) {
  folder.write(name + ".ptx", ptx);
  tool::AnnotateOptions o;
  o.launch = folder.write(
      name + ".toml", "ptx = \"" + name + ".ptx\"\nentry = \"" + name + "\"\ngrid = [" + std::to_string(ctas) +
                          ", 1, 1]\nblock = [" + std::to_string(threads) +
                          ", 1, 1]\n[[param]]\nbuffer = 4096\ninit = \"iota\"\ntype = \"u32\"\n[[param]]\nbuffer = " +
                          std::to_string(ctas * threads * 4) + "\ninit = \"zero\"\ntype = \"u32\"\n");
  o.out = folder.file(name + ".rgt");
  o.check_races = check_races;
  REQUIRE(tool::annotate(o).races.empty() != races);
  return o.out;
}

void check_adversary(const std::string& name, const char* ptx, unsigned ctas, unsigned threads) {
  const Folder folder;
  const std::string trace = annotate(folder, name, ptx, ctas, threads);
  check_all(trace, {"--wir.recount", "50"});
  // Hashes that collide all the time, tiny tables that everything leaves at once, counters that are soon full.
  check_all(trace, {"--wir.recount", "50", "--wir.hash_bits", "4"});
  check_all(trace, {"--wir.recount", "50", "--wir.hash_bits", "5", "--reuse_buffer.entries", "7",
                    "--value_signature_buffer.entries", "3", "--verify_cache.entries", "2", "--retry_queue.entries",
                    "2", "--wir.counter_bits", "3"});
  check_all(trace, {"--reuse_buffer.associative", "true", "--wir.delay", "7", "--wir.verify_patience", "0"});
  // They do reuse, or the test would show nothing.
  const auto r = run(trace, {"--stats", folder.file("stats.json")});
  REQUIRE(r.status == 0);
  const auto wir = nlohmann::json::parse(folder.read("stats.json")).at("stats").at("wir");
  CHECK(wir.at("bypass_fraction").get<double>() > 0.02);
}

}  // namespace

TEST_CASE("vector_add under every model") { check_kernel("vector_add"); }
TEST_CASE("sgemm under every model") { check_kernel("sgemm"); }
TEST_CASE("hotspot under every model") { check_kernel("hotspot"); }
TEST_CASE("bfs under every model") { check_kernel("bfs"); }
TEST_CASE("pathfinder under every model") { check_kernel("pathfinder"); }
TEST_CASE("needleman_wunsch under every model") { check_kernel("needleman_wunsch"); }
TEST_CASE("srad under every model") { check_kernel("srad"); }
TEST_CASE("stencil3d under every model") { check_kernel("stencil3d"); }
TEST_CASE("spmv under every model") { check_kernel("spmv"); }
TEST_CASE("black_scholes under every model") { check_kernel("black_scholes"); }
TEST_CASE("histogram under every model") { check_kernel("histogram"); }
TEST_CASE("reduction under every model") { check_kernel("reduction"); }

TEST_CASE("scratchpad exchanges over more barriers than a CTA's count holds") {
  check_adversary("exchange", exchange, 5, 128);
}
TEST_CASE("stores and loads across warps, barriers and CTAs whose slots are reused") {
  check_adversary("across", across, 24, 64);
}
TEST_CASE("carries, which no register names") { check_adversary("carry", carry, 4, 128); }
TEST_CASE("loads that flags in memory order") {
  const Folder folder;
  check_all(annotate(folder, "flags", flags, 1, 96), {});
}
TEST_CASE("divergent writes to shared registers") { check_adversary("diverge", diverge, 12, 64); }

TEST_CASE("a racy load that finds another value is counted where the trace knows of the race, an error where not") {
  const Folder folder;
  const std::string unchecked = annotate(folder, "racy", racy, 3, 128, false);
  const auto wrong = run(unchecked, {});
  CHECK(wrong.status == 3);
  CHECK(wrong.err.find("from reuse") != std::string::npos);

  const std::string checked = annotate(folder, "racy", racy, 3, 128, true, true);
  for (const char* model : {"rl", "rlp", "rlpv", "rlpvc", "rpv"}) {
    const auto right = run(checked, {"--wir.model", model, "--wir.recount", "1", "--stats", folder.file("stats.json")});
    CAPTURE(model, right.err);
    REQUIRE(right.status == 0);
    const auto document = nlohmann::json::parse(folder.read("stats.json"));
    CHECK(document.at("checks").at("mismatches") == 0);
    CHECK((document.at("stats").at("wir").at("racy_loads") > 0) == (model != std::string("rpv")));
  }
  const auto info = test::run_process({REGATTA_TRACE, "info", checked});
  CHECK(info.out.find("races") != std::string::npos);
}

TEST_CASE("affine tuples take an eighth of the banks and a lane of the units") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "sgemm", Size::small);
  const auto energy = [&](const std::string& scheme, const std::string& model) {
    std::vector<std::string> command{REGATTA_SIM, trace,  "--machine", "gtx480",
                                     "--scheme",  scheme, "--stats",   folder.file("stats.json")};
    if (!model.empty()) command.insert(command.end(), {"--wir.model", model});
    REQUIRE(test::run_process(command).status == 0);
    return nlohmann::json::parse(folder.read("stats.json"));
  };
  const auto base = energy("baseline", "");
  const auto affine = energy("wir", "affine");
  CHECK(affine.at("cycles") == base.at("cycles"));
  const auto of = [](const nlohmann::json& document, const char* event) {
    double nj = 0;
    for (const auto& e : document.at("energy").at("by_event")) {
      if (e.at("event") == event) nj += e.at("nj").get<double>();
    }
    return nj;
  };
  const auto& meter = affine.at("stats").at("sm0.affine");
  const auto& file = base.at("stats").at("sm0.register_file");
  const double reads = file.at("reads"), tuples = meter.at("affine_reads");
  CHECK(tuples > 0);
  CHECK(of(affine, "register_file.read") == Approx(of(base, "register_file.read") * (reads - tuples * 7 / 8) / reads));
  CHECK(of(affine, "execution.integer") < of(base, "execution.integer"));
  CHECK(of(affine, "execution.integer") > 0);

  // With reuse, less of everything is left, and the structures that save it cost a little.
  const auto both = energy("wir", "affine_rlpv");
  const auto reuse = energy("wir", "rlpv");
  CHECK(of(both, "register_file.read") < of(reuse, "register_file.read"));
  CHECK(of(reuse, "execution.fp32") + of(reuse, "execution.integer") <
        of(base, "execution.fp32") + of(base, "execution.integer"));
  CHECK(of(reuse, "wir.hash") ==
        Approx(4.85e-3 * reuse.at("stats").at("sm0.register_file").at("signature_hits").get<double>() +
               4.85e-3 * reuse.at("stats").at("sm0.register_file").at("signature_misses").get<double>()));
}

TEST_CASE("configurations that cannot be are refused by a sentence") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "vector_add", Size::small);
  const std::vector<std::pair<std::vector<std::string>, std::string>> bad{
      {{"--wir.delay", "8"}, "wir.delay"},
      {{"--wir.model", "rlpw"}, "wir.model"},
      {{"--wir.hash_bits", "0"}, "wir.hash_bits"},
      {{"--register_file.ports", "1rw", "--register_file.priority", "read"}, "register_file.priority"},
      {{"--wir.physical_registers", "7"}, "wir.physical_registers = 7, expected at least"},
      {{"--reuse_buffer.entries", "0"}, "reuse_buffer.entries"},
  };
  for (const auto& [knobs, words] : bad) {
    const auto r = run(trace, knobs);
    CAPTURE(words, r.err);
    CHECK(r.status == 2);
    CHECK(r.err.find(words) != std::string::npos);
  }
  for (const char* machine : {"gtx980", "k20x"}) {
    for (const char* ports : {"1rw", "1r1w", "2r1w"}) {
      const auto r = run(trace, {"--register_file.ports", ports}, machine);
      CAPTURE(machine, ports, r.err);
      CHECK(r.status == 0);
    }
  }
}

TEST_CASE("the same bytes twice, whatever the quantum") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "sgemm", Size::small);
  std::string first;
  for (const char* quantum : {"256", "1", "256"}) {
    REQUIRE(run(trace, {"--quantum", quantum, "--stats", folder.file("stats.json"), "--wir.physical_registers", "512"})
                .status == 0);
    const auto document = nlohmann::json::parse(folder.read("stats.json"));
    const std::string text = document.at("stats").dump() + document.at("cycles").dump();
    if (first.empty()) first = text;
    CHECK(text == first);
  }
}
