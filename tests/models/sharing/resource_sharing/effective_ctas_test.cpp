// SPDX-License-Identifier: Apache-2.0
//
// The number of CTAs of an SM that shares, against all counts of the thesis's tables 2.6 and 2.8 and against its
// equations; and the bits of the tables in hardware.
#include <regatta/sharing/effective_ctas.h>
#include <regatta/sharing/storage_bits.h>
#include <regatta/support/config.h>
#include <regatta/test/catch.h>

#include <array>
#include <string>
#include <vector>

using namespace regatta;
using models::effective_ctas;
using models::SharingPlan;
using models::Threshold;

namespace {

Threshold t_of(const std::string& text) { return Threshold::parse("register_sharing.t", text); }

std::string refusal(const std::string& text) {
  try {
    t_of(text);
  } catch (const support::ConfigError& e) {
    return e.what();
  }
  return "";
}

struct Benchmark {
  const char* name;
  unsigned threads;                ///< of a CTA
  unsigned amount;                 ///< registers of a thread, or bytes of shared memory of a CTA
  std::array<unsigned, 6> expect;  ///< CTAs at 0, 10, 30, 50, 70 and 90 % sharing
};

/// t for these: (1 - t) x 100 % is shared.
const std::array<const char*, 6> thresholds{"1", "0.9", "0.7", "0.5", "0.3", "0.1"};

/// Table 2.3: 8 CTAs and 1,536 threads; a partial warp counts as a whole one.
unsigned other_limits(unsigned threads) { return std::min(8u, 1536 / ((threads + 31) / 32 * 32)); }

}  // namespace

TEST_CASE("effective CTAs: table 2.6, registers") {
  const std::vector<Benchmark> benchmarks{
      {"backprop", 256, 24, {5, 5, 5, 5, 6, 6}}, {"b+tree", 508, 24, {2, 2, 2, 3, 3, 3}},
      {"hotspot", 256, 36, {3, 3, 3, 4, 4, 6}},  {"LIB", 192, 36, {4, 4, 5, 5, 6, 8}},
      {"MUM", 256, 28, {4, 4, 4, 5, 5, 6}},      {"mri-q", 256, 24, {5, 5, 5, 5, 6, 6}},
      {"sgemm", 128, 48, {5, 5, 5, 5, 6, 8}},    {"stencil", 512, 28, {2, 2, 2, 2, 2, 3}}};
  for (const Benchmark& b : benchmarks) {
    for (std::size_t i = 0; i < thresholds.size(); ++i) {
      CAPTURE(b.name, thresholds[i]);
      // Registers of threads, as the thesis counts, and rows of the register file.
      const unsigned warps = (b.threads + 31) / 32;
      const unsigned most = other_limits(b.threads);
      CHECK(effective_ctas(32768, b.threads * b.amount, t_of(thresholds[i]), most).ctas == b.expect[i]);
      CHECK(effective_ctas(1024, warps * b.amount, t_of(thresholds[i]), most).ctas == b.expect[i]);
    }
  }
}

TEST_CASE("effective CTAs: table 2.8, scratchpad") {
  const std::vector<Benchmark> benchmarks{
      {"CONV1", 64, 2560, {6, 6, 6, 6, 7, 8}},   {"CONV2", 128, 5184, {3, 3, 3, 3, 3, 4}},
      {"lavaMD", 128, 7200, {2, 2, 2, 2, 2, 4}}, {"NW1", 16, 2180, {7, 7, 7, 8, 8, 8}},
      {"NW2", 16, 2180, {7, 7, 7, 8, 8, 8}},     {"SRAD1", 256, 6144, {2, 2, 2, 3, 4, 4}},
      {"SRAD2", 256, 5120, {3, 3, 3, 3, 3, 5}}};
  for (const Benchmark& b : benchmarks) {
    for (std::size_t i = 0; i < thresholds.size(); ++i) {
      CAPTURE(b.name, thresholds[i]);
      CHECK(effective_ctas(16384, b.amount, t_of(thresholds[i]), other_limits(b.threads)).ctas == b.expect[i]);
    }
  }
}

TEST_CASE("effective CTAs: one of the tables needs the bound of twice as many") {
  // SRAD1: 2 + 0.667 / 0.1 CTAs are 8, of which 6 have threads.
  CHECK(other_limits(256) == 6);
  CHECK(effective_ctas(16384, 6144, t_of("0.1"), 6).ctas == 4);
}

TEST_CASE("effective CTAs: pairs and CTAs that share nothing") {
  const SharingPlan hotspot = effective_ctas(1024, 8 * 36, t_of("0.1"), 6);
  CHECK(hotspot.ctas == 6);
  CHECK(hotspot.pairs == 3);
  CHECK(hotspot.unshared() == 0);
  const SharingPlan example = effective_ctas(35, 10, t_of("0.5"), 100);  // figure 2.4
  CHECK(example.ctas == 4);
  CHECK(example.pairs == 1);
  CHECK(example.unshared() == 2);
  // 2.2.4's example of what must not happen: two pairs in which two CTAs make progress, where three did.
  CHECK_FALSE(effective_ctas(36, 10, t_of("0.8"), 100).sharing());
  CHECK(effective_ctas(36, 10, t_of("0.8"), 100).ctas == 3);
}

TEST_CASE("effective CTAs: other limits") {
  CHECK(effective_ctas(1000, 100, t_of("0.1"), 4).ctas == 4);
  CHECK_FALSE(effective_ctas(1000, 100, t_of("0.1"), 4).sharing());
  const SharingPlan cut = effective_ctas(350, 100, t_of("0.1"), 4);
  CHECK(cut.ctas == 4);
  CHECK(cut.pairs == 1);
  CHECK(effective_ctas(99, 100, t_of("0.1"), 4).ctas == 0);
  CHECK(effective_ctas(300, 100, t_of("0.1"), 100).ctas == 3);  // nothing is left over
}

TEST_CASE("effective CTAs: the equations hold for all small sizes") {
  for (const char* text : {"0.05", "0.1", "0.125", "0.3", "0.333333", "0.5", "0.9", "1"}) {
    const Threshold t = t_of(text);
    const std::uint64_t n = t.numerator(), d = t.denominator();
    for (std::uint64_t resource = 1; resource < 300; ++resource) {
      for (std::uint64_t per_cta = 1; per_cta <= resource; per_cta += 1 + per_cta / 4) {
        CAPTURE(text, resource, per_cta);
        const SharingPlan plan = effective_ctas(resource, per_cta, t, 1000);
        const std::uint64_t alone = resource / per_cta;
        REQUIRE(plan.unshared() + plan.pairs == alone);
        const auto fits = [&](std::uint64_t pairs) {  // equation 2.2, times the denominator of t
          return (alone - pairs) * per_cta * d + pairs * per_cta * (d + n) <= resource * d;
        };
        REQUIRE(fits(plan.pairs));
        REQUIRE((plan.pairs == alone || !fits(plan.pairs + 1)));
      }
    }
  }
}

TEST_CASE("threshold: decimal text is exact") {
  CHECK(t_of("0.1").numerator() == 1);
  CHECK(t_of("0.1").denominator() == 10);
  CHECK(t_of(".250").denominator() == 4);
  CHECK(t_of("1").of(37) == 37);
  CHECK(t_of("1.0").of(37) == 37);
  CHECK(t_of("0.1").of(36) == 3);
  CHECK(t_of("0.1").of(40) == 4);
  CHECK(t_of("0.3").of(10) == 3);  // 2.9999999999999996 in binary floating point
  CHECK(t_of("0.999999").of(1000000) == 999999);
}

TEST_CASE("threshold: what it refuses") {
  const std::string expected = ", expected a decimal number above 0 and at most 1, with at most 6 places, as in 0.1";
  for (const char* text : {"", ".", "0", "0.0", "1.1", "-0.1", "1e-1", "0.1.2", "0,1", "10%", "0.0000001", "00000000.1",
                           "18446744073709551617"}) {
    CHECK(refusal(text) == "configuration: register_sharing.t = " + std::string(text) + expected);
  }
}

TEST_CASE("storage bits: 273 for registers and 93 for scratchpad on the thesis's machine") {
  const models::SharingBits registers = models::register_sharing_bits(8, 48);
  CHECK(registers.sharing == 1);
  CHECK(registers.partners == 32);
  CHECK(registers.owners == 48);
  CHECK(registers.shared == 48);
  CHECK(registers.locks == 144);
  CHECK(registers.total() == 273);
  const models::SharingBits scratchpad = models::scratchpad_sharing_bits(8, 48);
  CHECK(scratchpad.locks == 12);
  CHECK(scratchpad.total() == 93);
}
