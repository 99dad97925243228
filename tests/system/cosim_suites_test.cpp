// SPDX-License-Identifier: Apache-2.0
//
// Every block in RTL in lockstep with its model, in whole runs of all kernels at their small size: the papers'
// programs.
#include <algorithm>
#include <cstdio>

#include "kernel_references.h"
#include "twin_statistics.h"

using namespace regatta;
using test::Folder;

namespace {

using Options = std::vector<std::string>;

/// A block in lockstep, under a scheme that uses it hard: stores are small, so that entries come and go.
struct Case {
  const char* block;
  unsigned warp_size;
  unsigned addresses;
  Options pass_options;  ///< name, value, ...
  Options options;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"compressor",
       32,
       64,
       {"region-bank-lines", "4", "region-registers", "16"},
       {"--scheme", "regless", "--osu.entries", "128", "--compressor.implementation", "lockstep"}},
      {"osu",
       32,
       64,
       {"region-bank-lines", "4", "region-registers", "16"},
       {"--scheme", "regless", "--osu.entries", "128", "--osu.implementation", "lockstep"}},
      {"vsb", 32, 32, {}, {"--scheme", "wir", "--machine", "gtx480", "--vsb.implementation", "lockstep"}},
      {"reuse_buffer",
       32,
       32,
       {},
       {"--scheme", "wir", "--machine", "gtx480", "--reuse_buffer.implementation", "lockstep"}},
      {"compression",
       64,
       64,
       {},
       {"--scheme", "rc", "--machine", "hd7770", "--compression.implementation", "lockstep"}},
      {"rmu",
       32,
       32,
       {},
       {"--scheme", "finereg", "--machine", "finereg", "--finereg.active_registers", "256", "--rmu.implementation",
        "lockstep"}}};
  return all;
}

/// FineReg's register file for active CTAs: as small as one CTA of the program allows, so that CTAs are switched.
Options fitting(const std::string& trace, Options options) {
  const auto size = std::find(options.begin(), options.end(), "--finereg.active_registers");
  if (size == options.end()) return options;
  for (const char* registers : {"256", "512", "1024"}) {
    *(size + 1) = registers;
    Options words{REGATTA_SIM, trace};
    words.insert(words.end(), options.begin(), options.end());
    if (test::run_process(words).err.find("not one CTA fits") == std::string::npos) break;
  }
  return options;
}

void check(const Case& c) {
  double sum = 0;
  for (const std::string& kernel : test::kernels_for_all_machines()) {
    CAPTURE(kernel);
    const Folder folder;
    tool::AnnotateOptions o;
    o.launch = test::launch_path(kernel, test::Size::small);
    o.out = folder.file("k.rgt");
    o.warp_size = c.warp_size;
    o.max_registers = 63;
    o.addresses = c.addresses;
    for (std::size_t i = 0; i + 1 < c.pass_options.size(); i += 2)
      o.pass_options[c.pass_options[i]] = c.pass_options[i + 1];
    tool::annotate(o);
    sum += test::total_of(test::statistics_of(folder, o.out, fitting(o.out, c.options)), "", "lockstep_compared");
  }
  std::printf("%s: %.0f compared\n", c.block, sum);
  CHECK(sum > 1000);
}

}  // namespace

TEST_CASE("the suites in lockstep: RegLess's matcher and expander") { check(cases()[0]); }
TEST_CASE("the suites in lockstep: a bank of RegLess's staging units") { check(cases()[1]); }
TEST_CASE("the suites in lockstep: WIR's hash and value signature buffer") { check(cases()[2]); }
TEST_CASE("the suites in lockstep: WIR's reuse buffer") { check(cases()[3]); }
TEST_CASE("the suites in lockstep: compression units of the aging-aware file") { check(cases()[4]); }
TEST_CASE("the suites in lockstep: FineReg's register management unit") { check(cases()[5]); }
