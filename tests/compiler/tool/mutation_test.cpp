// SPDX-License-Identifier: Apache-2.0
//
// Thousands of damaged PTX and launch files through the annotation pipeline: each runs, or is refused with a message
// that names the file; none crashes or hangs.
#include <mutate.h>
#include <probes.h>
#include <regatta/launch/launch_file.h>
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>
#include <watchdog.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "folder.h"
#include "process.h"

using namespace regatta;
using namespace regatta::test;

namespace {

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

const std::string source = REGATTA_SOURCE_DIR;
const std::string seeds = source + "/tests/fuzz/seeds/";

struct Counts {
  unsigned accepted = 0;
  unsigned refused = 0;
};

/// Annotates; anything but success or a trace::InputError that names one of the files fails the test.
void annotate(const tool::AnnotateOptions& o, const std::string& ptx, Counts& counts) {
  try {
    tool::annotate(o);
    ++counts.accepted;
    // What was written can be read.
    if (!o.out.empty()) REQUIRE(probe_trace_file(o.out).message == "");
  } catch (const trace::InputError& e) {
    ++counts.refused;
    const std::string message = e.what();
    INFO(message);
    const bool names_file = message.rfind(ptx + ":", 0) == 0 || message.rfind(o.launch + ":", 0) == 0;
    const bool names_buffer = message.rfind("error: buffer '", 0) == 0;
    REQUIRE((names_file || names_buffer));
    REQUIRE(message.find("error: ") != std::string::npos);
  }
}

/// CTAs that a program runs, as far as `limit`.
std::uint64_t work(const launch::LaunchFile& file, const std::vector<launch::Step>& steps, std::uint64_t limit) {
  std::uint64_t ctas = 0;
  for (const launch::Step& s : steps) {
    if (s.kind == launch::Step::Kind::run) {
      // What follows counters may become anything.
      std::uint64_t grid = file.launches[s.launch].computed.empty() ? 1 : limit;
      for (const std::uint32_t n : file.launches[s.launch].grid) grid = std::min(limit, grid * n);
      ctas += grid;
    } else if (s.kind != launch::Step::Kind::swap) {
      const std::uint64_t times = !s.formula.empty() ? limit : s.kind == launch::Step::Kind::repeat ? s.times : s.max;
      ctas += std::min(limit, times) * std::max<std::uint64_t>(1, work(file, s.steps, limit));
    }
    ctas = std::min(ctas, limit);
  }
  return ctas;
}

/// Whether a launch file, if it is one, asks for little time and memory.
bool is_small(const std::string& text, const std::string& path) {
  constexpr std::uint64_t most_ctas = 200;
  constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20;
  try {
    const launch::LaunchFile file = launch::parse_launch_file(text, path);
    std::uint64_t bytes = 0;
    for (const launch::Buffer& b : file.buffers) bytes += std::min(b.contents.bytes, most_bytes);
    return bytes < most_bytes && work(file, file.steps, most_ctas) < most_ctas;
  } catch (const trace::InputError&) {
    return true;
  }
}

void check_ptx(const std::string& file, unsigned rounds, std::uint64_t seed) {
  const std::string text = read(source + "/" + file);
  REQUIRE(text.size() > 500);
  MutationRandom random(seed);
  Watchdog watchdog(file, std::chrono::seconds(30));
  std::size_t compiled = 0;
  std::size_t finished = 0;
  std::size_t diagnosed = 0;
  for (unsigned n = 0; n < rounds; ++n) {
    watchdog.restart(file + ", round " + std::to_string(n));
    INFO(file << ", round " << n);
    const std::string damaged = n % 8 == 0 ? mutate_bytes(text, random) : mutate_tokens(text, random);
    PtxOutcome outcome;
    REQUIRE_NOTHROW(outcome = probe_ptx(damaged));
    compiled += outcome.compiled;
    finished += outcome.finished;
    diagnosed += outcome.diagnosed;
  }
  // Not all of it ends in the parser.
  CHECK(compiled > rounds / 10);
  CHECK(finished + diagnosed > rounds / 10);
}

}  // namespace

TEST_CASE("damaged PTX is refused or compiles and runs: vector_add") {
  check_ptx("traces/kernels/vector_add/vector_add.sm75.ptx", 500, 1);
}
TEST_CASE("damaged PTX is refused or compiles and runs: hotspot") {
  check_ptx("traces/kernels/hotspot/hotspot.sm75.ptx", 500, 2);
}
TEST_CASE("damaged PTX is refused or compiles and runs: bfs") { check_ptx("traces/kernels/bfs/bfs.sm75.ptx", 500, 3); }
TEST_CASE("damaged PTX is refused or compiles and runs: tiny") { check_ptx("tests/fuzz/seeds/tiny.ptx", 500, 4); }
TEST_CASE("damaged PTX is refused or compiles and runs: clang") {
  check_ptx("tests/compiler/ptx/samples/plain.clang.sm75.O0.ptx", 200, 5);
}

TEST_CASE("damaged PTX under a launch file") {
  const Folder folder;
  const std::string text = read(seeds + "tiny.ptx");
  tool::AnnotateOptions o;
  o.launch = folder.write("tiny.toml", read(seeds + "tiny.toml"));
  o.max_instructions = 5000;
  MutationRandom random(6);
  Counts counts;
  Watchdog watchdog("", std::chrono::seconds(30));
  for (unsigned n = 0; n < 500; ++n) {
    watchdog.restart("PTX round " + std::to_string(n));
    INFO("round " << n);
    o.out = n % 4 == 0 ? folder.file("k.rgt") : "";
    annotate(o, folder.write("tiny.ptx", mutate_tokens(text, random)), counts);
  }
  CHECK(counts.accepted > 10);
  CHECK(counts.refused > 100);
}

TEST_CASE("2,000 damaged launch files") {
  const Folder folder;
  const std::string ptx = folder.write("tiny.ptx", read(seeds + "tiny.ptx"));
  const std::string texts[] = {read(seeds + "tiny.toml"), read(seeds + "program.toml")};
  tool::AnnotateOptions o;
  o.launch = folder.file("l.toml");
  o.max_instructions = 5000;
  MutationRandom random(7);
  Counts counts;
  unsigned large = 0;
  Watchdog watchdog("", std::chrono::seconds(30));
  for (unsigned n = 0; n < 2000; ++n) {
    watchdog.restart("launch file round " + std::to_string(n));
    INFO("round " << n);
    const std::string& good = texts[n % 2];
    const std::string damaged = n % 5 == 0 ? mutate_bytes(good, random) : mutate_tokens(good, random);
    if (!is_small(damaged, o.launch)) {
      REQUIRE_NOTHROW(probe_launch(damaged));
      ++large;
      continue;
    }
    folder.write("l.toml", damaged);
    o.out = n % 4 == 0 ? folder.file("k.rgt") : "";
    annotate(o, ptx, counts);
  }
  CHECK(counts.accepted > 40);
  CHECK(counts.refused > 500);
  CHECK(large < 300);
}

// The same through the program.
TEST_CASE("damaged files: the program's exit status is 0 or 2, with a message") {
  const Folder folder;
  const std::string ptx = read(seeds + "tiny.ptx");
  const std::string launch = read(seeds + "tiny.toml");
  MutationRandom random(8);
  unsigned refused = 0;
  for (unsigned n = 0; n < 60; ++n) {
    INFO("round " << n);
    folder.write("tiny.ptx", n % 2 == 0 ? mutate_tokens(ptx, random) : ptx);
    const std::string damaged = n % 2 == 1 ? mutate_tokens(launch, random) : launch;
    if (!is_small(damaged, folder.file("tiny.toml"))) continue;
    const std::string path = folder.write("tiny.toml", damaged);
    ProcessOptions options;
    options.timeout_seconds = 30 * regatta::test::patience;
    const ProcessResult r = run_process({REGATTA_ANNOTATE, "--launch", path, "--max-instructions", "5000"}, options);
    INFO(r.err);
    REQUIRE(r.signal == 0);
    REQUIRE((r.status == 0 || r.status == 2));
    CHECK((r.status == 0) == r.err.empty());
    refused += r.status == 2 ? 1 : 0;
  }
  CHECK(refused > 10);
  CHECK(refused < 60);
}
