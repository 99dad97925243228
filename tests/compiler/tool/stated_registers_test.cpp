// SPDX-License-Identifier: Apache-2.0
//
// A kernel's allocation as a paper states it, though the kernel needs fewer registers.
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>

#include <nlohmann/json.hpp>

#include "folder.h"
#include "harness.h"

using namespace regatta;
using test::error_of;
using test::Folder;

namespace {

/// Annotates a kernel of few registers. `key`: of the launch.
struct StatedRegisters {
  Folder folder;
  tool::AnnotateOptions options;

  explicit StatedRegisters(const std::string& key, unsigned min_registers = 0) {
    folder.write("k.ptx",
                 ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
                 ".reg .b32 %r<3>; .reg .b64 %d<3>;\nld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x;\n"
                 "mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r1; ret;\n}\n");
    options.launch = folder.write("l.toml", "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [32]\n" + key +
                                                "[[param]]\nname = \"out\"\nbuffer = 128\n");
    options.min_registers = min_registers;
    options.out = folder.file("k.rgt");
    options.report = folder.file("report.json");
  }
  /// Registers per thread in the trace; the report says the same.
  unsigned stated() {
    tool::annotate(options);
    const auto entry = nlohmann::json::parse(folder.read("report.json")).at("entries").at(0);
    needed = entry.at("registers_needed");
    const trace::Reader reader(options.out);
    CHECK(entry.at("registers") == reader.kernels().at(0).registers_per_thread);
    return reader.kernels().at(0).registers_per_thread;
  }
  unsigned needed = 0;
};

}  // namespace

TEST_CASE("registers are what is needed, or more if the launch file or the option states more") {
  StatedRegisters plain("");
  const unsigned needed = plain.stated();
  CHECK(plain.needed == needed);
  CHECK(needed < 10);
  StatedRegisters by_file("registers = 36\n");
  CHECK(by_file.stated() == 36);
  CHECK(by_file.needed == needed);
  CHECK(StatedRegisters("", 40).stated() == 40);
  CHECK(StatedRegisters("registers = 36\n", 40).stated() == 40);
  CHECK(StatedRegisters("registers = 1\n").stated() == needed);
}

TEST_CASE("stated registers out of range are refused") {
  CHECK_THAT(error_of(StatedRegisters("registers = 256\n").options),
             Catch::Matchers::Contains("l.toml:5:13: error: 'registers' is 256, expected 1 to 255"));
  CHECK(error_of(StatedRegisters("", 256).options) == "error: --min-registers is 256, expected 0 to 255");
}
