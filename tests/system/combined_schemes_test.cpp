// SPDX-License-Identifier: Apache-2.0
//
// Schemes that switch CTAs on the parts of other schemes (--scheme a+b), with files so small that CTAs switch and
// registers move: every operand checked, the protocol and the conservation laws too. And what is refused.
#include <regatta/test/catch.h>

#include <string>
#include <vector>

#include "kernels.h"
#include "statistics.h"

using namespace regatta;
using test::Folder;

namespace combined_schemes {
namespace {

using Options = std::vector<std::string>;

/// FineReg's tags have room for 63 registers.
std::string annotate(const Folder& folder, const std::string& kernel, unsigned warp_size) {
  tool::AnnotateOptions o;
  o.launch = test::launch_path(kernel, test::Size::small);
  o.out = folder.file(kernel + ".rgt");
  o.max_registers = 63;
  o.warp_size = warp_size;
  tool::annotate(o);
  return o.out;
}

/// Programs of which each moves registers in one or the other configuration below.
const std::vector<std::string> kernels{"fdtd2d", "hotspot", "sgemm", "syr2k", "transpose"};

struct Sums {
  double switches = 0, moved_out = 0, moved_in = 0, cycles = 0, dead_moves = 0, elsewhere = 0;
};

Sums run(const std::string& scheme, unsigned warp_size, const Options& options) {
  Sums sums;
  const Folder folder;
  for (const std::string& kernel : test::some_of(kernels, 2)) {
    INFO(scheme << " on " << kernel);
    Options all{"--scheme", scheme, "--sms", "1", "--check-protocol"};
    all.insert(all.end(), options.begin(), options.end());
    const auto stats = test::statistics_of(folder, annotate(folder, kernel, warp_size), all);
    CHECK(stats.at("scheme") == scheme);
    sums.cycles += stats.at("cycles").get<double>();
    const auto& modules = stats.at("stats");
    const auto& file = modules.at("sm0.register_file");
    sums.switches += modules.at("sm0.switch_engine").at("switches").get<double>();
    sums.moved_out += file.value("move_reads", 0.0);
    sums.moved_in += file.value("move_writes", 0.0);
    sums.dead_moves += file.value("dead_moves", 0.0);
    sums.elsewhere += file.value("elsewhere_reads", 0.0);
    // Rows that are on, asleep and off add up, whoever switched them.
    if (modules.contains("sm0.sleep_transistors")) {
      const auto& rows = modules.at("sm0.sleep_transistors");
      const double row_cycles = rows.at("row_cycles_on").get<double>() + rows.at("row_cycles_sleep").get<double>() +
                                rows.at("row_cycles_off").get<double>();
      CHECK(file.at("allocated_row_cycles").get<double>() <= row_cycles);
    }
  }
  INFO(scheme);
  CHECK(sums.switches > 0);
  return sums;
}

const Options finereg{"--machine", "finereg", "--finereg.active_registers", "512"};
const Options wavefronts{"--machine", "hd7770", "--finereg.active_registers", "384"};
const Options in_dram{"--machine", "finereg", "--register_file.registers", "512"};
const Options few_ctas{"--sm.ctas", "2"};

Options with(Options options, const Options& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

void check_moves(const Sums& sums) {
  CHECK(sums.moved_out > 100);
  CHECK(sums.moved_out == sums.moved_in);
}

std::string refusal(const Options& options, unsigned warp_size = 32) {
  const Folder folder;
  Options command{REGATTA_SIM, annotate(folder, "transpose", warp_size)};
  command.insert(command.end(), options.begin(), options.end());
  const auto r = test::run_process(command);
  CHECK(r.status == 2);
  return r.err;
}

}  // namespace

TEST_CASE("finereg over a gated file whose rows stay on takes the time of finereg") {
  const Sums alone = run("finereg", 32, finereg);
  const Sums over = run("finereg+always_on", 32, finereg);
  check_moves(over);
  CHECK(over.cycles == alone.cycles);
  CHECK(over.moved_out == alone.moved_out);
}

TEST_CASE("finereg over register power states") {
  for (const char* scheme : {"finereg+greener", "finereg+sleep_reg"}) {
    check_moves(run(scheme, 32, finereg));
    check_moves(run(scheme, 32, with(finereg, {"--lookup-delay", "9"})));
  }
}

TEST_CASE("finereg over register compression, with wavefronts of 64 lanes") {
  for (const char* scheme : {"finereg", "finereg+wc", "finereg+greener"}) check_moves(run(scheme, 64, wavefronts));
  const Sums rc = run("finereg+rc", 64, wavefronts);
  check_moves(rc);
  CHECK(rc.elsewhere > 0);
  check_moves(run("finereg+rc", 64, with(wavefronts, {"--lookup-delay", "9"})));
}

TEST_CASE("finereg over all axes of the gated schemes") {
  check_moves(run("finereg+rc", 64, with(wavefronts, {"--gated.power", "greener"})));
  check_moves(run("finereg+rc", 64, with(wavefronts, {"--gated.power", "sleep_reg", "--compression.wake", "issue"})));
  check_moves(run("finereg+wc", 64, with(wavefronts, {"--gated.power", "greener"})));
  check_moves(run("finereg+greener", 32, with(finereg, {"--gated.unused_rows_off", "always"})));
}

TEST_CASE("reg_dram over register power states wakes no row of a dead register") {
  check_moves(run("reg_dram+always_on", 32, in_dram));
  check_moves(run("reg_dram+sleep_reg", 32, in_dram));
  // Results wait in the file for the compression unit while the CTA is said to have nothing in flight.
  check_moves(run("reg_dram+rc", 32, with(in_dram, {"--lookup-delay", "7"})));
  const Sums greener = run("reg_dram+greener", 32, in_dram);
  check_moves(greener);
  CHECK(greener.dead_moves > 0);
}

TEST_CASE("virtual_thread over every family") {
  for (const char* scheme : {"virtual_thread+greener", "virtual_thread+sleep_reg", "virtual_thread+always_on"}) {
    run(scheme, 32, with({"--machine", "k20x"}, few_ctas));
  }
  run("virtual_thread+wir", 32, with({"--machine", "gtx480"}, few_ctas));
  for (const char* scheme : {"virtual_thread+rc", "virtual_thread+rc_rar", "virtual_thread+rar", "virtual_thread+wc",
                             "virtual_thread+argo"}) {
    run(scheme, 64, with({"--machine", "hd7770"}, few_ctas));
  }
}

TEST_CASE("schemes that cannot be combined are refused, with the part that two of them take") {
  const auto scheme = [](const std::string& name) { return refusal({"--scheme", name, "--machine", "finereg"}); };
  const auto both = [](const std::string& name, const std::string& a, const std::string& b, const std::string& part) {
    return "regatta-sim: --scheme: found '" + name + "', and both '" + a + "' and '" + b + "' take " + part +
           ": expected schemes that take different parts of an SM\n";
  };
  CHECK(scheme("wir+rfv") == both("wir+rfv", "wir", "rfv", "the operand storage"));
  CHECK(scheme("finereg+wir") == both("finereg+wir", "finereg", "wir", "the write-back point"));
  CHECK(scheme("virtual_thread+finereg") ==
        both("virtual_thread+finereg", "virtual_thread", "finereg", "the residency of CTAs"));
  CHECK(scheme("finereg+virtual_thread+greener") ==
        both("finereg+virtual_thread+greener", "finereg", "virtual_thread", "the residency of CTAs"));
  CHECK(scheme("rc+greener") == both("rc+greener", "rc", "greener", "the power of rows"));
  CHECK(scheme("register_sharing+warp_level_divergence") == both("register_sharing+warp_level_divergence",
                                                                 "register_sharing", "warp_level_divergence",
                                                                 "the windows of warps"));
  for (const std::string windows : {"rar", "rc_rar", "argo"}) {
    CHECK(scheme("finereg+" + windows) == both("finereg+" + windows, "finereg", windows, "the windows of warps"));
  }
  for (const std::string upper : {"finereg", "reg_dram"}) {
    CHECK(scheme(upper + "+regless") ==
          "regatta-sim: --scheme: found '" + upper + "+regless', and '" + upper +
              "' needs windows that another block gives, and the operand storage of 'regless' has none: expected a "
              "scheme whose storage has them\n");
  }
  CHECK(
      scheme("virtual_thread+regless") ==
      "regatta-sim: --scheme: found 'virtual_thread+regless', and a region of RegLess holds its lines until it ends: a "
      "CTA that is switched out would keep others from running\n");
  CHECK(
      scheme("regless+greener") ==
      "regatta-sim: --scheme: found 'regless+greener', and 'greener' needs rows that sleep transistors can switch, and "
      "the operand storage of 'regless' has none: expected a scheme whose storage has them\n");
  const std::string unknown = scheme("finereg+grener");
  CHECK(unknown.find("regatta-sim: --scheme: unknown scheme 'grener'; did you mean 'greener'? Known: baseline, ") == 0);
  CHECK(refusal({"--scheme", "finereg+greener", "--gated.windows", "rotating", "--machine", "finereg"}) ==
        "regatta-sim: scheme finereg: it gives warps their windows, and the register file has rotating windows of its "
        "own: expected fixed ones\n");
  CHECK(refusal({"--scheme", "rfh+greener", "--gated.compression", "rc", "--machine", "gtx980"}) ==
        "regatta-sim: configuration: gated.compression = rc needs the register file of 'greener', found the storage of "
        "another scheme\n");
  CHECK(refusal({"--scheme", "reg_dram+rc", "--machine", "hd7770"}, 64) ==
        "regatta-sim: configuration: scheme reg_dram: sm.lanes = 64, expected 32: a register moves as one line of 128 "
        "bytes\n");
}

}  // namespace combined_schemes
