// SPDX-License-Identifier: Apache-2.0
//
// Contents that look like the data of programs: pictures, row lengths, texts, keys, points.
#include <regatta/launch/fill.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace regatta;
using launch::FillSpec;
using launch::Init;
using launch::make_buffer;

namespace {

FillSpec structured(Init init, ir::Type type, std::int64_t low, std::int64_t high) {
  FillSpec s;
  s.init = init;
  s.type = type;
  s.integer_low = low;
  s.integer_high = high;
  s.low = static_cast<double>(low);
  s.high = static_cast<double>(high);
  s.seed = 7;
  return s;
}

}  // namespace

TEST_CASE("a picture is smooth, has its range and few levels, and another seed is another picture") {
  FillSpec s = structured(Init::image, ir::Type::u8, 0, 255);
  s.width = 200;
  const auto pixels = make_buffer<std::uint8_t>(s, 200 * 150);
  double across = 0, down = 0;
  std::map<int, unsigned> levels;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    ++levels[pixels[i]];
    if (i % 200 != 199) across += std::abs(pixels[i] - pixels[i + 1]);
    if (i + 200 < pixels.size()) down += std::abs(pixels[i] - pixels[i + 200]);
  }
  // Neighbours of independent pixels would differ by 85 on average.
  CHECK(across / static_cast<double>(pixels.size()) < 6);
  CHECK(down / static_cast<double>(pixels.size()) < 6);
  CHECK(levels.size() > 100);
  CHECK(levels.rbegin()->first - levels.begin()->first > 120);
  // Columns are columns: with another width the picture would be sheared.
  s.seed = 8;
  CHECK(make_buffer<std::uint8_t>(s, 200 * 150) != pixels);

  FillSpec f = structured(Init::image, ir::Type::f32, 0, 0);
  f.width = 64;
  f.low = 50;
  f.high = 250;
  std::set<float> values;
  for (const float v : make_buffer<float>(f, 64 * 64)) {
    CHECK(v >= 50);
    CHECK(v <= 250);
    values.insert(v);
  }
  CHECK(values.size() <= 256);
}

TEST_CASE("a power law has its probabilities, and offsets are its running sum") {
  FillSpec s = structured(Init::power_law, ir::Type::s32, 1, 100);
  constexpr std::size_t count = 50000;
  const auto degrees = make_buffer<std::int32_t>(s, count);
  std::map<int, unsigned> times;
  for (const std::int32_t d : degrees) ++times[d];
  CHECK(times.begin()->first == 1);
  CHECK(times.rbegin()->first <= 100);
  double scale = 0;
  for (int k = 1; k <= 100; ++k) scale += 1.0 / (k * k);
  for (const int k : {1, 2, 3, 10}) {
    const double expected = count / (k * k * scale);
    CHECK(std::fabs(times[k] - expected) < 4 * std::sqrt(expected) + 1);
  }
  s.init = Init::offsets;
  const auto offsets = make_buffer<std::int32_t>(s, count);
  CHECK(offsets[0] == 0);
  bool sums = true;
  for (std::size_t i = 1; i < count; ++i) sums = sums && offsets[i] == offsets[i - 1] + degrees[i - 1];
  CHECK(sums);
  s.exponent = 1;
  CHECK(make_buffer<std::int32_t>(s, count).back() > 2 * offsets.back());
}

TEST_CASE("a text has the symbols of its alphabet, and longer repeats than chance") {
  FillSpec s = structured(Init::text, ir::Type::u8, 0, 0);
  s.alphabet = "ACGT";
  const auto symbols = make_buffer<std::uint8_t>(s, 4000);
  CHECK(std::set<std::uint8_t>(symbols.begin(), symbols.end()) == std::set<std::uint8_t>{'A', 'C', 'G', 'T'});
  // Of 16 random symbols, one in 4^16 is again that of an earlier place; here many.
  std::set<std::string> seen;
  unsigned repeats = 0;
  const std::string text(symbols.begin(), symbols.end());
  for (std::size_t i = 0; i + 16 <= text.size(); ++i) repeats += seen.insert(text.substr(i, 16)).second ? 0 : 1;
  CHECK(repeats > 400);
  CHECK(repeats < 3500);
}

TEST_CASE("sorted keys ascend, and a part of them is exchanged with near ones") {
  FillSpec s = structured(Init::sorted, ir::Type::u32, 10, 1000000);
  auto keys = make_buffer<std::uint32_t>(s, 5000);
  CHECK(std::is_sorted(keys.begin(), keys.end()));
  CHECK(keys.front() < 1000);
  CHECK(keys.back() > 999000);
  const auto ascending = keys;
  s.swaps = 0.1;
  keys = make_buffer<std::uint32_t>(s, 5000);
  unsigned moved = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) moved += keys[i] != ascending[i] ? 1 : 0;
  CHECK(moved > 600);
  CHECK(moved < 1400);
  std::sort(keys.begin(), keys.end());
  CHECK(keys == ascending);
}

TEST_CASE("points lie around as many centres as asked for") {
  FillSpec s = structured(Init::points, ir::Type::f64, 0, 0);
  s.low = 0;
  s.high = 1000;
  s.dimensions = 2;
  s.clusters = 3;
  s.deviation = 1;
  const auto coordinates = make_buffer<double>(s, 2 * 900);
  std::map<std::pair<int, int>, unsigned> places;
  for (std::size_t i = 0; i < coordinates.size(); i += 2) {
    ++places[{static_cast<int>(std::floor(coordinates[i] / 50)),
              static_cast<int>(std::floor(coordinates[i + 1] / 50))}];
  }
  CHECK(places.size() >= 3);
  CHECK(places.size() <= 12);  // a centre may be near the edge of a square
  s.deviation = 0;
  std::set<std::pair<double, double>> centres;
  const auto exact = make_buffer<double>(s, 2 * 900);
  for (std::size_t i = 0; i < exact.size(); i += 2) centres.insert({exact[i], exact[i + 1]});
  CHECK(centres.size() == 3);
}

TEST_CASE("structured contents are the same on every machine") {
  // Computed by a second program, in Python.
  FillSpec s = structured(Init::image, ir::Type::u8, 0, 255);
  s.width = 16;
  const auto sum = [](const auto& values) {
    std::uint64_t all = 0;
    for (const auto v : values) all = all * 31 + static_cast<std::uint64_t>(v);
    return all;
  };
  CHECK(sum(make_buffer<std::uint8_t>(s, 256)) == 0x724cb096b930f2bbu);
  CHECK(sum(make_buffer<std::int32_t>(structured(Init::power_law, ir::Type::s32, 0, 40), 256)) == 0x2819d3b1e13e3397u);
  CHECK(sum(make_buffer<std::uint8_t>(structured(Init::text, ir::Type::u8, 0, 0), 256)) == 0xf93f3670f62bd68eu);
  CHECK(sum(make_buffer<std::uint32_t>(structured(Init::sorted, ir::Type::u32, 0, 5000), 256)) == 0x491ab1fe21b43c84u);
  CHECK(sum(make_buffer<std::int32_t>(structured(Init::points, ir::Type::s32, 0, 5000), 256)) == 0x2cfa347706b4f6bcu);
}
