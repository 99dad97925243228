// SPDX-License-Identifier: Apache-2.0
// regatta-trace as a user calls it.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>
#include <regatta/trace/live_registers.h>
#include <regatta/trace/regmutex.h>
#include <regatta/trace/rfv.h>
#include <sys/wait.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "sample.h"

using namespace regatta::trace;
using namespace regatta::test;

namespace {

struct Run {
  int status;
  std::string output;  ///< both streams
};

Run tool(const std::string& arguments) {
  const std::string command = std::string("'" REGATTA_TRACE_TOOL "' ") + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe);
  Run run{};
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) != 0;) run.output.append(buffer, got);
  const int status = ::pclose(pipe);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// One warp of five known instructions.
void write_known(const std::string& path) {
  Writer writer(path);
  writer.set_producer("by hand");
  const Kernel kernel = sample_kernel(32);
  writer.add_kernel(kernel);
  Launch launch;
  launch.block = {32, 1, 1};
  writer.begin_launch(launch);
  WarpEncoder e(kernel);
  WarpValue v;
  for (unsigned i = 0; i < max_lanes; ++i) v.lane[i] = 16 + 4 * i;
  e.instruction(0, 0xffffffff, 0xffffffff);
  e.result(v);
  e.instruction(1, 0xffffffff, 0xffffffff);
  e.predicate(0x0000ffff);
  e.push(6, 0xffff0000);
  std::uint64_t address[32];
  for (unsigned i = 0; i < 32; ++i) address[i] = 0x1000 + 8 * i;
  e.instruction(2, 0xffffffff, 0x0000ffff);
  e.addresses(address);
  v.lane.fill(7);
  v.lane[3] = 0xabcdef01;
  e.result(v);
  e.instruction(5, 0xffffffff, 0);
  e.pop();
  e.instruction(10, 0xffffffff, 0xffffffff);
  Cta cta;
  cta.warps.push_back(e.finish());
  writer.add_cta(cta);
  writer.finish();
}

}  // namespace

TEST_CASE("info, dump and verify of a known trace") {
  const TemporaryDirectory directory;
  const std::string path = directory / "known.rgt";
  write_known(path);

  const Run verify = tool("verify " + path);
  CHECK(verify.status == 0);
  CHECK(verify.output ==
        "ok: " + path + ": 1 kernels, 1 launches, 1 CTAs, 1 warps, 5 warp instructions, 112 thread instructions\n");

  const Run info = tool("info " + path);
  CHECK(info.status == 0);
  CHECK(contains(info.output, "by hand"));
  CHECK(contains(info.output, "kernel 0: sample32"));
  CHECK(contains(info.output, "12 of 32 bits, 4 predicates, 0 spilled"));
  CHECK(contains(info.output, "70.0% of lanes"));
  CHECK(contains(info.output, "  classes                int_add 40.0%, load 20.0%, branch 20.0%, exit 20.0%\n"));
  CHECK(contains(info.output, "  global memory          1 lines of 128 bytes in 1 requests, 64 bytes moved\n"));

  const Run signatures = tool("signatures " + path);
  CHECK(signatures.status == 0);
  CAPTURE(signatures.output);
  CHECK(contains(signatures.output,
                 R"({"line_bytes":128,"launches":[
{"launch":0,"kernel":"sample32","kernel_index":0,"ctas":1,"threads_per_cta":32,"registers_per_thread":12,)"));
  CHECK(contains(signatures.output, R"("classes":{"int_add":2,"load":1,"branch":1,"exit":1},)"));
  CHECK(contains(signatures.output, R"("lines":1,"requests":1,"bytes":64}
]}
)"));

  const Run dump = tool("dump " + path);
  CAPTURE(dump.output);
  CHECK(dump.status == 0);
  CHECK(contains(dump.output, "CTA 0 of the file: launch 0 (sample32), CTA index 0, warp 0: 5 warp instructions"));
  CHECK(contains(dump.output, "         0      0  ffffffff  ffffffff  mov.u32 R0\n"));
  CHECK(contains(dump.output, "R0 = 0x00000010 +4 per lane\n"));
  CHECK(contains(dump.output, "P0 = 0000ffff\n"));
  CHECK(contains(dump.output, "push = ffff0000 until index 6\n"));
  CHECK(contains(dump.output, "         2      2  ffffffff  0000ffff  @P0 ld.global.f32 R2, [R0-0x1000], R1\n"));
  CHECK(contains(dump.output, "global address = 0x1000 +8 per lane\n"));
  CHECK(contains(dump.output, "R2 = [7 7 7 abcdef01 7 7 7 7 7 7 7 7 7 7 7 7 - - "));
  CHECK(contains(dump.output, "@!P0 bra -> 1\n"));

  const Run limited = tool("dump " + path + " --cta 0 --warp 0 --limit 2");
  CHECK(limited.status == 0);
  CHECK(contains(limited.output, "setp.lt.s32"));
  CHECK_FALSE(contains(limited.output, "ld.global"));
  CHECK(contains(limited.output, "... 3 more\n"));
}

TEST_CASE("info --json says the same as info, and each instruction") {
  const TemporaryDirectory directory;
  const std::string path = directory / "known.rgt";
  write_known(path);
  const Run run = tool("info --json " + path);
  CHECK(run.status == 0);
  const auto j = nlohmann::json::parse(run.output);
  CHECK(j["trace"] == path);
  CHECK(j["producer"] == "by hand");
  CHECK(j["ctas"] == 1);
  CHECK(j["warp_instructions"] == 5);
  CHECK(j["thread_instructions"] == 112);
  CHECK(j["file_bytes"] == read_bytes(path).size());

  REQUIRE(j["kernels"].size() == 1);
  const auto& kernel = j["kernels"][0];
  const Kernel sample = sample_kernel(32);
  CHECK(kernel["name"] == "sample32");
  // A byte that is no UTF-8 must not spoil the JSON.
  CHECK(kernel["ptx_file"] == "odd \xef\xbf\xbd path.ptx");
  CHECK(kernel["registers_per_thread"] == 12);
  CHECK(kernel["static_shared_bytes"] == 256);
  REQUIRE(kernel["instructions"].size() == sample.instructions.size());
  std::size_t blocks = 0;
  for (std::size_t i = 0; i < sample.instructions.size(); ++i) {
    const auto& instruction = kernel["instructions"][i];
    CHECK(instruction["index"] == i);
    CHECK(instruction["opcode"] == sample.instructions[i].opcode);
    CHECK(instruction["class"] == to_string(sample.instructions[i].op_class));
    CHECK(instruction["sources"].size() == sample.instructions[i].source_count);
    const std::size_t block = instruction["block"].get<std::size_t>();
    REQUIRE(block < sample.blocks.size());
    CHECK(sample.blocks[block].first <= i);
    CHECK(i < sample.blocks[block].first + sample.blocks[block].count);
    blocks = std::max(blocks, block + 1);
  }
  CHECK(kernel["basic_blocks"] == blocks);
  const auto& load = kernel["instructions"][2];
  CHECK(load["text"] == "@P0 ld.global.f32 R2, [R0-0x1000], R1");
  CHECK(load["guard"] == "P0");
  CHECK(load["space"] == "global");
  CHECK(load["access_bytes"] == 4);
  CHECK(load["destinations"] == nlohmann::json{2});
  CHECK(load["sources"] == nlohmann::json{0, 1});
  CHECK(load["branch_target"].is_null());
  CHECK(kernel["instructions"][0]["guard"].is_null());
  CHECK(kernel["instructions"][0]["space"].is_null());

  REQUIRE(j["launches"].size() == 1);
  const auto& launch = j["launches"][0];
  CHECK(launch["name"] == "sample32");
  CHECK(launch["block"] == nlohmann::json{32, 1, 1});
  CHECK(launch["warps_per_cta"] == 1);
  CHECK(launch["warp_instructions"] == 5);

  const Run refused = tool("verify --json " + path);
  CHECK(refused.status == 2);
  CHECK(refused.output == "regatta-trace: --json belongs to info, not to verify (regatta-trace --help)\n");
}

TEST_CASE("live registers in info and dump, and damaged ones") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.rgt";
  Kernel kernel = sample_kernel(32);
  LiveRegisters live(12, kernel.instructions.size());
  live.set(0, 3);
  for (const unsigned r : {0u, 4u, 5u, 6u}) live.set(1, r);
  std::string payload = encode(live);
  // A writer that does not know the section writes whatever it is given.
  const auto write = [&] {
    Kernel with = kernel;
    with.annotations.push_back({liveness_section, 1, payload});
    Writer writer(path, SectionRegistry{});
    writer.add_kernel(with);
    Launch launch;
    launch.block = {32, 1, 1};
    writer.begin_launch(launch);
    WarpEncoder e(kernel);
    WarpValue v{};
    e.instruction(0, 0xffffffff, 0xffffffff);
    e.result(v);
    e.instruction(1, 0xffffffff, 0xffffffff);
    e.predicate(0);
    e.instruction(10, 0xffffffff, 0xffffffff);
    Cta cta;
    cta.warps.push_back(e.finish());
    writer.add_cta(cta);
    writer.finish();
  };
  write();
  CHECK(tool("verify " + path).status == 0);
  const Run info = tool("info " + path);
  CAPTURE(info.output);
  CHECK(contains(info.output, "  annotation             liveness version 1, 89 bytes\n"));
  CHECK(contains(info.output, "  live registers         0.5 before an instruction on average, 4 at most, of 12\n"));
  const Run dump = tool("dump " + path);
  CAPTURE(dump.output);
  CHECK(contains(dump.output, "mov.u32 R0  ; live R3\n"));
  CHECK(contains(dump.output, "  ; live R0 R4-R6\n"));
  CHECK(contains(dump.output, "exit  ; live none\n"));

  const auto refused = [&](const std::string& reason) {
    write();
    for (const char* command : {"info ", "dump ", "verify "}) {
      const Run run = tool(command + path);
      CAPTURE(run.output);
      CHECK(run.status == 2);
      CHECK(contains(run.output, "live registers: " + reason + "\n"));
    }
    Kernel with = kernel;
    with.annotations.push_back({liveness_section, 1, payload});
    Writer writer(directory / "never.rgt");
    CHECK_THROWS_WITH(writer.add_kernel(with), Catch::Matchers::Contains("live registers: " + reason));
  };
  SECTION("too short") {
    payload.pop_back();
    refused("88 bytes, expected 89: 8 per instruction of the kernel, and one before them");
  }
  SECTION("of another kernel") {
    payload[0] = 13;
    refused("of 13 registers, the kernel has 12");
  }
  SECTION("a register that the kernel does not have") {
    payload[2] = 0x10;
    refused("R12 is live before instruction 0, the kernel has 12 registers");
  }
}

TEST_CASE("register sets of RegMutex in info and dump, and wrong ones") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.rgt";
  // R2 is loaded under a guard and stored; a loop leads back to the load.
  Kernel kernel = sample_kernel(32);
  kernel.inserted.clear();
  RegMutexRegisters registers;
  registers.base = 11;
  registers.extended = 1;
  registers.place = {0, 1, 11, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const auto insert = [&](std::uint32_t before, std::int32_t after, bool acquire) {
    InsertedInstruction i;
    i.before = before;
    i.after = after;
    i.disposition = Disposition::issue;
    i.instruction = acquire ? regmutex_instruction(regmutex_acquire, 40) : regmutex_instruction(regmutex_release, 41);
    kernel.inserted.push_back(i);
  };
  const auto write = [&](const std::string& payload) {
    kernel.annotations = {{regmutex_section, 1, payload}};
    Writer writer(path, SectionRegistry{});
    writer.add_kernel(kernel);
    Launch launch;
    launch.block = {32, 1, 1};
    writer.begin_launch(launch);
    WarpEncoder e(kernel);
    e.instruction(0, 0xffffffff, 0xffffffff);
    e.result(WarpValue{});
    e.instruction(4, 0xffffffff, 0);
    e.instruction(10, 0xffffffff, 0xffffffff);
    Cta cta;
    cta.warps.push_back(e.finish());
    writer.add_cta(cta);
    writer.finish();
  };
  const auto refused = [&](const std::string& reason) {
    const Run run = tool("verify " + path);
    CAPTURE(run.output);
    CHECK(run.status == 2);
    CHECK(contains(run.output, "regmutex: " + reason + "\n"));
  };
  SECTION("right") {
    insert(1, 0, true);
    insert(6, -1, false);
    insert(9, -1, true);
    insert(10, -1, false);
    write(encode(registers));
    CHECK(tool("verify " + path).status == 0);
    const Run info = tool("info " + path);
    CAPTURE(info.output);
    CHECK(contains(info.output, "  inserted               4 instructions, for the scheme regmutex only\n"));
    CHECK(contains(info.output,
                   "  regmutex               11 registers in the base set, 1 in the extended set, "
                   "2 acquires, 2 releases\n"));
    const Run dump = tool("dump " + path);
    CAPTURE(dump.output);
    CHECK(contains(dump.output, "[regmutex] release\n"));
    CHECK(contains(dump.output, "  ; extended R2\n"));
  }
  SECTION("a missing acquire") {
    insert(1, 0, true);
    insert(6, -1, false);
    write(encode(registers));
    CHECK(tool("info " + path).status == 0);
    refused("instruction 9 names R2 of the extended set, and no section is held");
  }
  SECTION("a release too early") {
    insert(1, 0, true);
    insert(4, -1, false);
    write(encode(registers));
    refused("instruction 4 names R2 of the extended set, and no section is held");
  }
  SECTION("a damaged payload") {
    write(encode(registers).substr(1));
    refused("13 bytes, expected 14: one per register of the kernel, and two before them");
    CHECK(tool("info " + path).status == 2);
  }
}

TEST_CASE("release points of RFV in info and dump, and wrong ones") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.rgt";
  // R4 to R7 are dead behind the loop; each iteration reads R0.
  RfvReleases releases;
  releases.flags.resize(11);
  releases.at_block = {0, 0, 0xf0};
  RfvSection section;
  section.most = 12;
  const auto write = [&](const std::string& payload) {
    Kernel kernel = sample_kernel(32);
    kernel.inserted = rfv_words(kernel, releases, 40);
    kernel.annotations = {{rfv_section, 1, payload}};
    Writer writer(path, SectionRegistry{});
    writer.add_kernel(kernel);
    Launch launch;
    launch.block = {32, 1, 1};
    writer.begin_launch(launch);
    WarpEncoder e(kernel);
    e.instruction(0, 0xffffffff, 0xffffffff);
    e.result(WarpValue{});
    e.instruction(4, 0xffffffff, 0);
    e.instruction(10, 0xffffffff, 0xffffffff);
    Cta cta;
    cta.warps.push_back(e.finish());
    writer.add_cta(cta);
    writer.finish();
  };
  const auto refused = [&](const std::string& reason) {
    const Run run = tool("verify " + path);
    CAPTURE(run.output);
    CHECK(run.status == 2);
    CHECK(contains(run.output, "rfv: " + reason + "\n"));
  };
  SECTION("right") {
    write(encode(section));
    CHECK(tool("verify " + path).status == 0);
    const Run info = tool("info " + path);
    CAPTURE(info.output);
    CHECK(contains(info.output, "  inserted               1 instructions, for the scheme rfv only\n"));
    CHECK(contains(info.output,
                   "  rfv                    at most 12 of 12 registers at once, 0 pir and 1 pbr words\n"
                   "    renaming             all renamed\n"
                   "    at the start         none\n"));
  }
  SECTION("a release in the loop") {
    releases.at_block[1] = 1;
    write(encode(section));
    CHECK(tool("info " + path).status == 0);
    refused("instruction 1 reads R0, which is released on a path to it");
  }
  SECTION("a damaged payload") {
    write(encode(section).substr(1));
    refused("17 bytes, expected 18");
    CHECK(tool("info " + path).status == 2);
  }
}

TEST_CASE("verify and dump of random traces") {
  const TemporaryDirectory directory;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const std::string path = directory / "random.rgt";
    write_sample(path, seed);
    CHECK(tool("verify " + path).status == 0);
    CHECK(tool("dump " + path).status == 0);
    CHECK(tool("info " + path).status == 0);
  }
}

TEST_CASE("verify finds what the reader alone does not") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.rgt";
  const Kernel kernel = sample_kernel(32);
  Random random(9);
  WarpColumns columns = encode(kernel, random_steps(random, kernel, 40));
  std::string expected;
  SECTION("an entry too many") {
    columns.value_data += '\0';
    expected = "launch 0, CTA 0, warp 0: column value_data has entries that no instruction uses\n";
  }
  SECTION("an entry too few") {
    columns.predicate.pop_back();
    expected = "column predicate ends early; the trace is malformed\n";
  }
  SECTION("a wrong count") {
    ++columns.thread_instructions;
    expected = "its counts say 40 and " + std::to_string(columns.thread_instructions) + "\n";
  }
  {
    Writer writer(path);
    writer.add_kernel(kernel);
    Launch launch;
    launch.block = {32, 1, 1};
    writer.begin_launch(launch);
    Cta cta;
    cta.warps.push_back(columns);
    writer.add_cta(cta);
    writer.finish();
  }
  const Run run = tool("verify " + path);
  CAPTURE(run.output);
  CHECK(run.status == 2);
  CHECK(contains(run.output, "regatta-trace: " + path + ": byte "));
  CHECK(contains(run.output, expected));
}

TEST_CASE("usage") {
  const TemporaryDirectory directory;
  const std::string path = directory / "known.rgt";
  write_known(path);
  const auto refused = [](const std::string& arguments) {
    const Run run = tool(arguments);
    CHECK(run.status == 2);
    return run.output;
  };
  CHECK(tool("--help").status == 0);
  CHECK(contains(tool("--help").output, "usage: regatta-trace info"));
  CHECK(tool("--version").status == 0);
  CHECK(refused("") ==
        "regatta-trace: a command is missing: info, dump, verify or signatures (regatta-trace --help)\n");
  CHECK(refused("inof " + path) ==
        "regatta-trace: unknown command 'inof'; did you mean 'info'? (regatta-trace --help)\n");
  CHECK(refused("dump --limti 3 " + path) ==
        "regatta-trace: unknown option '--limti'; did you mean '--limit'? (regatta-trace --help)\n");
  CHECK(refused("dump --limit x " + path) ==
        "regatta-trace: --limit 'x': expected a whole number, 0 or more (regatta-trace --help)\n");
  CHECK(refused("info --cta 1 " + path) ==
        "regatta-trace: --cta belongs to dump, not to info (regatta-trace --help)\n");
  CHECK(refused("info") == "regatta-trace: info: the trace FILE is missing (regatta-trace --help)\n");
  CHECK(refused("info a b") == "regatta-trace: info: one FILE is expected, 'b' is one more (regatta-trace --help)\n");
  CHECK(refused("dump --cta 1 " + path) == "regatta-trace: " + path + ": --cta 1: the trace has 1, numbered from 0\n");
  CHECK(refused("dump --warp 1 " + path) == "regatta-trace: " + path + ": --warp 1: CTA 0 has 1, numbered from 0\n");
  CHECK(refused("verify " + path + "x") ==
        "regatta-trace: " + path + "x: cannot be opened: No such file or directory\n");
}

TEST_CASE("info, dump and verify of a trace with variants") {
  const TemporaryDirectory directory;
  const std::string path = directory / "v.rgt";
  write_variants(path, 21);
  const Run info = tool("info " + path);
  CHECK(info.status == 0);
  CHECK(contains(info.output, "  format version         2\n"));
  CHECK(contains(info.output, "  variants               3\n"));
  CHECK(
      contains(info.output,
               "\nvariant plain, shown below\n  schemes                those that no other variant is for\n  size  "));
  CHECK(contains(
      info.output,
      "\nvariant fewer\n  schemes                a, b\n  options                --max-registers 63\n  size  "));
  const Run wide = tool("info --variant wide " + path);
  CHECK(contains(wide.output, "\nvariant wide, shown below\n  schemes                c\n"));
  CHECK(contains(wide.output, "\nvariant plain\n"));
  const auto json = nlohmann::json::parse(tool("info --json --variant fewer " + path).output);
  CHECK(json["variant"] == "fewer");
  REQUIRE(json["variants"].size() == 3);
  CHECK(json["variants"][1]["schemes"] == nlohmann::json{"a", "b"});
  CHECK(json["variants"][2]["options"] == "--warp-size 64");
  CHECK(json["variants"][2]["ctas"] == 15);
  CHECK(json["variants"][0]["bytes"] > 0);
  CHECK(tool("dump --variant fewer --cta 0 " + path).output != tool("dump --cta 0 " + path).output);
  const Run verified = tool("verify " + path);
  CHECK(verified.status == 0);
  for (const char* name : {"plain", "fewer", "wide"}) {
    CHECK(contains(verified.output, "ok: " + path + ": variant " + name + ": 2 kernels, 3 launches, 15 CTAs, "));
  }
  CHECK(tool("verify --variant wide " + path).output ==
        "regatta-trace: --variant does not belong to verify, which checks all of them (regatta-trace --help)\n");
  CHECK(tool("dump --variant wid " + path).output ==
        "regatta-trace: " + path + ": no variant 'wid', expected one of plain, fewer, wide; did you mean 'wide'?\n");
  CHECK(tool("info --varint wide " + path).output ==
        "regatta-trace: unknown option '--varint'; did you mean '--variant'? (regatta-trace --help)\n");

  // A trace of one code says nothing of variants.
  write_sample(path, 21);
  CHECK_FALSE(contains(tool("info " + path).output, "variant"));
  CHECK_FALSE(nlohmann::json::parse(tool("info --json " + path).output).contains("variants"));
  CHECK(contains(tool("verify " + path).output, "ok: " + path + ": 2 kernels, "));

  // Damage in a variant that nothing else reads.
  write_variants(path, 21);
  std::string bytes = read_bytes(path);
  const Reader whole(path, SectionRegistry::with_builtin(), "wide");
  bytes[whole.ctas().back().offset + 40] ^= 1;
  write_bytes(path, bytes);
  CHECK(tool("info " + path).status == 0);
  const Run damaged = tool("verify " + path);
  CHECK(damaged.status == 2);
  CHECK(contains(damaged.output, ": CTA 5 of launch 2: checksum is wrong: the file is corrupted\n"));
}
