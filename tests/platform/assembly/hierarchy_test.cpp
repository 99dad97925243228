// SPDX-License-Identifier: Apache-2.0
//
// The object tree of a machine as text.
#include <regatta/assembly/simulation.h>
#include <regatta/test/catch.h>

#include <sstream>
#include <string>

using namespace regatta;

namespace {

std::string baseline_hierarchy(unsigned sms, bool check_protocol) {
  assembly::MachineConfig machine;
  assembly::SchemeRegistry registry = assembly::SchemeRegistry::with_baseline();
  assembly::SimulationOptions options;
  options.sms = sms;
  options.check_protocol = check_protocol;
  return assembly::Simulation::hierarchy(machine, registry.get("baseline"), options);
}

/// The line whose first word is `name`, without the spaces in front and between the columns; "" if there is none.
std::string line_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string joined, word;
    while (words >> word) joined += (joined.empty() ? "" : " ") + word;
    if (joined.rfind(name + " ", 0) == 0) return joined;
  }
  return "";
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("hierarchy: the stages of an SM are modules, and sockets say what they are bound to") {
  const std::string text = baseline_hierarchy(1, false);
  INFO(text);
  for (const char* stage : {"front_end regatta::sm::FrontEnd", "issue regatta::sm::IssueStage",
                            "reuse regatta::sm::ReuseStage", "ctas regatta::sm::CtaStage"}) {
    const std::string name(stage, std::string(stage).find(' '));
    CHECK(line_of(text, name) == stage);
  }
  CHECK(line_of(text, "read_socket") == "read_socket initiator socket -> sm0.register_file.reads");
  CHECK(line_of(text, "memory_socket") == "memory_socket initiator socket -> sm0.l1.upstream");
  CHECK(line_of(text, "storage") == "storage port -> sm0.register_file");
  CHECK(line_of(text, "gates") == "gates port -> not bound");
  CHECK(count(text, "socket -> not bound") == 0);
  // Two of the register file are for an engine that moves CTAs, which the baseline has not.
  CHECK(count(text, "socket <- not bound") == 2);
  CHECK(line_of(text, "move_reads") == "move_reads target socket <- not bound");
  CHECK(line_of(text, "move_writes") == "move_writes target socket <- not bound");
}

TEST_CASE("hierarchy: checkers stand between the sockets that they check") {
  const std::string text = baseline_hierarchy(2, true);
  INFO(text);
  CHECK(line_of(text, "read_socket") == "read_socket initiator socket -> sm0.read_protocol.in");
  CHECK(count(text, "BaseProtocolChecker<1024") == 2 * 2);
  CHECK(count(text, "target socket <- sm1.read_protocol.out") == 1);
}
