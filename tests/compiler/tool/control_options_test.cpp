// SPDX-License-Identifier: Apache-2.0
//
// What asks for control bits, and what is as before without.
#include <regatta/passes/control_latencies.h>
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/control.h>
#include <regatta/trace/file.h>

#include <nlohmann/json.hpp>

#include <string>

#include "folder.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::Folder;

namespace {

tool::AnnotateOptions small_launch(const std::string& kernel) {
  tool::AnnotateOptions o;
  o.launch = std::string(REGATTA_KERNELS) + "/" + kernel + "/launch.small.toml";
  return o;
}

std::string payload_of(const std::string& trace, const std::string& variant = trace::plain_variant) {
  const trace::Reader reader(trace, trace::SectionRegistry::with_builtin(), variant);
  for (const trace::AnnotationSection& s : reader.kernels().at(0).annotations)
    if (s.name == trace::control_section) return s.payload;
  return "";
}

}  // namespace

TEST_CASE("without an option there are no control bits anywhere") {
  const Folder folder;
  tool::AnnotateOptions o = small_launch("hotspot");
  o.out = folder.file("k.rgt");
  o.report = folder.file("r.json");
  o.listing = folder.file("l.txt");
  tool::annotate(o);
  CHECK(payload_of(o.out).empty());
  CHECK_THAT(folder.read("l.txt"), !Contains("control bits") && !Contains(":S0"));
  CHECK_THAT(folder.read("r.json"), !Contains("\"control\""));

  o.pass_options = {{"control", "on"}};
  tool::annotate(o);
  CHECK_FALSE(payload_of(o.out).empty());
  CHECK_THAT(folder.read("l.txt"), Contains("; B------:R-:W-:-:S05\n") && Contains("// control: B, counters"));
  const auto report = nlohmann::json::parse(folder.read("r.json")).at("entries").at(0);
  const auto& control = report.at("control");
  CHECK(control.at("instructions") == report.at("instructions"));
  CHECK(control.at("mean_stall").at("exit") == 5.0);
  CHECK(control.at("waits") > 0);
}

TEST_CASE("other latencies imply the option and stand in the section") {
  const Folder folder;
  tool::AnnotateOptions o = small_launch("hotspot");
  o.out = folder.file("k.rgt");
  o.pass_options = {{"control-latencies", "predicate=9,fp32_mad=6"}};
  tool::annotate(o);
  const trace::Reader reader(o.out);
  const trace::Kernel& kernel = reader.kernels().at(0);
  const trace::ControlSection control = trace::find_control(kernel).value();
  unsigned predicates = 0;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    if (kernel.instructions[i].destination_predicate_count != 0 && control.latency[i] != 0) {
      ++predicates;
      CHECK(control.latency[i] == 9);
    }
    if (kernel.instructions[i].op_class == trace::OpClass::fp32_mad) CHECK(control.latency[i] == 6);
  }
  CHECK(predicates > 0);
  o.pass_options = {{"control-latencies", "load=9"}};
  CHECK_THROWS_WITH(tool::annotate(o),
                    "error: --control-latencies has 'load=9', expected a class of fixed latency, half, predicate or "
                    "constant_pair");
}

TEST_CASE("a trace that exists gets control bits without being executed again") {
  const Folder folder;
  tool::AnnotateOptions o = small_launch("hotspot");
  o.out = folder.file("bare.rgt");
  o.annotations.emplace();
  o.schemes = {"rc"};
  o.producer = "regatta-annotate 1 --launch " + o.launch + " --out " + o.out + " --annotations none --for rc";
  tool::annotate(o);
  REQUIRE(payload_of(o.out).empty());

  tool::AnnotateOptions add;
  add.trace = o.out;
  add.out = folder.file("more.rgt");
  add.pass_options = {{"control", "on"}};
  const tool::AnnotateResult result = tool::annotate(add);
  CHECK_THAT(result.added, Contains("added: control"));

  tool::AnnotateOptions direct = o;
  direct.out = folder.file("direct.rgt");
  direct.pass_options = {{"control", "on"}};
  tool::annotate(direct);
  for (const char* variant : {trace::plain_variant, "lanes_64"}) {
    CAPTURE(variant);
    CHECK_FALSE(payload_of(add.out, variant).empty());
    CHECK(payload_of(add.out, variant) == payload_of(direct.out, variant));
  }
  CHECK(trace::Reader(add.out).data_digest() == trace::Reader(o.out).data_digest());
}

TEST_CASE("control bits are added to a trace with the usual annotations") {
  // RegLess's regions have a say in the numbers of its registers.
  const Folder folder;
  tool::AnnotateOptions o = small_launch("hotspot");
  o.out = folder.file("usual.rgt");
  o.producer = "regatta-annotate 1 --launch " + o.launch + " --out " + o.out;
  tool::annotate(o);
  tool::AnnotateOptions add;
  add.trace = o.out;
  add.out = folder.file("more.rgt");
  add.pass_options = {{"control", "on"}};
  tool::annotate(add);
  const trace::Reader before(o.out), after(add.out);
  CHECK(after.kernels()[0].annotations.size() == before.kernels()[0].annotations.size() + 1);
  CHECK(after.kernels()[0].inserted.size() == before.kernels()[0].inserted.size());
  CHECK_FALSE(payload_of(add.out).empty());
}
