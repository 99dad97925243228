// SPDX-License-Identifier: Apache-2.0
//
// Every kernel of traces/kernels under schemes, on the machine that a scheme is meant for, or on h100 if it needs
// tensor cores: all operands right, nothing lost, all contracts kept. Each scheme meets one kernel of six, each kernel
// one scheme of six (of eleven under sanitizers); test-all runs all pairs.
#include <regatta/assembly/scheme.h>
#include <regatta/schemes/schemes.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "folder.h"
#include "kernel_references.h"
#include "kernels.h"
#include "process.h"

using namespace regatta;

namespace {

struct MachineOf {
  std::string machine;
  unsigned warp_size;
};

/// Schemes that are not named run on gtx980.
MachineOf machine_of(const std::string& scheme) {
  static const std::map<std::string, MachineOf> machines{{"wir", {"gtx480", 32}},
                                                         {"wc", {"gtx480", 32}},
                                                         {"argo", {"gtx480", 32}},
                                                         {"greener", {"k20x", 32}},
                                                         {"always_on", {"k20x", 32}},
                                                         {"sleep_reg", {"k20x", 32}},
                                                         {"rar", {"hd7770", 64}},
                                                         {"rc", {"hd7770", 64}},
                                                         {"rc_rar", {"hd7770", 64}},
                                                         {"finereg", {"finereg", 32}},
                                                         {"virtual_thread", {"finereg", 32}},
                                                         {"reg_dram", {"finereg", 32}},
                                                         {"vt_regmutex", {"finereg", 32}},
                                                         {"um", {"finereg_um", 32}},
                                                         {"vt_um", {"finereg_um", 32}},
                                                         {"finereg_um", {"finereg_um", 32}},
                                                         {"register_sharing", {"fermi_sharing", 32}}};
  const auto known = machines.find(scheme);
  return known == machines.end() ? MachineOf{"gtx980", 32} : known->second;
}

// Neither divides the number of schemes nor is next to it. Under sanitizers a run takes eight times as long.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t one_of = 11;
#else
constexpr std::size_t one_of = 6;
#endif

void check_schemes(const std::string& kernel) {
  const test::Folder folder;
  std::map<unsigned, std::string> traces;
  const assembly::SchemeRegistry registry = schemes::all();
  const auto& kernels = test::kernel_names();
  const bool tensor_cores = test::uses_tensor_cores(kernel);
  std::size_t number = static_cast<std::size_t>(std::find(kernels.begin(), kernels.end(), kernel) - kernels.begin());
  for (const auto& known : registry.schemes()) {
    if (++number % one_of != 0 && !test::all_are_wanted()) continue;
    const MachineOf on = tensor_cores ? MachineOf{"h100", 32} : machine_of(known->name());
    std::string& trace = traces[on.warp_size];
    if (trace.empty()) {
      tool::AnnotateOptions o;
      o.launch = test::launch_path(kernel, test::Size::small);
      o.out = folder.file(std::to_string(on.warp_size) + ".rgt");
      o.warp_size = on.warp_size;
      o.max_registers = 63;  // of Fermi and Kepler
      o.addresses = on.warp_size == 32 ? 32 : 64;
      o.pass_options["regmutex-base"] = "0";  // only vt_regmutex minds
      o.pass_options["rfh"] = "3";            // only rfh minds
      o.pass_options["rfv"] = "on";           // only rfv minds
      tool::annotate(o);
      trace = o.out;
    }
    INFO(known->name() << " on " << on.machine);
    const auto run = test::run_process({REGATTA_SIM, trace, "--machine", on.machine, "--scheme", known->name(),
                                        "--check-protocol", "--stats", folder.file("s.json")});
    INFO(run.err);
    // Schemes whose parts cannot follow a change of a warp's registers say so.
    if (run.status == 2 && run.err.find("changes the registers of its warps (setmaxnreg), and ") != std::string::npos) {
      CHECK(kernel == "hopper_gemm");
      continue;
    }
    REQUIRE(run.status == 0);
    const auto stats = nlohmann::json::parse(folder.read("s.json"));
    CHECK(stats.at("ending") == "completed");
    CHECK(stats.at("checks").at("mismatches") == 0);
    CHECK(stats.at("checks").at("operands_checked").get<std::uint64_t>() > 1000);
  }
}

}  // namespace

#define REGATTA_SCHEMES(kernel) \
  TEST_CASE(#kernel " under schemes") { check_schemes(#kernel); }
REGATTA_KERNELS(REGATTA_SCHEMES)
