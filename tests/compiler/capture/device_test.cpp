// SPDX-License-Identifier: Apache-2.0
//
// The device of a captured program, and the launch file that it leaves.
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>

#include "device.h"
#include "devices.h"

#include <cstring>
#include <filesystem>
#include <memory>

using namespace regatta;

namespace {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "regatta-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A device with one module.
struct Captured {
  explicit Captured(const std::string& ptx, bool strict = false) {
    options.description = capture::device_named("h100");
    options.strict = strict;
    log = std::make_unique<capture::ProgramLog>(folder.path(), capture::LaunchChoice{}, !strict);
    device = std::make_unique<capture::CapturedDevice>(options, *log);
    device->load_module("test", {ptx.begin(), ptx.end()});
  }
  void launch(const std::string& kernel, std::uint64_t pointer, std::uint32_t ctas = 1) {
    capture::KernelLaunch l;
    l.kernel = kernel;
    l.grid = {ctas, 1, 1};
    l.block = {32, 1, 1};
    l.parameters.resize(8);
    std::memcpy(l.parameters.data(), &pointer, 8);
    device->launch(l);
  }
  std::uint32_t word(std::uint64_t address) const {
    const auto bytes = device->read({address, 4, 4, 1});
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data(), 4);
    return value;
  }

  Folder folder;
  capture::DeviceOptions options;
  std::unique_ptr<capture::ProgramLog> log;
  std::unique_ptr<capture::CapturedDevice> device;
};

const std::string undefined_kernels =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry shared(.param .u64 out)\n{\n.reg .b32 %r<3>; .reg .b64 %d<3>; .shared .align 4 .b8 s[128];\n"
    "ld.param.u64 %d1, [out];\nld.shared.u32 %r1, [s+4];\nst.global.u32 [%d1], %r1; ret;\n}\n"
    ".visible .entry shuffle(.param .u64 out)\n{\n.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %d<3>;\n"
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 exit;\n"
    "shfl.sync.down.b32 %r2, %r1, 4, 31, 1;\nst.global.u32 [%d1], %r2; ret;\n}\n";

}  // namespace

TEST_CASE("undefined values end a program with --strict alone") {
  for (const bool strict : {false, true}) {
    Captured c(undefined_kernels, strict);
    const std::uint64_t out = c.device->allocate(256);
    const std::vector<std::uint8_t> ones(256, 0xff);
    for (const char* kernel : {"shared", "shuffle"}) {
      c.device->write({out, 256, 256, 1}, ones.data());
      if (!strict) {
        c.launch(kernel, out);
        CHECK(c.word(out) == 0);
        continue;
      }
      const std::string expected =
          kernel == std::string("shared")
              ? "module0.ptx:8:1: error: kernel 'shared', CTA (0,0,0), thread (0,0,0): read of shared offset 4, which "
                "was never written"
              : "module0.ptx:16:1: error: kernel 'shuffle', CTA (0,0,0), thread (0,0,0): 'st.global.u32 [R0.64], R2;' "
                "reads register R2, which 'shfl.sync.down.b32 R2, R0, 0x4, 0x1f, 0x1;' on line 15 takes from a lane "
                "outside its member mask";
      CHECK_THROWS_WITH(c.launch(kernel, out), expected);
    }
    if (strict) continue;
    tool::AnnotateOptions o;
    o.launch = c.log->finish();
    CHECK_THROWS_WITH(tool::annotate(o), Catch::Matchers::EndsWith("which was never written"));
    o.undefined_zero = true;
    CHECK(tool::annotate(o).launches.size() == 2);
  }
}
