// SPDX-License-Identifier: Apache-2.0
//
// The comparison with a GPU, without one: a driver of this process runs in C++ what the emulator runs in PTX.
#include <regatta/test/catch.h>

#include <cstdlib>
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
  REQUIRE(status({"--full", "--all"}, "--full and --all: expected one or the other") == 2);
  REQUIRE(status({"--launch", "x.toml", "sgemm"}, "--launch and kernel 'sgemm': expected one or the other") == 2);
}

namespace {

/// regatta-hardware with the driver that is a library, which fakes `what`.
test::ProcessResult with_fake_gpu(const std::string& what, std::vector<std::string> arguments) {
  std::vector<std::string> command{REGATTA_HARDWARE, "--driver", REGATTA_FAKE_DRIVER};
  command.insert(command.end(), arguments.begin(), arguments.end());
  ::setenv("FAKE_GPU", what.c_str(), 1);
  test::ProcessResult result = test::run_process(command);
  ::unsetenv("FAKE_GPU");
  return result;
}

const std::string fake_gpu_line = "Fake GPU, compute capability 9.1, driver for CUDA 12.4\n";

}  // namespace

TEST_CASE("regatta-hardware compares whole kernels where a GPU is") {
  const auto equal = with_fake_gpu("", {"--ptx", "nvcc", "streamcluster", "vector_add"});
  INFO(equal.err);
  REQUIRE(equal.out == fake_gpu_line +
                           "streamcluster (sm75): 52000 elements in 8 buffers, all bits equal; 1300 pointers equal as "
                           "offsets into buffers\n"
                           "vector_add (sm75): 120009 elements in 3 buffers, all bits equal\n"
                           "2 equal, 0 different, 0 not run\n");
  REQUIRE(equal.status == 0);
}

TEST_CASE("regatta-hardware shows the wrong element, and the wrong pointer") {
  const auto sum = with_fake_gpu("wrong", {"--ptx", "nvcc", "vector_add"});
  REQUIRE(sum.status == 3);
  REQUIRE(sum.out.find("1 differ in bits, 1 too much") != std::string::npos);
  REQUIRE(sum.out.find("\n  c[7] is 0x3f000000 (0.5) on the GPU, ") != std::string::npos);
  const auto pointer = with_fake_gpu("moved", {"--ptx", "nvcc", "streamcluster"});
  REQUIRE(pointer.status == 3);
  REQUIRE(pointer.out.find(" in the emulator: 'coordinates' + 20 on the GPU, 'coordinates' + 12 in the emulator\n") !=
          std::string::npos);
  REQUIRE(pointer.out.find("; 1299 pointers equal") != std::string::npos);
}

TEST_CASE("--all runs small launches of both compilers and full ones of nvcc") {
  const auto run = with_fake_gpu("", {"--all", "vector_add"});
  INFO(run.out);
  REQUIRE(run.status == 0);
  const std::size_t small = run.out.find("\nvector_add (sm75): "), clang = run.out.find("\nvector_add (sm35): "),
                    full = run.out.find("\nvector_add (sm75, full): ");
  REQUIRE(small < clang);
  REQUIRE(clang < full);
  REQUIRE(full != std::string::npos);
  REQUIRE(run.out.find("(sm35, full)") == std::string::npos);
}

TEST_CASE("without a GPU the program says so and is skipped") {
  const auto run = with_fake_gpu("none", {});
  REQUIRE(run.status == 77);
  REQUIRE(run.out == "skipped: no NVIDIA GPU: the driver sees no GPU\n");
}

TEST_CASE("what a GPU is not given is refused in a sentence") {
  Setup setup;
  const CudaDriver driver = fake_driver();
  const Gpu gpu(driver);
  GpuProgram program(gpu, {step_ptx});
  launch::Launch l;
  l.name = "step";
  l.entry = "step";
  l.cooperative = true;
  REQUIRE_THROWS_WITH(program.launch(l, {}), "launch 'step' is cooperative, which is not compared with a GPU");
  l.cooperative = false;
  l.parameters.emplace_back();
  l.parameters[0].kind = launch::Parameter::Kind::tensor_map;
  REQUIRE_THROWS_WITH(program.launch(l, {}), "launch 'step' has a tensor map, which is not compared with a GPU");
}
