// SPDX-License-Identifier: Apache-2.0
//
// Planted faults in fragments: the registers of matrices that mma, wgmma and ldmatrix read and write. In suite modern
// and in a kernel of products of seven kinds, under every kind of operand storage, the value checker finds each one
// that changes a value, at the instruction that reads the register, and names the register. A fault that changes no
// value is counted apart: small launches of the suite have tiles that are half empty, so that two registers are zero.
// Another fault then takes its place.
//
// REGATTA_FRAGMENT_FAULTS says how many rounds a kernel and scheme take, and prints the figures; REGATTA_SEED says
// which.
#include <regatta/schemes/schemes.h>
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>
#include <regatta/trace/tensor_shape.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "dice.h"
#include "kernels.h"
#include "process.h"

using namespace regatta;
using test::Folder;

namespace fragment_faults {
namespace {

/// A matrix in registers of one instruction.
struct Fragment {
  std::string name;  ///< A, B, C; D: written by a product; M: written by ldmatrix
  std::uint32_t pc = 0;
  unsigned operands = 0;  ///< registers that the instruction reads
  std::vector<unsigned> registers;
};

std::vector<Fragment> fragments_of(const trace::Kernel& kernel, bool written) {
  std::vector<Fragment> all;
  for (std::uint32_t index = 0; index < kernel.instructions.size(); ++index) {
    const trace::StaticInstruction& i = kernel.instructions[index];
    const auto pc = static_cast<std::uint32_t>(index * trace::bytes_per_instruction);
    const auto shape = i.op_class == trace::OpClass::tensor ? trace::tensor_shape(i.opcode) : std::nullopt;
    const auto add = [&](const std::string& name, const std::uint8_t* from, unsigned count) {
      all.push_back({name, pc, i.source_count, std::vector<unsigned>(from, from + count)});
    };
    const bool loads = i.opcode.rfind("ldmatrix", 0) == 0;
    if (written) {
      if (shape || loads) add(shape ? "D" : "M", i.destinations.data(), i.destination_count);
      continue;
    }
    if (!shape) continue;
    const unsigned c = i.destination_count, others = i.source_count - c;
    add("C", i.sources.data() + others, c);
    // Of a product of a group, what is behind A are descriptors.
    const unsigned a = !shape->of_group ? others * 2 / 3 : shape->a_in_memory ? 0 : 4;
    if (a != 0) add("A", i.sources.data(), a);
    if (!shape->of_group) add("B", i.sources.data() + a, others - a);
  }
  return all;
}

struct Fault {
  std::string kind;
  Fragment fragment;
  std::vector<unsigned> hit;  ///< registers
  std::vector<std::string> options;
};

/// What became of the faults of one kind.
struct Counts {
  unsigned planted = 0;
  unsigned found = 0;
  unsigned equal = 0;     ///< the value is the one that it should be all the same
  unsigned unread = 0;    ///< of writes: no instruction reads the register before it is written again
  unsigned no_place = 0;  ///< the transfer does not occur: a reuse point supplied the result, for example
};

/// Four rounds of products whose instructions read 4 to 10 registers: A, B and C of one, two and four.
const char* const products = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry products(.param .u64 in, .param .u64 out)
{
  .reg .pred %p;
  .reg .b32 %t, %i, %n, %w<8>, %h<2>, %f<4>, %g<4>, %x<4>, %y<4>, %z<2>;
  .reg .f64 %a, %b, %c<2>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [in];
  mov.u32 %t, %tid.x;
  mov.u32 %i, %ctaid.x;
  mad.lo.u32 %t, %i, 64, %t;
  mul.wide.u32 %d1, %t, 32;
  add.s64 %d0, %d0, %d1;
  ld.global.v4.b32 {%f0, %f1, %f2, %f3}, [%d0];
  ld.global.v4.b32 {%g0, %g1, %g2, %g3}, [%d0+16];
  ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%d0+4096];
  ld.global.v4.b32 {%y0, %y1, %y2, %y3}, [%d0+4112];
  ld.global.v2.b32 {%z0, %z1}, [%d0+8192];
  ld.global.v2.b32 {%h0, %h1}, [%d0+8200];
  cvt.rn.f64.u32 %c0, %z0;
  cvt.rn.f64.u32 %c1, %z1;
  mov.u32 %n, 0;
L:
  ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%d0];
  ld.global.v4.b32 {%w4, %w5, %w6, %w7}, [%d0+16];
  cvt.rn.f64.u32 %a, %w4;
  cvt.rn.f64.u32 %b, %w5;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%w0, %w1, %w2, %w3}, {%w4, %w5}, {%f0, %f1, %f2, %f3};
  mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%g0, %g1, %g2, %g3}, {%w4, %w5}, {%w6}, {%g0, %g1, %g2, %g3};
  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%x0, %x1, %x2, %x3}, {%w3, %w2, %w1, %w0}, {%w7, %w6}, {%x0, %x1, %x2, %x3};
  mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%y0, %y1, %y2, %y3}, {%w4, %w5, %w6, %w7}, {%w0, %w1}, {%y0, %y1, %y2, %y3};
  mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%z0, %z1}, {%w2}, {%w3}, {%z0, %z1};
  mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%h0, %h1}, {%w1, %w2, %w3, %w4}, {%w5, %w6}, {%h0, %h1};
  mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%c0, %c1}, {%a}, {%b}, {%c0, %c1};
  add.s64 %d0, %d0, 12288;
  add.u32 %n, %n, 1;
  setp.lt.u32 %p, %n, 4;
  @%p bra L;
  ld.param.u64 %d2, [out];
  mul.wide.u32 %d1, %t, 96;
  add.s64 %d2, %d2, %d1;
  st.global.v4.b32 [%d2], {%f0, %f1, %f2, %f3};
  st.global.v4.b32 [%d2+16], {%g0, %g1, %g2, %g3};
  st.global.v4.b32 [%d2+32], {%x0, %x1, %x2, %x3};
  st.global.v4.b32 [%d2+48], {%y0, %y1, %y2, %y3};
  st.global.v2.b32 [%d2+64], {%z0, %z1};
  st.global.v2.b32 [%d2+72], {%h0, %h1};
  st.global.v2.f64 [%d2+80], {%c0, %c1};
  ret;
}
)";

class Bench {
 public:
  /// A kernel of suite modern, or "products".
  explicit Bench(const std::string& kernel) : name_(kernel) {
    tool::AnnotateOptions o;
    if (kernel == "products") {
      folder_.write("products.ptx", products);
      o.launch = folder_.write("products.toml",
                               "ptx = \"products.ptx\"\nentry = \"products\"\ngrid = [2]\nblock = [64]\n[[param]]\n"
                               "buffer = 65536\ninit = \"uniform\"\ntype = \"f16\"\nlow = -1.0\nhigh = 1.0\n"
                               "[[param]]\nbuffer = 12288\n");
    } else {
      o.launch = test::launch_path(kernel, test::Size::small);
    }
    o.out = folder_.file("k.rgt");
    o.max_registers = 63;                   // of Fermi and Kepler
    o.pass_options["regmutex-base"] = "0";  // only vt_regmutex minds
    o.pass_options["rfh"] = "3";            // only rfh minds
    o.pass_options["rfv"] = "on";           // only rfv minds
    tool::annotate(o);
    const trace::Reader reader(o.out);
    for (const trace::Kernel& k : reader.kernels()) {
      const auto read = fragments_of(k, false), written = fragments_of(k, true);
      read_.insert(read_.end(), read.begin(), read.end());
      written_.insert(written_.end(), written.begin(), written.end());
    }
    REQUIRE_FALSE(read_.empty());
    REQUIRE_FALSE(written_.empty());
    if (kernel != "products") return;
    std::map<std::string, std::set<std::size_t>> sizes;
    for (const Fragment& f : read_) sizes[f.name].insert(f.registers.size());
    for (const Fragment& f : read_) sizes["all"].insert(f.operands);
    CHECK(sizes["A"] == std::set<std::size_t>{1, 2, 4});
    CHECK(sizes["B"] == std::set<std::size_t>{1, 2});
    CHECK(sizes["C"] == std::set<std::size_t>{2, 4});
    CHECK(sizes["all"] == std::set<std::size_t>{4, 7, 8, 10});
  }

  /// Cycles of a run without a fault, all operands right; 0: the scheme refuses setmaxnreg, by name.
  std::uint64_t cycles(const std::string& scheme) const {
    const auto run = sim(scheme, {"--stats", "s.json"});
    INFO(scheme << ": " << run.err);
    if (run.status == 2 && run.err.find("changes the registers of its warps (setmaxnreg), and ") != std::string::npos) {
      return 0;
    }
    REQUIRE(run.status == 0);
    const auto stats = nlohmann::json::parse(folder_.read("s.json"));
    REQUIRE(stats.at("checks").at("mismatches") == 0);
    return stats.at("cycles").get<std::uint64_t>();
  }

  Fault fault(test::Dice& dice, const std::string& kind, std::uint64_t cycles) const {
    const bool lost = kind == "lost";
    Fault f;
    f.kind = kind;
    f.fragment = dice.any(lost ? written_ : read_);
    const auto& registers = f.fragment.registers;
    f.hit.push_back(dice.any(registers));
    f.options = {"--fault.at", lost ? "write" : "read",       "--fault.kind",  kind,
                 "--fault.pc", std::to_string(f.fragment.pc), "--fault.cycle", std::to_string(dice.below(cycles / 2))};
    if (kind == "flip") {
      f.options.insert(f.options.end(),
                       {"--fault.lane", std::to_string(dice.below(32)), "--fault.bit", std::to_string(dice.below(32))});
    }
    if (kind == "swap" && registers.size() > 1) {
      // Registers 0 and 1, or any two.
      if (dice.one_in(2)) f.hit[0] = registers[0];
      unsigned other = f.hit[0] == registers[0] && dice.one_in(2) ? registers[1] : dice.any(registers);
      while (other == f.hit[0]) other = dice.any(registers);
      f.hit.push_back(other);
      f.options.insert(f.options.end(), {"--fault.with", std::to_string(other)});
    } else if (kind == "swap") {
      return fault(dice, kind, cycles);
    }
    f.options.insert(f.options.end(), {"--fault.register", std::to_string(f.hit[0])});
    return f;
  }

  /// Returns whether it changed no value.
  bool plant(const std::string& scheme, const Fault& f, Counts& counts) const {
    auto run = sim(scheme, f.options);
    if (run.err.find("no fault was planted") != std::string::npos) {
      // The instruction was not executed any more.
      std::vector<std::string> from_the_start = f.options;
      from_the_start.insert(from_the_start.end(), {"--fault.cycle", "0"});
      run = sim(scheme, from_the_start);
    }
    std::string options;
    for (const std::string& o : f.options) options += o + " ";
    INFO(name_ << " under " << scheme << ", " << f.kind << " of " << f.fragment.name << " (" << options
               << "): " << run.err);
    ++counts.planted;
    check_words(f, run.err);
    if (run.status == 0) {
      if (run.err.find("not noticed: it changed no value") != std::string::npos) {
        ++counts.equal;
        return true;
      }
      if (run.err.find("no fault was planted") != std::string::npos) {
        ++counts.no_place;
      } else {
        CHECK(f.kind == "lost");
        CHECK(run.err.find("not noticed: no execution unit received the value") != std::string::npos);
        ++counts.unread;
      }
      return false;
    }
    CHECK(run.status == 3);
    static const std::regex found(
        "value mismatch: kernel (\\S+) .* PC 0x([0-9a-f]+) (\\S+) .*register R(\\d+)(?: \\((.*)\\))? lanes "
        "0x[0-9a-f]+: lane \\d+ "
        "expected (0x[0-9a-f]+) got (0x[0-9a-f]+) from");
    std::smatch m;
    REQUIRE(std::regex_search(run.err, m, found));
    const auto reg = static_cast<unsigned>(std::stoul(m[4]));
    CHECK(std::find(f.hit.begin(), f.hit.end(), reg) != f.hit.end());
    CHECK(m[6] != m[7]);
    const bool product = m[3].str().find("mma.") != std::string::npos;
    CHECK(m[5].matched == product);
    if (f.kind != "lost") {
      CHECK(product);
      CHECK(std::stoul(m[2], nullptr, 16) == f.fragment.pc);
      const auto& registers = f.fragment.registers;
      const auto place = std::find(registers.begin(), registers.end(), reg) - registers.begin();
      CHECK(m[5].str().find(f.fragment.name + std::to_string(place)) != std::string::npos);
    }
    ++counts.found;
    return false;
  }

 private:
  /// What the tool says of the fault: the registers, and in which lanes they have other values.
  static void check_words(const Fault& f, const std::string& text) {
    if (f.kind == "flip" || text.find("fault planted") == std::string::npos) return;
    static const std::regex words(
        "register R(\\d+): (lost value|stale value|value of R(\\d+)), other in lanes (0x[0-9a-f]+), in a "
        "(?:write|read) of PC 0x([0-9a-f]+) at cycle \\d+");
    const std::size_t from = text.find("fault planted");
    const std::string planted = text.substr(from, text.find('\n', from) - from);
    bool changed = false;
    std::size_t parts = 0;
    for (std::sregex_iterator m(planted.begin(), planted.end(), words), end; m != end; ++m, ++parts) {
      const auto reg = static_cast<unsigned>(std::stoul((*m)[1]));
      CHECK(std::find(f.hit.begin(), f.hit.end(), reg) != f.hit.end());
      if (f.kind != "swap") CHECK((*m)[2] == f.kind + " value");
      if (f.kind == "swap") CHECK(std::stoul((*m)[3]) == f.hit[0] + f.hit[1] - reg);
      changed = changed || std::stoul((*m)[4], nullptr, 16) != 0;
      CHECK(std::stoul((*m)[5], nullptr, 16) == f.fragment.pc);
    }
    CHECK(parts >= 1);
    CHECK(changed == (text.find("it changed no value") == std::string::npos));
  }

  test::ProcessResult sim(const std::string& scheme, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{REGATTA_SIM, "k.rgt", "--machine", "h100", "--scheme", scheme};
    arguments.insert(arguments.end(), more.begin(), more.end());
    test::ProcessOptions o;
    o.directory = folder_.path();
    return test::run_process(arguments, o);
  }

  std::string name_;
  Folder folder_;
  std::vector<Fragment> read_, written_;
};

using Table = std::map<std::string, Counts>;

void plant_all(const std::string& kernel, const std::vector<std::string>& schemes, std::uint64_t rounds) {
  rounds = test::from_environment("REGATTA_FRAGMENT_FAULTS", rounds);
  test::Dice dice(test::from_environment("REGATTA_SEED", 1) * 1000003 + kernel.size());
  const Bench bench(kernel);
  Table table;
  for (const std::string& scheme : schemes) {
    const std::uint64_t cycles = bench.cycles(scheme);
    if (cycles == 0) {
      CHECK(kernel == "hopper_gemm");
      continue;
    }
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (const char* kind : {"flip", "lost", "stale", "swap"}) {
        unsigned tries = 40;
        while (bench.plant(scheme, bench.fault(dice, kind, cycles), table[kind]) && --tries != 0) {
        }
        CHECK(tries != 0);
      }
    }
  }
  std::string text = kernel + ":\n";
  Counts all;
  for (const auto& [kind, c] : table) {
    text += "  " + kind + ": " + std::to_string(c.planted) + " faults, " + std::to_string(c.found) + " found, " +
            std::to_string(c.equal) + " change no value, " + std::to_string(c.unread) + " not read, " +
            std::to_string(c.no_place) + " without a transfer\n";
    CHECK(c.found + c.equal + c.unread + c.no_place == c.planted);
    CHECK(c.found > 0);
    all.planted += c.planted;
    all.found += c.found;
    all.equal += c.equal;
    all.unread += c.unread;
    all.no_place += c.no_place;
  }
  if (std::getenv("REGATTA_FRAGMENT_FAULTS") != nullptr) WARN(text);
  INFO(text);
  CHECK(table["flip"].equal == 0);
  CHECK((kernel == "products" ? all.equal == 0 : all.equal <= all.found));
  CHECK(10 * all.unread <= all.planted);
  CHECK(10 * all.no_place <= all.planted);
}

std::vector<std::string> all_schemes() {
  std::vector<std::string> names;
  const assembly::SchemeRegistry registry = schemes::all();
  for (const auto& s : registry.schemes()) names.push_back(s->name());
  return names;
}

}  // namespace
}  // namespace fragment_faults

TEST_CASE("faults in fragments of 1, 2 and 4 registers are found under all schemes") {
  fragment_faults::plant_all("products", fragment_faults::all_schemes(), 2);
}
TEST_CASE("faults in fragments of mma are found under every kind of storage") {
  fragment_faults::plant_all("hgemm", {"baseline", "regless", "rfv", "wir", "wc", "rfh"}, 2);
  fragment_faults::plant_all("gemm_int8", {"baseline", "rc_rar", "greener", "argo"}, 2);
  fragment_faults::plant_all("flash_attention", {"baseline", "regless", "finereg"}, 1);
}
TEST_CASE("faults in accumulators of wgmma are found") {
  fragment_faults::plant_all("hopper_gemm", fragment_faults::all_schemes(), 2);
}
TEST_CASE("faults in fragments are found under all schemes", REGATTA_MORE) {
  for (const char* kernel : {"products", "hgemm", "gemm_int8", "gemm_e4m3", "gemm_split_k", "flash_attention",
                             "conv_implicit_gemm", "hopper_gemm"}) {
    fragment_faults::plant_all(kernel, fragment_faults::all_schemes(), 3);
  }
}
