// SPDX-License-Identifier: Apache-2.0
#include <regatta/test/catch.h>

#include "command_line.h"

#include <string>
#include <vector>

using namespace regatta;
using capture::read_command_line;
using Words = std::vector<std::string>;

TEST_CASE("options stand before the program, whose own are left alone") {
  const auto o = read_command_line({"--kernels", "reduce,scan", "--launches=3,5-8,12-", "--first", "2", "--for", "all",
                                    "--max-registers=63", "--strict", "./p", "--out", "x"});
  CHECK(o.program == Words{"./p", "--out", "x"});
  CHECK(o.out == "p.rgt");
  CHECK(o.annotate == Words{"--for", "all", "--max-registers=63", "--target", "sm_90", "--control"});
  CHECK(o.choice.kernels == Words{"reduce", "scan"});
  REQUIRE(o.choice.numbers.size() == 3);
  CHECK(o.choice.numbers[1] == std::pair<std::uint64_t, std::uint64_t>{5, 8});
  CHECK(o.choice.numbers[2] == std::pair<std::uint64_t, std::uint64_t>{12, UINT64_MAX});
  CHECK(o.choice.first == 2);
  CHECK(o.device.strict);
  CHECK(read_command_line({"--device", "gtx980", "p"}).device.description.major == 5);
}

TEST_CASE("the trace has the machine code of the device, unless another is asked for") {
  const Words of_hopper{"--target", "sm_90", "--control"};
  CHECK(read_command_line({"p"}).annotate == of_hopper);
  CHECK(read_command_line({"--device", "rtx_a6000", "p"}).annotate == of_hopper);
  CHECK(read_command_line({"--device", "gtx980", "p"}).annotate.empty());
  CHECK(read_command_line({"--target=generic", "p"}).annotate == Words{"--target=generic"});
  CHECK(read_command_line({"--control", "p"}).annotate == Words{"--control", "--target", "sm_90"});
}

TEST_CASE("command lines that cannot be run are refused") {
  CHECK_THROWS_WITH(read_command_line({}), "error: no program: regatta-capture [options] PROGRAM [arguments] (--help)");
  CHECK_THROWS_WITH(
      read_command_line({"--kernelz", "x", "p"}),
      "error: unknown option --kernelz; did you mean '--kernels'?; options stand before the program (--help)");
  CHECK_THROWS_WITH(read_command_line({"--launches", "0", "p"}),
                    "error: --launches '0', expected numbers from 1 on and ranges such as 5-8 or 12-");
  CHECK_THROWS_WITH(read_command_line({"--first", "x", "p"}), "error: --first 'x', expected a whole number");
  CHECK_THROWS_WITH(read_command_line({"--threads", "1025", "p"}), "error: --threads '1025', expected at most 1024");
  CHECK(read_command_line({"--threads=3", "p"}).device.threads == 3);
  CHECK_THROWS_WITH(read_command_line({"--launch", "l.toml", "p"}),
                    "error: --launch does not go with a program that is captured");
  CHECK_THROWS_WITH(read_command_line({"--no-trace", "--out", "x", "p"}),
                    "error: --out and --no-trace: there is no trace to write");
}

TEST_CASE("--approx holds for the program and for the trace") {
  using emulator::Approximations;
  CHECK(read_command_line({"p"}).device.approximations == Approximations::rounded);
  for (const Words& words :
       {Words{"--approx", "h100", "--target=generic", "p"}, Words{"--approx=h100", "--target=generic", "p"}}) {
    const auto o = read_command_line(words);
    CHECK(o.device.approximations == Approximations::h100);
    CHECK(o.annotate == Words(words.begin(), words.end() - 1));
  }
  CHECK(read_command_line({"--approx", "rounded", "p"}).device.approximations == Approximations::rounded);
  CHECK_THROWS_WITH(read_command_line({"--approx", "h10", "p"}),
                    "error: --approx 'h10', expected rounded or h100; did you mean 'h100'?");
}
