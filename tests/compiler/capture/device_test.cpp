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
#include <random>

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
  explicit Captured(const std::string& ptx, bool strict = false, bool remembers = true) {
    options.remember_launches = remembers;
    options.description = capture::device_named("h100");
    options.strict = strict;
    log = std::make_unique<capture::ProgramLog>(folder.path(), capture::LaunchChoice{}, !strict);
    device = std::make_unique<capture::CapturedDevice>(options, *log);
    device->load_module("test", {ptx.begin(), ptx.end()});
  }
  std::string launch(const std::string& kernel, const std::vector<std::uint64_t>& pointers, std::uint32_t ctas = 1) {
    capture::KernelLaunch l;
    l.kernel = kernel;
    l.grid = {ctas, 1, 1};
    l.block = {32, 1, 1};
    l.parameters.resize(8 * pointers.size());
    std::memcpy(l.parameters.data(), pointers.data(), l.parameters.size());
    return device->launch(l);
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

/// k(a, b) with a body that has thread i at %r1, a[i] at %d1 and in %r2, b[i] at %d2 and in %r3.
std::string pair_kernel(const std::string& name, const std::string& body) {
  return ".visible .entry " + name +
         "(.param .u64 a, .param .u64 b)\n{\n.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
         "ld.param.u64 %d3, [a]; ld.param.u64 %d4, [b]; mov.u32 %r1, %tid.x; mov.u32 %r4, %ctaid.x;\n"
         "mad.lo.u32 %r1, %r4, 32, %r1; mul.wide.u32 %d5, %r1, 4; add.s64 %d1, %d3, %d5; add.s64 %d2, %d4, %d5;\n" +
         body + "\nret;\n}\n";
}

const std::string pair_kernels =
    ".version 8.0\n.target sm_75\n.address_size 64\n.const .align 4 .u32 factor = 3;\n.global .align 4 .u32 "
    "counter;\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 format[4] = {104, 105, 10, 0};\n" +
    pair_kernel("say",
                "mov.u64 %d6, format; cvta.global.u64 %d7, %d6; setp.ne.u32 %p1, %r1, 5; @%p1 ret; mov.u64 %d8, 0;\n{ "
                ".param .b64 p0; st.param.b64 [p0], %d7; .param .b64 p1; st.param.b64 [p1], %d8; .param .b32 q; "
                "call.uni (q), vprintf, (p0, p1); ld.param.b32 %r8, [q]; }\nst.global.u32 [%d2], %r8;") +
    pair_kernel("scale",
                "ld.global.u32 %r2, [%d1]; ld.const.u32 %r5, [factor]; mul.lo.u32 %r2, %r2, %r5; st.global.u32 [%d2], "
                "%r2;") +
    pair_kernel(
        "add", "ld.global.u32 %r2, [%d1]; ld.global.u32 %r3, [%d2]; add.u32 %r3, %r2, %r3; st.global.u32 [%d2], %r3;") +
    pair_kernel("choose",
                "ld.global.u32 %r2, [%d3]; and.b32 %r5, %r2, 1; setp.eq.u32 %p1, %r5, 0; @%p1 st.global.u32 [%d2], "
                "%r1;") +
    pair_kernel("scatter",
                "ld.global.u32 %r2, [%d1]; and.b32 %r2, %r2, 63; mul.wide.u32 %d6, %r2, 4; add.s64 %d6, %d4, %d6; "
                "red.global.add.u32 [%d6], 1;") +
    pair_kernel("count", "red.global.add.u32 [counter], 1; ld.global.u32 %r2, [counter]; st.global.u32 [%d2], %r2;") +
    pair_kernel("follow",
                "ld.global.u64 %d6, [%d3]; setp.eq.u64 %p1, %d6, 0; @%p1 ret; ld.global.u32 %r2, [%d6]; st.global.u32 "
                "[%d2], %r2;");

}  // namespace

TEST_CASE("undefined values end a program with --strict alone") {
  for (const bool strict : {false, true}) {
    Captured c(undefined_kernels, strict);
    const std::uint64_t out = c.device->allocate(256);
    const std::vector<std::uint8_t> ones(256, 0xff);
    for (const char* kernel : {"shared", "shuffle"}) {
      c.device->write({out, 256, 256, 1}, ones.data());
      if (!strict) {
        c.launch(kernel, {out});
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
      CHECK_THROWS_WITH(c.launch(kernel, {out}), expected);
    }
    if (strict) continue;
    tool::AnnotateOptions o;
    o.launch = c.log->finish();
    CHECK_THROWS_WITH(tool::annotate(o), Catch::Matchers::EndsWith("which was never written"));
    o.undefined_zero = true;
    CHECK(tool::annotate(o).launches.size() == 2);
  }
}

TEST_CASE("launches that repeat an earlier one leave what running them leaves") {
  const char* kernels[] = {"scale", "add", "choose", "scatter", "count", "follow"};
  constexpr unsigned words = 64, bytes = 4 * words;
  std::uint64_t repeated = 0;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    for (const bool strict : {false, true}) {
      std::mt19937 random(seed);
      Captured quick(pair_kernels, strict), plain(pair_kernels, strict, false);
      std::vector<std::uint64_t> buffers;
      const auto both = [&](const auto& action) {
        action(quick);
        action(plain);
      };
      const auto write = [&](std::uint64_t to, unsigned pattern) {
        std::vector<std::uint32_t> data(words, 0);
        for (unsigned i = 0; i < words; ++i) data[i] = pattern == 0 ? 0 : i * pattern % 7;
        if (pattern == 3) std::memcpy(data.data(), &buffers[0], 8);
        both([&](Captured& c) {
          c.device->write({to, bytes, bytes, 1}, reinterpret_cast<const std::uint8_t*>(data.data()));
        });
      };
      for (unsigned b = 0; b < 3; ++b) {
        buffers.push_back(quick.device->allocate(bytes));
        REQUIRE(plain.device->allocate(bytes) == buffers.back());
        write(buffers[b], b);
      }
      for (unsigned step = 0; step < 300; ++step) {
        const std::uint64_t a = buffers[random() % 2], b = buffers[1 + random() % 2];
        const unsigned kind = random() % 16;
        if (kind < 6) {
          // Back to one of two states, so that some occur again.
          const unsigned state = random() % 2;
          for (unsigned n = 0; n < 3; ++n) write(buffers[n], state + n);
        } else if (kind == 6) {
          const std::uint32_t value = random() % 2 + 2;
          std::vector<std::uint8_t> four(4);
          std::memcpy(four.data(), &value, 4);
          const char* const name = random() % 2 == 0 ? "factor" : "counter";
          both([&](Captured& c) { c.device->write_variable(0, name, 0, four); });
        } else if (kind == 7) {
          both([&](Captured& c) { c.device->copy({a, bytes, bytes, 1}, {b, bytes, bytes, 1}); });
        } else {
          const char* const kernel = kernels[random() % 6];
          std::string errors[2];
          unsigned n = 0;
          both([&](Captured& c) {
            try {
              c.launch(kernel, {a, b}, 2);
            } catch (const capture::KernelFault& e) {
              errors[n] = e.what();
            }
            ++n;
          });
          REQUIRE(errors[0] == errors[1]);
        }
        for (const std::uint64_t buffer : buffers) {
          REQUIRE(quick.device->read({buffer, bytes, bytes, 1}) == plain.device->read({buffer, bytes, bytes, 1}));
        }
        REQUIRE(quick.device->read_variable(0, "counter", 0, 4) == plain.device->read_variable(0, "counter", 0, 4));
        REQUIRE(quick.device->warp_instructions() == plain.device->warp_instructions());
      }
      repeated += quick.device->repeated();
      CHECK(plain.device->repeated() == 0);
    }
  }
  CHECK(repeated > 100);
}

TEST_CASE("a loop of launches runs twice, and what it prints comes again") {
  Captured c(pair_kernels);
  const std::uint64_t a = c.device->allocate(256), b = c.device->allocate(256);
  for (unsigned i = 0; i < 10; ++i) c.launch("scale", {a, b}, 2);
  CHECK(c.device->repeated() == 8);
  CHECK(c.device->launches() == 10);
  for (unsigned i = 0; i < 5; ++i) CHECK(c.launch("say", {a, b}, 2) == "hi\n");
  CHECK(c.device->repeated() == 11);
  // A launch whose result goes into the next one never repeats.
  const std::vector<std::uint8_t> ones(256, 1);
  c.device->write({a, 256, 256, 1}, ones.data());
  for (unsigned i = 0; i < 10; ++i) c.launch("add", {a, b}, 2);
  CHECK(c.device->repeated() == 11);
  CHECK(c.word(b) == 10 * 0x01010101u);
}

TEST_CASE("a program is told the registers that the trace's code has") {
  // A quotient is one instruction of generic code, and a sequence of them on sm_90.
  const std::string ptx =
      ".version 8.0\n.target sm_75\n.address_size 64\n"
      ".visible .entry k(.param .u64 out)\n{\n.reg .f32 %f<9>; .reg .b64 %d<3>;\nld.param.u64 %d1, [out];\n"
      "ld.global.f32 %f1, [%d1]; ld.global.f32 %f2, [%d1+4]; ld.global.f32 %f3, [%d1+8];\n"
      "div.rn.f32 %f4, %f1, %f2; div.rn.f32 %f5, %f2, %f3; div.rn.f32 %f6, %f3, %f1;\n"
      "add.f32 %f7, %f4, %f5; add.f32 %f7, %f7, %f6; st.global.f32 [%d1], %f7; ret;\n}\n";
  const auto registers = [&](const tool::AnnotateOptions& options) {
    Captured c(ptx);
    c.options.code = tool::compile_options(options);
    const std::uint32_t told = c.device->compile(0, "k").registers;
    // What the trace of its launch has.
    const std::uint64_t out = c.device->allocate(12);
    c.launch("k", {out});
    tool::AnnotateOptions o = options;
    o.launch = c.log->finish();
    const tool::AnnotateResult result = tool::annotate(o);
    CHECK(result.entries.at(0).registers == told);
    return told;
  };
  tool::AnnotateOptions generic, hopper, padded;
  hopper.target = "sm_90";
  padded.min_registers = 77;
  CHECK(registers(hopper) > registers(generic));
  CHECK(registers(padded) == 77);
}
