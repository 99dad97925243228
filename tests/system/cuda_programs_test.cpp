// SPDX-License-Identifier: Apache-2.0
//
// The CUDA programs of examples/programs, as committed binaries: each runs on the emulator, finds its own results
// right, and its trace runs under five schemes and the baseline without a wrong operand.
#include <regatta/test/catch.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "folder.h"
#include "process.h"
#include "statistics.h"

using namespace regatta;
using test::Folder;

namespace {

struct Program {
  const char* name;
  const char* size;   ///< its argument, smaller than its default
  unsigned launches;  ///< that it makes then; 0: depends on the data
  const char* machine = "gtx980";
};

/// matrix_multiplication has CTAs of 53,248 bytes of shared memory, more than a GTX 980 has for one.
constexpr Program programs[] = {
    {"bfs", "2000", 0, "h100"},       {"bitonic_sort", "4096", 6},
    {"black_scholes", "1000", 1},     {"convolution", "50", 4, "h100"},
    {"fast_walsh", "1024", 4},        {"gaussian", "20", 38},
    {"histogram", "5000", 2, "h100"}, {"hotspot", "30", 0},
    {"kmeans", "500", 0, "h100"},     {"lud", "48", 7},
    {"monte_carlo", "5", 1, "h100"},  {"matrix_multiplication", "24", 3, "h100"},
    {"nbody", "70", 3, "h100"},       {"needleman_wunsch", "64", 3},
    {"pathfinder", "500", 6},         {"prefix_sum", "5000", 3},
    {"pathfinder_rdc", "500", 6},     {"graphs", "40", 0, "h100"},
    {"reduction", "5003", 8, "h100"}, {"shortest_paths", "400", 0},
    {"grid_sync", "300", 1},          {"spmv", "300", 0, "h100"},
    {"stencil3d", "20", 3},           {"streams", "5000", 5, "h100"},
    {"driver_api", "45", 2},          {"textures", "40", 2},
};

/// Captures a program; the trace's path.
std::string capture(const Folder& folder, const Program& program) {
  const std::string binary = std::string(REGATTA_SOURCE_DIR "/examples/programs/bin/") + program.name;
  const std::string trace = folder.file("program.rgt");
  // The machine code of the papers' machines, or that of the H100 that the program believes in.
  const char* const target = program.machine == std::string("h100") ? "sm_90" : "generic";
  const auto r = test::run_process(
      {REGATTA_CAPTURE, "--for", "all", "--target", target, "--out", trace, binary, program.size}, {folder.path()});
  INFO(r.out << r.err);
  REQUIRE(r.status == 0);
  REQUIRE(r.out.find(": PASSED\n") != std::string::npos);
  return trace;
}

void check_program(const Program& program) {
  const Folder folder;
  CAPTURE(program.name);
  const std::string trace = capture(folder, program);
  for (const std::string scheme : {"baseline", "regless", "wir", "greener", "finereg", "rfh"}) {
    const auto stats = test::statistics_of(folder, trace, {"--machine", program.machine, "--scheme", scheme});
    if (program.launches != 0) CHECK(stats.at("launches").size() == program.launches);
  }
}

}  // namespace

TEST_CASE(
    "CUDA programs run without a GPU and pass their own checks, and their traces run under all kinds of schemes") {
  const std::size_t half = GENERATE(0, 1);
  DYNAMIC_SECTION("every second program, from " << half) {
    for (std::size_t p = half; p < std::size(programs); p += 2) check_program(programs[p]);
  }
}

TEST_CASE("a capture that is killed leaves no folder and no socket, and under the trace's name a whole trace or none") {
  const Folder folder, temporary;
  const std::string trace = folder.file("program.rgt");
  std::uint64_t killed = 0;
  for (const unsigned after_ms : {5, 20, 60, 120, 250, 500, 900}) {
    test::ProcessOptions options{folder.path()};
    options.kill_signal = SIGKILL;
    options.kill_after_us = 1000 * after_ms * test::patience;
    // The program has the same standard output: it is over too when this returns.
    const auto r = test::run_process({"/usr/bin/env", "TMPDIR=" + temporary.path(), REGATTA_CAPTURE, "--out", trace,
                                      REGATTA_SOURCE_DIR "/examples/programs/bin/nbody", "150"},
                                     options);
    CAPTURE(after_ms, r.status, r.signal, r.out, r.err);
    killed += r.signal == SIGKILL ? 1 : 0;
    // Folders go a moment later, by the hand of another process.
    const auto left = [&] {
      std::string names;
      for (const Folder* f : {&folder, &temporary}) {
        for (const auto& entry : std::filesystem::directory_iterator(f->path())) {
          // What regatta-annotate wrote of a trace has another name.
          if (entry.path().string().rfind(trace, 0) != 0) names += entry.path().string() + "\n";
        }
      }
      return names;
    };
    for (unsigned waits = 0; !left().empty() && waits < 1000 * test::patience; ++waits) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    CHECK(left() == "");
    if (std::filesystem::exists(trace)) {
      CHECK(test::run_process({REGATTA_TRACE, "verify", trace}, {folder.path()}).status == 0);
      std::filesystem::remove(trace);
    }
  }
  CHECK(killed != 0);
}

TEST_CASE("programs of CUDA 11: texture references run and are traced") {
  const Folder folder;
  const std::string trace = folder.file("program.rgt");
  const auto r = test::run_process(
      {REGATTA_CAPTURE, "--strict", "--out", trace, REGATTA_CUDA_RUNTIME_PROGRAM, "references"}, {folder.path()});
  INFO(r.out << r.err);
  REQUIRE(r.status == 0);
  CHECK(r.out.find("references: PASSED\n") != std::string::npos);
  CHECK(test::statistics_of(folder, trace, {"--scheme", "wir"}).at("launches").size() == 2);
}

TEST_CASE("copies of arrays leave the same bytes in the pass that makes the trace") {
  const Folder folder;
  const std::string results = folder.file("results.bin"), kept = folder.file("kept");
  const auto r = test::run_process(
      {REGATTA_CAPTURE, "--strict", "--keep", kept, "--no-trace", REGATTA_CUDA_RUNTIME_PROGRAM, "copies", results},
      {folder.path()});
  INFO(r.out << r.err);
  REQUIRE(r.status == 0);
  CHECK(r.out.find("copies: PASSED\n") != std::string::npos);
  std::vector<std::string> command = {REGATTA_ANNOTATE, "--launch", kept + "/launch.toml"};
  const std::vector<std::string> names = {"a0", "a2", "b0"};
  for (const std::string& name : names) {
    command.emplace_back("--dump-buffer");
    command.push_back(name + "=" + folder.file(name));
  }
  const auto again = test::run_process(command, {folder.path()});
  INFO(again.out << again.err);
  REQUIRE(again.status == 0);
  std::string dumped;
  for (const std::string& name : names) dumped += folder.read(name);
  CHECK(dumped.size() == 5 * 4 * 3 * 4 + 7 * 4 * 4 + 4 * 64 * 6);
  CHECK(dumped == folder.read("results.bin"));
}

TEST_CASE("a program that needs what there is not is refused by name, and leaves nothing behind") {
  const Folder folder;
  const std::string trace = folder.file("program.rgt");
  const auto r =
      test::run_process({REGATTA_CAPTURE, "--out", trace, REGATTA_CUDA_RUNTIME_PROGRAM, "refused"}, {folder.path()});
  CHECK(r.status == 2);
  CHECK(r.err ==
        "regatta-capture: the program calls cudaMallocMipmappedArray(), which is not supported (regatta-capture "
        "--list-api)\n");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a program may load the driver itself; what the driver lacks is refused by name") {
  const Folder folder;
  const auto call = [&](const std::string& library, const std::string& function) {
    return test::run_process({REGATTA_CAPTURE, "--no-trace", REGATTA_LOADS_DRIVER, library, function}, {folder.path()});
  };
  for (const std::string library : {"libcuda.so.1", "libcuda.so"}) {
    const auto r = call(library, "cuProfilerStart");
    CHECK(r.status == 2);
    CHECK(r.out == "cuInit: 0\ncuProfilerStart: 0\n");
    CHECK(r.err == "regatta-capture: the program ended with status 0 without a launch: nothing to trace\n");
  }
  CHECK(call("libcuda.so.1", "cuGetExportTable").out == "cuInit: 0\ncuGetExportTable: 500\n");
  const std::pair<const char*, const char*> refused[] = {
      {"cuMemCreate", "the program calls cuMemCreate(), which is not supported (regatta-capture --list-api)"},
      {"cuMemAlloc",
       "the program calls cuMemAlloc() of before CUDA 3.2, whose addresses have 32 bits: expected cuMemAlloc_v2(), as "
       "cuda.h names it, or cuGetProcAddress()"},
  };
  for (const auto& [function, sentence] : refused) {
    const auto r = call("libcuda.so.1", function);
    CHECK(r.status == 2);
    CHECK(r.out == "cuInit: 0\n");
    CHECK(r.err == "regatta-capture: " + std::string(sentence) + "\n");
  }
}

TEST_CASE("a library that is not there is named") {
  const Folder folder;
  const auto r = test::run_process({REGATTA_CAPTURE, "--no-trace", REGATTA_NEEDS_ABSENT}, {folder.path()});
  CHECK(r.status == 2);
  CHECK(r.err.find("regatta-capture: the program needs libabsent.so, which is not found: of CUDA's libraries, "
                   "regatta-capture has libcudart and libcuda; others must be installed (LD_LIBRARY_PATH)\n") !=
        std::string::npos);
}

TEST_CASE("every function of the driver's header is there or refused by name") {
  const auto r = test::run_process({REGATTA_CAPTURE, "--list-api"});
  CHECK(r.status == 0);
  const std::size_t refused = r.out.find("Refused (");
  REQUIRE(refused != std::string::npos);
  for (const std::string name : {"cuInit", "cuLaunchKernel", "cuLaunchKernel_ptsz", "cuMemcpyHtoD_v2",
                                 "cuMemcpyHtoD_v2_ptds", "cuCtxCreate_v2", "cuCtxCreate_v4", "cuCtxCreate"}) {
    CHECK(r.out.find("  " + name + "\n") < refused);
  }
  for (const std::string name : {"cuGraphAddKernelNode_v2", "cuMemCreate", "cuMemAlloc"}) {
    CHECK(r.out.find("  " + name + "\n") > refused);
    CHECK(r.out.find("  " + name + "\n") != std::string::npos);
  }
}

#if defined(__x86_64__)
TEST_CASE("the runtime inside of a stripped program is found without a symbol table") {
  const Folder folder;
  const auto r = test::run_process({REGATTA_CAPTURE, "--no-trace", REGATTA_OWN_RUNTIME}, {folder.path()});
  INFO(r.err);
  CHECK(r.status == 0);
  CHECK(r.out == "PASSED\n");
}

TEST_CASE("a runtime inside of a stripped program in which functions are not found is refused") {
  const Folder folder;
  const auto r = test::run_process({REGATTA_CAPTURE, "--no-trace", REGATTA_OTHER_RUNTIME}, {folder.path()});
  CHECK(r.status == 2);
  CHECK(r.out.empty());
  CHECK(
      r.err ==
      "regatta-capture: the CUDA runtime inside of the program, or of a library of it, asks the driver for tables that "
      "are not documented (cuGetExportTable): its functions cannot be replaced where there is no symbol table; "
      "expected "
      "a program that is not stripped (no strip, no -s), or nvcc -cudart shared\n");
}
#endif
