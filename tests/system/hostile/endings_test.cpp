// SPDX-License-Identifier: Apache-2.0
//
// Tools that are ended at any moment, and tools that write one file at the same time.
#include <regatta/test/catch.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "folder.h"
#include "kernels.h"
#include "process.h"

using namespace regatta;
using test::Folder;
using test::ProcessOptions;
using test::ProcessResult;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr unsigned kills = 40;  // an instrumented run takes ten times as long
#else
constexpr unsigned kills = 200;
#endif

void check_trace(const Folder& folder, const std::string& name) {
  const ProcessResult r = test::run_process({REGATTA_TRACE, "verify", folder.file(name)});
  CHECK(r.err.empty());
  CHECK(r.status == 0);
}

/// Everything under a final name is whole: traces verify, documents parse, tables end with a line's end.
void check_whole(const Folder& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    if (name.find(".partial.") != std::string::npos) continue;
    const std::string extension = entry.path().extension().string();
    if (extension == ".rgt") {
      check_trace(folder, name);
    } else if (extension == ".json") {
      CHECK(nlohmann::json::accept(folder.read(name)));
    } else {
      const std::string text = folder.read(name);
      CHECK(!text.empty());
      CHECK(text.back() == '\n');
    }
  }
}

/// Ends `command` by signals in turn, after times that spread over more than its whole run.
void end_at_random(const std::vector<std::string>& command, const std::vector<std::string>& results) {
  std::mt19937 random(20261123);
  using Clock = std::chrono::steady_clock;
  // How long a run takes that nobody ends, in microseconds. It changes with what else the machine does.
  std::int64_t run = 0;
  const auto timed = [&](const ProcessOptions& o) {
    const auto begin = Clock::now();
    const ProcessResult r = test::run_process(command, o);
    if (r.signal == 0 && r.status == 0) {
      run = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();
    }
    return r;
  };
  {
    const Folder folder;
    ProcessOptions o;
    o.directory = folder.path();
    REQUIRE(timed(o).status == 0);
    for (const std::string& name : results) CHECK(folder.has(name));
  }
  const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL, SIGXCPU};
  unsigned ended = 0;
  // More, until enough moments were such that the run was under way: on a busy machine one run takes twice as long as
  // another.
  for (unsigned i = 0; i < kills || (ended <= kills / 4 && i < 20 * kills); ++i) {
    const Folder folder;
    ProcessOptions o;
    o.directory = folder.path();
    o.kill_signal = signals[i % std::size(signals)];
    o.kill_after_us = static_cast<std::uint64_t>(std::uniform_int_distribution<std::int64_t>(0, run * 5 / 4)(random));
    const ProcessResult r = timed(o);
    CAPTURE(o.kill_signal, o.kill_after_us, r.status, r.err);
    CHECK((r.signal == 0 || r.signal == o.kill_signal));
    if (r.signal == 0) CHECK((r.status == 0 || r.status == 128 + o.kill_signal));
    ended += r.signal != 0 || r.status != 0 ? 1 : 0;
    if (o.kill_signal != SIGKILL) CHECK(folder.count(".partial.") == 0);
    if (r.signal == 0 && r.status == 0) {
      for (const std::string& name : results) CHECK(folder.has(name));
    }
    check_whole(folder);
  }
  CHECK(ended > kills / 4);
}

}  // namespace

TEST_CASE("endings: regatta-annotate ended at any moment leaves whole files or none") {
  const std::string launch = test::launch_path("hotspot", test::Size::small);
  end_at_random({REGATTA_ANNOTATE, "--launch", launch, "--out", "k.rgt", "--report", "r.json", "--listing", "l.txt"},
                {"k.rgt", "r.json", "l.txt"});
}

TEST_CASE("endings: regatta-sim ended at any moment leaves whole files or none") {
  const Folder traces;
  const std::string trace = test::annotate_kernel(traces, "hotspot", test::Size::small);
  end_at_random({REGATTA_SIM, trace, "--stats", "s.json", "--vcd", "v.vcd", "--cpi-ctas", "c.csv"},
                {"s.json", "v.vcd", "c.csv"});
}

TEST_CASE("endings: regatta-trace ended at any moment leaves nothing") {
  const Folder traces;
  const std::string trace = test::annotate_kernel(traces, "hotspot", test::Size::small);
  end_at_random({REGATTA_TRACE, "verify", trace}, {});
}

TEST_CASE("endings: two annotations of one name at once leave one whole file, 50 times") {
  const std::string launch = test::launch_path("vector_add", test::Size::small);
  const Folder folder;
  ProcessOptions o;
  o.directory = folder.path();
  // What each of them writes alone: they differ in their CTAs.
  const auto command = [&](const std::string& ctas) {
    return std::vector<std::string>{REGATTA_ANNOTATE, "--launch", launch,     "--out", "k.rgt",
                                    "--ctas",         ctas,       "--report", "r.json"};
  };
  const auto alone = [&](const std::string& ctas) {
    REQUIRE(test::run_process(command(ctas), o).status == 0);
    return folder.read("k.rgt");
  };
  const std::string all = alone("0:157"), few = alone("5:20");
  REQUIRE(all != few);
  for (unsigned round = 0; round < 50; ++round) {
    std::filesystem::remove(folder.file("k.rgt"));
    ProcessResult first, second;
    std::thread other([&] { first = test::run_process(command("0:157"), o); });
    std::this_thread::sleep_for(std::chrono::microseconds(round * 500));
    second = test::run_process(command("5:20"), o);
    other.join();
    CAPTURE(round, first.err, second.err);
    CHECK(first.status == 0);
    CHECK(second.status == 0);
    const std::string written = folder.read("k.rgt");
    CHECK((written == all || written == few));
    CHECK(folder.count("") == 2);
  }
  check_trace(folder, "k.rgt");
}

TEST_CASE("endings: two simulations of one name at once leave one whole file") {
  const Folder folder;
  const std::string trace = test::annotate_kernel(folder, "vector_add", test::Size::small);
  ProcessOptions o;
  o.directory = folder.path();
  for (unsigned round = 0; round < 10; ++round) {
    ProcessResult first, second;
    std::thread other([&] { first = test::run_process({REGATTA_SIM, trace, "--stats", "s.json"}, o); });
    std::this_thread::sleep_for(std::chrono::milliseconds(round));
    second = test::run_process({REGATTA_SIM, trace, "--stats", "s.json", "--vcd", "v.vcd"}, o);
    other.join();
    CHECK(first.status == 0);
    CHECK(second.status == 0);
    CHECK(nlohmann::json::accept(folder.read("s.json")));
    CHECK(folder.count(".partial") == 0);
  }
}
