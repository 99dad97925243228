// SPDX-License-Identifier: Apache-2.0
//
// The presets: what they are based on, what they refuse, and that a kernel with some of everything runs on each, under
// every scheduler.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "harness.h"

using namespace regatta;
using assembly::MachineConfig;
using test::named_machine;

namespace {

std::string refused_machine(const std::string& name) {
  try {
    named_machine(name);
  } catch (const support::ConfigError& e) {
    return e.what();
  }
  FAIL("not refused");
  return {};
}

std::string refusal(const MachineConfig& m) {
  try {
    m.validate();
  } catch (const support::ConfigError& e) {
    return e.what();
  }
  FAIL("not refused");
  return {};
}

std::string refused_kernel(test::TraceBuilder& b, const std::string& name, const MachineConfig& m) {
  try {
    test::simulate_baseline(b.write(name), m);
  } catch (const support::ConfigError& e) {
    return e.what();
  }
  FAIL("not refused");
  return {};
}

void write(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  REQUIRE(file != nullptr);
  std::fputs(text.c_str(), file);
  std::fclose(file);
}

void runs(const std::string& machine, const std::string& scheduler) {
  MachineConfig m = named_machine(machine);
  m.sm.scheduler = scheduler;
  const std::string name = "machine_" + machine + "_" + scheduler;
  test::require_clean(test::simulate_baseline(test::mixed_trace(name, 12, m.sm.lanes), m));
}

}  // namespace

TEST_CASE("machines: the papers' presets are there, whole and valid") {
  const std::vector<std::string> names = assembly::machine_names();
  for (const char* name : {"gtx480", "gtx980", "k20x", "hd7770", "fermi_sharing", "fermi_sharing_ch3", "finereg",
                           "finereg_um", "h100", "regless", "rtx_a6000", "rtx_2080ti"}) {
    CAPTURE(name);
    REQUIRE(std::count(names.begin(), names.end(), name) == 1);
    named_machine(name);
  }
  CHECK(named_machine("hd7770").sm.lanes == 64);
  CHECK(named_machine("gtx480").sm.registers_per_thread == 63);
  CHECK(named_machine("finereg").memory.dram.bandwidth == 352500);
  CHECK(named_machine("finereg_um").sm.sub_cores == 1);
  CHECK(named_machine("regless").l1.hit_latency == 1);
}

TEST_CASE("machines: a machine says only in what it differs from its base") {
  const MachineConfig base = named_machine("gtx480");
  const MachineConfig m = named_machine("fermi_sharing");
  CHECK(m.base == "gtx480");
  CHECK(m.sms == 14);
  CHECK(m.sm.shared_bytes == 16384);
  CHECK(m.sm.scheduler == "lrr");
  CHECK(m.l1.size_bytes == 16384);
  CHECK(m.clock_mhz == base.clock_mhz);
  CHECK(m.sm.sp_collectors == base.sm.sp_collectors);
  CHECK(m.register_file.ports == base.register_file.ports);
  CHECK(m.memory.l2.partitions == base.memory.l2.partitions);
  // Files may be based on presets, and on files; the nearest wins.
  write("variant.toml", "[machine]\nbase = \"fermi_sharing\"\nsms = 3\n");
  write("variant_of_variant.toml", "[machine]\nbase = \"./variant.toml\"\n[sm]\nctas = 5\n");
  const MachineConfig v = named_machine("./variant_of_variant.toml");
  CHECK(v.sms == 3);
  CHECK(v.sm.max_ctas == 5);
  CHECK(v.sm.shared_bytes == 16384);
  CHECK(v.clock_mhz == base.clock_mhz);
}

TEST_CASE("machines: the path of a base begins at the folder of the file that names it") {
  std::filesystem::create_directories("machine_family");
  write("machine_family/parent.toml", "[machine]\nbase = \"gtx480\"\n[sm]\nctas = 3\n");
  write("machine_family/child.toml", "[machine]\nbase = \"parent.toml\"\n");
  write("grandchild.toml", "[machine]\nbase = \"machine_family/child.toml\"\n");
  CHECK(named_machine("machine_family/child.toml").sm.max_ctas == 3);
  CHECK(named_machine("./grandchild.toml").sm.max_ctas == 3);
  CHECK(named_machine(std::filesystem::absolute("grandchild.toml").string()).sm.max_ctas == 3);
  write("machine_family/lost.toml", "[machine]\nbase = \"./gone.toml\"\n");
  CHECK(refused_machine("machine_family/lost.toml") ==
        "machine_family/lost.toml: machine.base: cannot read 'machine_family/./gone.toml': No such file or directory");
}

TEST_CASE("machines: a folder that is a link is the one that it leads to") {
  std::filesystem::create_directories("machine_links/real/deep");
  write("machine_links/real/parent.toml", "[machine]\nbase = \"gtx480\"\n[sm]\nctas = 3\n");
  write("machine_links/parent.toml", "[machine]\nbase = \"gtx480\"\n[sm]\nctas = 4\n");
  write("machine_links/real/deep/child.toml", "[machine]\nbase = \"../parent.toml\"\n");
  std::filesystem::remove("machine_links/link");
  std::filesystem::create_directory_symlink("real/deep", "machine_links/link");
  CHECK(named_machine("machine_links/link/child.toml").sm.max_ctas == 3);
}

TEST_CASE("machines: the path of an energy table begins at the folder of the file that names it") {
  std::filesystem::create_directories("machine_table");
  write("machine_table/m.toml", "[machine]\nbase = \"gtx480\"\n[energy]\ntable = \"mine.toml\"\n");
  CHECK(named_machine("machine_table/m.toml").energy.table == "machine_table/mine.toml");
  write("machine_table/named.toml", "[machine]\nbase = \"gtx480\"\n[energy]\ntable = \"maxwell28\"\n");
  CHECK(named_machine("machine_table/named.toml").energy.table == "maxwell28");
}

TEST_CASE("machines: a base that leads nowhere, or round in circles, is refused") {
  write("circle.toml", "[machine]\nbase = \"./circle.toml\"\n");
  CHECK(refused_machine("./circle.toml") ==
        "machine './circle.toml': machine.base leads through more than 8 machines, expected an end (is one its own "
        "base?)");
  write("nowhere.toml", "[machine]\nbase = \"gtx490\"\n");
  CHECK(refused_machine("./nowhere.toml")
            .rfind("./nowhere.toml: machine.base: unknown machine 'gtx490'; did you mean 'gtx480'?", 0) == 0);
}

TEST_CASE("machines: what does not fit together is refused with the knob's name") {
  MachineConfig m;
  m.sm.lanes = 48;
  CHECK(refusal(m) == "configuration: sm.lanes = 48: expected 32, or 64 for wavefronts");
  m = named_machine("gtx480");
  m.sm.memory_collectors = 0;
  CHECK(
      refusal(m) ==
      "configuration: collector.mem = 0 and collector.units = 0: memory instructions find no collector unit, expected "
      "at least one of the two above 0");
  m = named_machine("hd7770");
  m.register_file.banks = 6;
  CHECK(refusal(m) ==
        "configuration: register_file.mapping = sub_core divides register_file.banks = 6 among sm.sub_cores = 4: "
        "expected a multiple");
  m = named_machine("gtx980");
  m.sm.buffer_entries = 1;
  CHECK(refusal(m) ==
        "configuration: fetch.buffer_entries = 1 holds less than a fetch of fetch.width = 2 brings: expected at least "
        "as many");
  m = named_machine("gtx980");
  m.register_file.arbitration = 65;
  CHECK(refusal(m) ==
        "configuration: register_file.arbitration = 65 with register_file.ports = 1rw: a port for reads and writes is "
        "planned 64 cycles ahead, expected at most 64, separate ports or a register_file.priority");
  m.register_file.priority = "write";
  CHECK_NOTHROW(m.validate());
  m = named_machine("hd7770");
  m.sm.schedulers = 6;
  CHECK(refusal(m) ==
        "configuration: register_file.mapping = sub_core needs as many schedulers in every one of sm.sub_cores = 4: "
        "expected a multiple, found sm.schedulers = 6");
}

TEST_CASE("machines: a kernel traced for other warps is refused") {
  test::TraceBuilder b(64);
  b.op(trace::OpClass::int_add, {1}, {2});
  b.exit();
  b.launch(1, 64);
  b.run_all();
  CHECK(refused_kernel(b, "wavefronts", named_machine("gtx980")) ==
        "kernel hand_made was traced with warps of 64 lanes, this machine's have 32 (sm.lanes): annotate it with "
        "--warp-size 32");
}

TEST_CASE("machines: a kernel with more registers than a thread can name is refused") {
  test::TraceBuilder b;
  b.op(trace::OpClass::int_add, {1}, {63});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  CHECK(refused_kernel(b, "many_registers", named_machine("gtx480")) ==
        "kernel hand_made uses 64 registers per thread, this machine's threads have 63 (sm.registers_per_thread): "
        "annotate it with --max-registers 63");
}

TEST_CASE("machines: nobody is told to annotate with fewer registers than can be asked for") {
  test::TraceBuilder b;
  b.op(trace::OpClass::int_add, {1}, {9});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  assembly::MachineConfig m = named_machine("gtx480");
  m.sm.registers_per_thread = 8;
  CHECK(refused_kernel(b, "few_registers", m) ==
        "kernel hand_made uses 10 registers per thread, this machine's threads have 8 (sm.registers_per_thread): "
        "kernels cannot be compiled for fewer than 16");
}

TEST_CASE("machines: a kernel with as many registers as a thread can name runs") {
  test::TraceBuilder b;
  b.op(trace::OpClass::int_add, {1}, {62});
  b.exit();
  b.launch(1, 32);
  b.run_all();
  test::require_clean(test::simulate_baseline(b.write("enough_registers"), named_machine("gtx480")));
}

TEST_CASE("machines: gtx480 under gto") { runs("gtx480", "gto"); }
TEST_CASE("machines: gtx480 under lrr") { runs("gtx480", "lrr"); }
TEST_CASE("machines: gtx480 under two_level") { runs("gtx480", "two_level"); }
TEST_CASE("machines: gtx980 under gto") { runs("gtx980", "gto"); }
TEST_CASE("machines: gtx980 under lrr") { runs("gtx980", "lrr"); }
TEST_CASE("machines: gtx980 under two_level") { runs("gtx980", "two_level"); }
TEST_CASE("machines: k20x under gto") { runs("k20x", "gto"); }
TEST_CASE("machines: k20x under lrr") { runs("k20x", "lrr"); }
TEST_CASE("machines: k20x under two_level") { runs("k20x", "two_level"); }
TEST_CASE("machines: hd7770 under gto") { runs("hd7770", "gto"); }
TEST_CASE("machines: hd7770 under lrr") { runs("hd7770", "lrr"); }
TEST_CASE("machines: hd7770 under two_level") { runs("hd7770", "two_level"); }
TEST_CASE("machines: h100 under gto") { runs("h100", "gto"); }
TEST_CASE("machines: h100 under lrr") { runs("h100", "lrr"); }
TEST_CASE("machines: rtx_a6000 under cggty") { runs("rtx_a6000", "cggty"); }
TEST_CASE("machines: rtx_a6000 under two_level") { runs("rtx_a6000", "two_level"); }
TEST_CASE("machines: rtx_2080ti under cggty") { runs("rtx_2080ti", "cggty"); }
TEST_CASE("machines: rtx_2080ti under lrr") { runs("rtx_2080ti", "lrr"); }
TEST_CASE("machines: fermi_sharing under lrr") { runs("fermi_sharing", "lrr"); }
TEST_CASE("machines: fermi_sharing_ch3 under lrr") { runs("fermi_sharing_ch3", "lrr"); }

namespace {

void runs_with(const std::string& name, const std::string& priority, const std::string& mapping, unsigned write_queue) {
  MachineConfig m = named_machine("gtx980");
  m.register_file.banks = 4;
  m.register_file.priority = priority;
  m.register_file.mapping = mapping;
  m.register_file.write_queue = write_queue;
  test::require_clean(test::simulate_baseline(test::mixed_trace(name, 24), m));
}

}  // namespace

TEST_CASE("register file under load: reads first") { runs_with("reads_first", "read", "warp_interleaved", 8); }
TEST_CASE("register file under load: writes first") { runs_with("writes_first", "write", "register", 8); }
TEST_CASE("register file under load: reads first, one write may wait") {
  runs_with("reads_short", "read", "sub_core", 1);
}
TEST_CASE("register file under load: writes first, one write may wait") {
  runs_with("writes_short", "write", "sub_core", 1);
}
