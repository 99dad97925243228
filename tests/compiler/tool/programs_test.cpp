// SPDX-License-Identifier: Apache-2.0
//
// Programs of several launches: flags of every width, steps that fill, load and copy, entries of several PTX files.
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>

#include <cstdint>
#include <cstring>

#include "folder.h"
#include "harness.h"

using namespace regatta;
using test::error_of;
using test::Folder;

namespace {

const std::string head = ".version 9.0\n.target sm_75\n.address_size 64\n";

/// Adds to a counter, and sets the last byte of a flag of `bytes` bytes for the first three rounds.
std::string flag_kernel(unsigned bytes) {
  const std::string last = std::to_string(bytes - 1);
  return head +
         ".visible .entry k(.param .u64 flag, .param .u64 sum, .param .u32 round)\n{\n"
         ".reg .pred %p1; .reg .b32 %r<4>; .reg .b64 %d<3>;\n"
         "ld.param.u64 %d1, [flag]; ld.param.u64 %d2, [sum]; ld.param.u32 %r1, [round];\n"
         "ld.global.u32 %r2, [%d2]; add.u32 %r2, %r2, 1; st.global.u32 [%d2], %r2;\n"
         "mov.u32 %r3, 128; setp.lt.u32 %p1, %r1, 3; @%p1 st.global.u8 [%d1+" +
         last + "], %r3; ret;\n}\n";
}

/// Adds `by` to each word of a buffer.
std::string add_kernel(const std::string& name, unsigned by) {
  return ".visible .entry " + name +
         "(.param .u64 a)\n{\n.reg .b32 %r<3>; .reg .b64 %d<4>;\n"
         "ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
         "ld.global.u32 %r2, [%d3]; add.u32 %r2, %r2, " +
         std::to_string(by) + "; st.global.u32 [%d3], %r2; ret;\n}\n";
}

std::vector<std::uint32_t> words(const std::string& bytes) {
  std::vector<std::uint32_t> v(bytes.size() / 4);
  std::memcpy(v.data(), bytes.data(), v.size() * 4);
  return v;
}

using Words = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a loop follows a flag of 1, 2, 4 and 8 bytes") {
  for (const unsigned bytes : {1u, 2u, 4u, 8u}) {
    CAPTURE(bytes);
    const Folder folder;
    folder.write("k.ptx", flag_kernel(bytes));
    tool::AnnotateOptions o;
    // Alone in its buffer, and as the first bytes of a larger one whose other bytes do not count.
    for (const bool large : {false, true}) {
      o.launch = folder.write(
          "l.toml",
          "ptx = \"k.ptx\"\n[[buffer]]\nname = \"f\"\ninit = \"constant\"\ntype = \"u8\"\nvalue = 7\nbytes = " +
              std::to_string(large ? 24 : bytes) +
              "\n[[buffer]]\nname = \"s\"\nbytes = 4\n[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [1]\n"
              "params = [{ buffer = \"f\" }, { buffer = \"s\" }, { counter = \"i\", type = \"u32\" }]\n"
              "[[step]]\nwhile = \"f\"\nmax = 9\ncounter = \"i\"\n" +
              (large ? "bytes = " + std::to_string(bytes) + "\n" : "") + "steps = [{ run = \"k\" }]\n");
      o.dumps = {{"f", folder.file("f.bin")}, {"s", folder.file("s.bin")}};
      tool::annotate(o);
      CHECK(words(folder.read("s.bin")) == Words{4});
      const std::string rest(large ? 24 - bytes : 0, '\7');
      CHECK(folder.read("f.bin") == std::string(bytes, '\0') + rest);
    }
  }
}

TEST_CASE("steps fill, load and copy between launches") {
  const Folder folder;
  folder.write("k.ptx", head + add_kernel("k", 1));
  const std::uint32_t loaded[] = {100, 200};
  folder.write("two.bin", std::string(reinterpret_cast<const char*>(loaded), sizeof loaded));
  const std::string launch =
      "ptx = \"k.ptx\"\n[[buffer]]\nname = \"a\"\nbytes = 16\n[[buffer]]\nname = \"b\"\nbytes = 16\ninit = \"none\"\n"
      "[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [4]\nparams = [{ buffer = \"a\" }]\n"
      "[[launch]]\nname = \"on b\"\nentry = \"k\"\ngrid = [1]\nblock = [4]\nparams = [{ buffer = \"b\" }]\n";
  tool::AnnotateOptions o;
  o.dumps = {{"a", folder.file("a.bin")}, {"b", folder.file("b.bin")}};
  const auto run = [&](const std::string& steps) {
    o.launch = folder.write("l.toml", launch + steps);
    return error_of(o);
  };
  const auto result = [&](const char* name) { return words(folder.read(name)); };

  REQUIRE(run("[[step]]\nfill = \"a\"\ninit = \"iota\"\ntype = \"u32\"\nlow = 10\n"
              "[[step]]\nrun = \"k\"\n"
              "[[step]]\nload = \"a\"\nfile = \"two.bin\"\noffset = 4\n"
              "[[step]]\nrepeat = 2\nsteps = [{ run = \"k\" }, { copy = \"a\", to = \"b\" },\n"
              "  { copy = \"b\", to = \"b\", offset = 4, bytes = 12 }, { fill = \"a\", bytes = 4 }]\n")
              .empty());
  CHECK(result("a.bin") == Words{0, 102, 202, 15 + 1});
  // Overlapping, as if it were taken out and put back.
  CHECK(result("b.bin") == Words{102, 202, 16, 16});

  // What nobody has written is copied as such.
  REQUIRE(run("[[step]]\nfill = \"b\"\nbytes = 8\n[[step]]\ncopy = \"b\"\nto = \"a\"\noffset = 4\nbytes = 4\n"
              "[[step]]\nrun = \"k\"\n")
              .empty());
  CHECK(result("a.bin") == Words{1, 1, 1, 1});
  CHECK(run("[[step]]\nfill = \"b\"\nbytes = 8\n[[step]]\ncopy = \"b\"\nto = \"a\"\n[[step]]\nrun = \"k\"\n")
            .find("thread (2,0,0): read of global address 0x1000000008, which was never written, 8 bytes into 'a'") !=
        std::string::npos);
  CHECK(run("[[step]]\nrun = \"on b\"\n").find("which was never written") != std::string::npos);
  REQUIRE(run("[[step]]\ncopy = \"a\"\nto = \"b\"\n[[step]]\nrun = \"on b\"\n").empty());
  CHECK(result("b.bin") == Words{1, 1, 1, 1});

  // A file that a step reads is no place for results.
  o.report = folder.file("two.bin");
  CHECK_THROWS_WITH(run("[[step]]\nload = \"a\"\nfile = \"two.bin\"\n"),
                    "--report and what a step loads into 'a' name the same file '" + o.report + "'");
  CHECK(words(folder.read("two.bin")) == Words{100, 200});
  o.report.clear();
  folder.write("two.bin", "123");
  CHECK(run("[[step]]\nload = \"a\"\nfile = \"two.bin\"\nbytes = 8\n") ==
        o.launch + ":20:1: error: '" + folder.file("two.bin") + "' has 3 bytes, expected 8");
}

TEST_CASE("steps on the variables of a module") {
  const Folder folder;
  // The first two rounds set the last byte of a flag; each adds c[1] to a word of the buffer.
  folder.write("k.ptx", head +
                            ".visible .global .u8 more[2];\n.visible .const .u32 c[4] = {1, 2, 3, 4};\n"
                            ".visible .global .u32 g[4] = {5, 6, 7, 8};\n"
                            ".visible .entry k(.param .u64 a, .param .u32 round)\n{\n"
                            ".reg .pred %p1; .reg .b32 %r<5>; .reg .b64 %d<3>;\n"
                            "ld.param.u64 %d1, [a]; ld.param.u32 %r1, [round]; ld.const.u32 %r2, [c+4];\n"
                            "ld.global.u32 %r3, [%d1]; add.u32 %r3, %r3, %r2; st.global.u32 [%d1], %r3;\n"
                            "mov.u32 %r4, 1; setp.lt.u32 %p1, %r1, 2; @%p1 st.global.u8 [more+1], %r4; ret;\n}\n");
  const std::string globals =
      "[[global]]\nname = \"more\"\n[[global]]\nname = \"c\"\ninit = \"module\"\n"
      "[[global]]\nname = \"g\"\ninit = \"module\"\n";
  const std::string launch = "ptx = \"k.ptx\"\n[[buffer]]\nname = \"a\"\nbytes = 16\n" + globals +
                             "[[launch]]\nentry = \"k\"\ngrid = [1]\nblock = [1]\n"
                             "params = [{ buffer = \"a\" }, { counter = \"i\", type = \"u32\" }]\n";
  const std::string loop = "[[step]]\nwhile = \"more\"\nmax = 5\ncounter = \"i\"\nsteps = [{ run = \"k\" }]\n";
  tool::AnnotateOptions o;
  o.dumps = {{"a", folder.file("a.bin")}, {"c", folder.file("c.bin")}, {"g", folder.file("g.bin")}};
  const auto run = [&](const std::string& steps) {
    o.launch = folder.write("l.toml", launch + steps);
    return error_of(o);
  };
  const auto result = [&](const char* name) { return words(folder.read(name)); };
  REQUIRE(run(loop).empty());
  CHECK(result("a.bin") == Words{6, 0, 0, 0});
  CHECK(result("g.bin") == Words{5, 6, 7, 8});
  REQUIRE(run("[[step]]\ncopy = \"g\"\nto = \"c\"\noffset = 4\nto_offset = 4\nbytes = 8\n" + loop +
              "[[step]]\ncopy = \"a\"\nto = \"g\"\nbytes = 4\n"
              "[[step]]\nfill = \"g\"\noffset = 8\ninit = \"iota\"\ntype = \"u32\"\nlow = 40\n"
              "[[step]]\ncopy = \"c\"\nto = \"a\"\n")
              .empty());
  CHECK(result("c.bin") == Words{1, 6, 7, 4});
  CHECK(result("g.bin") == Words{18, 6, 40, 41});
  CHECK(result("a.bin") == Words{1, 6, 7, 4});

  const std::string at = o.launch + ":18:1: error: ";
  CHECK(run("[[step]]\nfill = \"g\"\noffset = 16\n") == at + "'offset' is 16, 'g' has 16 bytes");
  CHECK(run("[[step]]\nfill = \"g\"\noffset = 8\nbytes = 9\n") == at + "9 bytes from byte 8 on, 'g' has 16");
  CHECK(run("[[step]]\nfill = \"g\"\ntype = \"u32\"\noffset = 3\n") ==
        at + "the 13 bytes of 'g' are no whole number of u32 elements");
  CHECK(run("[[step]]\ncopy = \"g\"\nto = \"more\"\n") == at + "16 bytes from byte 0 on, 'more' has 2");
  CHECK(run("[[step]]\nwhile = \"more\"\nbytes = 4\nsteps = [{ fill = \"a\" }]\n") ==
        at + "4 bytes from byte 0 on, 'more' has 2");
  CHECK(run("[[step]]\nwhile = \"more\"\nmax = 2\nsteps = [{ fill = \"more\", init = \"constant\", type = \"u8\", "
            "value = 1 }]\n") == at + "variable 'more' is still not zero after 2 rounds ('max')");
}

TEST_CASE("a program of several PTX files") {
  const Folder folder;
  const std::string variable = ".visible .global .u32 g = 5;\n";
  const std::string a = folder.write("a.ptx", head + variable + add_kernel("k", 1) + add_kernel("_Z5firstPj", 10));
  const std::string b = folder.write("b.ptx", head + variable + ".const .u32 c = 1;\n" + add_kernel("k", 1000) +
                                                  add_kernel("_ZN2ns6secondEPj", 10000));
  const std::string buffer = "[[buffer]]\nname = \"x\"\nbytes = 4\n";
  const auto call = [](const std::string& keys) {
    return "[[launch]]\n" + keys + "\ngrid = [1]\nblock = [1]\nparams = [{ buffer = \"x\" }]\n";
  };
  tool::AnnotateOptions o;
  o.out = folder.file("k.rgt");
  o.dumps = {{"x", folder.file("x.bin")}};
  const auto run = [&](const std::string& text) {
    o.launch = folder.write("l.toml", text);
    return error_of(o);
  };
  const std::string both = "ptx = [\"a.ptx\", \"b.ptx\"]\n" + buffer;
  REQUIRE(run(both + call("entry = \"first\"") + call("entry = \"ns::second(unsigned int*)\"") +
              call("entry = \"k\"\nptx = \"a.ptx\"\nname = \"ka\"") +
              call("entry = \"k\"\nptx = \"b.ptx\"\nname = \"kb\"") +
              "[[step]]\nrepeat = 2\nsteps = [{ run = \"ka\" }, { run = \"first\" }]\n[[step]]\nrun = \"kb\"\n"
              "[[step]]\nrun = \"ns::second(unsigned int*)\"\n")
              .empty());
  CHECK(words(folder.read("x.bin")) == Words{2 * 11 + 1000 + 10000});
  {
    const trace::Reader reader(o.out);
    CHECK(reader.kernels().size() == 4);
    CHECK(reader.launches().size() == 6);
  }

  CHECK(run(both + call("entry = \"k\"")) == o.launch + ":6:9: error: entry 'k' may be k of '" + a + "', k of '" + b +
                                                 "': name one of them, and its file with ptx = \"...\" beside 'entry'");
  // A name that is not there is looked for in all files; a variable, too.
  CHECK(run(both + call("entry = \"third\"")) == o.launch + ":6:9: error: '" + a + "', '" + b +
                                                     "' have no entry 'third'; they have k, _Z5firstPj (first(unsigned "
                                                     "int*)), k, _ZN2ns6secondEPj (ns::second(unsigned int*))");
  const std::string first = both + call("entry = \"first\"") + "[[global]]\n";
  CHECK(run(first + "name = \"c\"\ninit = \"constant\"\ntype = \"u32\"\nvalue = 1\n").empty());
  CHECK(run(first + "name = \"d\"\n") ==
        o.launch + ":10:1: error: '" + a + "', '" + b + "' have no .global or .const variable called 'd'");
  CHECK(run(first + "name = \"g\"\n") ==
        o.launch + ":10:1: error: variable 'g' is in '" + a + "' and in '" + b + "': name its file with ptx = \"...\"");
  CHECK(run(first + "name = \"g\"\nptx = \"b.ptx\"\n").empty());
  CHECK(run(first + "name = \"c\"\nptx = \"a.ptx\"\n") ==
        o.launch + ":10:1: error: '" + a + "' has no .global or .const variable called 'c'");
  o.dumps = {{"g", folder.file("g.bin")}};
  CHECK(run(both + call("entry = \"first\"")) ==
        "error: --dump-buffer: variable 'g' is in '" + a + "' and in '" + b + "'");
  o.dumps = {{"c", folder.file("c.bin")}};
  CHECK(run(both + call("entry = \"first\"")).empty());
  CHECK(words(folder.read("c.bin")) == Words{1});
  o.ptx = a;
  CHECK(run(both + call("entry = \"first\"")) ==
        "error: --ptx replaces one PTX file, '" + o.launch + "' has 2: name the other one there");
  o.ptx.clear();
  o.dumps.clear();
  o.report = b;
  CHECK_THROWS_WITH(run(both + call("entry = \"first\"")), "--report and the PTX file name the same file '" + b + "'");
}

TEST_CASE("--check looks at all PTX files of a launch file, and --entry takes names as C++ writes them") {
  const Folder folder;
  folder.write("a.ptx", head + add_kernel("k", 1));
  folder.write("b.ptx", head + add_kernel("_Z5firstPj", 10));
  tool::AnnotateOptions o;
  o.check = true;
  o.launch = folder.write("l.toml", "ptx = [\"a.ptx\", \"b.ptx\"]\nentry = \"k\"\ngrid = [1]\nblock = [1]\n");
  tool::AnnotateResult r = tool::annotate(o);
  REQUIRE(r.entries.size() == 2);
  CHECK(r.entries[1].name == "_Z5firstPj");
  o.entry = "first";
  r = tool::annotate(o);
  REQUIRE(r.entries.size() == 1);
  CHECK(r.entries[0].name == "_Z5firstPj");
}
