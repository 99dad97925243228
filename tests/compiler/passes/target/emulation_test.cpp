// SPDX-License-Identifier: Apache-2.0
//
// What lanes of a warp see of a target's control flow.
#include <regatta/passes/target.h>
#include <regatta/test/catch.h>

#include "harness.h"

using namespace regatta;
using test::Machine;

namespace {

/// What 64 threads leave in a buffer of 256 words, which begins as 0, 1, 2, ... Their number is %r1, their own word at
/// [%d3].
std::vector<std::uint32_t> words_of(const std::string& body, const char* target) {
  Machine m(test::module_text(".param .u64 out",
                              ".reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %d<8>;\n"
                              "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;\n"
                              "add.s64 %d3, %d1, %d2;\n" +
                                  body + "ret;\n",
                              "", "sm_90"),
            32, 255, "", passes::Target::named(target));
  std::vector<std::uint32_t> words(256);
  for (std::uint32_t n = 0; n < words.size(); ++n) words[n] = n;
  const std::uint64_t at = m.buffer("out", words);
  m.parameter(at);
  m.request.block = {64, 1, 1};
  m.run();
  return m.read<std::uint32_t>(at, words.size());
}

void check_same(const std::string& body) { CHECK(words_of(body, "sm_90") == words_of(body, "generic")); }

}  // namespace

TEST_CASE("lanes outside of a side compare values that they do not have, and nobody is told") {
  check_same(
      "setp.ge.u32 %p1, %r1, 16; @%p1 bra J;\n"
      "ld.global.u32 %r2, [%d3]; setp.le.u32 %p2, %r2, 5; @!%p2 bra I;\n"
      "st.global.u32 [%d3+256], %r2;\n"
      "I: add.u32 %r3, %r2, 3; st.global.u32 [%d3+512], %r3;\n"
      "J: st.global.u32 [%d3+768], %r1;\n");
}

TEST_CASE("lanes that run a loop of shuffles and votes differently often stay together as long as they did") {
  const std::string trips = GENERATE("and.b32 %r4, %r1, 7; add.u32 %r4, %r4, 3;\n", "mov.u32 %r4, 9;\n");
  check_same(trips +
             "mov.u32 %r5, 0; mov.u32 %r6, %r1;\n"
             "TOP: activemask.b32 %r7; xor.b32 %r6, %r6, %r7; mul.lo.u32 %r6, %r6, 5;\n"
             "setp.lt.u32 %p1, %r6, 0x70000000; vote.sync.ballot.b32 %r8, %p1, %r7; xor.b32 %r6, %r6, %r8;\n"
             "shfl.sync.bfly.b32 %r9, %r6, 1, 31, %r7; add.u32 %r5, %r5, 1;\n"
             "setp.lt.u32 %p2, %r5, %r4; @%p2 bra TOP;\n"
             "st.global.u32 [%d3], %r6; st.global.u32 [%d3+256], %r5;\n");
}

TEST_CASE("lanes that divide by ordinary and by special numbers meet again") {
  check_same(
      "ld.global.u32 %r2, [%d3]; and.b32 %r3, %r2, 3; cvt.rn.f32.u32 %r4, %r3; cvt.rn.f32.u32 %r5, %r2;\n"
      "div.rn.f32 %r6, %r5, %r4; activemask.b32 %r7; xor.b32 %r6, %r6, %r7; st.global.u32 [%d3+256], %r6;\n"
      "sqrt.rn.f32 %r6, %r4; activemask.b32 %r7; xor.b32 %r6, %r6, %r7; st.global.u32 [%d3+512], %r6;\n");
}

TEST_CASE("lanes leave a copied loop with the values that they had") {
  check_same(
      "mov.u32 %r5, 0; mov.u32 %r6, 7; add.u32 %r7, %r1, 1;\n"
      "TOP: mad.lo.u32 %r6, %r6, 3, %r5; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r7; @%p2 bra TOP;\n"
      "st.global.u32 [%d3], %r6; st.global.u32 [%d3+256], %r5;\n");
}
