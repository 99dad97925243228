// SPDX-License-Identifier: Apache-2.0
#include "wir_messages.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace regatta::test::wir {

namespace {

constexpr unsigned warps = 4, arrays = 4, array_bytes = 128;

struct Message {
  unsigned array = 0, writer = 0;
  std::vector<unsigned> before, behind;            ///< warps that read the array before it is written, and behind that
  unsigned read_counter = 0, written_counter = 0;  ///< what they raise, and what they wait for
};

class Writer {
 public:
  explicit Writer(unsigned seed) : random_(seed), shared_(chance(50)) {}

  std::string text() {
    const unsigned phases = 2 + any(3);
    for (unsigned n = 0; n < phases; ++n) phase();
    std::string zero;
    for (unsigned c = 0; c < counters_; ++c) zero += "  st" + space() + "u32 [" + counter(c) + "], %r6;\n";
    return head() + zero + "ZEROED:\n  bar.sync 0;\n" + body_ +
           "  mul.wide.u32 %d11, %r1, 4;\n  add.s64 %d12, %d6, %d11;\n  st.global.u32 [%d12], %r8;\n  ret;\n}\n";
  }

 private:
  unsigned any(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return any(100) < percent; }
  void line(const std::string& what) { body_ += "  " + what + "\n"; }
  std::string label() { return "L" + std::to_string(++labels_); }
  std::string space() const { return shared_ ? ".shared." : ".global."; }
  std::string counter(unsigned c) const { return (shared_ ? "%r21+" : "%d10+") + std::to_string(4 * c); }

  std::string head() const {
    return R"(.version 6.4
.target sm_75
.address_size 64
.visible .entry messages(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<10>;
  .reg .b32 %r<30>;
  .reg .b64 %d<20>;
  .shared .align 8 .b8 counters[256];
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  cvta.to.global.u64 %d3, %d1;
  cvta.to.global.u64 %d4, %d2;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  shr.u32 %r3, %r1, 5;
  and.b32 %r4, %r1, 31;
  mul.wide.u32 %d5, %r2, 512;
  add.s64 %d6, %d4, %d5;
  mul.wide.u32 %d7, %r4, 4;
  add.s64 %d8, %d6, %d7;
  add.s64 %d9, %d3, %d7;
  mul.wide.u32 %d13, %r2, 256;
  add.s64 %d10, %d3, %d13;
  add.s64 %d10, %d10, 2048;
  mov.u32 %r21, counters;
  setp.eq.u32 %p2, %r4, 0;
  mov.u32 %r8, 1;
  add.u32 %r22, %r1, 77;
  mov.u32 %r6, 0;
  setp.ne.u32 %p3, %r1, 0;
  @%p3 bra ZEROED;
)";
  }

  void read(unsigned array) {
    for (unsigned n = 1 + any(3) / 2; n != 0; --n) {
      line("ld.global.u32 %r9, [%d8+" + std::to_string(array_bytes * array) + "];");
      line("mad.lo.u32 %r8, %r8, 3, %r9;");
      line("and.b32 %r8, %r8, 65535;");
    }
  }
  void be_late() {
    static constexpr std::array<unsigned, 5> steps{0, 0, 5, 20, 80};
    const unsigned count = steps[any(steps.size())];
    for (unsigned n = 0; n < count; ++n) {
      line("div.u32 %r22, %r22, 3;");
      line("mad.lo.u32 %r22, %r22, 2654435761, " + std::to_string(any(65536)) + ";");
    }
    line("setp.eq.u32 %p9, %r22, 0;");  // what follows waits for it
    line("@%p9 add.u32 %r8, %r8, 1;");
  }
  void raise(unsigned c) {
    line(chance(70) ? "membar.gl;" : "membar.cta;");
    line("bar.warp.sync 0xffffffff;");
    line("@%p2 atom" + space() + "add.u32 %r12, [" + counter(c) + "], 1;");
  }
  void wait(unsigned c, std::size_t until) {
    const std::string again = label();
    body_ += again + ":\n";
    line("@%p2 atom" + space() + "add.u32 %r15, [" + counter(c) + "], 0;");
    line("shfl.sync.idx.b32 %r15, %r15, 0, 31, 0xffffffff;");
    line("setp.lt.u32 %p4, %r15, " + std::to_string(until) + ";");
    line("@%p4 bra " + again + ";");
    line("membar.gl;");
  }
  void write(unsigned array) {
    line("add.u32 %r16, %r8, " + std::to_string(any(1000)) + ";");
    line("add.u32 %r16, %r16, %r4;");
    line("st.global.u32 [%d8+" + std::to_string(array_bytes * array) + "], %r16;");
  }

  Message message(unsigned array) {
    Message m;
    m.array = array;
    m.writer = any(warps);
    for (unsigned w = 0; w < warps; ++w) {
      if (w == m.writer) continue;
      if (chance(60)) m.before.push_back(w);
      if (chance(60)) m.behind.push_back(w);
    }
    m.read_counter = counters_++;
    m.written_counter = counters_++;
    return m;
  }
  static bool in(const std::vector<unsigned>& all, unsigned w) {
    return std::find(all.begin(), all.end(), w) != all.end();
  }

  void take_part(const Message& m, unsigned warp) {
    if (in(m.before, warp)) {
      read(m.array);
      raise(m.read_counter);
    }
    if (warp == m.writer) {
      if (chance(50)) read(m.array);
      if (!m.before.empty()) wait(m.read_counter, m.before.size());
      write(m.array);
      if (chance(50)) read(m.array);
      if (!m.behind.empty()) raise(m.written_counter);
    }
    if (in(m.behind, warp)) {
      wait(m.written_counter, 1);
      read(m.array);
    }
  }

  /// From one barrier to the next: all warps go through the messages in the same order, so that none waits in a circle.
  void phase() {
    std::vector<unsigned> left{0, 1, 2, 3};
    std::shuffle(left.begin(), left.end(), random_);
    std::vector<Message> sent;
    for (unsigned n = 1 + any(3); n != 0; --n) {
      sent.push_back(message(left.back()));
      left.pop_back();
    }
    for (unsigned warp = 0; warp < warps; ++warp) {
      const std::string next = label();
      line("setp.ne.u32 %p5, %r3, " + std::to_string(warp) + ";");
      line("@%p5 bra " + next + ";");
      for (const Message& m : sent) {
        for (const unsigned a : left) {
          if (chance(40)) read(a);
        }
        if (chance(50)) line("ld.global.u32 %r9, [%d9];");
        if (chance(40)) be_late();
        take_part(m, warp);
      }
      body_ += next + ":\n";
    }
    if (chance(20)) line("membar.gl;");
    line("bar.sync 0;");
    for (unsigned a = 0; a < arrays; ++a) {
      if (chance(40)) read(a);
    }
    line("bar.sync 0;");
  }

  std::mt19937 random_;
  bool shared_;  ///< where the counters are
  std::string body_;
  unsigned labels_ = 0, counters_ = 0;
};

}  // namespace

std::string messages(unsigned seed) { return Writer(seed).text(); }

}  // namespace regatta::test::wir
