// SPDX-License-Identifier: Apache-2.0
#include <regatta/launch/fill.h>
#include <regatta/test/catch.h>

#include <cmath>

using namespace regatta;
using namespace regatta::launch;

namespace {

FillSpec spec(Init init, ir::Type type) {
  FillSpec s;
  s.init = init;
  s.type = type;
  return s;
}

}  // namespace

TEST_CASE("the generator is splitmix64") {
  // The published sequence for seed 1234567.
  CHECK(random_word(1234567, 0) == 6457827717110365317u);
  CHECK(random_word(1234567, 1) == 3203168211198807973u);
  CHECK(random_word(1234567, 2) == 9817491932198370423u);
  CHECK(random_word(1234567, 3) == 4593380528125082431u);
  CHECK(random_word(1234567, 4) == 16408922859458223821u);
}

TEST_CASE("iota, constant and zero") {
  FillSpec s = spec(Init::iota, ir::Type::s32);
  s.integer_low = -2;
  s.integer_step = 3;
  CHECK(make_buffer<std::int32_t>(s, 4) == std::vector<std::int32_t>{-2, 1, 4, 7});
  s = spec(Init::iota, ir::Type::f64);
  s.low = 0.5;
  CHECK(make_buffer<double>(s, 3) == std::vector<double>{0.5, 1.5, 2.5});
  s = spec(Init::constant, ir::Type::f32);
  s.value = 2.5;
  CHECK(make_buffer<float>(s, 2) == std::vector<float>{2.5f, 2.5f});
  CHECK(make_buffer<std::uint16_t>(spec(Init::zero, ir::Type::u16), 2) == std::vector<std::uint16_t>{0, 0});
}

TEST_CASE("uniform values stay in their range and depend on seed and index alone") {
  FillSpec s = spec(Init::uniform, ir::Type::f32);
  s.low = 323;
  s.high = 341;
  s.seed = 7;
  const auto long_one = make_buffer<float>(s, 10000), short_one = make_buffer<float>(s, 10);
  double sum = 0;
  for (std::size_t i = 0; i < long_one.size(); ++i) {
    CHECK(long_one[i] >= 323.0f);
    CHECK(long_one[i] < 341.0f);
    if (i < 10) CHECK(long_one[i] == short_one[i]);
    sum += static_cast<double>(long_one[i]);
  }
  CHECK(std::fabs(sum / 10000 - 332) < 0.5);
  s = spec(Init::uniform, ir::Type::s32);
  s.integer_low = -1;
  s.integer_high = 1;
  bool seen[3] = {};
  for (const std::int32_t v : make_buffer<std::int32_t>(s, 100)) {
    REQUIRE(v >= -1);
    REQUIRE(v <= 1);
    seen[v + 1] = true;
  }
  CHECK((seen[0] && seen[1] && seen[2]));
  s.integer_low = INT64_MIN;
  s.integer_high = INT64_MAX;
  s.type = ir::Type::s64;
  CHECK(make_buffer<std::int64_t>(s, 2)[0] != make_buffer<std::int64_t>(s, 2)[1]);
}

TEST_CASE("normal values have the mean and the deviation") {
  FillSpec s = spec(Init::normal, ir::Type::f64);
  s.mean = 10;
  s.stddev = 2;
  double sum = 0, squares = 0;
  for (const double v : make_buffer<double>(s, 20000)) {
    sum += v;
    squares += (v - 10) * (v - 10);
  }
  CHECK(std::fabs(sum / 20000 - 10) < 0.05);
  CHECK(std::fabs(std::sqrt(squares / 20000) - 2) < 0.05);
}

TEST_CASE("a size that is no whole number of elements is refused") {
  std::vector<std::uint8_t> bytes(7);
  CHECK_THROWS_AS(fill_buffer(spec(Init::zero, ir::Type::f32), bytes), std::invalid_argument);
}

TEST_CASE("bf16 is rounded once and stays below its bound") {
  FillSpec s = spec(Init::iota, ir::Type::bf16);
  s.low = 256;
  s.step = 0.5;
  // Between 256 and 512 a bf16 is a multiple of 2; ties go to the even one.
  CHECK(make_buffer<std::uint16_t>(s, 8) ==
        std::vector<std::uint16_t>{0x4380, 0x4380, 0x4380, 0x4381, 0x4381, 0x4381, 0x4382, 0x4382});
  s = spec(Init::uniform, ir::Type::bf16);
  s.low = 1;
  s.high = 1.0078125;  // the first one above 1
  for (const std::uint16_t h : make_buffer<std::uint16_t>(s, 100)) CHECK(h == 0x3f80);
}

TEST_CASE("halves are rounded once and stay below their bound") {
  FillSpec s = spec(Init::iota, ir::Type::f16);
  s.low = 2048;
  s.step = 0.5;
  // Between 2048 and 4096 a half is a multiple of 2; ties go to the even one.
  CHECK(make_buffer<std::uint16_t>(s, 8) ==
        std::vector<std::uint16_t>{0x6800, 0x6800, 0x6800, 0x6801, 0x6801, 0x6801, 0x6802, 0x6802});
  s = spec(Init::uniform, ir::Type::f16);
  s.low = 1;
  s.high = 1.001;  // one half above 1 is 1.00098: only 1 and that one are left
  unsigned above = 0;
  for (const std::uint16_t h : make_buffer<std::uint16_t>(s, 1000)) {
    CHECK((h == 0x3c00 || h == 0x3c01));
    above += h == 0x3c01 ? 1 : 0;
  }
  CHECK(above > 300);
  s.high = 1.0009765625;
  for (const std::uint16_t h : make_buffer<std::uint16_t>(s, 100)) CHECK(h == 0x3c00);
  s.low = -1;
  s.high = 0;
  for (const std::uint16_t h : make_buffer<std::uint16_t>(s, 1000)) CHECK((h & 0x8000) != 0);
}
