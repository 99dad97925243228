// SPDX-License-Identifier: Apache-2.0
#include "wir_runs.h"

#include <regatta/test/catch.h>

#include <regex>

namespace regatta::test::wir {

const std::vector<std::string> models{"r", "rl", "rlp", "rlpv", "rpv", "rlpvc", "novsb", "affine", "affine_rlpv"};

ProcessResult run(const std::string& trace, const std::vector<std::string>& knobs, const std::string& machine) {
  std::vector<std::string> command{REGATTA_SIM, trace, "--machine", machine, "--scheme", "wir"};
  command.insert(command.end(), knobs.begin(), knobs.end());
  return run_process(command);
}

std::string smallest(const std::string& trace) {
  std::string number = "8";
  for (unsigned n = 0; n < 20; ++n) {
    const auto r = run(trace, {"--wir.physical_registers", number});
    if (r.status == 0) return number;
    REQUIRE(r.status == 2);
    std::smatch found;
    INFO(r.err);
    REQUIRE(std::regex_search(r.err, found, std::regex("expected at least (\\d+)")));
    number = found[1];
  }
  FAIL("no number of physical registers is enough");
  return number;
}

void check_all(const std::string& trace, const std::vector<std::string>& knobs) {
  for (const std::string& physical : {std::string("1024"), std::string("512"), smallest(trace)}) {
    for (const std::string& model : models) {
      // One of four, others the next time; test-all takes all.
      static unsigned number = 0;
      if (++number % 4 != 0 && !all_are_wanted()) continue;
      std::vector<std::string> all{"--wir.model", model, "--wir.physical_registers", physical};
      all.insert(all.end(), knobs.begin(), knobs.end());
      const auto r = run(trace, all);
      CAPTURE(model, physical, r.err);
      REQUIRE(r.status == 0);
    }
  }
}

std::string annotate(const Folder& folder, const std::string& name, const char* ptx, unsigned ctas, unsigned threads,
                     bool check_races, bool races) {
  folder.write(name + ".ptx", ptx);
  tool::AnnotateOptions o;
  o.launch = folder.write(
      name + ".toml", "ptx = \"" + name + ".ptx\"\nentry = \"" + name + "\"\ngrid = [" + std::to_string(ctas) +
                          ", 1, 1]\nblock = [" + std::to_string(threads) +
                          ", 1, 1]\n[[param]]\nbuffer = 4096\ninit = \"iota\"\ntype = \"u32\"\n[[param]]\nbuffer = " +
                          std::to_string(ctas * threads * 4) + "\ninit = \"zero\"\ntype = \"u32\"\n");
  o.out = folder.file(name + ".rgt");
  o.check_races = check_races;
  REQUIRE(tool::annotate(o).races.empty() != races);
  return o.out;
}

}  // namespace regatta::test::wir
