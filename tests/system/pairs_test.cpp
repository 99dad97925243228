// SPDX-License-Identifier: Apache-2.0
//
// Every pair of schemes either runs with right values, or is refused with the names of both.
#include <regatta/schemes/schemes.h>
#include <regatta/support/config.h>
#include <regatta/test/catch.h>

#include <string>
#include <vector>

#include "kernels.h"
#include "statistics.h"

using namespace regatta;
using test::Folder;

namespace pairs {
namespace {

/// With all that any scheme needs.
std::string annotate(const Folder& folder, const std::string& kernel) {
  tool::AnnotateOptions o;
  o.launch = test::launch_path(kernel, test::Size::small);
  o.out = folder.file(kernel + ".rgt");
  o.max_registers = 63;
  o.pass_options["regmutex-base"] = "0";
  o.pass_options["scratchpad-layout"] = "0.1";
  o.pass_options["rfv"] = "on";
  o.pass_options["rfh"] = "3";
  o.shared_values = true;
  tool::annotate(o);
  return o.out;
}

/// A unified memory has an L1 of its own.
std::string machine_for(const std::string& pair) {
  return pair.find("um") != std::string::npos ? "finereg_um" : "finereg";
}

/// The message of a refusal; empty if the pair is not refused.
std::string refusal(const assembly::SchemeRegistry& registry, const std::string& pair) {
  try {
    registry.get(pair);
  } catch (const support::ConfigError& error) {
    return error.what();
  }
  return {};
}

void check_rows(const nlohmann::json& stats, const std::string& pair) {
  const auto& modules = stats.at("stats");
  if (!modules.contains("sm0.sleep_transistors")) return;
  const auto& rows = modules.at("sm0.sleep_transistors");
  const double on = rows.at("row_cycles_on"), asleep = rows.at("row_cycles_sleep"), off = rows.at("row_cycles_off");
  const char* const module = modules.contains("sm0.switched_rows") ? "sm0.switched_rows" : "sm0.register_file";
  const double allocated = modules.at(module).at("allocated_row_cycles");
  CHECK(allocated > 0);
  CHECK(allocated <= (on + asleep + off) * (1 + 1e-9));
  CHECK(modules.at("power").at("row_cycles.on") == on);
  CHECK(modules.at("power").at("leakage_energy") > 0);
  if (pair.find("always_on") != std::string::npos) {
    CHECK(asleep + off == 0);
  } else if (pair.find("greener") != std::string::npos || pair.find("sleep_reg") != std::string::npos) {
    CHECK(asleep > 0);
    CHECK(off > 0);
    CHECK(on < 0.6 * (on + asleep + off));
  }
}

}  // namespace

TEST_CASE("every pair of schemes runs with right values, or is refused with the part that both claim") {
  const assembly::SchemeRegistry registry = schemes::all();
  const Folder folder;
  std::vector<std::string> traces;
  for (const char* kernel : {"transpose", "reduction"}) traces.push_back(annotate(folder, kernel));
  unsigned ran = 0, refused = 0;
  for (std::size_t a = 0; a < registry.schemes().size(); ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      const std::string upper = registry.schemes()[a]->name(), lower = registry.schemes()[b]->name();
      std::string pair = upper;
      pair += "+" + lower;
      INFO(pair);
      const std::string why = refusal(registry, pair);
      CHECK(refusal(registry, lower + "+" + upper).empty() == why.empty());
      if (!why.empty()) {
        ++refused;
        CHECK(why.find("--scheme: found '" + pair + "', and ") == 0);
        CHECK((why.find("'" + upper + "'") != std::string::npos || why.find("'" + lower + "'") != std::string::npos ||
               why.find("RegLess") != std::string::npos));
        continue;
      }
      if (a == b) continue;
      ++ran;
      for (const std::string& trace : traces) {
        const auto stats = test::statistics_of(
            folder, trace, {"--scheme", pair, "--machine", machine_for(pair), "--sms", "1", "--check-protocol"});
        CHECK(stats.at("scheme") == pair);
        check_rows(stats, pair);
      }
    }
  }
  CHECK(ran > 60);
  CHECK(refused > 100);
}

TEST_CASE("rows sleep over every banked file, with right values") {
  const Folder folder;
  for (const char* kernel : {"hotspot", "sgemm", "bfs", "pathfinder"}) {
    const std::string trace = annotate(folder, kernel);
    for (const std::string scheme :
         {"register_sharing", "rfv", "rfh", "vt_regmutex", "virtual_thread", "finereg", "reg_dram",
          "scratchpad_sharing", "warp_level_divergence", "scratchpad_multiplexing"}) {
      for (const std::string power : {"greener", "sleep_reg"}) {
        const std::vector<std::string> options{"--machine", machine_for(scheme), "--sms", "1", "--check-protocol"};
        const auto with = [&](const std::string& name) {
          std::vector<std::string> all{"--scheme", name};
          all.insert(all.end(), options.begin(), options.end());
          return test::statistics_of(folder, trace, all);
        };
        INFO(scheme << " and " << power << " on " << kernel);
        const auto stats = with(scheme + "+" + power);
        check_rows(stats, scheme + "+" + power);
        // The same machine, whatever the order of the names.
        auto other = with(power + "+" + scheme);
        CHECK(other.at("stats") == stats.at("stats"));
        CHECK(other.at("energy") == stats.at("energy"));
      }
    }
  }
}

TEST_CASE("rows that stay on change no cycle and no energy of a file") {
  const Folder folder;
  const std::string trace = annotate(folder, "hotspot");
  for (const std::string scheme : {"register_sharing", "rfh", "vt_regmutex"}) {
    const auto run = [&](const std::string& name) {
      return test::statistics_of(folder, trace, {"--scheme", name, "--machine", "finereg", "--sms", "1"});
    };
    const auto alone = run(scheme), on = run(scheme + "+always_on");
    INFO(scheme);
    CHECK(on.at("cycles") == alone.at("cycles"));
    CHECK(on.at("stall_cycles") == alone.at("stall_cycles"));
    CHECK(on.at("energy").at("total_nj").get<double>() ==
          Approx(alone.at("energy").at("total_nj").get<double>()).epsilon(1e-9));
  }
}

}  // namespace pairs
