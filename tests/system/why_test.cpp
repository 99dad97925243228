// SPDX-License-Identifier: Apache-2.0
//
// The reasons at the end of a run: slowdowns are planted, one in each program, and the first reason must be the planted
// one, at the line that causes it.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "statistics.h"

using namespace regatta;
using test::Folder;

namespace {

constexpr const char* mark = "// culprit";

/// A program with one slowdown. Threads have %r1 tid.x, %r2 ctaid.x, %r4 the number of the thread in the grid, %r5 the
/// lane, %r6 the warp, %rd1 and %rd2 the buffers, %rd4 and %rd5 their element of each; %f1 to %f9 and %d1 hold numbers.
struct Plant {
  std::string name, cause;
  unsigned ctas = 1, threads = 256;
  std::string body;  ///< one line an instruction; the lines to be named end in `mark`
  unsigned shared_bytes = 0, local_bytes = 0;
  std::uint64_t buffer_bytes = 1u << 20;
  std::vector<std::string> sim = {}, annotate = {};
  std::vector<Plant> fixed = {};  ///< the same work without the slowdown; empty: there is no such program
  /// Adds a copy to be changed into that.
  Plant& without() {
    Plant copy = *this;
    fixed.push_back(std::move(copy));
    return fixed.back();
  }
};

std::string repeated(unsigned times, const std::string& body) {
  std::string all;
  for (unsigned i = 0; i < times; ++i) all += body;
  return all;
}

std::string marked(const std::string& instruction) { return instruction + "  " + mark + "\n"; }

/// `times` rounds of the body, counted in %r9. `mark_all`: of the whole loop, any line may be named.
std::string loop(unsigned times, const std::string& body, bool mark_all = false) {
  const auto line = [&](const std::string& text) { return mark_all ? marked(text) : text + "\n"; };
  return line("mov.u32 %r9, 0;") + "AGAIN:\n" + body + line("add.u32 %r9, %r9, 1;") +
         line("setp.lt.u32 %p1, %r9, " + std::to_string(times) + ";") + line("@%p1 bra AGAIN;");
}

/// Independent chains of `times` multiplications and additions; any of them may be named.
std::string marked_fmas(unsigned times) {
  return repeated(times, marked("fma.rn.f32 %f2, %f2, %f9, %f1;") + marked("fma.rn.f32 %f3, %f3, %f9, %f1;"));
}

std::string ptx_of(const Plant& p) {
  std::string text =
      ".version 6.4\n.target sm_75\n.address_size 64\n"
      ".visible .entry planted(.param .u64 first, .param .u64 second)\n{\n"
      ".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .f32 %f<99>;\n.reg .f64 %d<9>;\n.reg .b64 %rd<29>;\n";
  if (p.shared_bytes != 0) text += ".shared .align 16 .b8 memory[" + std::to_string(p.shared_bytes) + "];\n";
  if (p.local_bytes != 0) text += ".local .align 16 .b8 own[" + std::to_string(p.local_bytes) + "];\n";
  text +=
      "ld.param.u64 %rd1, [first];\nld.param.u64 %rd2, [second];\n"
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmad.lo.u32 %r4, %r2, %r3, %r1;\n"
      "and.b32 %r5, %r1, 31;\nshr.u32 %r6, %r1, 5;\n"
      "mul.wide.u32 %rd3, %r4, 4;\nadd.u64 %rd4, %rd1, %rd3;\nadd.u64 %rd5, %rd2, %rd3;\n"
      "cvt.rn.f32.u32 %f1, %r1;\nmov.u32 %r8, 0;\n"
      "mov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\nmov.f32 %f5, %f1;\nmov.f32 %f6, %f1;\n"
      "mov.f32 %f7, %f1;\nmov.f32 %f8, %f1;\nmov.f32 %f9, %f1;\ncvt.f64.f32 %d1, %f1;\nmov.f64 %d2, %d1;\n";
  if (p.shared_bytes != 0) text += "mov.u32 %r7, memory;\n";
  return text + p.body + "ret;\n}\n";
}

std::string launch_of(const Plant& p) {
  const std::string buffer = "{ buffer = " + std::to_string(p.buffer_bytes) + ", type = \"u32\", init = \"zero\" }";
  return fmt::format("ptx = \"k.ptx\"\nentry = \"planted\"\ngrid = [{}, 1, 1]\nblock = [{}, 1, 1]\nparam = [{}, {}]\n",
                     p.ctas, p.threads, buffer, buffer);
}

std::string fma(unsigned f) { return fmt::format("fma.rn.f32 %f{0}, %f{0}, %f9, %f1;\n", f); }

/// An address in shared memory, `stride` bytes from lane to lane and a word from warp to warp.
std::string shared_address(unsigned stride) {
  return fmt::format("mul.lo.u32 %r10, %r5, {};\nmad.lo.u32 %r10, %r6, 4, %r10;\nadd.u32 %r10, %r7, %r10;\n", stride);
}

/// %rd6 = first + (thread x bytes).
std::string strided_address(unsigned bytes) {
  return fmt::format("mul.wide.u32 %rd6, %r4, {};\nadd.u64 %rd6, %rd1, %rd6;\n", bytes);
}

std::vector<Plant> plants() {
  std::vector<Plant> all;
  const std::string keep_u = "st.global.u32 [%rd5], %r8;\n";
  const std::string keep_f =
      "add.f32 %f1, %f2, %f3;\nadd.f32 %f1, %f1, %f4;\nadd.f32 %f1, %f1, %f5;\nst.global.f32 [%rd5], %f1;\n";
  const auto plant = [&all](const std::string& name, const std::string& cause) -> Plant& {
    all.emplace_back();
    all.back().name = name;
    all.back().cause = cause;
    return all.back();
  };
  {
    Plant& p = plant("stores to one bank, 32 lanes", "bank_conflicts");
    p.ctas = 8;
    p.shared_bytes = 4096 + 64;
    const auto with_stride = [&](unsigned stride) {
      return shared_address(stride) + loop(32, marked("st.shared.u32 [%r10], %r9;")) + keep_u;
    };
    p.body = with_stride(128);
    p.without().body = with_stride(4);
  }
  {
    Plant& p = plant("loads from one bank, 32 lanes", "bank_conflicts");
    p.ctas = 8;
    p.shared_bytes = 4096 + 64;
    const auto with_stride = [&](unsigned stride) {
      return shared_address(stride) + "st.shared.u32 [%r10], %r1;\nbar.sync 0;\n" +
             loop(32, marked("ld.shared.u32 %r11, [%r10];") + "add.u32 %r8, %r8, %r11;\n") + keep_u;
    };
    p.body = with_stride(128);
    p.without().body = with_stride(4);
  }
  {
    Plant& p = plant("loads with two lanes a bank", "bank_conflicts");
    p.ctas = 16;
    p.shared_bytes = 4096 + 64;
    const auto with_stride = [&](unsigned stride) {
      const std::string load = marked("ld.shared.u32 %r11, [%r10];") + "add.u32 %r8, %r8, %r11;\n";
      return shared_address(stride) + "st.shared.u32 [%r10], %r1;\nbar.sync 0;\n" + loop(32, repeated(4, load)) +
             keep_u;
    };
    p.body = with_stride(8);
    p.without().body = with_stride(4);
  }
  {
    Plant& p = plant("a column of a tile of 16 words", "bank_conflicts");
    p.ctas = 8;
    p.shared_bytes = 4096 + 64;
    const auto with_stride = [&](unsigned stride) {
      return shared_address(stride) + "st.shared.u32 [%r10], %r1;\nbar.sync 0;\n" +
             loop(32, fma(2) + fma(3) + marked("ld.shared.u32 %r11, [%r10];") + "add.u32 %r8, %r8, %r11;\n" + fma(4)) +
             keep_u + keep_f;
    };
    p.body = with_stride(64);
    p.without().body = with_stride(68);
  }
  {
    Plant& p = plant("loads a line apart", "uncoalesced");
    p.ctas = 32;
    p.buffer_bytes = 8192 * 128 + 4096;
    const auto apart = [&](unsigned bytes, unsigned step) {
      return strided_address(bytes) +
             loop(16, marked("ld.global.u32 %r11, [%rd6];") +
                          fmt::format("add.u32 %r8, %r8, %r11;\nadd.u64 %rd6, %rd6, {};\n", step)) +
             keep_u;
    };
    p.body = apart(128, 4);
    p.without().body = apart(4, 32768);
  }
  {
    Plant& p = plant("stores a line apart", "uncoalesced");
    p.ctas = 32;
    p.buffer_bytes = 8192 * 128 + 4096;
    const auto apart = [&](unsigned bytes, unsigned step) {
      return strided_address(bytes) +
             loop(16, marked("st.global.u32 [%rd6], %r9;") + fmt::format("add.u64 %rd6, %rd6, {};\n", step));
    };
    p.body = apart(128, 4);
    p.without().body = apart(4, 32768);
  }
  {
    Plant& p = plant("loads of one field of a structure of 32 bytes", "uncoalesced");
    p.ctas = 64;
    p.buffer_bytes = 16384 * 32 * 2;
    const auto apart = [&](unsigned bytes) {
      return strided_address(bytes) +
             loop(2, marked("ld.global.u32 %r11, [%rd6];") + "add.u32 %r8, %r8, %r11;\nadd.u64 %rd6, %rd6, 524288;\n") +
             keep_u;
    };
    p.body = apart(32);
    p.without().body = apart(4);
  }
  {
    Plant& p = plant("loads of scattered words", "uncoalesced");
    p.ctas = 32;
    p.body = "mov.u32 %r12, %r4;\n" +
             loop(8,
                  "mad.lo.u32 %r12, %r12, 1664525, 1013904223;\nshr.u32 %r13, %r12, 14;\n"
                  "mul.wide.u32 %rd7, %r13, 4;\nadd.u64 %rd6, %rd1, %rd7;\n" +
                      marked("ld.global.u32 %r11, [%rd6];") + "add.u32 %r8, %r8, %r11;\n") +
             keep_u;
  }
  {
    Plant& p = plant("atomics on one word, awaited", "atomics");
    p.ctas = 16;
    p.body = loop(8, marked("atom.global.add.u32 %r11, [%rd1], 1;") + "add.u32 %r8, %r8, %r11;\n") + keep_u;
  }
  {
    Plant& p = plant("reductions on one word", "atomics");
    p.ctas = 16;
    p.body = loop(16, marked("red.global.add.u32 [%rd1], 1;"));
  }
  {
    Plant& p = plant("atomics on one word of shared memory", "atomics");
    p.ctas = 16;
    p.shared_bytes = 64;
    p.body = "st.shared.u32 [%r7], 0;\nbar.sync 0;\n" + loop(16, marked("atom.shared.add.u32 %r11, [%r7], 1;")) +
             "st.global.u32 [%rd5], %r11;\n";
  }
  {
    Plant& p = plant("one warp", "occupancy");
    p.threads = 32;
    p.body = loop(64, marked("ld.global.f32 %f2, [%rd4];") + fma(2) + "add.u64 %rd4, %rd4, 128;\n") + keep_f;
  }
  {
    Plant& p = plant("all shared memory for each CTA", "occupancy");
    p.ctas = 16;
    p.threads = 64;
    p.shared_bytes = 49152;
    p.body = "st.shared.u32 [%r7], 0;\n" +
             loop(16, marked("ld.global.f32 %f2, [%rd4];") + fma(2) + "add.u64 %rd4, %rd4, 4096;\n") + keep_f;
    p.without().shared_bytes = 64;
  }
  {
    Plant& p = plant("200 registers a thread", "occupancy");
    p.ctas = 16;
    p.threads = 128;
    p.annotate = {"--min-registers", "200"};
    p.body = loop(32, marked("ld.global.f32 %f2, [%rd4];") + fma(2) + "add.u64 %rd4, %rd4, 4096;\n") + keep_f;
    p.without().annotate = {};
  }
  {
    Plant& p = plant("eight ways by lane", "divergence");
    p.ctas = 16;
    p.body = "and.b32 %r20, %r5, 7;\n";
    for (unsigned i = 0; i < 8; ++i) {
      p.body += fmt::format("setp.ne.u32 %p2, %r20, {};\n", i) + marked(fmt::format("@%p2 bra NEXT{};", i)) +
                repeated(16, fma(2) + fma(3) + fma(4) + fma(5)) + fmt::format("NEXT{}:\n", i);
    }
    p.body += keep_f;
    p.sim = {"--icache.enabled", "false"};
  }
  {
    Plant& p = plant("work for one lane only", "divergence");
    p.ctas = 16;
    p.body = "setp.ne.u32 %p2, %r5, 0;\n" + marked("@%p2 bra DONE;") +
             loop(32, fma(2) + fma(3) + fma(4) + fma(5) + fma(6) + fma(7)) + "DONE:\n" + keep_f;
  }
  {
    Plant& p = plant("sines and cosines", "unit_sfu");
    p.ctas = 16;
    const std::string sines = marked("sin.approx.f32 %f2, %f2;") + marked("cos.approx.f32 %f3, %f3;");
    p.body = loop(16, sines + sines) + keep_f;
  }
  {
    Plant& p = plant("double precision", "unit_dp");
    p.ctas = 16;
    const std::string both = marked("fma.rn.f64 %d1, %d1, %d1, %d1;") + marked("fma.rn.f64 %d2, %d2, %d2, %d2;");
    p.body = loop(16, both + both) + "add.f64 %d1, %d1, %d2;\ncvt.rn.f32.f64 %f2, %d1;\n" + keep_f;
  }
  {
    Plant& p = plant("a barrier and one slow warp", "barrier");
    p.ctas = 16;
    p.body = "setp.ne.u32 %p2, %r6, 0;\n" + marked("@%p2 bra WAIT;") + "mov.u32 %r9, 0;\n" + "SLOW:\n" +
             repeated(4, marked("max.f32 %f2, %f2, %f9;")) + marked("add.u32 %r9, %r9, 1;") +
             marked("setp.lt.u32 %p1, %r9, 64;") + marked("@%p1 bra SLOW;") + "WAIT:\n" + marked("bar.sync 0;") +
             keep_f;
  }
  {
    Plant& p = plant("code larger than the instruction cache", "instruction_cache");
    p.threads = 128;
    p.body = loop(4, marked_fmas(500), true) + keep_f;
    p.without().sim = {"--icache.enabled", "false"};
  }
  {
    Plant& p = plant("a copy of data in DRAM", "dram_bandwidth");
    p.ctas = 512;
    p.body = marked("ld.global.f32 %f1, [%rd4];") + marked("st.global.f32 [%rd5], %f1;");
  }
  {
    Plant& p = plant("wide loads from the L2", "interconnect_bandwidth");
    p.ctas = 16;
    p.buffer_bytes = 65536;
    p.body = "and.b32 %r12, %r4, 2047;\nmul.wide.u32 %rd6, %r12, 16;\nadd.u64 %rd6, %rd1, %rd6;\n" +
             loop(32, marked("ld.global.v4.f32 {%f2, %f3, %f4, %f5}, [%rd6];") + "add.f32 %f6, %f6, %f2;\n") +
             "st.global.f32 [%rd2], %f6;\n";
  }
  {
    Plant& p = plant("a chain of pointers", "memory_latency");
    p.ctas = 8;
    p.body =
        loop(32, "mul.wide.u32 %rd7, %r8, 4;\nadd.u64 %rd6, %rd1, %rd7;\n" + marked("ld.global.u32 %r8, [%rd6];")) +
        keep_u;
  }
  {
    Plant& p = plant("a small operand staging unit of RegLess", "issue_gate");
    p.ctas = 8;
    p.sim = {"--scheme", "regless", "--osu.entries", "64"};
    p.body = loop(32, marked_fmas(4), true) + keep_f;
    p.without().sim = {"--scheme", "regless", "--osu.entries", "512"};
  }
  {
    Plant& p = plant("a last CTA that takes long", "tail");
    p.ctas = 33;
    p.body = "mov.u32 %r21, 8;\nsetp.eq.u32 %p2, %r2, 32;\n@%p2 mov.u32 %r21, 2000;\nmov.u32 %r9, 0;\nAGAIN:\n" +
             repeated(4, marked("max.f32 %f2, %f2, %f9;")) + marked("add.u32 %r9, %r9, 1;") +
             marked("setp.lt.u32 %p1, %r9, %r21;") + marked("@%p1 bra AGAIN;") + keep_f;
  }
  {
    Plant& p = plant("a chain of results of long latency", "dependence");
    p.ctas = 1;
    p.threads = 1024;
    p.body = loop(64, repeated(8, marked("max.f32 %f2, %f2, %f9;"))) + keep_f;
  }
  {
    Plant& p = plant("an array of each thread in local memory", "local_memory");
    p.ctas = 16;
    p.local_bytes = 64;
    p.body = "mov.u64 %rd8, own;\nand.b32 %r12, %r1, 15;\nmul.wide.u32 %rd9, %r12, 4;\nadd.u64 %rd9, %rd8, %rd9;\n" +
             loop(16, marked("st.local.u32 [%rd9], %r9;") + marked("ld.local.u32 %r11, [%rd9];") +
                          "add.u32 %r8, %r8, %r11;\n") +
             keep_u;
  }
  {
    Plant& p = plant("a fence behind each store", "fence");
    p.ctas = 1;
    p.body = loop(64, "st.global.u32 [%rd5], %r9;\n" + marked("membar.gl;"));
    p.without().body = loop(64, "st.global.u32 [%rd5], %r9;\n");
  }
  {
    Plant& p = plant("schedulers that issue in every fourth cycle", "scheduler");
    p.ctas = 16;
    p.sim = {"--sm.issue_interval", "4"};
    p.body = loop(32, repeated(4, fma(2) + fma(3))) + keep_f;
    p.without().sim = {};
  }
  {
    Plant& p = plant("a register file of one bank", "register_storage");
    p.ctas = 16;
    p.sim = {"--register_file.banks", "1", "--register_file.mapping", "warp_interleaved"};
    p.body = loop(16, marked_fmas(4), true) + keep_f;
    p.without().sim = {};
  }
  {
    Plant& p = plant("an L1 that fetches four lines at a time", "l1_mshrs");
    p.ctas = 8;
    p.sim = {"--machine", "finereg", "--l1.mshrs", "4"};
    p.body = "mov.u64 %rd6, %rd4;\n" +
             loop(16, marked("ld.global.u32 %r11, [%rd6];") + "add.u32 %r8, %r8, %r11;\nadd.u64 %rd6, %rd6, 8192;\n") +
             keep_u;
    p.without().sim = {"--machine", "finereg", "--l1.mshrs", "256"};
  }
  {
    Plant& p = plant("nothing but independent instructions", "instructions");
    p.ctas = 16;
    const std::string rounds = repeated(8, marked("add.u32 %r20, %r1, %r9;") + marked("add.u32 %r21, %r5, %r9;"));
    p.body = loop(128, rounds, true) + "add.u32 %r8, %r20, %r21;\n" + keep_u;
  }
  return all;
}

nlohmann::json run(const Plant& p, const std::string& ptx) {
  const Folder folder;
  folder.write("k.ptx", ptx);
  const std::string launch = folder.write("launch.toml", launch_of(p));
  const std::string trace = folder.file("k.rgt");
  std::vector<std::string> annotate{REGATTA_ANNOTATE, "--launch", launch, "--out", trace};
  annotate.insert(annotate.end(), p.annotate.begin(), p.annotate.end());
  const auto annotated = test::run_process(annotate);
  INFO(p.name << "\n" << annotated.err << "\n" << ptx);
  REQUIRE(annotated.status == 0);
  return test::statistics_of(folder, trace, p.sim);
}

/// What a run of the plant names first, and whether its line is marked. A plant without marks has no line.
struct Named {
  std::string cause, sentence, others;
  double gain = 0;
  std::uint64_t cycles = 0;
  bool right_line = false;
};

Named first_of(const Plant& p) {
  const std::string ptx = ptx_of(p);
  const nlohmann::json stats = run(p, ptx);
  Named named;
  named.cycles = stats.at("cycles");
  if (stats.count("why") == 0) return named;
  const auto& why = stats.at("why");
  double held = 0;
  for (const auto& cause : why) {
    CHECK(cause.at("gain_at_most").get<double>() > 0);
    CHECK(cause.at("gain_at_most").get<double>() <= 1);
    held += cause.at("held").get<double>();
    named.others += fmt::format(" {} {:.2f}/{:.2f}", cause.at("cause").get<std::string>(),
                                cause.at("held").get<double>(), cause.at("gain_at_most").get<double>());
  }
  CHECK(held <= 1 + 1e-9);  // each scheduler-cycle has one cause
  named.cause = why.at(0).at("cause");
  named.sentence = why.at(0).at("sentence");
  named.gain = why.at(0).at("gain_at_most");
  if (why.at(0).count("source") == 0) {
    named.right_line = ptx.find(mark) == std::string::npos;
    return named;
  }
  const std::string source = why.at(0).at("source");
  const auto line = static_cast<unsigned>(std::stoul(source.substr(source.rfind(':') + 1)));
  std::istringstream lines(ptx);
  std::string text;
  for (unsigned i = 0; i < line; ++i) std::getline(lines, text);
  named.right_line = text.find(mark) != std::string::npos;
  return named;
}

}  // namespace

TEST_CASE("why: of planted slowdowns, the first reason is the planted one, at its line") {
  std::string table;
  std::set<std::string> missed, more_gained;
  const std::vector<Plant> all = plants();
  for (const Plant& p : all) {
    const Named named = first_of(p);
    const bool right = named.cause == p.cause && named.right_line;
    if (!right) missed.insert(p.name);
    std::string gained = "-";
    for (const Plant& fixed : p.fixed) {
      const auto cycles = run(fixed, ptx_of(fixed)).at("cycles").get<double>();
      const double gain = 1 - cycles / double(named.cycles);
      gained = fmt::format("{:.2f}", gain);
      CHECK(gain > 0.1);  // it was a slowdown
      if (gain > named.gain + 0.01) more_gained.insert(p.name);
    }
    table += fmt::format("{} | {} | {} | {} |{} | {} | {}\n", right ? "yes" : "NO ", p.name, p.cause,
                         named.cause + (named.right_line ? "" : " (other line)"), named.others, gained, named.sentence);
  }
  INFO(table);
  CHECK(all.size() >= 24);
  CHECK(missed == std::set<std::string>{});
  CHECK(more_gained == std::set<std::string>{});
}

TEST_CASE("why: the planted slowdowns on a machine with an L1 for data and collectors by kind") {
  std::string table;
  std::set<std::string> missed;
  std::size_t run = 0;
  for (Plant p : plants()) {
    if (!p.annotate.empty()) continue;  // more registers than a thread of gtx480 may have
    if (std::count(p.sim.begin(), p.sim.end(), "--machine") != 0) continue;
    p.sim.insert(p.sim.end(), {"--machine", "gtx480"});
    const Named named = first_of(p);
    if (named.cause != p.cause || !named.right_line) missed.insert(p.name);
    table += fmt::format("{} | {} |{} | {}\n", p.name, p.cause, named.others, named.sentence);
    ++run;
  }
  INFO(table);
  CHECK(run == 30);
  // The L1 answers the chain of pointers, and limits the wide loads; two schedulers do not keep the reductions waiting;
  // warps that the scheduler prefers end early in the chain of results and under RegLess, so that the tail is first.
  CHECK(missed == std::set<std::string>{"a chain of pointers", "a chain of results of long latency",
                                        "a small operand staging unit of RegLess", "reductions on one word",
                                        "wide loads from the L2"});
}

TEST_CASE("why: what a busy DRAM leaves bounds other causes, and comes first if it is little") {
  Plant p;
  p.name = "a stream with an atomic that few lanes share";
  p.ctas = 32;
  p.threads = 1024;
  p.shared_bytes = 4096 + 64;
  p.buffer_bytes = 8u << 20;
  const std::string atomic = "atom.shared.add.u32 %r12, [%r10], 1;\n";
  const auto stream = [&](const std::string& more) {
    return shared_address(8) + "mov.u64 %rd6, %rd4;\n" +
           loop(16, marked("ld.global.v4.u32 {%r11, %r13, %r14, %r15}, [%rd7];") + "add.u32 %r8, %r8, %r11;\n" + more +
                        "add.u64 %rd7, %rd7, 524288;\n") +
           "st.global.u32 [%rd5], %r8;\n";
  };
  p.body =
      "mad.lo.u32 %r16, %r1, 4, %r7;\nst.shared.u32 [%r16], %r5;\nbar.sync 0;\n"
      "mul.wide.u32 %rd7, %r4, 16;\nadd.u64 %rd7, %rd1, %rd7;\n" +
      stream(atomic);
  const nlohmann::json stats = run(p, ptx_of(p));
  double busy = 0, channels = 0;
  for (const auto& [path, group] : stats.at("stats").items()) {
    if (path.rfind("memory.dram_", 0) != 0) continue;
    busy += group.at("busy_cycles").get<double>() / stats.at("cycles").get<double>();
    ++channels;
  }
  busy /= channels;
  INFO(stats.at("why").dump(1));
  CHECK(busy > 0.8);
  CHECK(stats.at("why").at(0).at("cause") == "dram_bandwidth");
  bool found = false;
  for (const auto& cause : stats.at("why")) {
    if (cause.at("cause") != "atomics") continue;
    found = true;
    CHECK(cause.at("gain_at_most").get<double>() == Approx(1 - busy));
    CHECK(cause.at("held").get<double>() > cause.at("gain_at_most").get<double>());
    const std::string sentence = cause.at("sentence");
    const std::string share = fmt::format("{:.0f} %", 100 * busy);
    CHECK(sentence.find(", then DRAM limits (in use in " + share + ")") == sentence.size() - 31 - share.size());
  }
  CHECK(found);
}

TEST_CASE("why: the summary ends with the reasons, and the table of lines names the culprit") {
  const std::vector<Plant> all = plants();
  const Plant& p = all.at(1);
  REQUIRE(p.name == "loads from one bank, 32 lanes");
  const Folder folder;
  const std::string ptx = ptx_of(p);
  folder.write("k.ptx", ptx);
  const std::string launch = folder.write("launch.toml", launch_of(p));
  REQUIRE(test::run_process({REGATTA_ANNOTATE, "--launch", launch, "--out", folder.file("k.rgt")}).status == 0);
  const auto r =
      test::run_process({REGATTA_SIM, folder.file("k.rgt"), "--cpi-lines", "--stats", folder.file("s.json")});
  REQUIRE(r.status == 0);
  const auto stats = nlohmann::json::parse(folder.read("s.json"));
  const std::string first = "\nwhy: " + stats.at("why").at(0).at("sentence").get<std::string>() + "\n";
  const std::size_t at = r.out.find(first);
  REQUIRE(at != std::string::npos);
  CHECK(r.out.find("\nwhy: ") == at);
  // Nothing but reasons until the host's time.
  std::istringstream rest(r.out.substr(at + 1));
  std::string line;
  unsigned reasons = 0;
  while (std::getline(rest, line) && line.rfind("why: ", 0) == 0) ++reasons;
  CHECK(reasons >= 1);
  CHECK(reasons <= 3);
  CHECK(line.rfind("host: ", 0) == 0);
  // The addition waits for the load.
  const auto line_of = [&](const std::string& text) {
    return std::count(ptx.begin(), ptx.begin() + static_cast<std::ptrdiff_t>(ptx.find(text)), '\n') + 1;
  };
  const std::string load = fmt::format("{}:{}", folder.file("k.ptx"), line_of("ld.shared.u32"));
  const std::string addition = fmt::format("{}:{}", folder.file("k.ptx"), line_of("add.u32 %r8"));
  CHECK(stats.at("why").at(0).at("source") == load);
  bool found = false;
  for (const auto& row : stats.at("cpi_lines").at(0).at("lines")) {
    if (row.at("source") != addition) continue;
    found = true;
    CHECK(row.at("because_of") == load);
  }
  CHECK(found);
  CHECK(r.out.find("because of") != std::string::npos);
}
