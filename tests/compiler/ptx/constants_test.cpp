// SPDX-License-Identifier: Apache-2.0
//
// Constant expressions against the values that ptxas 13.0 writes into its output for them.
#include "support.h"

#include <cstring>

using namespace regatta;

namespace {

struct Evaluated {
  const char* expression;
  std::uint64_t value;
};
constexpr Evaluated evaluated[] = {
    {"-1>>1", 0xffffffffffffffffu},
    {"0xffffffffffffffff>>63", 0x1u},
    {"-1U>>63", 0x1u},
    {"~0>>1", 0x7fffffffffffffffu},
    {"(-1&-1)>>63", 0xffffffffffffffffu},
    {"(1U-2)>>63", 0x1u},
    {"-1<1", 0x1u},
    {"-1<1U", 0x0u},
    {"(-1<0)-2>>63", 0xffffffffffffffffu},
    {"!5", 0x0u},
    {"!0-2>>63", 0xffffffffffffffffu},
    {"-8/3", 0xfffffffffffffffeu},
    {"-8/3U", 0x5555555555555552u},
    {"(1?-1:2U)>>63", 0xffffffffffffffffu},
    {"(0?1U:-1)>>63", 0xffffffffffffffffu},
    {"(1&&2)-2>>63", 0xffffffffffffffffu},
    {"1<<63", 0x8000000000000000u},
    {"1<<64", 0x1u},
    {"1<<65", 0x2u},
    {"-1>>70", 0xffffffffffffffffu},
    {"(.s64)0xffffffffffffffff>>63", 0xffffffffffffffffu},
    {"(.u64)-1>>63", 0x1u},
    {"9223372036854775808>>63", 0x1u},
    {"-9223372036854775808>>63", 0x1u},
    {"-9223372036854775807-1>>63", 0xffffffffffffffffu},
    {"5 % 3", 0x2u},
    {"-5 % 3", 0x2u},
    {"-5 % 3U", 0x2u},
    {"(-5 % 3)-4>>63", 0x1u},
    {"010", 0x8u},
    {"0b101", 0x5u},
    {"0X1fU", 0x1fu},
    {"1==1", 0x1u},
    {"1!=1U", 0x0u},
    {"3>=2", 0x1u},
    {"5|2&1", 0x5u},
    {"1+2<<3", 0x18u},
    {"7^2|1", 0x5u},
    {"0||0", 0x0u},
    {"1?0?4:5:6", 0x5u},
    {"0?4:1?7:8", 0x7u},
    {"3-5>>1", 0xffffffffffffffffu},
    {"WARP_SZ-33>>1", 0xffffffffffffffffu},
    {"-WARP_SZ>>63", 0xffffffffffffffffu},
    {"~WARP_SZ", 0xffffffffffffffdfu},
    {"!WARP_SZ", 0x0u},
    {"1.5<2.5", 0x1u},
    {"2.0*1.5==3.0", 0x1u},
    {"- -5", 0x5u},
    {"-~5", 0x6u},
    {"(2+3)*WARP_SZ", 0xa0u},
    {"-9223372036854775807/-1", 0x7fffffffffffffffu},
    {"0x8000000000000000/-1", 0x0u},
    {"2 - 3 - 4", 0xfffffffffffffffbu},
    {"100/7/2", 0x7u},
    {"1<2<3", 0x1u},
    {"5&6==6", 0x1u},
};

}  // namespace

TEST_CASE("constant expressions: as ptxas evaluates them") {
  std::string text =
      ".version 8.0\n.target sm_75\n.address_size 64\n.global .u64 y[" + std::to_string(std::size(evaluated)) + "] = {";
  for (const Evaluated& r : evaluated) text += std::string(&r == evaluated ? "" : ", ") + r.expression;
  const ir::Module m = ptx::parse_module(text + "};\n", "k.ptx");
  const std::vector<std::uint8_t>& bytes = m.variables.at(0).initial;
  REQUIRE(bytes.size() == 8 * std::size(evaluated));
  for (std::size_t i = 0; i < std::size(evaluated); ++i) {
    INFO(evaluated[i].expression);
    std::uint64_t got = 0;
    std::memcpy(&got, bytes.data() + 8 * i, sizeof got);
    CHECK(got == evaluated[i].value);
  }
}
