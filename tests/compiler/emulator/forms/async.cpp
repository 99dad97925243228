// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous copies and mbarriers. Each thread uses its own 32 bytes of global and shared memory, which hold a, b, c
// and a ^ b at first.
#include "forms.h"

#include <algorithm>

namespace regatta::test::forms {
namespace async_forms {
namespace {

u64 low(u64 v) { return v & 0xffffffffu; }

/// The first `bytes` bytes of `from`, the rest of `to`.
u64 merged(u64 from, u64 to, unsigned bytes) {
  const u64 mask = bytes >= 8 ? ~u64{0} : (u64{1} << (8 * bytes)) - 1;
  return (from & mask) | (to & ~mask);
}

using Function = std::function<u64(u64, u64, u64)>;

void copies(Rows& rows) {
  const auto row = [&](const std::string& form, const std::string& body, const Function& f) {
    rows.push_back({form, 'd', body, Values::integers, each(f), true, 0, "", "", "sm_90"});
  };
  const std::string end = " cp.async.wait_all; ld.shared.b64 %d9, [%ss];";
  for (const char* cache : {"ca", "cg"})
    for (const char* space : {"shared", "shared::cta"})
      for (const char* hint : {"", ".L2::64B", ".L2::128B", ".L2::256B", ".L2::cache_hint"}) {
        const std::string form = std::string("cp.async.") + cache + "." + space + ".global" + hint;
        const std::string policy = std::string(hint) == ".L2::cache_hint" ? ", %da" : "";
        if (std::string(cache) == "ca") {
          row(form, form + " [%ss], [%pg+16], 4" + policy + ";" + end,
              [](u64 a, u64, u64 c) { return merged(c, a, 4); });
          row(form, form + " [%ss], [%pg+16], 8" + policy + ";" + end, [](u64, u64, u64 c) { return c; });
          row(form, "and.b32 %r1, %ra, 3; " + form + " [%ss], [%pg+8], 4, %r1" + policy + ";" + end,
              [](u64 a, u64 b, u64) { return merged(merged(b, 0, a & 3u), a, 4); });
          row(form, "setp.lt.u32 %q1, %ra, %rb; " + form + " [%ss], [%pg+16], 8, %q1" + policy + ";" + end,
              [](u64 a, u64 b, u64 c) { return low(a) < low(b) ? u64{0} : c; });
        }
        row(form, "shr.u32 %r1, %ra, 28; " + form + " [%ss], [%pg+16], 16, %r1" + policy + ";" + end,
            [](u64 a, u64, u64 c) { return merged(c, 0, static_cast<unsigned>(low(a) >> 28)); });
        row(form, form + " [%ss], [%pg+16], 16, 16" + policy + ";" + end, [](u64, u64, u64 c) { return c; });
      }
  // Groups: the first of two copies is complete, the second is not.
  row("cp.async.wait_group",
      "cp.async.ca.shared.global [%ss], [%pg+8], 8; cp.async.commit_group; cp.async.ca.shared.global [%ss], [%pg+16], "
      "8;"
      "cp.async.commit_group; cp.async.wait_group 1; ld.shared.b64 %d9, [%ss]; cp.async.wait_group 0;",
      [](u64, u64 b, u64) { return b; });
  row("cp.async.commit_group",
      "cp.async.ca.shared.global [%ss], [%pg+8], 8; cp.async.commit_group; cp.async.wait_group 0;"
      "cp.async.ca.shared.global [%ss], [%pg+16], 8; cp.async.wait_group 0; ld.shared.b64 %d9, [%ss]; "
      "cp.async.wait_all;",
      [](u64, u64 b, u64) { return b; });
  row("cp.async.wait_all", "cp.async.ca.shared.global [%ss], [%pg+8], 8;" + end, [](u64, u64 b, u64) { return b; });
}

void barriers(Rows& rows) {
  const auto row = [&](const std::string& form, const std::string& body, const Function& f,
                       const std::string& message = "") {
    rows.push_back({form, 'r', body, Values::integers, each(f), true, 0, "", message, "sm_90"});
  };
  const auto number = [](u64 n) { return [n](u64, u64, u64) { return n; }; };
  const std::string pending = " mbarrier.pending_count.b64 %r9, %d1;";
  for (const char* space : {".shared", ".shared::cta", ""}) {
    const std::string s = space, at = s.empty() ? "[%gs]" : "[%ss]";
    const std::string init = "mbarrier.init" + s + ".b64 " + at + ", 5; ";
    const std::string state = "mbarrier.arrive" + s + ".b64 %d1, " + at + ";";
    row("mbarrier.init" + s + ".b64", init + state + pending, number(5));
    row("mbarrier.inval" + s + ".b64", init + "mbarrier.inval" + s + ".b64 " + at + "; mov.u32 %r9, 7;", number(7));
    for (const char* sem : {"", ".release.cta", ".relaxed.cta", ".release.cluster", ".relaxed.cluster"}) {
      for (const char* op : {"arrive", "arrive_drop"}) {
        const std::string arrive = std::string("mbarrier.") + op + sem + s + ".b64";
        row(arrive, init + arrive + " %d1, " + at + "; " + state + pending, number(4));
        row(arrive, init + arrive + " _, " + at + ", 3; " + state + pending, number(2));
        const std::string partial = std::string("mbarrier.") + op + ".noComplete" + sem + s + ".b64";
        row(partial, init + partial + " %d2, " + at + ", 4; " + state + pending, number(1));
        const std::string expect = std::string("mbarrier.") + op + ".expect_tx" + sem + s + ".b64";
        row(expect, init + expect + " %d2, " + at + ", 16; " + state + pending, number(4));
      }
    }
    // What is dropped is missing in the next phase.
    const std::string drop = "mbarrier.arrive_drop" + s + ".b64";
    row(drop, init + drop + " _, " + at + ", 2; mbarrier.arrive" + s + ".b64 _, " + at + ", 3; " + state + pending,
        number(3));
    for (const char* sem : {"", ".relaxed.cta", ".relaxed.cluster"}) {
      const std::string expect = std::string("mbarrier.expect_tx") + sem + s + ".b64";
      const std::string complete = std::string("mbarrier.complete_tx") + sem + s + ".b64";
      // The phase ends with the bytes, not with the arrivals.
      const std::string body = init + expect + " " + at + ", 64; mbarrier.arrive" + s + ".b64 %d1, " + at + ", 5; " +
                               complete + " " + at + ", 48; mbarrier.test_wait" + s + ".b64 %q1, " + at + ", %d1; " +
                               complete + " " + at + ", 16; mbarrier.test_wait" + s + ".b64 %q2, " + at +
                               ", %d1; selp.u32 %r1, 2, 0, %q1; selp.u32 %r9, 1, 0, %q2; add.u32 %r9, %r9, %r1;";
      row(expect, body, number(1));
      row(complete, body, number(1));
    }
    for (const char* sem : {"", ".acquire.cta", ".relaxed.cta", ".acquire.cluster", ".relaxed.cluster"})
      for (const char* op : {"test_wait", "try_wait"})
        for (const bool parity : {false, true}) {
          const std::string wait = std::string("mbarrier.") + op + (parity ? ".parity" : "") + sem + s + ".b64";
          const std::string hint = std::string(op) == "try_wait" ? ", 100" : "";
          row(wait,
              init + "mbarrier.arrive" + s + ".b64 %d1, " + at + ", 5; " + wait + " %q1, " + at +
                  (parity ? ", 0" : ", %d1") + hint + "; selp.u32 %r9, 1, 0, %q1;",
              number(1));
          row(wait,
              init + "mbarrier.arrive" + s + ".b64 %d1, " + at + ", 4; " + wait + " %q1, " + at +
                  (parity ? ", 0" : ", %d1") + "; selp.u32 %r9, 1, 0, %q1;",
              number(0));
        }
    for (const char* inc : {"", ".noinc"}) {
      const std::string form = std::string("cp.async.mbarrier.arrive") + inc + s + ".b64";
      row(form,
          "mbarrier.init" + s + ".b64 " + at + ", 1; cp.async.ca.shared.global [%ss+8], [%pg+16], 4; " + form + " " +
              at + (std::string(inc).empty() ? "; mbarrier.arrive" + s + ".b64 _, " + at : "") +
              "; mbarrier.try_wait.parity" + s + ".b64 %q1, " + at + ", 0; ld.shared.u32 %r9, [%ss+8];",
          [](u64, u64, u64 c) { return low(c); });
    }
  }
  row("mbarrier.pending_count.b64",
      "mbarrier.init.shared.b64 [%ss], 9; mbarrier.arrive.shared.b64 %d1, [%ss];" + pending, number(9));
  row("mapa.shared::cluster.u32", "mapa.shared::cluster.u32 %r1, %ss, 0; ld.shared::cluster.u32 %r9, [%r1+8];",
      [](u64, u64 b, u64) { return low(b); });
  row("getctarank.shared::cluster.u32", "getctarank.shared::cluster.u32 %r9, %ss;", number(0));
  for (const char* fence : {"fence.proxy.alias", "fence.proxy.async", "fence.proxy.async.global",
                            "fence.proxy.async.shared::cta", "fence.proxy.async.shared::cluster",
                            "fence.mbarrier_init.release.cluster", "fence.proxy.tensormap::generic.release.gpu"})
    row(fence, std::string(fence) + "; mov.u32 %r9, %ra;", [](u64 a, u64, u64) { return low(a); });
  row("fence.proxy.tensormap::generic.acquire.gpu",
      "fence.proxy.tensormap::generic.acquire.gpu [%pg], 128; mov.u32 %r9, %ra;",
      [](u64 a, u64, u64) { return low(a); });
  for (const char* hint : {"prefetch.tensormap [%pg]", "cp.async.bulk.prefetch.L2.global [%pg], 16"})
    row(std::string(hint).substr(0, std::string(hint).find(' ')), std::string(hint) + "; mov.u32 %r9, %ra;",
        [](u64 a, u64, u64) { return low(a); });
}

void bulk(Rows& rows) {
  const auto row = [&](const std::string& form, char result, const std::string& body, const Function& f) {
    rows.push_back({form, result, body, Values::integers, each(f), true, 0, "", "", "sm_90"});
  };
  for (const char* to : {"shared::cta", "shared::cluster"})
    for (const char* hint : {"", ".L2::cache_hint"}) {
      const std::string form = std::string("cp.async.bulk.") + to + ".global.mbarrier::complete_tx::bytes" + hint;
      row(form, 'd',
          "mbarrier.init.shared.b64 [%ss], 1; mbarrier.arrive.expect_tx.shared.b64 _, [%ss], 16; " + form +
              " [%ss+16], [%pg], 16, [%ss]" + (*hint != 0 ? ", %da" : "") +
              "; mbarrier.try_wait.parity.shared.b64 %q1, [%ss], 0; ld.shared.b64 %d9, [%ss+24];",
          [](u64, u64 b, u64) { return b; });
    }
  const std::string end = " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
  for (const char* hint : {"", ".L2::cache_hint"}) {
    const std::string form = std::string("cp.async.bulk.global.shared::cta.bulk_group") + hint;
    row(form, 'd', form + " [%pg], [%ss+16], 16" + (*hint != 0 ? ", %da;" : ";") + end + "ld.global.b64 %d9, [%pg];",
        [](u64, u64, u64 c) { return c; });
  }
  const std::string store =
      "cp.async.bulk.global.shared::cta.bulk_group [%pg], [%ss+16], 16; cp.async.bulk.commit_group;";
  row("cp.async.bulk.commit_group", 'd', store + "cp.async.bulk.wait_group 1; ld.global.b64 %d9, [%pg];",
      [](u64 a, u64, u64) { return a; });
  row("cp.async.bulk.wait_group", 'd', store + "cp.async.bulk.wait_group 0; ld.global.b64 %d9, [%pg];",
      [](u64, u64, u64 c) { return c; });
  row("cp.async.bulk.wait_group.read", 'd',
      store +
          "cp.async.bulk.wait_group.read 0; st.shared.b64 [%ss+16], %da; cp.async.bulk.wait_group 0;"
          "ld.global.b64 %d9, [%pg];",
      [](u64, u64, u64 c) { return c; });
  struct Reduction {
    const char* op;
    char result;
    Function f;
  };
  const auto s32_of = [](u64 v) { return static_cast<std::int64_t>(static_cast<s32>(v)); };
  const Reduction reductions[] = {
      {"add.u32", 'r', [](u64 a, u64, u64 c) { return low(a + c); }},
      {"add.s32", 'r', [](u64 a, u64, u64 c) { return low(a + c); }},
      {"add.u64", 'd', [](u64 a, u64, u64 c) { return a + c; }},
      {"min.u32", 'r', [](u64 a, u64, u64 c) { return std::min(low(a), low(c)); }},
      {"max.u32", 'r', [](u64 a, u64, u64 c) { return std::max(low(a), low(c)); }},
      {"min.s32", 'r', [s32_of](u64 a, u64, u64 c) { return s32_of(a) < s32_of(c) ? low(a) : low(c); }},
      {"max.s64", 'd', [](u64 a, u64, u64 c) { return static_cast<s64>(a) > static_cast<s64>(c) ? a : c; }},
      {"inc.u32", 'r', [](u64 a, u64, u64 c) { return low(a) >= low(c) ? u64{0} : low(a) + 1; }},
      {"dec.u32", 'r', [](u64 a, u64, u64 c) { return low(a) == 0 || low(a) > low(c) ? low(c) : low(a) - 1; }},
      {"and.b32", 'r', [](u64 a, u64, u64 c) { return low(a & c); }},
      {"or.b64", 'd', [](u64 a, u64, u64 c) { return a | c; }},
      {"xor.b64", 'd', [](u64 a, u64, u64 c) { return a ^ c; }}};
  for (const Reduction& r : reductions) {
    const std::string form = std::string("cp.reduce.async.bulk.global.shared::cta.bulk_group.") + r.op;
    row(form, r.result,
        form + " [%pg], [%ss+16], 16;" + end +
            (r.result == 'd' ? "ld.global.b64 %d9, [%pg];" : "ld.global.b32 %r9, [%pg];"),
        r.f);
  }
}

}  // namespace
}  // namespace async_forms

Rows async_rows() {
  Rows rows;
  async_forms::copies(rows);
  async_forms::barriers(rows);
  async_forms::bulk(rows);
  return rows;
}

}  // namespace regatta::test::forms
