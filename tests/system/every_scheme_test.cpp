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
