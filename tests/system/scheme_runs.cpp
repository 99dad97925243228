// SPDX-License-Identifier: Apache-2.0
#include "scheme_runs.h"

#include <regatta/launch/launch_file.h>
#include <regatta/schemes/schemes.h>
#include <regatta/support/stat_query.h>
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>

namespace regatta::test {
namespace {

/// Rounds of integers, floats, doubles and special functions; global memory that outgrows the L2, so that dirty lines
/// leave it; shared memory with conflicts, an atomic, and a branch that half of the lanes take.
const char* const program = R"(
.version 8.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 rounds)
{
  .reg .pred %p<4>;
  .reg .b32 %r<24>;
  .reg .f32 %f<8>;
  .reg .f64 %g<4>;
  .reg .b64 %d<8>;
  .shared .align 4 .b8 tile[4096];
  ld.param.u64 %d1, [out];
  ld.param.u32 %r9, [rounds];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 128, %r1;
  mul.wide.u32 %d2, %r3, 4;
  add.s64 %d3, %d1, %d2;
  mov.u32 %r4, tile;
  shl.b32 %r5, %r1, 3;
  add.u32 %r5, %r5, %r4;
  cvt.rn.f32.u32 %f1, %r1;
  mov.f64 %g1, 0d3FF0000000000000;
  mov.u32 %r6, 0;
  mov.u32 %r7, 7;
LOOP:
  ld.global.u32 %r8, [%d3];
  fma.rn.f32 %f1, %f1, 0f3F000000, 0f3F800000;
  sin.approx.f32 %f2, %f1;
  cvt.f64.f32 %g2, %f2;
  fma.rn.f64 %g1, %g1, %g2, %g1;
  st.shared.u32 [%r5], %r8;
  bar.sync 0;
  ld.shared.u32 %r10, [%r5];
  and.b32 %r11, %r1, 1;
  setp.eq.u32 %p1, %r11, 0;
  @%p1 bra JOIN;
  mad.lo.u32 %r7, %r10, 3, %r7;
  xor.b32 %r7, %r7, %r6;
JOIN:
  add.u32 %r7, %r7, %r10;
  cvt.rzi.u32.f32 %r12, %f1;
  add.u32 %r7, %r7, %r12;
  ld.global.u32 %r14, [%d3+688128];
  add.u32 %r7, %r7, %r14;
  st.global.u32 [%d3], %r7;
  setp.ne.u32 %p2, %r1, 5;
  @%p2 bra NEXT;
  st.global.u32 [%d3+688128], %r7;
  atom.global.add.u32 %r13, [%d1], 1;
NEXT:
  add.s64 %d3, %d3, 24576;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p3, %r6, %r9;
  @%p3 bra LOOP;
  cvt.rn.f32.f64 %f3, %g1;
  st.global.f32 [%d3], %f3;
  ret;
}
)";

/// A scheme of the registry with parts added.
class Extended : public assembly::Scheme {
 public:
  Extended(assembly::Scheme& scheme, AddParts add) : scheme_(scheme), add_(std::move(add)) {}
  std::string name() const override { return scheme_.name(); }
  std::string help() const override { return scheme_.help(); }
  void declare(support::OptionSet& options) override { scheme_.declare(options); }
  void validate(const assembly::MachineConfig& machine) const override { scheme_.validate(machine); }
  assembly::SmParts build(const assembly::BuildContext& context) override {
    assembly::SmParts parts = scheme_.build(context);
    if (add_) add_(parts);
    return parts;
  }
  std::vector<std::string> stat_groups() const override { return scheme_.stat_groups(); }
  std::vector<std::string> energy_structures() const override { return scheme_.energy_structures(); }
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override {
    scheme_.register_stats(group, modules);
  }
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override { scheme_.add_laws(laws, sm); }
  void add_waits(assembly::Waits& waits) const override { scheme_.add_waits(waits); }

 private:
  assembly::Scheme& scheme_;
  AddParts add_;
};

}  // namespace

const std::vector<SchemeCase>& scheme_cases() {
  static const std::vector<SchemeCase> all{
      {"baseline", "baseline", "gtx980"},
      {"baseline that caches",
       "baseline",
       "gtx980",
       32,
       {{"l1.data_policy", "cache"}, {"l1.data_store", "write_back"}, {"l1.data_store_miss", "allocate"}}},
      {"baseline without lane gating, at 14 nm",
       "baseline",
       "gtx980",
       32,
       {{"energy.lane_gating", "false"}, {"energy.node_nm", "14"}}},
      {"baseline of half the registers", "baseline", "gtx980", 32, {{"register_file.registers", "1024"}}},
      {"baseline of wavefronts", "baseline", "hd7770", 64},
      {"regless", "regless", "gtx980"},
      {"regless of fewer entries", "regless", "gtx980", 32, {{"osu.entries", "320"}}},
      {"regless without compressors", "regless", "gtx980", 32, {{"compressor.enabled", "false"}}},
      {"wir", "wir", "gtx480"},
      {"wir affine", "wir", "gtx480", 32, {{"wir.model", "affine"}}},
      {"wir affine_rlpv, fewer registers",
       "wir",
       "gtx480",
       32,
       {{"wir.model", "affine_rlpv"}, {"wir.physical_registers", "768"}}},
      {"greener", "greener", "k20x"},
      {"greener that leaks more",
       "greener",
       "k20x",
       32,
       {{"sleep_transistors.sleep_leakage", "0.3"}, {"sleep_transistors.off_leakage", "0.05"}}},
      {"sleep_reg", "sleep_reg", "k20x"},
      {"always_on", "always_on", "k20x"},
      {"rc", "rc", "hd7770", 64},
      {"rc_rar", "rc_rar", "hd7770", 64},
      {"rar", "rar", "hd7770", 64},
      {"wc", "wc", "hd7770", 64},
      {"argo", "argo", "hd7770", 64},
      {"regless of two shards, few compressed lines",
       "regless",
       "gtx480",
       32,
       {{"compressor.lines", "1"}, {"osu.entries", "256"}}},
      {"virtual_thread", "virtual_thread", "gtx980"},
      {"finereg", "finereg", "finereg"},
      {"finereg of small files",
       "finereg",
       "finereg",
       32,
       {{"finereg.active_registers", "256"}, {"finereg.pending_registers", "128"}}},
      {"reg_dram", "reg_dram", "finereg", 32, {{"register_file.registers", "512"}}},
      {"vt_regmutex", "vt_regmutex", "finereg", 32, {{"regmutex.pool_registers", "300"}}},
      {"um", "um", "finereg_um"},
      {"vt_um", "vt_um", "finereg_um"},
      {"finereg_um", "finereg_um", "finereg_um", 32, {{"finereg.active_registers", "512"}}},
      {"register_sharing",
       "register_sharing",
       "fermi_sharing",
       32,
       {{"register_file.registers", "160"}, {"sm.scheduler", "owf"}}},
      {"register_sharing, dynamic",
       "register_sharing",
       "fermi_sharing",
       32,
       {{"register_file.registers", "220"},
        {"register_sharing.t", "0.9"},
        {"register_sharing.dynamic", "true"},
        {"register_sharing.dynamic_period", "200"}}},
      {"scratchpad_sharing",
       "scratchpad_sharing",
       "fermi_sharing",
       32,
       {{"shared.bytes", "10240"}, {"scratchpad_sharing.relssp", "optimal"}, {"sm.scheduler", "owf"}}},
      {"warp_level_divergence", "warp_level_divergence", "fermi_sharing", 32, {{"register_file.registers", "160"}}},
      {"scratchpad_multiplexing",
       "scratchpad_multiplexing",
       "fermi_sharing",
       32,
       {{"shared.bytes", "10240"},
        {"scratchpad_multiplexing.t", "0.1"},
        {"scratchpad_multiplexing.relssp", "optimal"}}},
      {"rfv", "rfv", "gtx980"},
      {"rfv of an eighth of the file", "rfv", "gtx980", 32, {{"rfv.share", "0.125"}, {"rfv.flag_cache_entries", "2"}}},
      {"rfh", "rfh", "gtx980", 32, {{"sm.scheduler", "two_level"}}},
      {"rfh without an active set", "rfh", "hd7770", 64, {{"rfh.wait", "needed"}}},
      {"rfv that spills", "rfv", "gtx980", 32, {{"rfv.share", "0.016"}, {"rfv.spill", "true"}}}};
  return all;
}

namespace {

class SchemeInvoker : public Catch::ITestInvoker {
 public:
  SchemeInvoker(const SchemeCase& c, void (*check)(const SchemeCase&)) : case_(c), check_(check) {}
  void invoke() const override { check_(case_); }

 private:
  const SchemeCase& case_;
  void (*check_)(const SchemeCase&);
};

}  // namespace

ForEachScheme::ForEachScheme(const std::string& what, void (*check)(const SchemeCase&),
                             bool (*takes)(const SchemeCase&)) {
  for (const SchemeCase& c : scheme_cases()) {
    if (takes != nullptr && !takes(c)) continue;
    // Catch2 owns the invoker; to be registered is all that an AutoReg does.
    const std::string name = what + ": " + c.name;
    Catch::AutoReg(new SchemeInvoker(c, check), CATCH_INTERNAL_LINEINFO, Catch::StringRef(), Catch::NameAndTags(name));
  }
}

std::string annotate_events(const Folder& folder, unsigned warp_size, unsigned rounds) {
  folder.write("k.ptx", program);
  folder.write("l.toml",
               "ptx = \"k.ptx\"\n"
               "[[buffer]]\nname = \"out\"\nbytes = 1400000\n"
               "[[launch]]\nname = \"a\"\nentry = \"k\"\ngrid = [48]\nblock = [128]\n"
               "params = [{ buffer = \"out\" }, { scalar = " +
                   std::to_string(rounds) +
                   ", type = \"u32\" }]\n"
                   "[[step]]\nrepeat = 2\nsteps = [{ run = \"a\" }]\n");
  tool::AnnotateOptions o;
  o.launch = folder.file("l.toml");
  o.out = folder.file("k.rgt");
  o.warp_size = warp_size;
  o.pass_options["regmutex-base"] = "0";        // only vt_regmutex minds
  o.pass_options["scratchpad-layout"] = "0.1";  // only the schemes of shared memory mind
  o.pass_options["reorder-registers"] = "on";   // a CTA that shares registers accesses memory before it needs a lock
  o.pass_options["rfv"] = "on";                 // only rfv minds
  o.pass_options["rfh"] = "3";                  // only rfh minds
  o.shared_values = true;
  tool::annotate(o);
  return o.out;
}

double SchemeRun::stat(const std::string& path, const std::string& name) const {
  double sum = 0;
  bool found = false;
  const support::StatQuery query(path + "." + name);
  for (const auto& [module, group] : result.stats.items()) {
    if (!query.matches(module, name) || !group.contains(name)) continue;
    sum += group.at(name).get<double>();
    found = true;
  }
  INFO(path << "." << name);
  REQUIRE(found);
  return sum;
}

bool SchemeRun::has(const std::string& path) const {
  const support::StatQuery query(path + ".any");
  for (const auto& [module, group] : result.stats.items()) {
    if (query.matches(module, "any")) return true;
  }
  return false;
}

SchemeRun run_scheme(const SchemeCase& c, const AddParts& add, const assembly::Recording& recording) {
  const Folder folder;
  return run_scheme_on(annotate_events(folder, c.warp_size, 12), c, add, recording);
}

SchemeRun run_scheme_on(const std::string& path, const SchemeCase& c, const AddParts& add,
                        const assembly::Recording& recording) {
  const trace::Reader reader(path);
  SchemeRun run;
  run.warp_size = c.warp_size;
  assembly::SchemeRegistry registry = schemes::all();
  Extended scheme(registry.get(c.scheme), add);
  support::OptionSet knobs;
  run.machine.declare(knobs);
  scheme.declare(knobs);
  assembly::load_machine(knobs, run.machine, c.machine);
  for (const auto& [name, value] : c.knobs) knobs.set(name, value, "test", "test");
  assembly::SimulationOptions options;
  options.sms = run.sms;
  options.lookup_delay = c.lookup_delay;
  options.recording = recording;
  options.check_protocol = true;
  assembly::Simulation simulation(run.machine, scheme, options, reader);
  run.result = simulation.run();
  run.waits = run.result.waits.json(knobs);
  INFO(c.name << ": " << run.result.message);
  REQUIRE(run.result.ending == assembly::Ending::completed);
  REQUIRE(run.result.mismatches == 0);
  return run;
}

}  // namespace regatta::test
