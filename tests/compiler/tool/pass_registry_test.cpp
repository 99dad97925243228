// SPDX-License-Identifier: Apache-2.0
//
// A pass and its section that are registered from outside: each tool shows, checks and prints them as it does ours.
#include <regatta/passes/pass_registry.h>
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>

#include <nlohmann/json.hpp>

#include "folder.h"
#include "process.h"
#include "toy_pass.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::Folder;
using test::ProcessResult;

namespace {

const std::string kernels = REGATTA_SOURCE_DIR "/traces/kernels/";

ProcessResult run(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  return test::run_process(arguments);
}

/// Annotates vector_add with the toy pass; all its files are in the folder.
ProcessResult annotate(const Folder& folder, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"--launch",  kernels + "vector_add/launch.small.toml",
                                        "--out",     folder.file("k.rgt"),
                                        "--report",  folder.file("k.json"),
                                        "--listing", folder.file("k.txt")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(REGATTA_TOY_ANNOTATE, arguments);
}

trace::SectionRegistry with_toy() {
  trace::SectionRegistry sections = trace::SectionRegistry::with_builtin();
  sections.add(std::make_shared<test::ToySection>());
  return sections;
}

/// A trace of one launch without CTAs, of the kernel in `folder` after a change.
std::string changed(const Folder& folder, const std::string& name, void (*change)(trace::Kernel&)) {
  const trace::Reader reader(folder.file("k.rgt"));
  trace::Kernel kernel = reader.kernels().at(0);
  change(kernel);
  trace::Writer writer(folder.file(name));  // knows nothing of toys
  writer.add_kernel(kernel);
  trace::Launch launch;
  launch.block = {32, 1, 1};
  writer.begin_launch(launch);
  writer.finish();
  return folder.file(name);
}

trace::AnnotationSection& toy_section(trace::Kernel& kernel) {
  for (trace::AnnotationSection& a : kernel.annotations)
    if (a.name == test::toy) return a;
  throw std::logic_error("no toy section");
}

}  // namespace

TEST_CASE("a pass from outside has its options on the command line") {
  const ProcessResult help = run(REGATTA_TOY_ANNOTATE, {"--help"});
  CHECK_THAT(help.out, Contains("--toy-limit N (=2)") && Contains("source registers that count, 1 to 6") &&
                           Contains("--toy-hint WHERE (=first)") && Contains("--region-registers N (=64)"));
  CHECK_THAT(run(REGATTA_ANNOTATE, {"--help"}).out, !Contains("toy"));
  const Folder folder;
  CHECK(annotate(folder, {"--toy-limit", "9"}).err ==
        "regatta-annotate: --toy-limit is out of range, expected 1 to 6\n");
  CHECK(annotate(folder, {"--toy-limit", "x"}).err ==
        "regatta-annotate: the argument ('x') for option '--toy-limit' is invalid, expected a whole number\n");
  CHECK(annotate(folder, {"--toy-hint", "frst"}).err ==
        "regatta-annotate: --toy-hint 'frst', expected none or first; did you mean 'first'?\n");
  CHECK(annotate(folder, {"--toy-limt", "3"}).err ==
        "regatta-annotate: unknown option '--toy-limt'; did you mean '--toy-limit'?\n");
}

TEST_CASE("a pass from outside is in the trace, the report, the listing and the tables") {
  const Folder folder;
  for (const unsigned limit : {1u, 3u}) {
    CAPTURE(limit);
    const ProcessResult r = annotate(folder, {"--toy-limit", std::to_string(limit)});
    REQUIRE(r.status == 0);
    const trace::Reader reader(folder.file("k.rgt"), with_toy());
    const trace::Kernel& kernel = reader.kernels().at(0);
    // Behind those of the passes that were there before.
    REQUIRE(kernel.annotations.size() > 1);
    CHECK(kernel.annotations.back().name == test::toy);
    std::uint64_t sum = 0;
    for (const trace::StaticInstruction& i : kernel.instructions) sum += std::min<unsigned>(i.source_count, limit);
    const std::string total = std::to_string(sum);
    CHECK_THAT(r.out, !Contains("toy registers"));
    const auto report = nlohmann::json::parse(folder.read("k.json"));
    CHECK(report["entries"][0]["toy"] == nlohmann::json{{"registers", sum}, {"limit", limit}});
    CHECK(report["entries"][0]["regions"] > 0);
    CHECK_THAT(folder.read("k.txt"), Contains("\n// toy registers: " + total + "\n") &&
                                         Contains("levels of the register hierarchy, toy registers of it\n") &&
                                         Contains("  // toy: the first instruction\n") && Contains("; toy 1\n"));
    const ProcessResult named = annotate(folder, {"--toy-limit", std::to_string(limit), "--annotations", "toy"});
    CHECK_THAT(named.out, Contains(" instructions, " + total + " toy registers\n"));
  }
  const ProcessResult check =
      run(REGATTA_TOY_ANNOTATE, {"--check", "--ptx", kernels + "vector_add/vector_add.sm75.ptx"});
  CHECK_THAT(check.out,
             Contains("  regions  live max  live mean  base  extended  most  pir  pbr  strands  toy registers\n"));
}

TEST_CASE("a refused entry has the keys of every pass, without values") {
  const Folder folder;
  const std::string head = ".version 9.0\n.target sm_75\n.address_size 64\n";
  folder.write("k.ptx",
               head + ".visible .entry bad()\n{\nwmma.nothing;\nret;\n}\n.visible .entry good()\n{\nret;\n}\n");
  const ProcessResult r =
      run(REGATTA_TOY_ANNOTATE, {"--check", "--ptx", folder.file("k.ptx"), "--report", folder.file("k.json")});
  CHECK(r.status == 2);
  const auto report = nlohmann::json::parse(folder.read("k.json"));
  for (const char* key : {"toy", "regions", "power_states", "liveness"}) {
    CAPTURE(key);
    REQUIRE(report["entries"][0].contains(key));
    CHECK(report["entries"][0][key].is_null());
    CHECK_FALSE(report["entries"][1][key].is_null());
  }
}

TEST_CASE("a section from outside is printed by info and dump, and checked by verify") {
  const Folder folder;
  REQUIRE(annotate(folder).status == 0);
  const std::string path = folder.file("k.rgt");
  CHECK_THAT(run(REGATTA_TOY_TRACE, {"info", path}).out, Contains("toy registers") && Contains(" in all\n"));
  CHECK_THAT(run(REGATTA_TOY_TRACE, {"dump", path}).out, Contains("[toy] toy.hint sum ") && Contains("  ; toy 2\n"));
  CHECK(run(REGATTA_TOY_TRACE, {"verify", path}).status == 0);

  // Who does not know it lists it and looks no further.
  const ProcessResult info = run(REGATTA_TRACE, {"info", path});
  CHECK_THAT(info.out, Contains("toy version 1, ") && !Contains("toy registers"));
  CHECK_THAT(run(REGATTA_TRACE, {"dump", path}).out, Contains("[toy] toy.hint\n") && !Contains("; toy "));
  CHECK(run(REGATTA_SIM, {path, "--scheme", "greener"}).status == 0);
}

TEST_CASE("a section from outside that is wrong is refused by who knows it") {
  const Folder folder;
  REQUIRE(annotate(folder).status == 0);
  const std::string longer = changed(folder, "longer.rgt", [](trace::Kernel& k) { toy_section(k).payload += 'x'; });
  CHECK(run(REGATTA_TRACE, {"verify", longer}).status == 0);
  for (const char* command : {"info", "dump", "verify"}) {
    const ProcessResult refused = run(REGATTA_TOY_TRACE, {command, longer});
    CHECK(refused.status == 2);
    CHECK_THAT(refused.err, Contains("toy: expected a byte per instruction"));
  }
  // What only verify asks for does not keep anyone from reading.
  const std::string other = changed(folder, "other.rgt", [](trace::Kernel& k) { ++toy_section(k).payload[0]; });
  CHECK(run(REGATTA_TOY_TRACE, {"info", other}).status == 0);
  CHECK_THAT(run(REGATTA_TOY_TRACE, {"verify", other}).err, Contains("kernel 0: toy: the hint is not the sum"));
  // A writer that knows the section does not write such a kernel.
  const trace::Reader reader(longer);
  trace::Writer writer(folder.file("never.rgt"), with_toy());
  CHECK_THROWS_WITH(writer.add_kernel(reader.kernels().at(0)), Contains("toy: expected a byte per instruction"));
}

TEST_CASE("registries refuse what is there already") {
  passes::PassRegistry passes = passes::PassRegistry::with_builtin();
  passes.add<test::ToyPass>();
  CHECK_THROWS_WITH(passes.add<test::ToyPass>(), "the annotation pass 'toy' is registered already");
  class Other : public test::ToyPass {
    std::string name() const override { return "other"; }
  };
  CHECK_THROWS_WITH(passes.add<Other>(), "passes 'toy' and 'other' both have an option --toy-limit");
  trace::SectionRegistry sections = with_toy();
  CHECK_THROWS_WITH(sections.add(std::make_shared<test::ToySection>()),
                    "the annotation section 'toy' is registered already");
  CHECK_THROWS_WITH(passes.make({{"toy-limt", "1"}}),
                    "error: no annotation pass has an option 'toy-limt'; did you mean 'toy-limit'?");
  CHECK_THROWS_WITH(passes.make({{"toy-limit", "many"}}), "error: --toy-limit 'many', expected a whole number");
  const std::size_t before = passes::PassRegistry::with_builtin().make().size();
  CHECK(passes.make({{"toy-limit", "3"}}).size() == before + 1);
}
