// SPDX-License-Identifier: Apache-2.0
//
// The whole pipeline, in process and through the program.
#include <regatta/launch/fill.h>
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>
#include <regatta/trace/live_registers.h>
#include <regatta/trace/power_states.h>
#include <regatta/trace/region_words.h>
#include <regatta/trace/regmutex.h>

#include <sys/wait.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "folder.h"
#include "harness.h"

using namespace regatta;
using test::count;
using test::error_of;
using test::Folder;

namespace {

constexpr const char* saxpy =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)\n{\n"
    ".reg .pred %p1; .reg .b32 %r<6>; .reg .b64 %d<6>; .reg .f32 %f<5>;\n"
    "ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.f32 %f1, [a]; ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "setp.ge.u32 %p1, %r5, %r1; @%p1 bra DONE;\n"
    "mul.wide.u32 %d3, %r5, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;\n"
    "ld.global.f32 %f2, [%d4]; ld.global.f32 %f3, [%d5]; fma.rn.f32 %f4, %f1, %f2, %f3; st.global.f32 [%d5], %f4;\n"
    "DONE: ret;\n}\n"
    ".visible .entry count(.param .u64 flag, .param .u64 sum, .param .u32 round)\n{\n"
    ".reg .pred %p1; .reg .b32 %r<6>; .reg .b64 %d<6>;\n"
    "ld.param.u64 %d1, [flag]; ld.param.u64 %d2, [sum]; ld.param.u32 %r1, [round];\n"
    "atom.global.add.u32 %r2, [%d2], %r1; setp.lt.u32 %p1, %r1, 3; @%p1 st.global.u32 [%d1], 1; ret;\n}\n"
    ".visible .entry refused(.param .u64 p)\n{\n.reg .b32 %r1;\ntex.acube.v4.s32.f32 {%r1,%r1,%r1,%r1}, [t, "
    "{%r1}];\nret;\n}\n";

constexpr unsigned elements = 1000;

std::string saxpy_launch(const std::string& more = "") {
  return "ptx = \"k.ptx\"\nentry = \"saxpy\"\ngrid = [8]\nblock = [128]\n"
         "[[param]]\nname = \"x\"\nbuffer = 4000\ninit = \"uniform\"\ntype = \"f32\"\nlow = -1\nhigh = 1\nseed = 5\n"
         "[[param]]\nname = \"y\"\nbuffer = 4000\ninit = \"iota\"\ntype = \"f32\"\n" +
         more + "[[param]]\nscalar = 2.5\ntype = \"f32\"\n[[param]]\nscalar = 1000\ntype = \"u32\"\n";
}

std::vector<float> saxpy_reference() {
  launch::FillSpec s;
  s.init = launch::Init::uniform;
  s.type = ir::Type::f32;
  s.low = -1;
  s.high = 1;
  s.seed = 5;
  std::vector<float> y = launch::make_buffer<float>(s, elements);
  for (unsigned i = 0; i < elements; ++i) y[i] = std::fma(2.5f, y[i], static_cast<float>(i));
  return y;
}

std::string float_bytes(const std::vector<float>& v) {
  return std::string(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(float));
}

/// Exit status of the program.
int program(const std::string& arguments, const std::string& output) {
  const std::string command = std::string(REGATTA_ANNOTATE) + " " + arguments + " > " + output + " 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("launch file to trace: results, trace and reports agree") {
  const Folder folder;
  folder.write("k.ptx", saxpy);
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml", saxpy_launch());
  o.out = folder.file("k.rgt");
  o.report = folder.file("r.json");
  o.listing = folder.file("k.txt");
  o.dumps = {{"y", folder.file("y.bin")}};
  for (const unsigned warp_size : {32u, 64u}) {
    o.warp_size = warp_size;
    const tool::AnnotateResult r = tool::annotate(o);
    CHECK(folder.read("y.bin") == float_bytes(saxpy_reference()));
    REQUIRE(r.launches.size() == 1);
    CHECK(r.launches[0].ctas == 8);
    const trace::Reader reader(o.out);
    REQUIRE(reader.kernels().size() == 1);
    CHECK(reader.kernels()[0].name == "saxpy");
    CHECK(reader.kernels()[0].warp_size == warp_size);
    REQUIRE(reader.launches().size() == 1);
    CHECK(reader.launches()[0].cta_count == 8);
    CHECK(reader.launches()[0].warp_instructions == r.launches[0].warp_instructions);
    CHECK(reader.launches()[0].thread_instructions == r.launches[0].thread_instructions);
    // What the trace's stores carry is what memory holds.
    const auto expected = saxpy_reference();
    std::size_t stored = 0;
    for (std::size_t c = 0; c < reader.ctas().size(); ++c) {
      const auto cta = reader.read(c);
      for (std::size_t w = 0; w < cta->warps.size(); ++w) {
        trace::WarpCursor cursor(reader.kernels()[0], cta->warps[w]);
        std::vector<trace::WarpValue> registers(reader.kernels()[0].registers_per_thread);
        while (cursor.next()) {
          const trace::StaticInstruction& i = cursor.instruction();
          std::uint64_t address[64] = {};
          if (trace::has_addresses(i)) cursor.addresses(address);
          for (unsigned d = 0; d < i.destination_count; ++d) cursor.result(registers[i.destinations[d]]);
          for (unsigned d = 0; d < i.destination_predicate_count; ++d) cursor.predicate();
          if (i.opcode != "st.global.f32") continue;
          for (unsigned lane = 0; lane < warp_size; ++lane) {
            if (((cursor.active_mask() >> lane) & 1) == 0) continue;
            float value = 0;
            std::memcpy(&value, &registers[i.sources[i.source_count - 1]].lane[lane], sizeof value);
            CHECK(value == expected[c * 128 + w * warp_size + lane]);
            ++stored;
          }
        }
      }
    }
    CHECK(stored == elements);
  }
  const auto report = nlohmann::json::parse(folder.read("r.json"));
  CHECK(report["entries"][0]["name"] == "saxpy");
  CHECK(report["entries"][0]["accepted"] == true);
  CHECK(report["entries"][0]["registers"] > 0);
  const auto& entry = report["entries"][0];
  CHECK(entry["regions"] >= entry["blocks"]);
  CHECK(entry["region_words"] >= entry["regions"]);
  CHECK(entry["region_instructions"] == entry["instructions"].get<double>() / entry["regions"].get<double>());
  CHECK(entry["region_overhead"] == entry["region_words"].get<double>() / entry["instructions"].get<double>());
  CHECK(entry["oversized_regions"] == 0);
  // The trace carries the words, and the plan for tools to read.
  const trace::Reader reader(o.out);
  const trace::Kernel& kernel = reader.kernels()[0];
  std::map<std::string, std::size_t> inserted;
  for (const trace::InsertedInstruction& i : kernel.inserted) ++inserted[i.instruction.scheme];
  CHECK(inserted["regless"] == entry["region_words"]);
  CHECK(inserted["regmutex"] ==
        entry["regmutex"]["acquires"].get<std::size_t>() + entry["regmutex"]["releases"].get<std::size_t>());
  CHECK(inserted["rfv"] == entry["rfv"]["pir"].get<std::size_t>() + entry["rfv"]["pbr"].get<std::size_t>());
  const auto regions = trace::regions_of(kernel);
  CHECK(regions.size() == entry["regions"]);
  std::vector<std::string> sections;
  for (const trace::AnnotationSection& a : kernel.annotations) sections.push_back(a.name);
  REQUIRE(sections == std::vector<std::string>{"regions", "power", "liveness", "regmutex", "rfv", "rfh"});
  // The power states: those that are reported.
  const trace::AnnotationSection* power_section = trace::find_power_section(kernel);
  REQUIRE(power_section != nullptr);
  const trace::PowerStates power = trace::decode_power_states(kernel, power_section->payload);
  CHECK(power.threshold == 3);
  CHECK(power.bound == 31);
  const auto& counted = entry["power_states"];
  std::map<trace::RegisterPower, unsigned> states;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const trace::PowerFields fields = trace::power_fields_of(kernel.instructions[i]);
    const std::uint8_t bits = trace::power_bits(kernel.instructions[i], power.next[i], power.threshold);
    for (unsigned f = 0; f < trace::power_fields; ++f)
      if (fields[f] >= 0) ++states[trace::power_field(bits, f)];
  }
  CHECK(counted["on"] == states[trace::RegisterPower::on]);
  CHECK(counted["sleep"] == states[trace::RegisterPower::sleep]);
  CHECK(counted["off"] == states[trace::RegisterPower::off]);
  CHECK(states[trace::RegisterPower::off] > 0);
  CHECK(counted["no_field"] > 0);
  // The live registers: likewise.
  const std::optional<trace::LiveRegisters> live = trace::find_live_registers(kernel);
  REQUIRE(live);
  unsigned most = 0, sum = 0;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    most = std::max(most, live->count(i));
    sum += live->count(i);
  }
  CHECK(most > 1);
  CHECK(live->count(0) == 0);
  CHECK(entry["liveness"]["max"] == most);
  CHECK(entry["liveness"]["mean"] == static_cast<double>(sum) / static_cast<double>(kernel.instructions.size()));

  CHECK(kernel.annotations[0].name == "regions");
  CHECK(kernel.annotations[0].version == 1);
  const auto section = nlohmann::json::parse(kernel.annotations[0].payload);
  CHECK(section["options"]["max_registers"] == 64);
  REQUIRE(section["regions"].size() == regions.size());
  for (std::size_t n = 0; n < regions.size(); ++n) {
    const auto& r = section["regions"][n];
    CHECK(r["begin"] == regions[n].begin);
    CHECK(r["end"] == regions[n].end);
    std::size_t preloads = 0;
    for (const trace::RegionEntry& e : regions[n].words.entries)
      preloads +=
          e.kind == trace::RegionEntry::Kind::preload || e.kind == trace::RegionEntry::Kind::invalidating_preload;
    CHECK(r["inputs"].size() == preloads);
    CHECK(r["lines"].size() == 8);
  }
}

TEST_CASE("limits of regions, and what is no limit") {
  const Folder folder;
  folder.write("k.ptx", saxpy);
  tool::AnnotateOptions o;
  o.check = true;
  o.ptx = folder.file("k.ptx");
  const auto with = [&](unsigned registers, unsigned lines) {
    o.pass_options["region-registers"] = std::to_string(registers);
    o.pass_options["region-bank-lines"] = std::to_string(lines);
    return tool::annotate(o).entries.at(0);
  };
  const auto wide = with(64, 16), narrow = with(3, 1), none = with(1, 1);
  CHECK(count(narrow, "regions") > count(wide, "regions"));
  CHECK(count(wide, "oversized_regions") == 0);
  // No region of one instruction is too long; hardware that cannot hold its registers refuses the kernel.
  CHECK(count(none, "oversized_regions") > 0);
  CHECK(count(none, "regions") <= none.instructions);
  const auto message = [&](unsigned registers, unsigned lines) {
    try {
      with(registers, lines);
    } catch (const trace::InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(message(0, 16) == "error: --region-registers is 0, expected 1 to 248");
  CHECK(message(249, 16) == "error: --region-registers is 249, expected 1 to 248");
  CHECK(message(64, 0) == "error: --region-bank-lines is 0, expected 1 to 31");
  CHECK(message(64, 32) == "error: --region-bank-lines is 32, expected 1 to 31");
  o.pass_options["region-head-words"] = "1";
  CHECK(message(64, 16) == "error: --region-head-words is 1, expected 2 to 64");
}

TEST_CASE("register sets for RegMutex") {
  const Folder folder;
  folder.write("k.ptx", saxpy);
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml", saxpy_launch());
  o.out = folder.file("k.rgt");
  o.report = folder.file("r.json");
  o.listing = folder.file("k.txt");
  const auto report = [&] { return nlohmann::json::parse(folder.read("r.json"))["entries"][0]; };
  tool::annotate(o);
  const unsigned registers = trace::Reader(o.out).kernels()[0].registers_per_thread;
  CHECK(trace::find_regmutex(trace::Reader(o.out).kernels()[0]));
  CHECK(report()["regmutex"]["base"].get<unsigned>() + report()["regmutex"]["extended"].get<unsigned>() == registers);
  o.annotations.emplace();
  tool::annotate(o);
  CHECK(trace::Reader(o.out).kernels()[0].annotations.empty());
  CHECK(trace::Reader(o.out).kernels()[0].inserted.empty());
  CHECK_FALSE(trace::find_regmutex(trace::Reader(o.out).kernels()[0]));
  CHECK_FALSE(report().contains("regmutex"));
  CHECK(folder.read("k.txt").find("regmutex") == std::string::npos);

  o.pass_options["regmutex-base"] = std::to_string(registers - 2);
  o.dumps = {{"y", folder.file("y.bin")}};
  tool::annotate(o);
  CHECK(folder.read("y.bin") == float_bytes(saxpy_reference()));
  const trace::Reader reader(o.out);
  const trace::Kernel& kernel = reader.kernels()[0];
  const auto sets = trace::find_regmutex(kernel);
  REQUIRE(sets);
  CHECK(sets->base == registers - 2);
  CHECK(sets->extended == 2);
  unsigned acquires = 0, releases = 0;
  for (const trace::InsertedInstruction& i : kernel.inserted) {
    acquires += trace::is_regmutex_acquire(i.instruction);
    releases += trace::is_regmutex_release(i.instruction);
    if (i.instruction.scheme == trace::regmutex_scheme) CHECK(i.disposition == trace::Disposition::issue);
  }
  CHECK(acquires > 0);
  CHECK(releases > 0);
  const auto figures = report()["regmutex"];
  CHECK(figures["base"] == registers - 2);
  CHECK(figures["extended"] == 2);
  CHECK(figures["least_base"] == 0);
  CHECK(figures["acquires"] == acquires);
  CHECK(figures["releases"] == releases);
  CHECK(figures["held_share"] > 0);
  CHECK(figures["held_share"] < 1);
  const std::string listing = folder.read("k.txt");
  CHECK(listing.find("\n// regmutex: " + std::to_string(registers - 2) +
                     " registers in the base set, at least 0; extended set: R") != std::string::npos);
  CHECK(listing.find("\n  // acquire\n") != std::string::npos);
  CHECK(listing.find("\n  // release") != std::string::npos);
  CHECK(listing.find("; section\n") != std::string::npos);
  o.pass_options["regmutex-base"] = "0";
  tool::annotate(o);
  CHECK(report()["regmutex"]["base"].get<unsigned>() + report()["regmutex"]["extended"].get<unsigned>() == registers);
  o.pass_options["regmutex-base"] = "256";
  CHECK(error_of(o) == "error: --regmutex-base is 256, expected 0 to 255");
}

TEST_CASE("a listing has the code") {
  const Folder folder;
  folder.write("k.ptx", saxpy);
  tool::AnnotateOptions o;
  o.check = true;
  o.ptx = folder.file("k.ptx");
  o.listing = folder.file("k.txt");
  tool::annotate(o);
  CHECK(folder.read("k.txt").find("fma.rn.f32") != std::string::npos);
  CHECK(folder.read("k.txt").find("live in:") != std::string::npos);
  CHECK(folder.read("k.txt").find("; live none\n") != std::string::npos);
  CHECK(folder.read("k.txt").find("; live R0") != std::string::npos);
}

TEST_CASE("the option --ctas traces a part, all run") {
  const Folder folder;
  folder.write("k.ptx", saxpy);
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml", saxpy_launch());
  o.out = folder.file("k.rgt");
  o.dumps = {{"y", folder.file("y.bin")}};
  o.first_cta = 6;
  o.cta_count = 5;
  CHECK(tool::annotate(o).launches[0].traced_ctas == 2);
  CHECK(folder.read("y.bin") == float_bytes(saxpy_reference()));
  const trace::Reader reader(o.out);
  CHECK(reader.launches()[0].first_cta == 6);
  REQUIRE(reader.ctas().size() == 2);
  CHECK(reader.ctas()[0].index == 6);
}

TEST_CASE("programs repeat, loop while a flag is set, swap and count") {
  const Folder folder;
  folder.write("k.ptx", saxpy);
  tool::AnnotateOptions o;
  o.launch =
      folder.write("l.toml",
                   "ptx = \"k.ptx\"\n[[buffer]]\nname = \"flag\"\nbytes = 4\n[[buffer]]\nname = \"s\"\nbytes = 4\n"
                   "[[buffer]]\nname = \"t\"\nbytes = 4\n"
                   "[[launch]]\nentry = \"count\"\ngrid = [1]\nblock = [1]\n"
                   "params = [{ buffer = \"flag\" }, { buffer = \"s\" }, { counter = \"i\", type = \"u32\" }]\n"
                   "[[step]]\nwhile = \"flag\"\ncounter = \"i\"\nsteps = [{ run = \"count\" }]\n"
                   "[[step]]\nswap = [\"s\", \"t\"]\n"
                   "[[step]]\nrepeat = 3\ncounter = \"i\"\nsteps = [{ run = \"count\" }]\n");
  o.out = folder.file("k.rgt");
  o.dumps = {{"s", folder.file("s.bin")}, {"t", folder.file("t.bin")}};
  CHECK(tool::annotate(o).launches.size() == 4 + 3);
  const auto word = [&](const char* name) {
    std::uint32_t v = 0;
    std::memcpy(&v, folder.read(name).data(), sizeof v);
    return v;
  };
  CHECK(word("t.bin") == 0 + 1 + 2 + 3);
  CHECK(word("s.bin") == 0 + 1 + 2);
  CHECK(trace::Reader(o.out).launches().size() == 7);
  CHECK(trace::Reader(o.out).kernels().size() == 1);
}

TEST_CASE("mistakes between launch file and kernel, word for word") {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", saxpy);
  tool::AnnotateOptions o;
  o.out = folder.file("k.rgt");
  o.launch = folder.write("l.toml", "ptx = \"k.ptx\"\nentry = \"sxpy\"\ngrid = [1]\nblock = [1]\n");
  CHECK(error_of(o) == o.launch + ":2:9: error: '" + ptx +
                           "' has no entry 'sxpy'; it has saxpy, count, refused; did you mean 'saxpy'?");
  folder.write("l.toml", "ptx = \"k.ptx\"\nentry = \"saxpy\"\ngrid = [1]\nblock = [1]\n");
  CHECK(error_of(o) == o.launch +
                           ":1:1: error: kernel 'saxpy' has 4 parameters, launch 'saxpy' gives 0; expected "
                           "param 0: .u64 x, param 1: .u64 y, param 2: .f32 a, param 3: .u32 n");
  std::string text = saxpy_launch();
  text.replace(text.find("type = \"u32\""), 12, "type = \"u64\"");
  folder.write("l.toml", text);
  CHECK(error_of(o) == o.launch + ":21:1: error: parameter 3 ('n') of kernel 'saxpy' has 4 bytes, the launch gives 8");
  folder.write("l.toml", saxpy_launch() + "[[global]]\nname = \"nothing\"\ninit = \"zero\"\n");
  CHECK(error_of(o) == o.launch + ":24:1: error: '" + ptx + "' has no .global or .const variable called 'nothing'");
  folder.write("l.toml", saxpy_launch());
  o.dumps = {{"z", folder.file("z.bin")}};
  CHECK(error_of(o) == "error: --dump-buffer: no buffer or variable is called 'z', there are: x, y");
  o.dumps.clear();
  folder.write("l.toml", "ptx = \"k.ptx\"\nentry = \"refused\"\ngrid = [1]\nblock = [1]\n[[param]]\nbuffer = 4\n");
  CHECK(error_of(o).rfind(ptx + ":23:1: error:", 0) == 0);
}

TEST_CASE("a run that fails leaves no trace behind") {
  const Folder folder;
  folder.write("k.ptx", saxpy);
  tool::AnnotateOptions o;
  std::string text = saxpy_launch();
  text.replace(text.find("scalar = 1000"), 13, "scalar = 1020");
  o.launch = folder.write("l.toml", text);
  o.out = folder.file("k.rgt");
  CHECK(error_of(o).find("out-of-bounds read of 4 bytes") != std::string::npos);
  CHECK(folder.count("k.rgt") == 0);  // nor k.rgt.partial
}

TEST_CASE("the option --check reports every entry and goes on after a refusal") {
  const Folder folder;
  tool::AnnotateOptions o;
  o.check = true;
  o.ptx = folder.write("k.ptx", saxpy);
  o.report = folder.file("r.json");
  const tool::AnnotateResult r = tool::annotate(o);
  REQUIRE(r.entries.size() == 3);
  CHECK(r.entries[0].accepted);
  CHECK(r.entries[1].accepted);
  CHECK(!r.entries[2].accepted);
  const auto report = nlohmann::json::parse(folder.read("r.json"));
  REQUIRE(report["entries"].size() == 3);
  CHECK(report["entries"][2]["accepted"] == false);
  CHECK(report["entries"][2]["message"].get<std::string>().rfind(o.ptx + ":23:1: error:", 0) == 0);
  CHECK(report["entries"][2]["registers"].is_null());
  o.entry = "refused";
  CHECK(!error_of(o).empty());
  o.entry = "nothing";
  CHECK(error_of(o) == "error: '" + o.ptx + "' has no entry 'nothing'; it has saxpy, count, refused");
}

TEST_CASE("exit statuses of the program") {
  const Folder folder;
  folder.write("k.ptx", saxpy);
  const std::string launch = folder.write("l.toml", saxpy_launch("expect = \"good.bin\"\n"));
  const std::string out = folder.file("out.txt");
  auto expected = saxpy_reference();
  folder.write("good.bin", float_bytes(expected));
  CHECK(program("--launch " + launch + " --out " + folder.file("k.rgt"), out) == 0);
  expected[17] = 3;
  folder.write("good.bin", float_bytes(expected));
  CHECK(program("--launch " + launch, out) == 3);
  CHECK(folder.read("out.txt").find("buffer 'y' differs from") != std::string::npos);
  CHECK(folder.read("out.txt").find("element 17 (f32)") != std::string::npos);
  CHECK(program("--launch " + folder.file("none.toml"), out) == 2);
  CHECK(program("--lunch " + launch, out) == 2);
  CHECK(program("", out) == 2);
  CHECK(program("--launch " + launch + " --ctas 3", out) == 2);
  CHECK(folder.read("out.txt") == "regatta-annotate: --ctas '3', expected FIRST:COUNT\n");
  CHECK(program("--launch " + launch + " --warp-size 16", out) == 2);
  CHECK(program("--launch " + launch + " --max-registers 5", out) == 2);
  CHECK(program("--launch " + launch + " --out /nonexistent/k.rgt", out) == 2);
  CHECK(program("--help", out) == 0);
  CHECK(folder.read("out.txt").find("--dump-buffer NAME=FILE") != std::string::npos);
}

TEST_CASE("a launch with other parameters than the kernel's lists those of the kernel") {
  const Folder folder;
  const std::string head = ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(";
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml", "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n[[param]]\nbuffer = 4\n");
  const std::string begin = o.launch + ":1:1: error: kernel 'k' has ";
  folder.write("k.ptx", head + ")\n{ ret; }\n");
  CHECK(error_of(o) == begin + "no parameters, launch 'k' gives 1");
  folder.write("k.ptx", head + ".param .align 8 .b8 s[24], .param .f64 x)\n{ ret; }\n");
  CHECK(error_of(o) == begin + "2 parameters, launch 'k' gives 1; expected param 0: .b8 s[24], param 1: .f64 x");
  std::string many;
  for (int i = 0; i < 40; ++i) many += (i == 0 ? ".param .u8 p" : ", .param .u8 p") + std::to_string(i);
  folder.write("k.ptx", head + many + ")\n{ ret; }\n");
  CHECK_THAT(error_of(o), Catch::Matchers::EndsWith(", param 31: .u8 p31, ..."));
}

TEST_CASE("a number of another kind than the parameter's is a warning") {
  const Folder folder;
  tool::AnnotateOptions o;
  o.launch = folder.file("l.toml");
  const auto warnings = [&](const std::string& declared, const std::string& given) {
    folder.write("k.ptx", ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a, .param " +
                              declared + ")\n{ ret; }\n");
    folder.write(
        "l.toml",
        "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n[[param]]\nbuffer = 4\n[[param]]\n" + given + "\n");
    return tool::annotate(o).entries.at(0).warnings;
  };
  using Warnings = std::vector<std::string>;
  CHECK(warnings(".u32 n", "scalar = 1.0\ntype = \"f32\"") ==
        Warnings{o.launch +
                 ":7:1: warning: parameter 1 ('n') of kernel 'k' is .u32, the launch gives f32; expected type "
                 "= \"u32\", or \"b32\" for the bits as they are"});
  CHECK(warnings(".f64 x", "scalar = 1\ntype = \"s64\"") ==
        Warnings{o.launch +
                 ":7:1: warning: parameter 1 ('x') of kernel 'k' is .f64, the launch gives s64; expected type "
                 "= \"f64\", or \"b64\" for the bits as they are"});
  for (const auto& [declared, given] :
       std::vector<std::pair<std::string, std::string>>{{".u32 n", "scalar = -1\ntype = \"s32\""},
                                                        {".s32 n", "scalar = 1\ntype = \"u32\""},
                                                        {".u32 n", "scalar = 1\ntype = \"b32\""},
                                                        {".f32 x", "scalar = 1.0\ntype = \"f32\""},
                                                        {".f32 x", "scalar = \"0x3f800000\"\ntype = \"b32\""},
                                                        {".b32 x", "scalar = 1.0\ntype = \"f32\""},
                                                        {".b64 x", "scalar = 1\ntype = \"s64\""},
                                                        {".u16 h", "scalar = 1.0\ntype = \"f16\""},
                                                        {".align 4 .b8 s[4]", "scalar = 1.0\ntype = \"f32\""},
                                                        {".align 8 .b8 s[8]", "scalar = [1.0, 2.0]\ntype = \"f32\""}}) {
    CAPTURE(declared, given);
    CHECK(warnings(declared, given).empty());
  }
}

TEST_CASE("source in place of PTX is called by its language") {
  const Folder folder;
  tool::AnnotateOptions o;
  o.launch = folder.file("l.toml");
  const auto error = [&](const std::string& name, const std::string& text) {
    folder.write(name, text);
    folder.write("l.toml", "ptx = \"" + name + "\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n");
    return error_of(o);
  };
  const std::string expected = " source; expected PTX (nvcc -ptx, or clang: see compiler/launch/README.md)";
  const std::string source = "extern \"C\" __global__ void k() {}\n";
  for (const auto& [name, language] : std::vector<std::pair<std::string, std::string>>{
           {"hist.cu", "CUDA"}, {"hist.cuh", "CUDA"}, {"hist.cpp", "C++"}, {"hist.c", "C"}}) {
    CHECK(error(name, source) == o.launch + ": error: " + folder.file(name) + " is " + language + expected);
  }
  CHECK(error("empty.cu", "// nothing\n") == o.launch + ": error: " + folder.file("empty.cu") + " is CUDA" + expected);
  CHECK(error("hist.ptx", source) == folder.file("hist.ptx") +
                                         ":1:1: error: found 'extern', expected a directive such as .version, .global, "
                                         ".entry or .func");
  // What is PTX is taken, whatever its name.
  CHECK(error("ptx.cu", ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n").empty());
  o.check = true;
  o.launch.clear();
  o.ptx = folder.file("hist.cu");
  CHECK(error_of(o) == "error: " + o.ptx + " is CUDA" + expected);
}
