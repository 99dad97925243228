// SPDX-License-Identifier: Apache-2.0
#include <regatta/test/catch.h>
#include <regatta/trace/section_registry.h>
#include <regatta/trace/sharing.h>

#include <random>
#include <stdexcept>
#include <string>

using namespace regatta::trace;

namespace {

/// Nine instructions; 40 bytes of shared memory, and dynamic.
Kernel kernel_with_shared() {
  Kernel kernel;
  kernel.name = "k";
  kernel.instructions.resize(9);
  kernel.instructions.back().op_class = OpClass::exit;
  kernel.blocks.push_back({0, 9, {}, -1});
  kernel.shared_variables = {{"tile", 0, 24}, {"sums", 24, 16}, {"rest", 40, 0}};
  kernel.static_shared_bytes = 40;
  return kernel;
}

SharingLayout layout_of_kernel() {
  SharingLayout l;
  l.registers_reordered = true;
  l.t = {1, 4};
  l.shared_bytes = 100;
  l.boundary = 24;
  l.optimal = 3;
  l.optimal_jumps = 1;
  l.postdom = 1;
  l.common_variables = {false, true, true};
  l.common_accesses = {false, true, false, false, false, false, false, true, false};
  return l;
}

std::string sharing_error(const Kernel& kernel, const std::string& payload, std::uint32_t version = 1) {
  try {
    decode_sharing(kernel, {sharing_section, version, payload});
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

std::string sharing_error(const SharingLayout& l) { return sharing_error(kernel_with_shared(), encode(l)); }

bool equal(const SharingLayout& x, const SharingLayout& y) {
  return x.registers_reordered == y.registers_reordered && x.t.numerator == y.t.numerator &&
         x.t.denominator == y.t.denominator && x.shared_bytes == y.shared_bytes && x.boundary == y.boundary &&
         x.optimal == y.optimal && x.optimal_jumps == y.optimal_jumps && x.postdom == y.postdom &&
         x.common_variables == y.common_variables && x.common_accesses == y.common_accesses;
}

}  // namespace

TEST_CASE("shares are decimal numbers above 0 and at most 1") {
  const auto text = [](const char* t) {
    const std::optional<Share> s = parse_share(t);
    return s ? to_string(*s) : "";
  };
  CHECK(text("0.1") == "1/10");
  CHECK(text("0.50") == "1/2");
  CHECK(text("1") == "1/1");
  CHECK(text("1.000") == "1/1");
  CHECK(text("00.125") == "1/8");
  CHECK(text("0.000000001") == "1/1000000000");
  CHECK(text("0.999999999") == "999999999/1000000000");
  for (const char* bad :
       {"",     ".",    "0",   "0.0", "1.1", "1.000000001",  "2",     "-0.1", "+0.1", "0.1 ",
        " 0.1", "1e-1", "0,1", ".5",  "1.",  "0.0000000001", "0.1.2", "1/2",  "nan",  "99999999999"}) {
    CAPTURE(bad);
    CHECK(text(bad) == "");
  }
  CHECK(private_bytes({1, 10}, 100) == 8);
  CHECK(private_bytes({1, 10}, 39) == 0);
  CHECK(private_bytes({1, 1}, 103) == 100);
  CHECK(private_bytes({999'999'999, 1'000'000'000}, 0xffffffff) == 4'294'967'288);
  CHECK_FALSE(reaches_common_part({"v", 0, 24}, 24));
  CHECK(reaches_common_part({"v", 0, 25}, 24));
  CHECK(reaches_common_part({"v", 24, 4}, 24));
  CHECK(reaches_common_part({"v", 0, 0}, 24));
  CHECK(reaches_common_part({"v", 0xfffffffc, 8}, 0xffffffff));
}

TEST_CASE("a layout of scratchpad memory survives the section") {
  const SharingLayout l = layout_of_kernel();
  const std::string payload = encode(l);
  CHECK(payload == std::string("\1\1\0\0\0\4\0\0\0\x64\0\0\0\x18\0\0\0\3\0\0\0\1\0\0\0\1\0\0\0\6\x82\0", 32));
  Kernel kernel = kernel_with_shared();
  CHECK_FALSE(find_sharing(kernel));
  kernel.annotations.push_back({sharing_section, 2, "?"});
  CHECK_FALSE(find_sharing(kernel));
  kernel.annotations.push_back({sharing_section, 1, payload});
  const auto back = find_sharing(kernel);
  REQUIRE(back);
  CHECK(equal(*back, l));
  const SectionRegistry sections = SectionRegistry::with_builtin();
  const SectionFormat* format = sections.of_scheme(relssp_postdom_scheme);
  REQUIRE(format != nullptr);
  CHECK(format->name() == "sharing");
  const std::vector<InfoRow> rows = format->info(kernel);
  REQUIRE(rows.size() == 5);
  CHECK(rows[0].text == "t 1/4, 24 of 100 shared bytes private, registers in the order of first use");
  CHECK(rows[1].name == "  private");
  CHECK(rows[1].text == "tile at 0, 24 bytes");
  CHECK(rows[2].name == "  common");
  CHECK(rows[3].text == "rest at 40, dynamic");
  CHECK(rows[4].text == "3 optimal with 1 jumps, 1 post-dominating");
  CHECK(format->notes(kernel) == std::vector<std::string>{"", "common", "", "", "", "", "", "common", ""});
}

TEST_CASE("damaged layouts of scratchpad memory are refused") {
  const Kernel kernel = kernel_with_shared();
  CHECK(sharing_error(layout_of_kernel()).empty());
  const std::string payload = encode(layout_of_kernel());
  CHECK(sharing_error(kernel, payload, 2) == "kernel k: sharing: version 2, expected 1");
  for (std::size_t size = 0; size < payload.size(); ++size)
    REQUIRE(sharing_error(kernel, payload.substr(0, size)) ==
            "kernel k: sharing: " + std::to_string(size) +
                " bytes, expected 32 for 3 shared variables and 9 instructions");
  CHECK(sharing_error(kernel, payload + '\0') ==
        "kernel k: sharing: 33 bytes, expected 32 for 3 shared variables and 9 instructions");

  std::string damaged = payload;
  damaged[0] = '\2';
  CHECK(sharing_error(kernel, damaged) == "kernel k: sharing: the mark of reordered registers is neither 0 nor 1");
  damaged = payload;
  damaged[29] = '\x0e';
  CHECK(sharing_error(kernel, damaged) == "kernel k: sharing: a mark behind the last variable");
  damaged = payload;
  damaged[31] = '\2';
  CHECK(sharing_error(kernel, damaged) == "kernel k: sharing: a mark behind the last instruction");

  SharingLayout l = layout_of_kernel();
  l.t = {2, 8};
  CHECK(sharing_error(l) == "kernel k: sharing: t is 2/8, expected a fraction above 0 and at most 1, in lowest terms");
  for (const Share t : {Share{0, 1}, Share{5, 4}, Share{1, 0}, Share{0, 0}}) {
    l.t = t;
    CHECK(sharing_error(l) ==
          "kernel k: sharing: t is " + to_string(t) + ", expected a fraction above 0 and at most 1, in lowest terms");
  }
  l = layout_of_kernel();
  l.shared_bytes = 39;
  CHECK(sharing_error(l) == "kernel k: sharing: a layout of 39 bytes, the kernel has 40");
  l = layout_of_kernel();
  l.boundary = 28;
  CHECK(sharing_error(l) == "kernel k: sharing: the boundary is 28, expected 24: 1/4 of 100 bytes");
  l = layout_of_kernel();
  l.common_variables[0] = true;
  CHECK(sharing_error(l) == "kernel k: sharing: variable 'tile' is marked common, its place says otherwise");
  l.common_variables = {false, false, true};
  CHECK(sharing_error(l) == "kernel k: sharing: variable 'sums' is marked private, its place says otherwise");
}

TEST_CASE("each changed byte of a layout is refused, or is another layout that encodes to it") {
  const Kernel kernel = kernel_with_shared();
  const std::string payload = encode(layout_of_kernel());
  unsigned accepted = 0, refused = 0;
  for (std::size_t at = 0; at < payload.size(); ++at)
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::string damaged = payload;
      damaged[at] = static_cast<char>(byte);
      const std::string error = sharing_error(kernel, damaged);
      CAPTURE(at, byte);
      if (error.empty()) {
        // Nothing is lost in reading: what was accepted has these very bytes.
        REQUIRE(encode(decode_sharing(kernel, {sharing_section, 1, damaged})) == damaged);
        ++accepted;
        // Only the counts, which the inserted instructions are compared with, the mark of the registers and the marks
        // of accesses can be others, and a size that has the same boundary.
        REQUIRE((at == 0 || (at >= 9 && at < 13) || (at >= 17 && at < 29) || at >= 30 || damaged == payload));
      } else {
        REQUIRE(error.rfind("kernel k: sharing: ", 0) == 0);
        ++refused;
      }
    }
  CHECK(accepted + refused == 32 * 256);
  CHECK(refused > 4000);

  // Random bytes of the right size, of which few are a layout.
  std::mt19937 random(28);
  for (unsigned round = 0; round < 2000; ++round) {
    std::string bytes;
    for (std::size_t n = 0; n < payload.size(); ++n) bytes.push_back(static_cast<char>(random()));
    REQUIRE_FALSE(sharing_error(kernel, bytes).empty());
  }
}
