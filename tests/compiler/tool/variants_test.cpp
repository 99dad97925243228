// SPDX-License-Identifier: Apache-2.0
//
// --for: the codes of several schemes in one trace, made once where they are the same; --trace: annotations for a trace
// that exists.
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>
#include <regatta/trace/making.h>
#include <regatta/trace/rfh.h>
#include <regatta/trace/rfv.h>
#include <regatta/trace/scheme_code.h>
#include <regatta/trace/verify.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

#include "folder.h"
#include "harness.h"
#include "many_values.h"
#include "process.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::error_of;
using test::Folder;
using test::many_values;

namespace {

const std::string head = test::ptx_head;

const std::string small_kernel =
    ".visible .entry small(.param .u64 out)\n{\n.reg .pred %p1; .reg .b32 %r<4>; .reg .b64 %d<4>;\n"
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
    "setp.lt.u32 %p1, %r1, 16; @%p1 bra DONE;\nmul.lo.u32 %r2, %r1, 7; st.global.u32 [%d3], %r2;\nDONE: ret;\n}\n";

/// A program that depends on which threads are in a warp: each thread reads what the one 32 places away had or has
/// written. Warps of 32 lanes run one after the other, so the second one reads what the first one has written.
enum class Then {
  store,    ///< what was read
  stray,    ///< to a place that depends on it, which is in the buffer only for zeros
  collide,  ///< to one of 32 places that all warps write
};

std::string order_kernel(Then then) {
  std::string text =
      head +
      ".visible .entry order(.param .u64 out)\n{\n.reg .pred %p1; .reg .b32 %r<6>; .reg .b64 %d<8>;\n"
      "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r4, 0; xor.b32 %r3, %r1, 32;\n"
      "mul.wide.u32 %d2, %r3, 4; add.s64 %d3, %d1, %d2; mul.wide.u32 %d4, %r1, 4; add.s64 %d5, %d1, %d4;\n";
  if (then == Then::collide) {
    text += "and.b32 %r3, %r1, 31; mul.wide.u32 %d6, %r3, 4; add.s64 %d7, %d1, %d6; st.global.u32 [%d7], %r1;\n";
  } else {
    text += "ld.volatile.global.u32 %r2, [%d3]; st.volatile.global.u32 [%d5], %r4;\n";
  }
  if (then == Then::store) text += "st.volatile.global.u32 [%d5], %r2;\n";
  if (then == Then::stray) {
    text +=
        "setp.lt.u32 %p1, %r1, 32; @%p1 bra DONE;\nmul.wide.u32 %d6, %r2, 4096; add.s64 %d7, %d5, %d6; "
        "st.global.u32 [%d7], %r1;\nDONE: ";
  }
  return text + "ret;\n}\n";
}

std::string launch_of(const std::string& entry, unsigned bytes, unsigned threads = 64, unsigned ctas = 3) {
  return "ptx = \"k.ptx\"\nentry = \"" + entry + "\"\ngrid = [" + std::to_string(ctas) + "]\nblock = [" +
         std::to_string(threads) + "]\n" + "[[param]]\nname = \"out\"\nbuffer = " + std::to_string(bytes) +
         "\ninit = \"iota\"\ntype = \"u32\"\n";
}

tool::AnnotateOptions options_in(const Folder& folder, const std::string& launch) {
  tool::AnnotateOptions o;
  o.launch = folder.write("l.toml", launch);
  o.out = folder.file("k.rgt");
  return o;
}

void for_all(tool::AnnotateOptions& o) {
  o.schemes = trace::schemes_with_code();
  o.all_schemes = true;
}

std::vector<std::string> names_of(const std::string& path) {
  std::vector<std::string> names;
  const trace::Reader reader(path);
  for (const auto& v : reader.variants()) names.push_back(v.variant.name);
  return names;
}

trace::Reader of_variant(const std::string& path, const std::string& name) {
  return trace::Reader(path, trace::SectionRegistry::with_builtin(), name);
}

std::string run(const std::vector<std::string>& arguments, int status) {
  std::vector<std::string> command{REGATTA_ANNOTATE};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto r = test::run_process(command);
  INFO(r.out << r.err);
  CHECK(r.status == status);
  return r.out + r.err;
}

}  // namespace

TEST_CASE("variants: a kernel of many registers has a code for each sort of scheme") {
  const Folder folder;
  folder.write("k.ptx", head + many_values(80));
  tool::AnnotateOptions o = options_in(folder, launch_of("many", 16384));
  o.report = folder.file("r.json");
  o.listing = folder.file("k.txt");
  for_all(o);
  const tool::AnnotateResult result = tool::annotate(o);
  CHECK(names_of(o.out) == std::vector<std::string>{"plain", "registers_63", "first_use", "lanes_64"});
  REQUIRE(result.variants.size() == 3);
  // No shared memory: scratchpad sharing has nothing to lay out.
  REQUIRE(result.without_variant.size() == 1);
  CHECK(result.without_variant[0] ==
        "scratchpad_sharing, scratchpad_multiplexing: their code (--max-registers 63) is the one of variant "
        "registers_63");
  CHECK(result.variants[0].variant.schemes.back() == "scratchpad_multiplexing");
  const trace::Reader plain(o.out);
  CHECK(plain.version() == 2);
  CHECK(plain.kernels()[0].registers_per_thread > 63);
  CHECK_FALSE(trace::find_rfv(plain.kernels()[0]));
  const trace::Reader few = of_variant(o.out, "registers_63");
  CHECK(few.kernels()[0].registers_per_thread <= 63);
  CHECK(few.kernels()[0].spilled_registers > 0);
  CHECK(trace::find_rfv(few.kernels()[0]));
  CHECK(trace::find_rfh(few.kernels()[0]));
  CHECK(of_variant(o.out, "lanes_64").kernels()[0].warp_size == 64);
  for (const std::string& name : names_of(o.out)) {
    CAPTURE(name);
    const trace::Reader reader = of_variant(o.out, name);
    CHECK(reader.ctas().size() == 3);
    CHECK(trace::verify(reader, trace::VerifyDepth::program).warps == (name == "lanes_64" ? 3u : 6u));
  }
  const auto report = nlohmann::json::parse(folder.read("r.json"));
  CHECK(report["entries"].size() == 1);
  REQUIRE(report["variants"].size() == 3);
  CHECK(report["variants"][0]["name"] == "registers_63");
  CHECK(report["variants"][0]["options"] == "--max-registers 63");
  CHECK(report["variants"][0]["entries"][0]["registers"] <= 63);
  CHECK(report["variants"][1]["schemes"] == nlohmann::json{"register_sharing"});
  CHECK(report["variants"][2]["launches"][0]["ctas"] == 3);
  const std::string listing = folder.read("k.txt");
  CHECK_THAT(listing,
             Contains("\n// variant lanes_64, --warp-size 64, for rar, rc, rc_rar, wc, argo\n\n// kernel many"));
  CHECK(listing.rfind("// kernel many from ", 0) == 0);
}

TEST_CASE("variants: a code that is there already is neither executed nor stored again") {
  const Folder folder;
  folder.write("k.ptx", head + small_kernel);
  tool::AnnotateOptions o = options_in(folder, launch_of("small", 256));
  tool::annotate(o);
  const std::string before = folder.read("k.rgt");
  o.schemes = {"finereg", "rfv", "wir", "regless"};
  const tool::AnnotateResult result = tool::annotate(o);
  CHECK(result.variants.empty());
  REQUIRE(result.without_variant.size() == 1);
  CHECK_THAT(result.without_variant[0],
             Contains("finereg") && Contains("their code (--max-registers 63) is the one of variant plain"));
  // A file with one code is of version 1, as before.
  CHECK(folder.read("k.rgt") == before);
  CHECK(trace::Reader(o.out).version() == 1);
  // Wavefronts already: the variant of 64 lanes is the first.
  for_all(o);
  o.warp_size = 64;
  tool::annotate(o);
  for (const std::string& name : names_of(o.out)) CHECK(name != "lanes_64");
}

TEST_CASE("variants: expectations, buffers and CTAs of each code") {
  const Folder folder;
  folder.write("k.ptx", order_kernel(Then::store));
  std::string expected(256, '\0');
  for (unsigned t = 0; t < 64; ++t) expected[4 * t] = static_cast<char>(t < 32 ? t + 32 : t);
  folder.write("out.bin", expected);
  tool::AnnotateOptions o = options_in(folder, launch_of("order", 256, 64, 1) + "expect = \"out.bin\"\n");
  o.dumps = {{"out", folder.file("dump.bin")}};
  o.schemes = {"rc"};
  const tool::AnnotateResult result = tool::annotate(o);
  CHECK(result.failed_expectations.empty());
  REQUIRE(result.variants.size() == 1);
  CHECK(result.variants[0].failed_expectations.size() == 1);
  CHECK(folder.read("dump.bin") == expected);  // the first code's
  CHECK_THAT(run({"--launch", o.launch, "--out", o.out, "--for", "rc"}, 3), Contains(" (variant lanes_64)\n"));

  folder.write("k.ptx", head + small_kernel);
  run({"--launch", folder.write("l.toml", launch_of("small", 256)), "--out", o.out, "--for", "rc", "--ctas", "1:1"}, 0);
  for (const char* name : {"plain", "lanes_64"}) {
    const trace::Reader reader = of_variant(o.out, name);
    REQUIRE(reader.ctas().size() == 1);
    CHECK(reader.ctas()[0].index == 1);
  }
}

TEST_CASE("variants: a code that the program cannot have is refused by name, and left out of all") {
  const Folder folder;
  folder.write("k.ptx", order_kernel(Then::stray));
  tool::AnnotateOptions o = options_in(folder, launch_of("order", 256, 64, 1));
  o.schemes = {"rc"};
  const std::string why = error_of(o);
  CHECK_THAT(why, Contains("(in the variant lanes_64, --warp-size 64, for rar, rc, rc_rar, wc, argo)"));
  CHECK_FALSE(std::filesystem::exists(o.out));
  for_all(o);
  const tool::AnnotateResult result = tool::annotate(o);
  CHECK(names_of(o.out) == std::vector<std::string>{"plain"});
  const auto& lines = result.without_variant;
  CHECK(std::count(lines.begin(), lines.end(), "rar, rc, rc_rar, wc, argo: no variant lanes_64: " + why) == 1);
  // Registers that are stated leave no code of fewer.
  folder.write("k.ptx", head + small_kernel);
  o = options_in(folder, launch_of("small", 256));
  o.min_registers = 80;
  o.schemes = {"rfv"};
  CHECK(error_of(o) ==
        "error: --for rfv: kernel small has 80 registers, expected at most 63 with --rfv: use --max-registers 63");
  for_all(o);
  const auto told = tool::annotate(o).without_variant;
  CHECK(std::count(told.begin(), told.end(),
                   "rfv: no annotation 'rfv': kernel small has 80 registers, expected at most 63 with --rfv: use "
                   "--max-registers 63") == 1);
}

TEST_CASE("variants: races are looked for in each code") {
  const Folder folder;
  folder.write("k.ptx", order_kernel(Then::collide));
  tool::AnnotateOptions o = options_in(folder, launch_of("order", 512, 128));
  o.check_races = true;
  o.schemes = {"rc"};
  const tool::AnnotateResult result = tool::annotate(o);
  REQUIRE(result.variants.size() == 1);
  CHECK_FALSE(result.races.empty());
  CHECK_FALSE(result.variants[0].races.empty());
  for (const char* name : {"plain", "lanes_64"}) {
    const trace::Reader reader = of_variant(o.out, name);
    const auto& sections = reader.kernels()[0].annotations;
    const auto is_races = [](const trace::AnnotationSection& a) { return a.name == trace::races_section; };
    CHECK(std::count_if(sections.begin(), sections.end(), is_races) == 1);
  }
}

TEST_CASE("annotations for a trace that exists: those of a new one") {
  const Folder folder;
  folder.write("k.ptx", head + many_values(20) + small_kernel + ".global .u32 unused;\n");
  const std::string launch = folder.write("l.toml", launch_of("many", 16384));
  const std::string bare = folder.file("bare.rgt"), more = folder.file("more.rgt"), fresh = folder.file("fresh.rgt");
  run({"--launch", launch, "--out", bare, "--annotations", "liveness", "--for", "rc"}, 0);
  CHECK(run({"--trace", bare, "--for", "rfv,rfh,vt_regmutex", "--out", more}, 0) ==
        more + ": annotations of '" + bare + "' added: regmutex, rfh, rfv\n");
  run({"--launch", launch, "--out", fresh, "--annotations", "liveness,rfv,rfh,regmutex", "--for", "rc"}, 0);
  CHECK(names_of(more) == names_of(fresh));
  for (const std::string& name : names_of(more)) {
    CAPTURE(name);
    const trace::Reader a = of_variant(more, name), b = of_variant(fresh, name);
    CHECK(a.code_digest(0) == b.code_digest(0));
    CHECK(a.data_digest() == b.data_digest());
    const trace::Kernel &x = a.kernels()[0], &y = b.kernels()[0];
    REQUIRE(x.annotations.size() == 4);
    for (const trace::AnnotationSection& section : y.annotations) {
      CAPTURE(section.name);
      const auto same = [&](const trace::AnnotationSection& s) {
        return s.name == section.name && s.version == section.version && s.payload == section.payload;
      };
      CHECK(std::count_if(x.annotations.begin(), x.annotations.end(), same) == 1);
    }
    std::multiset<std::string> of_x, of_y;
    const auto text = [](const trace::InsertedInstruction& i) {
      return std::to_string(i.before) + "/" + std::to_string(i.after) + i.instruction.scheme + i.instruction.opcode;
    };
    for (const auto& i : x.inserted) of_x.insert(text(i));
    for (const auto& i : y.inserted) of_y.insert(text(i));
    CHECK(of_x == of_y);
    CHECK(trace::verify(a, trace::VerifyDepth::program).warps > 0);
  }
  // The new trace says how it could have been made, and can be added to again.
  const auto making = trace::Making::of(trace::Reader(more).producer());
  REQUIRE(making);
  CHECK(making->value("for") == "rc,rfv,rfh,vt_regmutex");
  CHECK(making->value("out") == more);
  run({"--trace", more, "--for", "rfh", "--rfh", "5", "--out", fresh}, 0);
  CHECK(trace::find_rfh(trace::Reader(fresh).kernels()[0])->entries == 5);
  CHECK(trace::Reader(fresh).kernels()[0].annotations.size() == 4);
}

TEST_CASE("annotations for a trace that exists: what is refused, and with which words") {
  const Folder folder;
  folder.write("k.ptx", head + many_values(80));
  const std::string launch = folder.write("l.toml", launch_of("many", 16384));
  const std::string trace = folder.file("k.rgt"), out = folder.file("new.rgt");
  run({"--launch", launch, "--out", trace, "--annotations", "none"}, 0);
  const auto refusal = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"--trace", trace};
    all.insert(all.end(), more.begin(), more.end());
    return run(all, 2);
  };
  CHECK(refusal({"--for", "rfh"}) == "regatta-annotate: --trace needs --out FILE: the trace is not written over\n");
  CHECK(refusal({"--out", out}) == "regatta-annotate: --trace needs --for SCHEME,...: whose annotations to add\n");
  CHECK(refusal({"--out", out, "--for", "rfh", "--launch", launch}) ==
        "regatta-annotate: --trace adds annotations to a trace: --launch does not go with it, expected --for, --out "
        "and options of "
        "annotations\n");
  CHECK(refusal({"--out", out, "--for", "rfh", "--shared-values"}) ==
        "regatta-annotate: --trace adds annotations to a trace: --shared-values does not go with it, expected --for, "
        "--out and "
        "options of annotations\n");
  CHECK(refusal({"--out", out, "--for", "register_sharing", "--reorder-registers"}) ==
        "regatta-annotate: --trace adds annotations to a trace: --reorder-registers does not go with it, expected "
        "--for, --out "
        "and options of annotations\n");
  CHECK_THAT(refusal({"--out", trace, "--for", "rfh"}), Contains("--trace") && Contains("--out"));
  CHECK(refusal({"--out", out, "--for", "baseline"}) ==
        "regatta-annotate: --trace: '" + trace + "' has all that these schemes need; nothing can be added for them\n");
  const std::string again = "\nThis command executes the program again: regatta-annotate --launch " + launch +
                            " --out " + out + " --annotations none --for ";
  CHECK(refusal({"--out", out, "--for", "rc"}) == "regatta-annotate: --trace: '" + trace +
                                                      "': the scheme rc runs on another code (--warp-size 64)" + again +
                                                      "rc\n");
  CHECK(refusal({"--out", out, "--for", "rfv"}) == "regatta-annotate: --trace: '" + trace +
                                                       "': the scheme rfv runs on another code (--max-registers 63)" +
                                                       again + "rfv\n");
  // The program is another one now, or not there.
  folder.write("k.ptx", head + many_values(79));
  CHECK(refusal({"--out", out, "--for", "rfh"}) == "regatta-annotate: --trace: '" + trace +
                                                       "': the code of kernel many is not what " +
                                                       folder.file("k.ptx") + " compiles to now" + again + "rfh\n");
  std::filesystem::remove(folder.file("k.ptx"));
  CHECK_THAT(refusal({"--out", out, "--for", "rfh"}),
             Contains("': its program cannot be compiled again: ") && Contains("k.ptx") && Contains(again + "rfh\n"));
  CHECK_FALSE(std::filesystem::exists(out));
  // By hand: foreign_test.cpp has those with kernels.
  {
    trace::Writer writer(trace);
    writer.set_producer("by hand");
    writer.finish();
  }
  CHECK(refusal({"--out", out, "--for", "rfh"}) == "regatta-annotate: --trace: '" + trace + "': it has no kernel\n");
}
