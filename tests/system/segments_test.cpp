// SPDX-License-Identifier: Apache-2.0
//
// Traces with warps so long that they lie in segments: every scheme simulates them as it does the same warps as a
// whole. A trace that is written to a pipe has no segments.
#include <regatta/schemes/schemes.h>
#include <regatta/test/catch.h>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "folder.h"
#include "process.h"

using namespace regatta;
using test::Folder;

namespace segments {
namespace {

/// Warps of different length, with branches that diverge, barriers and shared memory.
constexpr const char* program = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry long_loop(.param .u64 out, .param .u32 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<6>;
  .shared .align 4 .b8 tile[256];
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd2, %rd3;
  shl.b32 %r8, %r2, 2;
  mov.u32 %r9, tile;
  add.s32 %r9, %r9, %r8;
  mov.u32 %r3, 0;
  mov.u32 %r4, %r2;
LOOP:
  mad.lo.s32 %r4, %r4, 1664525, 1013904223;
  and.b32 %r5, %r4, 7;
  setp.lt.u32 %p1, %r5, 2;
  @%p1 bra SKIP;
  xor.b32 %r4, %r4, %r3;
SKIP:
  st.shared.u32 [%r9], %r4;
  ld.shared.u32 %r6, [%r9];
  add.s32 %r4, %r6, 1;
  and.b32 %r7, %r3, 63;
  setp.ne.u32 %p2, %r7, 0;
  @%p2 bra NEXT;
  bar.sync 0;
  ld.global.u32 %r10, [%rd4];
  add.s32 %r10, %r10, %r4;
  st.global.u32 [%rd4], %r10;
NEXT:
  add.s32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, %r1;
  @%p1 bra LOOP;
  st.global.u32 [%rd4], %r4;
  ret;
}
)";

using Words = std::vector<std::string>;

std::string statistics(const Folder& folder, const std::string& trace, const std::string& scheme, const Words& more) {
  Words words{REGATTA_SIM, trace, "--scheme", scheme, "--all-stats", "--stats", folder.file("stats.json")};
  words.insert(words.end(), more.begin(), more.end());
  const auto r = test::run_process(words);
  CAPTURE(trace, scheme, r.err);
  REQUIRE(r.status == 0);
  auto stats = nlohmann::ordered_json::parse(folder.read("stats.json"));
  CHECK(stats.at("checks").at("mismatches") == 0);
  for (const char* key : {"host", "trace"}) stats.erase(key);
  stats.at("program").erase("data");  // a digest of the file's frames
  return stats.dump(1);
}

}  // namespace

TEST_CASE("segments: every scheme simulates them as the whole warps") {
  const Folder folder;
  folder.write("long.ptx", program);
  const std::string launch = folder.write("long.toml", R"(ptx = "long.ptx"
entry = "long_loop"
grid = [3, 1, 1]
block = [64, 1, 1]
[[param]]
name = "out"
buffer = 256
init = "iota"
type = "u32"
[[param]]
scalar = 1300
type = "u32"
)");
  const std::string whole = folder.file("whole.rgt"), parts = folder.file("segments.rgt");
  const std::string annotate = "'" + std::string(REGATTA_ANNOTATE) + "' --launch '" + launch + "' --for all --out ";
  REQUIRE(test::run_process({"/bin/sh", "-c", annotate + "'" + parts + "'"}).status == 0);
  REQUIRE(test::run_process(
              {"/bin/sh", "-c", annotate + "/dev/fd/3 3>&1 > '" + folder.file("said") + "' | cat > '" + whole + "'"})
              .status == 0);
  const auto version = [&](const char* name) { return static_cast<int>(folder.read(name).at(8)); };
  CHECK(version("whole.rgt") == 2);
  CHECK(version("segments.rgt") == 3);
  for (const std::string& trace : {whole, parts}) {
    const auto r = test::run_process({REGATTA_TRACE, "verify", "--program", trace});
    CAPTURE(r.err);
    CHECK(r.status == 0);
  }
  const assembly::SchemeRegistry registry = schemes::all();
  for (const auto& scheme : registry.schemes()) {
    CAPTURE(scheme->name());
    CHECK(statistics(folder, parts, scheme->name(), {}) == statistics(folder, whole, scheme->name(), {}));
  }
  CHECK(statistics(folder, parts, "baseline", {"--sms", "2"}) == statistics(folder, whole, "baseline", {"--sms", "2"}));
}

}  // namespace segments
