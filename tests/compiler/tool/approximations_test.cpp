// SPDX-License-Identifier: Apache-2.0
//
// regatta-annotate --approx.
#include <regatta/test/catch.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "folder.h"
#include "process.h"

using namespace regatta;
using test::Folder;

namespace {

/// out = 1/x and sin(x) of x = 0.900000393, approximately.
const std::string kernel =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .b64 %p; .reg .f32 %f<3>;\n"
    "ld.param.u64 %p, [out]; mov.f32 %f0, 0f3F66666D;\n"
    "rcp.approx.f32 %f1, %f0; sin.approx.f32 %f2, %f0;\n"
    "st.global.f32 [%p], %f1; st.global.f32 [%p+4], %f2; ret;\n}\n";
const std::string launch_text =
    "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n[[param]]\nname = \"out\"\nbuffer = 8\n";

}  // namespace

TEST_CASE("--approx chooses what approximate instructions give") {
  const Folder folder;
  folder.write("k.ptx", kernel);
  const std::string launch = folder.write("l.toml", launch_text), out = folder.file("out.bin");
  const auto results = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {REGATTA_ANNOTATE, "--launch", launch, "--dump-buffer", "out=" + out});
    const test::ProcessResult r = test::run_process(options);
    INFO(r.err);
    CHECK(r.status == 0);
    const std::string bytes = folder.read("out.bin");
    REQUIRE(bytes.size() == 8);
    std::pair<std::uint32_t, std::uint32_t> words;
    std::memcpy(&words.first, bytes.data(), 4);
    std::memcpy(&words.second, bytes.data() + 4, 4);
    return words;
  };
  const std::pair<std::uint32_t, std::uint32_t> rounded{0x3f8e38dfu, 0x3f488821u}, h100{0x3f8e38e0u, 0x3f488820u};
  CHECK(results({}) == rounded);
  CHECK(results({"--approx", "rounded"}) == rounded);
  CHECK(results({"--target", "sm_90"}) == rounded);
  CHECK(results({"--approx", "h100"}) == h100);
  CHECK(results({"--approx=h100", "--target", "sm_90"}) == h100);
}

TEST_CASE("--approx is refused where it means nothing") {
  const Folder folder;
  const std::string ptx = folder.write("k.ptx", kernel), launch = folder.write("l.toml", launch_text);
  const auto refused = [&](std::vector<std::string> options, const std::string& message) {
    options.insert(options.begin(), REGATTA_ANNOTATE);
    const test::ProcessResult r = test::run_process(options);
    CHECK(r.status == 2);
    CHECK(r.err == "regatta-annotate: " + message + "\n");
  };
  refused({"--launch", launch, "--approx", "gpu"}, "--approx 'gpu', expected rounded or h100");
  refused({"--launch", launch, "--approx", "h10"}, "--approx 'h10', expected rounded or h100; did you mean 'h100'?");
  refused({"--ptx", ptx, "--check", "--approx", "h100"}, "--check runs nothing: --approx does not go with it");
}
