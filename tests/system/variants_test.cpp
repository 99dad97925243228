// SPDX-License-Identifier: Apache-2.0
//
// One trace for every scheme: which code of a trace with variants a run takes, and the command that a refusal names.
#include <regatta/schemes/schemes.h>
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>
#include <regatta/trace/scheme_code.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <set>

#include "folder.h"
#include "kernels.h"
#include "many_values.h"
#include "process.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::Folder;

namespace {

using Words = std::vector<std::string>;

/// The machine and the options of each scheme's page.
const std::map<std::string, Words>& settings() {
  static const Words fermi{"--machine", "fermi_sharing", "--scheduler", "owf"};
  static const std::map<std::string, Words> all = [] {
    std::map<std::string, Words> s;
    for (const char* name : {"baseline", "regless", "rfv"}) s[name] = {"--machine", "gtx980"};
    s["rfh"] = {"--machine", "gtx980", "--scheduler", "two_level"};
    s["wir"] = {"--machine", "gtx480"};
    for (const char* name : {"greener", "sleep_reg", "always_on"}) s[name] = {"--machine", "k20x"};
    for (const char* name : {"rar", "rc", "rc_rar", "wc", "argo"}) s[name] = {"--machine", "hd7770"};
    for (const char* name : {"virtual_thread", "finereg", "reg_dram", "vt_regmutex"})
      s[name] = {"--machine", "finereg"};
    for (const char* name : {"um", "vt_um", "finereg_um"}) s[name] = {"--machine", "finereg_um"};
    for (const char* name : {"register_sharing", "warp_level_divergence"}) {
      s[name] = fermi;
      s[name].insert(s[name].end(), {"--shared.bytes", "49152"});
    }
    s["scratchpad_sharing"] = fermi;
    s["scratchpad_sharing"].insert(s["scratchpad_sharing"].end(), {"--scratchpad_sharing.relssp", "optimal"});
    s["scratchpad_multiplexing"] = fermi;
    s["scratchpad_multiplexing"].insert(
        s["scratchpad_multiplexing"].end(),
        {"--scratchpad_multiplexing.relssp", "optimal", "--scratchpad_multiplexing.t", "0.1"});
    return s;
  }();
  return all;
}

test::ProcessResult call(const std::string& program, const Words& words) {
  Words all{program};
  all.insert(all.end(), words.begin(), words.end());
  return test::run_process(all);
}

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A trace of 80 registers and 32 lanes, annotated with more options; all files are in the folder.
std::string annotate_many(const Folder& folder, const Words& more) {
  folder.write("k.ptx", std::string(test::ptx_head) + test::many_values(80));
  const std::string launch = folder.write("l.toml",
                                          "ptx = \"k.ptx\"\nentry = \"many\"\ngrid = [6]\nblock = [64]\n"
                                          "[[param]]\nbuffer = 16384\ninit = \"iota\"\ntype = \"u32\"\n");
  const auto r = call(REGATTA_ANNOTATE, Words{"--launch", launch, "--out", folder.file("k.rgt")} + more);
  INFO(r.err);
  REQUIRE(r.status == 0);
  return folder.file("k.rgt");
}

/// The variant that has the scheme.
std::string variant_for(const std::string& path, const std::string& scheme) {
  const trace::Reader reader(path);
  for (const trace::Reader::VariantEntry& v : reader.variants()) {
    for (const std::string& s : v.variant.schemes) {
      if (s == scheme) return v.variant.name;
    }
  }
  return trace::plain_variant;
}

/// The command at the end of a refusal.
std::string command_in(const std::string& err) {
  const std::string before = "\nThis command makes a trace that fits: ";
  const std::size_t at = err.find(before);
  if (at == std::string::npos) return "none in: " + err;
  return err.substr(at + before.size(), err.size() - at - before.size() - 1);
}

}  // namespace

TEST_CASE("variants: the table of codes has every scheme") {
  std::set<std::string> registered, known;
  const assembly::SchemeRegistry registry = schemes::all();
  for (const auto& scheme : registry.schemes()) registered.insert(scheme->name());
  for (const std::string& scheme : trace::schemes_with_code()) known.insert(scheme);
  CHECK(known == registered);
  std::set<std::string> set_up;
  for (const auto& [scheme, words] : settings()) set_up.insert(scheme);
  CHECK(set_up == registered);
}

TEST_CASE("variants: one trace for all schemes runs under each of them") {
  const Folder folder;
  Words traces{annotate_many(folder, {"--for", "all"})};
  for (const char* kernel : {"hotspot", "reduction"}) {
    traces.push_back(folder.file(std::string(kernel) + ".rgt"));
    const auto r = call(REGATTA_ANNOTATE, {"--launch", test::launch_path(kernel, test::Size::small), "--out",
                                           traces.back(), "--for", "all"});
    INFO(r.err);
    REQUIRE(r.status == 0);
  }
  std::set<std::string> taken;
  for (const std::string& trace : traces) {
    for (const auto& [scheme, words] : settings()) {
      const auto r = call(REGATTA_SIM, Words{trace, "--scheme", scheme, "--stats", folder.file("s.json")} + words);
      INFO(trace << ", " << scheme << ": " << r.err);
      REQUIRE(r.status == 0);
      const auto stats = nlohmann::json::parse(folder.read("s.json"));
      CHECK(stats.at("ending") == "completed");
      CHECK(stats.at("checks").at("mismatches") == 0);
      CHECK(stats.at("checks").at("operands_checked") > 0);
      const std::string variant = stats.at("variant");
      taken.insert(variant);
      CHECK_THAT(r.out, Contains(trace + ", variant " + variant + " on "));
      // Its own, or that of another scheme with the same code.
      CHECK(variant == variant_for(trace, scheme));
    }
  }
  CHECK(taken == std::set<std::string>{"plain", "registers_63", "first_use", "scratchpad_layout", "lanes_64"});
}

TEST_CASE("variants: the scheme's parts choose, --variant overrides") {
  const Folder folder;
  const std::string trace = annotate_many(folder, {"--for", "finereg,rc"});
  const auto variant_of = [&](const Words& words) {
    const auto r = call(REGATTA_SIM, Words{trace, "--stats", folder.file("s.json")} + words);
    INFO(r.err);
    REQUIRE(r.status == 0);
    return nlohmann::json::parse(folder.read("s.json")).at("variant").get<std::string>();
  };
  CHECK(variant_of({}) == "plain");
  CHECK(variant_of({"--variant", "registers_63"}) == "registers_63");
  CHECK(variant_of({"--scheme", "finereg+greener", "--machine", "finereg"}) == "registers_63");
  CHECK(variant_of({"--scheme", "greener+finereg", "--machine", "finereg"}) == "registers_63");
  CHECK(variant_of({"--scheme", "rc", "--machine", "hd7770"}) == "lanes_64");
  CHECK(variant_of({"--machine", "hd7770", "--variant", "lanes_64"}) == "lanes_64");
  CHECK(variant_of({"--replay", "--variant", "lanes_64", "--machine", "hd7770"}) == "lanes_64");
  const auto refused = [&](const Words& words) {
    const auto r = call(REGATTA_SIM, Words{trace} + words);
    CHECK(r.status == 2);
    return r.err;
  };
  CHECK(refused({"--scheme", "rc+finereg", "--machine", "finereg"}) ==
        "regatta-sim: --scheme: found 'rc+finereg', and of the variants of '" + trace +
            "' rc runs on lanes_64, finereg on registers_63: expected --variant NAME, one of plain, registers_63, "
            "lanes_64\n");
  CHECK(refused({"--variant", "lanes64"}) ==
        "regatta-sim: " + trace +
            ": no variant 'lanes64', expected one of plain, registers_63, lanes_64; did you mean 'lanes_64'?\n");
  // The machine asks for a code that the trace has.
  CHECK(refused({"--machine", "hd7770"}) ==
        "regatta-sim: kernel many was traced with warps of 32 lanes, this machine's have 64 (sm.lanes): annotate it "
        "with --warp-size 64\nThe trace has such a code: run it with --variant lanes_64\n");
  CHECK_THAT(refused({"--scheme", "rc", "--machine", "gtx980"}),
             Contains("\nThe trace has such a code: run it with --variant plain\n"));
  CHECK_THAT(refused({"--machine", "gtx480"}),
             Contains("\nThe trace has such a code: run it with --variant registers_63\n"));
  // One code alone: no variant is named.
  const std::string small = folder.file("small.rgt");
  REQUIRE(
      call(REGATTA_ANNOTATE, {"--launch", test::launch_path("vector_add", test::Size::small), "--out", small}).status ==
      0);
  const auto r = call(REGATTA_SIM, {small, "--stats", folder.file("s.json")});
  CHECK_THAT(r.out, Contains(small + " on gtx980, scheme baseline"));
  CHECK_FALSE(nlohmann::json::parse(folder.read("s.json")).contains("variant"));
}

TEST_CASE("variants: a refusal names the command that mends it") {
  const Folder folder;
  const std::string trace = annotate_many(folder, {"--annotations", "power", "--listing", folder.file("k.txt")});
  const std::string launch = folder.file("l.toml");
  const std::string made = "regatta-annotate --launch " + launch + " --out " + trace + " --annotations power";
  struct Case {
    Words words;
    std::string options;
  };
  const Case cases[] = {
      {{"--scheme", "rfv"}, " --for rfv"},
      {{"--scheme", "rfh"}, " --for rfh"},
      {{"--scheme", "regless"}, " --for regless"},
      {{"--scheme", "finereg", "--machine", "finereg"}, " --for finereg"},
      {{"--scheme", "virtual_thread+greener", "--machine", "finereg"}, " --for virtual_thread"},
      {{"--scheme", "vt_regmutex", "--machine", "finereg"}, " --for vt_regmutex"},
      {{"--scheme", "wir", "--machine", "gtx480"}, " --for wir"},
      {{"--scheme", "rc", "--machine", "hd7770"}, " --for rc"},
      {{"--machine", "gtx480"}, " --max-registers 63"},
      {{"--machine", "hd7770"}, " --warp-size 64"},
      {{"--scheme", "greener", "--sm.registers_per_thread", "40"}, " --for greener --max-registers 40"},
      {{"--scheme", "wir", "--machine", "gtx480", "--sm.registers_per_thread", "40"}, " --for wir --max-registers 40"},
  };
  const std::string folder_of_tools = std::string(REGATTA_ANNOTATE).substr(0, std::string(REGATTA_ANNOTATE).rfind('/'));
  for (const Case& c : cases) {
    CAPTURE(c.options);
    annotate_many(folder, {"--annotations", "power", "--listing", folder.file("k.txt")});
    const auto r = call(REGATTA_SIM, Words{trace} + c.words);
    CHECK(r.status == 2);
    const std::string command = command_in(r.err);
    CHECK(command == made + c.options);
    // It does mend it.
    const auto mended = call("/bin/sh", {"-c", "PATH=" + folder_of_tools + ":$PATH; " + command});
    INFO(mended.err);
    REQUIRE(mended.status == 0);
    const auto again = call(REGATTA_SIM, Words{trace} + c.words);
    INFO(again.err);
    CHECK(again.status == 0);
  }
}

TEST_CASE("variants: commands in a refusal can be pasted, or are the general form") {
  const Folder folder;
  const std::string trace = annotate_many(folder, {"--annotations", "none"});
  // Names that a shell would take apart.
  const std::string launch = folder.file("it's a launch.toml"), out = folder.file("a trace.rgt");
  folder.write("it's a launch.toml", folder.read("l.toml"));
  REQUIRE(call(REGATTA_ANNOTATE, {"--launch", launch, "--out=" + out, "--annotations", "none", "--for", "finereg"})
              .status == 0);
  const auto refused = [](const std::string& path) {
    const auto r = call(REGATTA_SIM, {path, "--scheme", "rfh"});
    CHECK(r.status == 2);
    return command_in(r.err);
  };
  CHECK(refused(out) == "regatta-annotate --launch '" + folder.file("it'\\''s a launch.toml") + "' '--out=" + out +
                            "' --annotations none --for finereg,rfh");
  // The launch file is gone, or the trace is not regatta-annotate's.
  std::filesystem::remove(folder.file("l.toml"));
  const std::string general = "regatta-annotate --launch LAUNCH.toml --out ";
  CHECK(refused(trace) == general + trace + " --for rfh");
  const std::string other = folder.file("other.rgt");
  {
    const trace::Reader reader(trace);
    trace::Writer writer(other);
    writer.set_producer("by hand --launch");
    trace::Launch l = reader.launches()[0];
    writer.add_kernel(reader.kernels()[0]);
    writer.begin_launch(l);
    for (std::size_t c = 0; c < reader.ctas().size(); ++c) writer.add_cta(*reader.read(c));
    writer.finish();
  }
  CHECK(refused(other) == general + other + " --for rfh");
}
