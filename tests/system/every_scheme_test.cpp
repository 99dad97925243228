// SPDX-License-Identifier: Apache-2.0
//
// Barriers, warp barriers, jump tables and prints have no unit of their own, but registers that they read and write:
// these pass the operand path as all others do. Every scheme runs them, with every operand right and nothing lost. So
// does every scheme a warp that only arrives at a barrier, and one of which a single lane has the value that a shuffle
// hands to all: what the others hold was never written.
#include <regatta/assembly/scheme.h>
#include <regatta/schemes/schemes.h>
#include <regatta/test/catch.h>

#include <nlohmann/json.hpp>

#include "folder.h"
#include "process.h"

using namespace regatta;

namespace {

/// In a loop of rounds: a barrier that counts into a register which is used and written anew, one whose number of
/// threads comes from a register, a warp barrier of the lanes that are there, a print.
const char* const program = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[4] = {37, 117, 10, 0};
.visible .entry k(.param .u64 out)
{
  .local .align 8 .b8 frame[8];
  .reg .pred %p<5>;
  .reg .b32 %r<20>;
  .reg .b64 %d<12>;
  ld.param.u64 %d1, [out];
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d1, %d1, %d2;
  mov.u64 %d4, frame;
  cvta.local.u64 %d3, %d4;
  mov.u64 %d5, text;
  cvta.global.u64 %d6, %d5;
  mov.u32 %r2, %r1;
  mov.u32 %r9, 0;
LOOP:
  and.b32 %r3, %r2, 7;
  setp.lt.u32 %p1, %r3, 5;
  barrier.red.popc.u32 %r4, 0, %p1;
  add.u32 %r2, %r2, %r4;
  mov.u32 %r4, %ntid.x;
  barrier.sync 1, %r4;
  add.u32 %r4, %r2, %r4;
  @!%p1 bra JOIN;
  activemask.b32 %r5;
  bar.warp.sync %r5;
  popc.b32 %r5, %r5;
  add.u32 %r2, %r2, %r5;
JOIN:
  bar.warp.sync 0xffffffff;
  and.b32 %r6, %r2, 3;
  setp.eq.u32 %p3, %r6, 3;
  @%p3 bra PRINT;
  xor.b32 %r2, %r2, %r4;
  bra NEXT;
PRINT:
  st.local.u32 [%d4], %r9;
  {
    .param .b64 format;
    .param .b64 arguments;
    .param .b32 result;
    st.param.b64 [format], %d6;
    st.param.b64 [arguments], %d3;
    call.uni (result), vprintf, (format, arguments);
    ld.param.b32 %r7, [result];
  }
  add.u32 %r6, %r6, %r7;
  add.u32 %r2, %r2, %r6;
NEXT:
  bar.warp.sync 0xffffffff;
  add.u32 %r9, %r9, 1;
  setp.lt.u32 %p2, %r9, 12;
  @%p2 bra LOOP;
  st.global.u32 [%d1], %r2;
  ret;
}
)";

/// Producers arrive at barrier 1 and then wait at 2; consumers wait at 2 and then at 1. Who waited where it only
/// arrives would never come on.
const char* const handshake = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d1, %d1, %d2;
  mov.u32 %r2, 1;
  setp.lt.u32 %p1, %r1, 64;
  @%p1 bra PRODUCE;
  bar.sync 2, 128;
  add.u32 %r2, %r2, 5;
  bar.sync 1, 128;
  bra.uni DONE;
PRODUCE:
  bar.arrive 1, 128;
  bar.sync 2, 128;
  add.u32 %r2, %r2, 7;
DONE:
  st.global.u32 [%d1], %r2;
  ret;
}
)";

/// Guards that hold for some warps only: the others go by, whether number and threads are static or not.
const char* const guarded = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d1, %d1, %d2;
  setp.lt.u32 %p1, %r1, 96;
  mov.u32 %r3, 96;
  mov.u32 %r4, 2;
  mov.u32 %r5, 6;
  mov.u32 %r2, 1;
  @%p1 bar.sync 1, 96;
  @%p1 bar.sync %r4, %r3;
  @!%p1 bar.sync 3, 32;
  @%p1 bar.arrive 4, 128;
  add.u32 %r2, %r2, %r1;
  @!%p1 bar.sync 4, 128;
  @%p1 bar.sync 5, %r3;
  @!%p1 bar.sync %r5, 32;
  st.global.u32 [%d1], %r2;
  bar.sync 0;
  ret;
}
)";

/// A warp's leader adds for all that are there and broadcasts what it got, as 64 bits; `%rd9` is never written in the
/// others. Twice, so that rows are left behind for others.
const char* const leader = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r12, 0;
AGAIN:
  mul.lo.u32 %r13, %r1, 7;
  and.b32 %r13, %r13, 3;
  setp.eq.u32 %p1, %r13, 2;
  @%p1 bra NEXT;
  activemask.b32 %r3;
  brev.b32 %r4, %r3;
  bfind.shiftamt.u32 %r5, %r4;
  setp.ne.u32 %p2, %r2, %r5;
  @%p2 bra MEET;
  popc.b32 %r6, %r3;
  cvt.u64.u32 %rd4, %r6;
  atom.global.add.u64 %rd9, [%rd1], %rd4;
MEET:
  mov.b64 {%r7, %r8}, %rd9;
  shfl.sync.idx.b32 %r9, %r7, %r5, 31, %r3;
  shfl.sync.idx.b32 %r10, %r8, %r5, 31, %r3;
  mov.b64 %rd10, {%r9, %r10};
  cvt.u32.u64 %r11, %rd10;
  st.global.u32 [%rd3], %r11;
NEXT:
  add.u32 %r12, %r12, 1;
  setp.lt.u32 %p3, %r12, 2;
  @%p3 bra AGAIN;
  ret;
}
)";

/// Runs the launch file's program under every scheme.
void simulates_everywhere(const test::Folder& folder, const std::string& launch, unsigned warp_size,
                          const std::vector<std::string>& machines) {
  folder.write("l.toml", launch);
  const auto annotated =
      test::run_process({REGATTA_ANNOTATE, "--launch", folder.file("l.toml"), "--out", folder.file("k.rgt"),
                         "--warp-size", std::to_string(warp_size), "--regmutex-base", "0", "--rfh", "3", "--rfv"});
  INFO(annotated.err);
  REQUIRE(annotated.status == 0);
  const assembly::SchemeRegistry registry = schemes::all();
  std::size_t completed = 0;
  for (const auto& known : registry.schemes()) {
    const std::string scheme = known->name();
    for (std::string machine : machines) {
      // A unified memory has an L1 of its own.
      const bool unified = scheme == "um" || scheme == "vt_um" || scheme == "finereg_um";
      if (unified && warp_size == 32) machine = "finereg_um";
      const auto run = test::run_process({REGATTA_SIM, folder.file("k.rgt"), "--machine", machine, "--scheme", scheme,
                                          "--check-protocol", "--stats", folder.file("s.json")});
      INFO(scheme << " on " << machine << "\n" << run.err);
      // Some papers know warps of 32 lanes only.
      if (warp_size == 64 && run.status == 2 &&
          (run.err.find("expected sm.lanes = 32, found 64") != std::string::npos ||
           run.err.find("sm.lanes = 64, expected 32") != std::string::npos || unified)) {
        continue;
      }
      ++completed;
      REQUIRE(run.status == 0);
      const auto stats = nlohmann::json::parse(folder.read("s.json"));
      REQUIRE(stats.at("ending") == "completed");
      REQUIRE(stats.at("checks").at("mismatches") == 0);
    }
  }
  CHECK(2 * completed > registry.schemes().size() * machines.size());
}

/// Runs the program, of CTAs of 128 threads, under every scheme.
void runs_everywhere(const std::string& ptx) {
  const test::Folder folder;
  folder.write("k.ptx", ptx);
  simulates_everywhere(folder, "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [40]\nblock = [128]\n[[param]]\nbuffer = 512\n",
                       32, {"gtx980", "k20x"});
}

}  // namespace

TEST_CASE("instructions without a unit read and write their registers, under every scheme") {
  runs_everywhere(program);
}
TEST_CASE("a leader broadcasts what it alone has, under every scheme") { runs_everywhere(leader); }
TEST_CASE("a warp that arrives at a barrier goes on, under every scheme") { runs_everywhere(handshake); }
TEST_CASE("a warp whose guard is off goes by a barrier, under every scheme") { runs_everywhere(guarded); }

TEST_CASE("lanes that return before the barriers of their warp, under every scheme") {
  const std::string buffer = "[[param]]\nbuffer = 2560\ninit = \"";
  const std::string uniform = buffer + "uniform\"\ntype = \"f32\"\nlow = 0.0\nhigh = 1.0\nseed = 3\n";
  const std::string zero = buffer + "zero\"\n";
  const std::string threads = "[[param]]\nscalar = 467\ntype = \"s32\"\n";
  const std::pair<std::string, std::string> kernels[] = {
      {"early_exit", threads + uniform + zero},
      {"tail_work", threads + uniform + zero + zero},
      {"leave_loop", buffer + "uniform\"\ntype = \"s32\"\nlow = 0\nhigh = 20\nseed = 5\n" + zero}};
  for (const auto& [entry, parameters] : kernels) {
    for (const std::string build : {"sm75", "sm35"}) {
      for (const unsigned warp_size : {32u, 64u}) {
        INFO(entry << " " << build << ", warps of " << warp_size);
        const test::Folder folder;
        simulates_everywhere(folder,
                             "ptx = \"" REGATTA_SOURCE_DIR "/tests/compiler/emulator/samples/early_exit." + build +
                                 ".ptx\"\nentry = \"" + entry + "\"\ngrid = [5]\nblock = [128]\n" + parameters,
                             warp_size, {warp_size == 32 ? "gtx980" : "hd7770"});
      }
    }
  }
}

/// In a loop: a fetch with a linear filter, one of a texel number, a surface that is read, written and read again.
const char* const textured = R"(
.version 8.0
.target sm_75
.address_size 64
.global .texref table;
.visible .entry k(.param .u64 t, .param .u64 s, .param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<12>;
  .reg .f32 %f<16>;
  .reg .b64 %d<6>;
  ld.param.u64 %d1, [t];
  ld.param.u64 %d2, [s];
  ld.param.u64 %d3, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, 0;
  shl.b32 %r4, %r1, 2;
  cvt.rn.f32.u32 %f1, %r1;
  cvt.rn.f32.u32 %f2, %r2;
  mov.f32 %f3, 0f00000000;
AGAIN:
  add.f32 %f1, %f1, 0f3ec00000;
  tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d1, {%f1, %f2}];
  add.f32 %f3, %f3, %f4;
  add.f32 %f3, %f3, %f6;
  cvt.rzi.s32.f32 %r5, %f3;
  and.b32 %r5, %r5, 255;
  tex.1d.v4.f32.s32 {%f8, %f9, %f10, %f11}, [table, {%r5}];
  add.f32 %f3, %f3, %f8;
  suld.b.2d.b32.clamp {%r6}, [%d2, {%r4, %r2}];
  mov.b32 %r7, %f3;
  xor.b32 %r6, %r6, %r7;
  setp.lt.u32 %p1, %r3, 6;
  @%p1 sust.b.2d.b32.clamp [%d2, {%r4, %r2}], {%r6};
  add.u32 %r3, %r3, 1;
  @%p1 bra AGAIN;
  mad.lo.u32 %r8, %r2, 128, %r1;
  mul.wide.u32 %d4, %r8, 4;
  add.u64 %d3, %d3, %d4;
  st.global.u32 [%d3], %r6;
  ret;
}
)";

TEST_CASE("textures and surfaces, under every scheme") {
  for (const unsigned warp_size : {32u, 64u}) {
    const test::Folder folder;
    folder.write("k.ptx", textured);
    simulates_everywhere(
        folder,
        "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [12]\nblock = [128]\n"
        "[[array]]\nname = \"image\"\nformat = \"f16 x 4\"\nwidth = 100\nheight = 30\ninit = \"uniform\"\nlow = 0.0\n"
        "high = 9.0\n[[array]]\nname = \"plane\"\nformat = \"u32\"\nwidth = 128\nheight = 12\n"
        "[[texture]]\nname = \"t\"\narray = \"image\"\nfilter = \"linear\"\naddress = \"border\"\n"
        "[[texture]]\nreference = \"table\"\nbuffer = \"numbers\"\nformat = \"f32\"\n"
        "[[surface]]\nname = \"s\"\narray = \"plane\"\n"
        "[[param]]\ntexture = \"t\"\n[[param]]\nsurface = \"s\"\n"
        "[[param]]\nname = \"numbers\"\nbuffer = 6144\ninit = \"uniform\"\ntype = \"f32\"\nlow = 1.0\nhigh = 2.0\n",
        warp_size, warp_size == 32 ? std::vector<std::string>{"gtx980", "gtx480"} : std::vector<std::string>{"hd7770"});
  }
}

/// Two stages of cp.async with groups, a bulk copy and a mbarrier for each round, arrivals of copies, a bulk copy back.
const char* const asynchronous = R"(
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128])
{
  .reg .pred %p<6>;
  .reg .b32 %r<24>;
  .reg .b64 %d<12>;
  .shared .align 128 .b8 s[8192];
  .shared .align 8 .b64 bar[2];
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  mov.u64 %d7, map;
  cvta.param.u64 %d7, %d7;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, s;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared.b64 [bar], 1;
  @%p1 mbarrier.init.shared.b64 [bar+8], 128;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  shl.b32 %r4, %r1, 4;
  cvt.u64.u32 %d3, %r4;
  add.u64 %d3, %d1, %d3;
  add.u32 %r5, %r3, %r4;
  mov.u32 %r6, 0;
  mov.u32 %r7, 0;
  mov.u32 %r10, 0;
  cp.async.cg.shared.global [%r5], [%d3], 16;
  cp.async.commit_group;
ROUND:
  and.b32 %r8, %r6, 1;
  add.u64 %d3, %d3, 2048;
  xor.b32 %r5, %r5, 2048;
  cp.async.cg.shared.global [%r5], [%d3], 16;
  cp.async.commit_group;
  @!%p1 bra ISSUED;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 2048;
  shl.b32 %r9, %r6, 2;
  add.u32 %r9, %r9, %r2;
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s+4096], [%d1], 1024, [bar];
  cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [s+5120], [%d7, {%r9, %r6}], [bar];
ISSUED:
  cp.async.wait_group 1;
  cp.async.mbarrier.arrive.noinc.shared.b64 [bar+8];
FULL:
  mbarrier.try_wait.parity.shared.b64 %p2, [bar], %r8;
  @!%p2 bra FULL;
COPIED:
  mbarrier.try_wait.parity.shared.b64 %p3, [bar+8], %r8;
  @!%p3 bra COPIED;
  xor.b32 %r11, %r5, 2048;
  xor.b32 %r11, %r11, 16;
  ld.shared.u32 %r12, [%r11];
  shl.b32 %r13, %r1, 3;
  add.u32 %r13, %r13, %r3;
  ld.shared.u32 %r14, [%r13+4096];
  ld.shared.u32 %r15, [%r13+5120];
  add.u32 %r10, %r10, %r12;
  xor.b32 %r10, %r10, %r14;
  add.u32 %r10, %r10, %r15;
  bar.sync 0;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p4, %r6, 6;
  @%p4 bra ROUND;
  cp.async.wait_all;
  shl.b32 %r16, %r1, 2;
  add.u32 %r16, %r16, %r3;
  st.shared.u32 [%r16+4096], %r10;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  mul.wide.u32 %d5, %r2, 512;
  add.u64 %d5, %d5, %d2;
  @!%p1 bra DONE;
  cp.async.bulk.global.shared::cta.bulk_group [%d5], [s+4096], 512;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
  ret;
}
)";

TEST_CASE("asynchronous copies and mbarriers, under every scheme") {
  for (const unsigned warp_size : {32u, 64u}) {
    const test::Folder folder;
    folder.write("k.ptx", asynchronous);
    simulates_everywhere(folder,
                         "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [9]\nblock = [128]\n"
                         "[[param]]\nbuffer = 16384\ninit = \"iota\"\ntype = \"s32\"\n[[param]]\nbuffer = 4608\n"
                         "[[param]]\ntensor_map = { buffer = 4096, init = \"iota\", type = \"s32\", element = \"s32\", "
                         "size = [32, 32], box = [16, 16], swizzle = \"64B\" }\n",
                         warp_size, {warp_size == 32 ? "gtx980" : "hd7770"});
  }
}

TEST_CASE("asynchronous copies wait for entries, the engine and memory") {
  const test::Folder folder;
  folder.write("k.ptx", asynchronous);
  folder.write("l.toml",
               "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [9]\nblock = [128]\n[[param]]\nbuffer = 16384\ninit = \"iota\"\n"
               "type = \"s32\"\n[[param]]\nbuffer = 4608\n[[param]]\ntensor_map = { buffer = 4096, init = \"iota\", "
               "type = \"s32\", element = \"s32\", size = [32, 32], box = [16, 16] }\n");
  REQUIRE(test::run_process(
              {REGATTA_ANNOTATE, "--launch", folder.file("l.toml"), "--out", folder.file("k.rgt"), "--check-races"})
              .status == 0);
  const auto run = [&](const std::vector<std::string>& knobs) {
    std::vector<std::string> arguments{REGATTA_SIM, folder.file("k.rgt"), "--machine", "h100", "--sms", "1",
                                       "--stats",   folder.file("s.json")};
    arguments.insert(arguments.end(), knobs.begin(), knobs.end());
    const auto done = test::run_process(arguments);
    INFO(done.err);
    REQUIRE(done.status == 0);
    return nlohmann::json::parse(folder.read("s.json"));
  };
  const auto cycles = [](const nlohmann::json& j) { return j.at("cycles").get<std::uint64_t>(); };
  const auto unit = [](const nlohmann::json& j, const char* name) {
    return j.at("stats").at("sm0.pipeline.async").at(name).get<std::uint64_t>();
  };
  const nlohmann::json plain = run({});
  // 9 CTAs of 4 warps: a copy ahead and one in each of 6 rounds; two bulk copies a round, of 1,024 bytes each, and one
  // back; a phase of both mbarriers a round.
  CHECK(unit(plain, "copies") == 9 * 4 * 7);
  CHECK(unit(plain, "bulk_loads") == 9 * 6 * 2);
  CHECK(unit(plain, "bulk_stores") == 9);
  CHECK(unit(plain, "bulk_bytes") == 9 * (6 * 2048 + 512));
  CHECK(unit(plain, "mbarrier_phases") == 9 * 6 * 2);
  CHECK(unit(plain, "mbarrier_waits") != 0);
  const nlohmann::json few = run({"--async.copies", "1"}), narrow = run({"--async.bulk_queue", "1"}),
                       slow = run({"--async.bulk_sectors", "1"}), late = run({"--async.bulk_setup", "2000"});
  CHECK(cycles(few) > cycles(plain));
  CHECK(unit(few, "copy_refusals") > unit(plain, "copy_refusals"));
  CHECK(cycles(narrow) > cycles(plain));
  CHECK(unit(narrow, "bulk_refusals") > 0);
  CHECK(cycles(slow) > cycles(plain));
  CHECK(unit(slow, "bulk_sectors") == unit(plain, "bulk_sectors"));
  // 21 copies of a CTA one after another, each 2,000 cycles late: what waits for them waits.
  CHECK(cycles(late) > cycles(plain) + 50000);
  CHECK(unit(late, "mbarrier_wait_cycles") > unit(plain, "mbarrier_wait_cycles"));
}
