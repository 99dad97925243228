// SPDX-License-Identifier: Apache-2.0
//
// CTAs that advance together, from the command line's options and launch files on.
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "folder.h"
#include "harness.h"
#include "process.h"

using namespace regatta;
using test::error_of;
using test::Folder;

namespace {

/// Every CTA but the last waits for the one behind it and adds 1 to what that one has written.
const std::string chain_kernel =
    ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %r<6>; .reg .b64 %d<4>; .reg .pred %q<3>;\n"
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;\n"
    "mov.u32 %r2, %nctaid.x; sub.u32 %r2, %r2, 1; mov.u32 %r3, 0; setp.eq.u32 %q1, %r1, %r2; @%q1 bra LAST;\n"
    "WAIT: ld.volatile.global.u32 %r3, [%d1+4]; setp.eq.u32 %q2, %r3, 0; @%q2 bra WAIT;\n"
    "LAST: add.u32 %r3, %r3, 1; st.volatile.global.u32 [%d1], %r3; ret;\n}\n";

std::string chain_launch(unsigned ctas, const std::string& more = "") {
  return "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [" + std::to_string(ctas) + "]\nblock = [1]\n" + more +
         "[[param]]\nname = \"out\"\nbuffer = 32768\n";
}

std::string refusal_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), REGATTA_ANNOTATE);
  const test::ProcessResult r = test::run_process(arguments);
  return r.status == 0 ? "" : r.err;
}

}  // namespace

TEST_CASE("CTAs advance together when they are told to") {
  const Folder folder;
  folder.write("k.ptx", chain_kernel);
  folder.write("l.toml", chain_launch(40));
  tool::AnnotateOptions options;
  options.launch = folder.file("l.toml");
  CHECK(error_of(options).find("--concurrent-ctas fit runs them together") != std::string::npos);
  for (const std::uint64_t together : {0u, 40u}) {
    options.concurrent_ctas = together;
    options.out = folder.file("k.rgt");
    options.dumps = {{"out", folder.file("out.bin")}};
    tool::annotate(options);
    const std::string bytes = folder.read("out.bin");
    for (std::uint32_t c = 0; c < 40; ++c) {
      std::uint32_t found = 0;
      std::memcpy(&found, bytes.data() + std::size_t{4} * c, 4);
      REQUIRE(found == 40 - c);
    }
  }
}

TEST_CASE("a launch is cooperative when its file says so") {
  const Folder folder;
  folder.write("k.ptx", chain_kernel);
  tool::AnnotateOptions options;
  options.launch = folder.file("l.toml");
  const auto error = [&](const std::string& text) {
    folder.write("l.toml", text);
    return error_of(options);
  };
  CHECK(error(chain_launch(40, "cooperative = true\n")).empty());
  CHECK(error(chain_launch(40, "cooperative = false\n")).find("endless loop") != std::string::npos);
  const std::string at = folder.file("l.toml");
  CHECK(error(chain_launch(40, "cooperative = 1\n")) ==
        at + ":5:15: error: 'cooperative' is an integer, expected true or false");
  CHECK(error(chain_launch(132 * 32 + 1, "cooperative = true\n")) ==
        at + ":1:1: error: launch 'k' is cooperative and has 4225 CTAs, of which 4224 are resident at a time; expected "
             "at most as many");
}

TEST_CASE("--concurrent-ctas takes a number or fit") {
  const Folder folder;
  folder.write("k.ptx", chain_kernel);
  const std::string launch = folder.write("l.toml", chain_launch(3));
  CHECK(refusal_of({"--launch", launch, "--concurrent-ctas", "fit"}).empty());
  CHECK(refusal_of({"--launch", launch, "--concurrent-ctas", "3"}).empty());
  for (const char* wrong : {"0", "-1", "many", "3x", "99999999999999999999"}) {
    CHECK(refusal_of({"--launch", launch, std::string("--concurrent-ctas=") + wrong}) ==
          std::string("regatta-annotate: --concurrent-ctas '") + wrong +
              "', expected fit or a whole number of at least 1\n");
  }
  CHECK(refusal_of({"--ptx", folder.file("k.ptx"), "--check", "--concurrent-ctas", "2"}) ==
        "regatta-annotate: --check runs nothing: --concurrent-ctas does not go with it\n");
}
