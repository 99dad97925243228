// SPDX-License-Identifier: Apache-2.0
//
// Bad PTX, launch files, traces and command lines: what a user gets to read, word for word, and exit status 2. Every
// message names the file, the place in it, what was found and what was expected.
#include <regatta/test/catch.h>

#include <functional>
#include <regex>
#include <tuple>

#include "folder.h"
#include "process.h"

using namespace regatta;
using test::Folder;

namespace {

using Arguments = std::vector<std::string>;

struct BadText {
  std::string text;
  std::string message;
};

test::ProcessResult run(const Folder& folder, const std::string& program, Arguments arguments) {
  arguments.insert(arguments.begin(), program);
  test::ProcessOptions o;
  o.directory = folder.path();
  return test::run_process(arguments, o);
}

void refused(const Folder& folder, const std::string& program, const Arguments& arguments, const std::string& message) {
  const test::ProcessResult r = run(folder, program, arguments);
  CAPTURE(program, arguments);
  CHECK(r.err == message + "\n");
  CHECK(r.out.empty());
  CHECK(r.status == 2);
}

/// A module with one entry; its body begins on line 9. `%p` is the address of 256 bytes, `%t` is tid.x.
std::string module_of(const std::string& body, const std::string& variables = "") {
  return ".version 8.0\n.target sm_75\n.address_size 64\n" + variables +
         "\n.file 1 \"k.cu\"\n.visible .entry k(.param .u64 a) {\n"
         ".reg .b64 %p, %q; .reg .b32 %t, %r<4>; .reg .pred %c<3>; ld.param.u64 %p, [a]; mov.u32 %t, %tid.x;\n.loc 1 5 "
         "3\n" +
         body + "\nret;\n}\n";
}

/// The launch of such a module. What `more` begins stands on line 9.
std::string launch_of(const std::string& more = "") {
  return "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [2]\nblock = [64]\n[[param]]\nname = \"a\"\nbuffer = 256\n"
         "init = \"zero\"\n" +
         more;
}

/// A program of one launch with a buffer and a flag; what `more` begins stands on line 16.
std::string program_of(const std::string& more, const std::string& params = "{ buffer = \"a\" }") {
  return "ptx = \"k.ptx\"\n[[buffer]]\nname = \"a\"\nbytes = 256\n[[buffer]]\nname = \"flag\"\nbytes = 4\n[[launch]]\n"
         "name = \"first\"\nentry = \"k\"\ngrid = [1]\nblock = [32]\nparams = [\n" +
         params + "\n]\n" + more;
}

}  // namespace

TEST_CASE("bad PTX") {
  const Folder folder;
  folder.write("l.toml", launch_of());
  const std::vector<BadText> table = {
      {"not PTX at all",
       "k.ptx:1:1: error: found 'not', expected a directive such as .version, .global, .entry or .func"},
      {"", "l.toml:2:9: error: 'k.ptx' has no entry 'k'; it has none"},
      {".version 8.0\n.target sm_75\n.address_size 16\n",
       "k.ptx:3:15: error: .address_size 16 is not supported, expected 32 or 64"},
      {module_of("tex.acube.v4.f32.f32 {%r1, %r1, %r1, %r1}, [t, {%r1, %r1, %r1, %r1}];"),
       "k.ptx:9:1: error: texture access of cube layers, samples or sparse textures 'tex.acube.v4.f32.f32' is not "
       "supported"},
      {module_of("frobnicate.u32 %r1, %r2;"), "k.ptx:9:1: error: instruction 'frobnicate.u32' is not supported"},
      {module_of("add.u32 %r1, %t;"), "k.ptx:9:1: error: 'add.u32' has 2 operands, expected 3"},
      {module_of("add.u32 %r1, %t, %q;"), "k.ptx:9:18: error: '%q' has type .b64, expected a 32-bit register"},
      {module_of("add.u32 %r1, %t, %r9;"),
       "k.ptx:9:18: error: '%r9' is neither a declared register nor a supported special register"},
      {module_of("bra AWAY;"), "k.ptx:9:5: error: label 'AWAY' is not defined"},
      {module_of("add.u32 %r1, %t, 1"),
       "k.ptx:10:1: error: found 'ret', expected ',' or ';' after an operand of 'add.u32'"},
      {module_of("ld.global.u32 %r1, [%t];"),
       "k.ptx:9:20: error: '%t' has type .b32, expected a 64-bit address register (.address_size 64)"},
      {module_of("bar.sync 16;"), "k.ptx:9:10: error: barrier 16 does not exist, expected 0 to 15"},
      {module_of("mov.u32 %r1, 1;", ".global .u32 g[2] = {1, 2, 3};"),
       "k.ptx:4:28: error: more initial values than the 2 of 'g'"},
      {module_of("ld.global.u32 %r1, [g]; st.global.u32 [%p], %r1;", ".extern .global .u32 g;"),
       "k.ptx:9:1: error: kernel 'k': variable 'g', which is defined nowhere, in 'ld.global.u32 R2, [g];' (k.cu:5)"},
  };
  for (const BadText& bad : table) {
    CAPTURE(bad.text);
    folder.write("k.ptx", bad.text);
    refused(folder, REGATTA_ANNOTATE, {"--launch", "l.toml", "--out", "k.rgt"}, bad.message);
    CHECK_FALSE(folder.has("k.rgt"));
    CHECK(folder.count("partial") == 0);
  }
}

TEST_CASE("programs that go wrong when they run") {
  const Folder folder;
  folder.write("l.toml", launch_of());
  const std::vector<BadText> table = {
      {module_of("st.global.u32 [%p+256], %t;"),
       "k.ptx:9:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): out-of-bounds write of 4 bytes at global address "
       "0x1000000100, just past the end of 'a' (256 bytes) (k.cu:5)"},
      {module_of("ld.global.u32 %r1, [%p+2]; st.global.u32 [%p], %r1;"),
       "k.ptx:9:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): misaligned read of 4 bytes at global address "
       "0x1000000002, expected a multiple of 4 (k.cu:5)"},
      {module_of("setp.eq.u32 %c1, %t, 70; @%c1 mov.u32 %r1, 1; add.u32 %r2, %r1, 1; st.global.u32 [%p], %r2;"),
       "k.ptx:9:68: error: kernel 'k', CTA (0,0,0), thread (0,0,0): 'st.global.u32 [R#.64], R#;' reads register R#, "
       "which 'add.u32 R#, R#, 0x1;' on line 9 makes of R#, which this thread never wrote (k.cu:5)"},
      {module_of("mov.u32 %r1, s; ld.shared.u32 %r2, [%r1+4]; st.global.u32 [%p], %r2;", ".shared .u32 s[2];"),
       "k.ptx:9:17: error: kernel 'k', CTA (0,0,0), thread (0,0,0): read of shared offset 4, which was never written "
       "(k.cu:5)"},
      {module_of("setp.lt.u32 %c1, %t, 8; @%c1 bra L; bar.sync 0; L: bar.sync 1;"),
       "k.ptx:9:37: error: kernel 'k', CTA (0,0,0), thread (0,0,0): barrier under divergence: 24 of the warp's 32 "
       "threads are at it, this one is not and can still come to the barrier on line 9 (k.cu:5)"},
      {module_of("setp.lt.u32 %c1, %t, 32; @%c1 bra L;\nbar.sync 1; bra M; L:\nbar.sync 2; M:"),
       "k.ptx:11:1: error: kernel 'k', CTA (0,0,0), thread (0,0,0): barrier deadlock: warp 1 waits at barrier 1 on "
       "line 10; warp 0 waits at barrier 2 on line 11 (k.cu:5)"},
      {module_of("L: bra L;"),
       "k.ptx:9:4: error: kernel 'k', CTA (0,0,0), thread (0,0,0): warp 0 has executed 5000 instructions and goes on: "
       "an endless loop? (raise --max-instructions if not) (k.cu:5)"},
      {module_of("setp.eq.u32 %c1, %t, 3; @%c1 trap;"),
       "k.ptx:9:30: error: kernel 'k', CTA (0,0,0), thread (3,0,0): trap (k.cu:5)"},
  };
  for (const BadText& bad : table) {
    CAPTURE(bad.text);
    folder.write("k.ptx", bad.text);
    const test::ProcessResult r =
        run(folder, REGATTA_ANNOTATE, {"--launch", "l.toml", "--out", "k.rgt", "--max-instructions", "5000"});
    // Which registers the allocator picks is not what is tested.
    CHECK(std::regex_replace(r.err, std::regex("\\bR[0-9]+\\b"), "R#") == bad.message + "\n");
    CHECK(r.out.empty());
    CHECK(r.status == 2);
    CHECK_FALSE(folder.has("k.rgt"));
    CHECK(folder.count("partial") == 0);
  }
}

TEST_CASE("bad launch files") {
  const Folder folder;
  folder.write("k.ptx", module_of("", ".global .u32 g[4]; .const .u32 c;"));
  folder.write("short.bin", "1234567");
  folder.write("empty.bin", "");
  const std::vector<BadText> table = {
      {"", "l.toml:1:1: error: the launch file has no 'ptx'"},
      {"ptx = 3\n", "l.toml:1:7: error: 'ptx' is an integer, expected a string"},
      {"ptx = \"none.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n",
       "l.toml: error: cannot read 'none.ptx': No such file or directory"},
      {"ptx = \"k.ptx\"\nentry = \"kk\"\ngrid = [1]\nblock = [1]\n",
       "l.toml:2:9: error: 'k.ptx' has no entry 'kk'; it has k; did you mean 'k'?"},
      {"ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [1]\n",
       "l.toml:1:1: error: kernel 'k' has 1 parameter, launch 'k' gives 0; expected param 0: .u64 a"},
      {"ptx = \"k.ptx\"\nentry = \"k\"\ngird = [1]\nblock = [1]\n",
       "l.toml:3:1: error: unknown key 'gird' in the launch file; did you mean 'grid'?"},
      {"ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1, 70000]\nblock = [1]\n",
       "l.toml:3:12: error: 'grid' has 70000 in dimension y, expected 1 to 65535"},
      {"ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [32, 64]\n",
       "l.toml:4:9: error: a block of 32 x 64 x 1 has 2048 threads, expected at most 1024"},
      {launch_of("typ = \"f32\"\n"), "l.toml:9:1: error: unknown key 'typ' in [[param]]; did you mean 'type'?"},
      {launch_of("[[param]]\nscalar = 300\ntype = \"u8\"\n"),
       "l.toml:10:10: error: the value 300 does not fit type u8, expected 0 to 255"},
      {launch_of("[[param]]\nscalar = 70000\ntype = \"f16\"\n"),
       "l.toml:10:10: error: the value is too large for type f16"},
      {launch_of("[[param]]\nscalar = \"0x1ff\"\ntype = \"b8\"\n"),
       "l.toml:10:10: error: the bits 0x1ff do not fit type b8 of 8 bits"},
      {launch_of("[[param]]\nscalar = \"one\"\ntype = \"f32\"\n"),
       "l.toml:10:10: error: a scalar of type f32 is the string 'one', expected a number, or its bits as \"0x...\""},
      {launch_of("[[param]]\nscalar = 1\ntype = \"int\"\n"),
       "l.toml:11:8: error: unknown type 'int', expected s8 to s64, u8 to u64, b8 to b64, f16, bf16, f32 or f64"},
      {launch_of("[[param]]\nscalar = 1\ntype = \"s32\"\n"),
       "l.toml:1:1: error: kernel 'k' has 1 parameter, launch 'k' gives 2; expected param 0: .u64 a"},
      {launch_of("[[param]]\nbuffer = \"b\"\n"),
       "l.toml:10:10: error: no buffer before this one is called 'b'; did you mean 'a'?"},
      {launch_of("offset = 300\n"), "l.toml:9:10: error: 'offset' is 300, buffer 'a' has 256 bytes"},
      {launch_of(
           "[[param]]\nmembers = [\n{ scalar = 1, type = \"s64\" },\n{ scalar = 1, type = \"u8\", at = 4 },\n]\n"),
       "l.toml:12:1: error: member 1 is at byte 4, the one before it ends at 8"},
      {launch_of("[[param]]\nmembers = []\n"), "l.toml:10:11: error: 'members' is empty"},
      {launch_of("[[param]]\nbuffer = 256\ninit = \"file\"\nfile = \"none.bin\"\n"),
       "l.toml:9:1: error: cannot read 'none.bin': No such file or directory"},
      {launch_of("[[param]]\nbuffer = 8\ninit = \"file\"\nfile = \"short.bin\"\n"),
       "l.toml:9:1: error: 'short.bin' has 7 bytes, expected 8"},
      {launch_of("[[param]]\nname = \"b\"\ninit = \"file\"\n"),
       "l.toml:9:1: error: [[param]] has none of 'scalar', 'expression', 'buffer', 'texture', 'surface', 'tensor_map', "
       "'struct' and "
       "'members'"},
      {launch_of("[[param]]\nname = \"a\"\nbuffer = 8\n"), "l.toml:9:1: error: there are two buffers called 'a'"},
      {launch_of("[[param]]\nbuffer = 10\ninit = \"iota\"\ntype = \"f32\"\n"),
       "l.toml:10:10: error: 10 bytes are no whole number of f32 elements of 4 bytes"},
      {launch_of("expect = \"a.bin\"\ntolerance = -1\ntype = \"f32\"\n"),
       "l.toml:10:13: error: 'tolerance' is negative"},
      {launch_of("[[global]]\nname = \"h\"\n"),
       "l.toml:9:1: error: 'k.ptx' has no .global or .const variable called 'h'"},
      {launch_of("[[global]]\nname = \"c\"\nbytes = 8\n"), "l.toml:9:1: error: 8 bytes for variable 'c', which has 4"},
      {launch_of("[[global]]\nname = \"g\"\ninit = \"none\"\n"),
       "l.toml:11:8: error: init = \"none\" is for buffers: a variable is zero or initialised"},
      {program_of("[[step]]\nrun = \"frist\"\n"),
       "l.toml:17:7: error: no [[launch]] is called 'frist'; did you mean 'first'?"},
      {program_of("[[step]]\nswap = [\"a\", \"flag\"]\n"), "l.toml:17:8: error: 'a' and 'flag' differ in size"},
      {program_of("[[step]]\nrepeat = 3\n"), "l.toml:16:1: error: a loop without steps: give it 'steps = [...]'"},
      {program_of("[[step]]\nwhile = \"flog\"\nsteps = [{ run = \"first\" }]\n"),
       "l.toml:17:9: error: no [[buffer]] is called 'flog'; did you mean 'flag'?"},
      {program_of("", "{ counter = \"i\", type = \"s64\" }"),
       "l.toml:14:1: error: the parameter follows counter 'i', but launch 'first' runs outside of a loop that counts "
       "it"},
      {program_of("[[step]]\nrepeat = 2000000000\nsteps = [{ swap = [\"a\", \"a\"] }]\n"),
       "l.toml:18:10: error: the program has run 100000000 steps and goes on: an endless loop?"},
      {"ptx = \"k.ptx\"\nentry \"k\"\n",
       "l.toml:2:7: error: Error while parsing key-value pair: expected '=', saw '\"'"},
  };
  for (const BadText& bad : table) {
    CAPTURE(bad.text);
    folder.write("l.toml", bad.text);
    refused(folder, REGATTA_ANNOTATE, {"--launch", "l.toml", "--out", "k.rgt"}, bad.message);
    CHECK_FALSE(folder.has("k.rgt"));
    CHECK(folder.count("partial") == 0);
  }
}

TEST_CASE("bad traces") {
  const Folder folder;
  folder.write("k.ptx", module_of("mul.wide.u32 %q, %t, 4; add.u64 %q, %p, %q; st.global.u32 [%q], %t;"));
  folder.write("l.toml", launch_of());
  REQUIRE(run(folder, REGATTA_ANNOTATE, {"--launch", "l.toml", "--out", "k.rgt"}).status == 0);
  const std::string good = folder.read("k.rgt");
  struct BadTrace {
    std::function<void(std::string&)> spoil;
    std::string message;
  };
  const std::vector<BadTrace> table = {
      {[](std::string& t) { t.clear(); }, "bad.rgt: the file is empty"},
      {[](std::string& t) { t = "ptx = \"k.ptx\" and more of it, long enough to be one"; },
       "bad.rgt: not a regatta trace: its first bytes are not the magic of a .rgt file"},
      {[](std::string& t) { t.resize(t.size() - 5); },
       "bad.rgt: byte " + std::to_string(good.size() - 5 - 24) +
           ": trailer: the end mark is missing: the file is truncated or was not finished"},
      {[](std::string& t) { t.resize(20); }, "bad.rgt: the file is truncated: it ends after 20 bytes"},
      {[](std::string& t) { t[8] = static_cast<char>(t[8] + 6); },
       "bad.rgt: format version 7 is too new: this reads up to version 6"},
      {[](std::string& t) { t[8] = static_cast<char>(t[8] + 1); },
       "bad.rgt: byte " + std::to_string(good.size() - 24) +
           ": trailer: checksum of the trailer is wrong: the file is corrupted"},
      {[](std::string& t) {
         // The payload of the first CTA: 32 bytes of header behind its magic and kind.
         const std::size_t payload = t.find(std::string("RGTF\2\0\0\0", 8)) + 32;
         t[payload + 3] = static_cast<char>(t[payload + 3] ^ 0x55);
       },
       "bad.rgt: byte #: CTA 0 of launch 0: checksum is wrong: the file is corrupted"},
  };
  for (const BadTrace& bad : table) {
    std::string trace = good;
    bad.spoil(trace);
    folder.write("bad.rgt", trace);
    for (const auto& [program, name, arguments] :
         {std::tuple{REGATTA_TRACE, "regatta-trace: ", Arguments{"verify", "bad.rgt"}},
          std::tuple{REGATTA_SIM, "regatta-sim: ", Arguments{"bad.rgt"}}}) {
      const test::ProcessResult r = run(folder, program, arguments);
      // Where the frame lies depends on the lengths of what stands before it.
      const bool anywhere = bad.message.find("byte #") != std::string::npos;
      CHECK((anywhere ? std::regex_replace(r.err, std::regex("byte [0-9]+"), "byte #") : r.err) ==
            name + bad.message + "\n");
      CHECK(r.out.empty());
      CHECK(r.status == 2);
    }
  }
}

TEST_CASE("bad command lines") {
  const Folder folder;
  folder.write("k.ptx", module_of(""));
  folder.write("l.toml", launch_of());
  struct BadLine {
    std::string program;
    Arguments arguments;
    std::string message;
  };
  const std::vector<BadLine> table = {
      {REGATTA_ANNOTATE, {}, "regatta-annotate: --launch is missing (or --ptx with --check)"},
      {REGATTA_ANNOTATE, {"--lunch", "l.toml"}, "regatta-annotate: unknown option '--lunch'; did you mean '--launch'?"},
      {REGATTA_ANNOTATE,
       {"--max-register", "32", "--launch", "l.toml"},
       "regatta-annotate: unknown option '--max-register'; did you mean '--max-registers'?"},
      {REGATTA_ANNOTATE,
       {"--qqqqqqqqqqqqq"},
       "regatta-annotate: unknown option '--qqqqqqqqqqqqq' (--help shows the options)"},
      {REGATTA_ANNOTATE,
       {"--launch"},
       "regatta-annotate: the required argument for option '--launch' is missing (--help shows the options)"},
      {REGATTA_ANNOTATE, {"l.toml"}, "regatta-annotate: unexpected argument 'l.toml'; did you mean --launch l.toml?"},
      {REGATTA_ANNOTATE,
       {"a b.toml"},
       "regatta-annotate: unexpected argument 'a b.toml'; did you mean --launch 'a b.toml'?"},
      {REGATTA_ANNOTATE,
       {"k.ptx"},
       "regatta-annotate: unexpected argument 'k.ptx'; expected --launch FILE.toml, a launch file that names the PTX, "
       "or "
       "--ptx k.ptx --check"},
      {REGATTA_ANNOTATE,
       {"k.cu"},
       "regatta-annotate: unexpected argument 'k.cu'; expected --launch FILE.toml, a launch file that names PTX made "
       "of "
       "it (compiler/launch/README.md)"},
      {REGATTA_ANNOTATE,
       {"--launch", "l.toml", "m.toml"},
       "regatta-annotate: unexpected argument 'm.toml' (--help shows the options)"},
      {REGATTA_ANNOTATE, {"k"}, "regatta-annotate: unexpected argument 'k' (--help shows the options)"},
      {REGATTA_ANNOTATE,
       {"--launch", "l.toml", "--launch", "l.toml"},
       "regatta-annotate: option '--launch' cannot be specified more than once (--help shows the options)"},
      {REGATTA_ANNOTATE,
       {"--launch", "l.toml", "--max-registers", "many"},
       "regatta-annotate: the argument ('many') for option '--max-registers' is invalid, expected a whole number"},
      {REGATTA_ANNOTATE,
       {"--launch", "l.toml", "--max-registers", "256"},
       "regatta-annotate: --max-registers is 256, expected 16 to 255"},
      {REGATTA_ANNOTATE,
       {"--launch", "l.toml", "--warp-size", "48"},
       "regatta-annotate: --warp-size is 48, expected 32 or 64"},
      {REGATTA_ANNOTATE,
       {"--launch", "l.toml", "--ctas", "1:x"},
       "regatta-annotate: --ctas '1:x', expected FIRST:COUNT, two whole numbers"},
      {REGATTA_ANNOTATE,
       {"--launch", "l.toml", "--check-races=lokstep"},
       "regatta-annotate: --check-races 'lokstep', expected target, independent or lockstep; did you mean 'lockstep'?"},
      {REGATTA_ANNOTATE,
       {"--launch", "l.toml", "--dump-buffer", "b=b.bin"},
       "regatta-annotate: --dump-buffer: no buffer or variable is called 'b', there are: a"},
      {REGATTA_ANNOTATE,
       {"--launch", "l.toml", "--entry", "k"},
       "regatta-annotate: --entry goes with --check; the launch file names the entries to run"},
      {REGATTA_ANNOTATE, {"--check"}, "regatta-annotate: --check needs --ptx or --launch"},
      {REGATTA_ANNOTATE,
       {"--check", "--ptx", "none.ptx"},
       "regatta-annotate: cannot read 'none.ptx': No such file or directory"},
      {REGATTA_ANNOTATE,
       {"--check", "--ptx", "k.ptx", "--entry", "j"},
       "regatta-annotate: 'k.ptx' has no entry 'j'; it has k; did you mean 'k'?"},
      {REGATTA_ANNOTATE,
       {"--check", "--ptx", "k.ptx", "--out", "k.rgt"},
       "regatta-annotate: --check runs nothing: --out, --for, --ctas, --shared-values, --dump-buffer and --check-races "
       "do not go "
       "with "
       "it"},
      {REGATTA_ANNOTATE,
       {"--launch", "l.toml", "--listing", "none/l.txt"},
       "regatta-annotate: cannot write 'none/l.txt': No such file or directory"},
      {REGATTA_ANNOTATE,
       {"--launch", "l.toml", "--out", "none/k.rgt"},
       "regatta-annotate: cannot write 'none/k.rgt': No such file or directory"},
      {REGATTA_SIM, {"none.rgt"}, "regatta-sim: none.rgt: cannot be opened: No such file or directory"},
      {REGATTA_SIM,
       {"k.rgt", "--schedular", "gto"},
       "regatta-sim: command line: unknown option '--schedular'; did you mean '--scheduler'?"},
      {REGATTA_SIM,
       {"k.rgt", "--wir.model", "rlpv"},
       "regatta-sim: command line: unknown option '--wir.model' (known under --scheme wir)"},
      {REGATTA_SIM,
       {"k.rgt", "--sms", "0"},
       "regatta-sim: command line: --sms: expected an integer from 1 to 1024, found 0"},
      {REGATTA_TRACE,
       {},
       "regatta-trace: a command is missing: info, dump, verify or signatures (regatta-trace --help)"},
      {REGATTA_TRACE,
       {"verfy", "k.rgt"},
       "regatta-trace: unknown command 'verfy'; did you mean 'verify'? (regatta-trace --help)"},
      {REGATTA_TRACE, {"info", "none.rgt"}, "regatta-trace: none.rgt: cannot be opened: No such file or directory"},
  };
  for (const BadLine& bad : table) refused(folder, bad.program, bad.arguments, bad.message);
}
