// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim --launches on programs of several launches, as a user calls it.
#include <regatta/test/catch.h>

#include <nlohmann/json.hpp>

#include "kernels.h"
#include "process.h"

using namespace regatta;
using nlohmann::json;
using test::Folder;
using test::ProcessResult;

namespace {

class Program {
 public:
  explicit Program(const std::string& kernel) {
    std::filesystem::rename(test::annotate_kernel(folder_, kernel, test::Size::small), folder_.file("k.rgt"));
  }
  ProcessResult sim(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {REGATTA_SIM, "k.rgt"});
    test::ProcessOptions o;
    o.directory = folder_.path();
    return test::run_process(arguments, o);
  }
  json stats(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--log-level", "error", "--stats", "s.json"});
    const ProcessResult r = sim(arguments);
    INFO(r.err);
    REQUIRE(r.status == 0);
    json document = json::parse(folder_.read("s.json"));
    document.erase("host");
    return document;
  }
  void refused(const std::vector<std::string>& arguments, const std::string& message) const {
    const ProcessResult r = sim(arguments);
    CHECK(r.err == "regatta-sim: " + message + "\n");
    CHECK(r.status == 2);
  }

 private:
  const Folder folder_;
};

}  // namespace

TEST_CASE("regatta-sim --launches: all of them give the plain run's numbers") {
  const Program program("gaussian");
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--machine", "gtx480"}, {"--scheme", "regless"}, {"--sms", "2"}}) {
    CAPTURE(options);
    const json plain = program.stats(options);
    const std::size_t count = plain["launches"].size();
    REQUIRE(count > 4);
    std::vector<std::string> all = options;
    all.insert(all.end(), {"--launches", "0:" + std::to_string(count - 1)});
    json selected = program.stats(all);
    CHECK(selected["sampling"]["simulated"] == "0:" + std::to_string(count - 1));
    CHECK(selected["sampling"]["warmed"] == "");
    selected.erase("sampling");
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(selected["launches"][i]["launch"] == i);
      selected["launches"][i].erase("launch");
    }
    CHECK(selected == plain);
  }
}

TEST_CASE("regatta-sim --launches: some launches, warmed by those before, under schemes with state of their own") {
  const Program program("gaussian");
  for (const char* scheme : {"baseline", "regless", "greener", "wir", "finereg"}) {
    CAPTURE(scheme);
    const json plain = program.stats({"--scheme", scheme});
    const json some =
        program.stats({"--scheme", scheme, "--launches", "2,5:6,9", "--launch-stats", "memory.l2_*.reads"});
    CHECK(some["sampling"]["simulated"] == "2,5:6,9");
    CHECK(some["sampling"]["warmed"] == "0:1,3:4,7:8");
    CHECK(some["checks"]["mismatches"] == 0);
    CHECK(some["ending"] == "completed");
    REQUIRE(some["launches"].size() == 4);
    for (const json& launch : some["launches"]) {
      const json& same = plain["launches"][launch["launch"].get<std::size_t>()];
      CHECK(launch["kernel"] == same["kernel"]);
      CHECK(launch["warp_instructions"] == same["warp_instructions"]);
      CHECK(launch["stats"]["memory.l2_*.reads"].get<std::uint64_t>() > 0);
      // The caches are those of the whole run but for the order of accesses and what schemes keep in memory.
      CHECK(launch["cycles"].get<double>() < 1.1 * same["cycles"].get<double>());
      CHECK(launch["cycles"].get<double>() > 0.9 * same["cycles"].get<double>());
    }
  }
}

TEST_CASE("regatta-sim --launches: what does not fit is refused") {
  const Program program("gaussian");
  const std::size_t count = program.stats({})["launches"].size();
  const std::string last = std::to_string(count - 1), beyond = std::to_string(count);
  program.refused({"--launches", beyond},
                  "--launches: found launch " + beyond + ", the trace has launches 0 to " + last);
  program.refused({"--launches", ""}, "--launches: found an empty text, expected numbers of launches: 0,5,7:9");
  program.refused({"--launches", "4,2"},
                  "--launches: found launch 2 after launch 4, expected ascending numbers, each once");
  program.refused({"--warm", "2"}, "--warm needs --launches LIST");
  program.refused({"--replay", "--launches", "1"}, "--replay decodes the whole trace: nothing for --launches");
  program.refused({"--launch-stats", "nothing"},
                  "--launch-stats: 'nothing' names no statistic: expected a module's path, a dot and a name");
}
