// SPDX-License-Identifier: Apache-2.0
//
// Matrix products on machines with and without tensor pipelines: what they occupy, count and consume.
#include <regatta/test/catch.h>

#include <nlohmann/json.hpp>

#include "folder.h"
#include "process.h"

using namespace regatta;

namespace {

/// A chain of eight products of 16 x 8 x 16 halves, of one warp.
const char* const product_chain = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p;
  .reg .b32 %t, %n, %a<6>;
  .reg .f32 %c<4>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [out];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %d2, %t, 16;
  add.s64 %d1, %d1, %d2;
  ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%d1];
  mov.u32 %a4, 0x3c003c00;
  mov.u32 %a5, 0x3c003c00;
  mov.f32 %c0, 0f00000000;
  mov.f32 %c1, 0f00000000;
  mov.f32 %c2, 0f00000000;
  mov.f32 %c3, 0f00000000;
  mov.u32 %n, 0;
L:
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%a4, %a5}, {%c0, %c1, %c2, %c3};
  add.u32 %n, %n, 1;
  setp.lt.u32 %p, %n, 8;
  @%p bra L;
  st.global.v4.f32 [%d1], {%c0, %c1, %c2, %c3};
  ret;
}
)";

}  // namespace

TEST_CASE("matrix products occupy tensor pipelines, and a machine without says so") {
  const test::Folder folder;
  folder.write("k.ptx", product_chain);
  folder.write("l.toml",
               "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [32]\n[[param]]\nbuffer = 512\n"
               "init = \"uniform\"\ntype = \"f16\"\nlow = -1.0\nhigh = 1.0\n");
  REQUIRE(
      test::run_process({REGATTA_ANNOTATE, "--launch", folder.file("l.toml"), "--out", folder.file("k.rgt")}).status ==
      0);
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{REGATTA_SIM, folder.file("k.rgt"), "--stats", folder.file("s.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run_process(arguments);
  };
  const auto counted = [&](const char* name) {
    const auto stats = nlohmann::json::parse(folder.read("s.json"));
    return stats.at("stats").at("sm0.pipeline.execution").at(name).get<std::uint64_t>();
  };
  const auto cycles = [&] { return nlohmann::json::parse(folder.read("s.json")).at("cycles").get<std::uint64_t>(); };
  const auto on_h100 = run({"--machine", "h100", "--sms", "1"});
  INFO(on_h100.err);
  REQUIRE(on_h100.status == 0);
  CHECK(counted("tensor_instructions") == 8);
  CHECK(counted("matrix_instructions") == 8);
  CHECK(counted("matrix_products") == 8 * 16 * 8 * 16);
  CHECK(counted("tensor_busy") == 8 * 8);  // 4,096 bits of products a cycle
  const std::uint64_t plain = cycles();
  // Each product needs the one before it: its cycles in the pipeline, and twice as many to the result.
  REQUIRE(run({"--machine", "h100", "--sms", "1", "--tensor.product_bits", "2048"}).status == 0);
  CHECK(counted("tensor_busy") == 8 * 16);
  CHECK(cycles() >= plain + 7 * 16);
  REQUIRE(run({"--machine", "h100", "--sms", "1", "--tensor.latency", "108"}).status == 0);
  CHECK(cycles() >= plain + 7 * 100);
  for (const std::vector<std::string>& none :
       {std::vector<std::string>{"--machine", "gtx980"}, {"--machine", "h100", "--unit.tensor", "0"}}) {
    const auto refused = run(none);
    CHECK(refused.status == 2);
    CHECK(refused.err.find("kernel k has matrix products ('mma.m16n8k16.f32.f16.f16'), and this machine has no tensor "
                           "pipelines (unit.tensor = 0): expected a machine with some, as h100") != std::string::npos);
  }
}
