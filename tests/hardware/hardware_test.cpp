// SPDX-License-Identifier: Apache-2.0
//
// The comparison with a GPU, without one: a driver of this process runs in C++ what the emulator runs in PTX.
#include <regatta/test/catch.h>

#include <cstring>

#include "compare.h"
#include "fake_driver.h"
#include "folder.h"
#include "kernels.h"
#include "process.h"

using namespace regatta;
using namespace regatta::hardware;

namespace {

/// One step: out[i] = in[i] * weight + round, and more = round < 2, by 64 threads.
constexpr const char* step_ptx = R"(
.version 6.0
.target sm_35
.address_size 64
.visible .const .align 4 .b8 weight[4];
.visible .entry step(.param .u64 p_in, .param .u64 p_out, .param .u64 p_more, .param .u32 p_round)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [p_in];
  ld.param.u64 %rd2, [p_out];
  ld.param.u64 %rd3, [p_more];
  ld.param.u32 %r1, [p_round];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd4, %r2, 4;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  ld.global.u32 %r3, [%rd5];
  ld.const.u32 %r4, [weight];
  mad.lo.s32 %r5, %r3, %r4, %r1;
  st.global.u32 [%rd6], %r5;
  setp.ge.s32 %p1, %r1, 2;
  @%p1 bra done;
  mov.u32 %r6, 1;
  st.global.u32 [%rd3], %r6;
done:
  ret;
}
)";

constexpr const char* step_launch = R"(
ptx = "step.ptx"
[[buffer]]
name = "in"
bytes = 256
init = "iota"
type = "s32"
[[buffer]]
name = "out"
bytes = 256
[[buffer]]
name = "more"
bytes = 4
[[global]]
name = "weight"
init = "constant"
type = "s32"
value = 3
[[launch]]
entry = "step"
grid = [1]
block = [64]
params = [{ buffer = "in" }, { buffer = "out" }, { buffer = "more" },
          { counter = "round", type = "s32", scale = 2, offset = -2 }]
[[step]]
while = "more"
counter = "round"
steps = [{ run = "step" }, { swap = ["in", "out"] }]
)";

template <class T>
T parameter(const FakeLaunch& l, unsigned index) {
  T value;
  std::memcpy(&value, l.parameters[index], sizeof value);
  return value;
}

void step(const FakeLaunch& l) {
  const auto* in = parameter<const std::int32_t*>(l, 0);
  auto* out = parameter<std::int32_t*>(l, 1);
  auto* more = parameter<std::int32_t*>(l, 2);
  const auto round = parameter<std::int32_t>(l, 3);
  std::int32_t weight;
  std::memcpy(&weight, fake_device().variables.at("weight").data(), sizeof weight);
  for (unsigned i = 0; i < l.grid * l.block; ++i) out[i] = in[i] * weight + round;
  if (round < 2) *more = 1;
}

/// The launch file in a folder, and a device with its kernel.
class Setup {
 public:
  Setup() {
    folder_.write("step.ptx", step_ptx);
    folder_.write("step.toml", step_launch);
    fake_device() = FakeDevice();
    fake_device().kernels["step"] = step;
    fake_device().variables["weight"].resize(4);
  }
  std::vector<Comparison> run() {
    const CudaDriver driver = fake_driver();
    const Gpu gpu(driver);
    return run_both(gpu, folder_.file("step.toml"), folder_.file("step.ptx"), {});
  }

 private:
  test::Folder folder_;
};

std::vector<std::uint8_t> floats(const std::vector<float>& values) {
  std::vector<std::uint8_t> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("a GPU that computes what the emulator does has the same memory") {
  Setup setup;
  int launches = 0;
  fake_device().kernels["step"] = [&](const FakeLaunch& l) {
    ++launches;
    step(l);
  };
  const auto all = setup.run();
  REQUIRE(launches == 3);
  REQUIRE(all.size() == 4);
  for (const Comparison& c : all) {
    INFO(c.first_wrong);
    REQUIRE(c.differing == 0);
  }
  REQUIRE(all[0].elements == 64);
  REQUIRE(all[3].name == "weight");
  REQUIRE(fake_device().allocations == 0);
  REQUIRE(fake_device().modules == 0);
  REQUIRE(fake_device().contexts == 0);
}

TEST_CASE("one wrong bit on the GPU is found and named") {
  Setup setup;
  fake_device().kernels["step"] = [](const FakeLaunch& l) {
    step(l);
    if (parameter<std::int32_t>(l, 3) == 2) parameter<std::int32_t*>(l, 1)[5] ^= 1 << 30;
  };
  const auto all = setup.run();
  // Rounds of -2, 0 and 2: ((5 * 3 - 2) * 3) * 3 + 2, after three swaps in what "in" means now.
  REQUIRE(all[0].differing == 1);
  REQUIRE(all[0].wrong == 1);
  REQUIRE(all[0].first_wrong == "in[5] is 0x40000077 on the GPU, 0x77 in the emulator");
  REQUIRE(all[1].differing == 0);
}

TEST_CASE("a driver that refuses the PTX says why, and nothing leaks") {
  Setup setup;
  fake_device().load_result = cuda_no_binary_for_gpu;
  try {
    setup.run();
    FAIL("loaded");
  } catch (const CudaError& e) {
    REQUIRE(e.code() == cuda_no_binary_for_gpu);
    REQUIRE(std::string(e.what()) == "compiling the PTX (ptxas fatal : too old): as the test wants it (209)");
  }
  REQUIRE(fake_device().contexts == 0);
}

TEST_CASE("kernels, variables and GPUs that are not there") {
  Setup setup;
  fake_device().kernels.clear();
  REQUIRE_THROWS_WITH(setup.run(), "looking for entry 'step': as the test wants it (500)");
  REQUIRE(fake_device().allocations == 0);
  fake_device().variables.clear();
  REQUIRE_THROWS_WITH(setup.run(), "looking for variable 'weight': as the test wants it (500)");
  fake_device().gpus = 0;
  REQUIRE_THROWS_WITH(setup.run(), "the driver sees no GPU");
}

TEST_CASE("tolerances count for floating types alone") {
  const auto near = compare("x", ir::Type::f32, floats({1.0f, 2.00001f}), floats({1.0f, 2.0f}), {"x", 1e-5, 0});
  REQUIRE(near.elements == 2);
  REQUIRE(near.differing == 1);
  REQUIRE(near.wrong == 0);
  REQUIRE(near.largest > 4e-6);
  const auto far = compare("x", ir::Type::f32, floats({1.0f, 2.0001f}), floats({1.0f, 2.0f}), {"x", 1e-5, 0});
  REQUIRE(far.wrong == 1);
  const auto nan = compare("x", ir::Type::f32, floats({std::nanf("")}), floats({1.0f}), {"x", 1e-5, 0});
  REQUIRE(nan.wrong == 1);
  const auto integer = compare("x", ir::Type::u32, floats({1.0000001f}), floats({1.0f}), {"x", 1e-5, 0});
  REQUIRE(integer.wrong == 1);
  const auto zero = compare("x", ir::Type::f32, floats({1e-7f, 1e-5f}), floats({0.0f, 0.0f}), {"x", 1e-5, 1e-6});
  REQUIRE(zero.differing == 2);
  REQUIRE(zero.wrong == 1);
  REQUIRE(compare("x", ir::Type::f32, floats({-0.0f}), floats({0.0f}), {}).wrong == 1);
  // 1 and the next numbers of f16 and of bf16, which differ by 2^-10 and by 2^-7.
  REQUIRE(compare("x", ir::Type::f16, {0x01, 0x3c}, {0x00, 0x3c}, {"x", 1e-3, 0}).wrong == 0);
  const auto half = compare("x", ir::Type::f16, {0x01, 0x3c}, {0x00, 0x3c}, {"x", 9e-4, 0});
  REQUIRE(half.wrong == 1);
  REQUIRE(half.first_wrong == "x[0] is 0x3c01 (1.00098) on the GPU, 0x3c00 (1) in the emulator");
  REQUIRE(compare("x", ir::Type::bf16, {0x81, 0x3f}, {0x80, 0x3f}, {"x", 8e-3, 0}).wrong == 0);
  REQUIRE(compare("x", ir::Type::bf16, {0x81, 0x3f}, {0x80, 0x3f}, {"x", 7e-3, 0}).wrong == 1);
  REQUIRE(compare("x", ir::Type::u8, {1, 2}, {1}, {}).wrong == 1);
}

TEST_CASE("without a driver the program says so and is skipped") {
  const auto run = test::run_process({REGATTA_HARDWARE, "--driver", "libno_such_driver.so.9"});
  REQUIRE(run.status == 77);
  REQUIRE(run.out.rfind("skipped: no NVIDIA driver: libno_such_driver.so.9", 0) == 0);
  // A library that is no driver.
  const auto other = test::run_process({REGATTA_HARDWARE, "--driver", "libc.so.6"});
  REQUIRE(other.status == 77);
  REQUIRE(other.out == "skipped: no NVIDIA driver: libc.so.6 has no cuInit\n");
}

TEST_CASE("regatta-hardware refuses what it does not know") {
  const auto status = [](std::vector<std::string> arguments, const std::string& message) {
    arguments.insert(arguments.begin(), REGATTA_HARDWARE);
    const auto run = test::run_process(arguments);
    INFO(run.err);
    REQUIRE(run.err.rfind("regatta-hardware: " + message + "\n", 0) == 0);
    return run.status;
  };
  REQUIRE(status({"--ptx", "sm90"}, "--ptx: expected nvcc, clang or both, found 'sm90'") == 2);
  REQUIRE(status({"--fast"}, "unknown option '--fast'") == 2);
  REQUIRE(status({"--ptx"}, "--ptx: a value is missing") == 2);
  REQUIRE(status({"--with", "x.ptx"}, "--with needs --launch") == 2);
  REQUIRE(status({"--kernels", "/no/such/folder"}, "--kernels: '/no/such/folder' is no folder") == 2);
  REQUIRE(status({"--launch", "x.toml", "sgemm"}, "--launch and kernel 'sgemm': expected one or the other") == 2);
}
