// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/error.h>
#include <regatta/ptx/link.h>
#include <regatta/ptx/ptx.h>
#include <regatta/test/catch.h>

#include <string>
#include <vector>

using namespace regatta;

namespace {

const std::string link_head = ".version 8.0\n.target sm_75\n.address_size 64\n";

std::string braced(const std::string& lines) { return "{\n" + lines + "  ret;\n}\n"; }

std::string link_message(const std::vector<ptx::LinkUnit>& units) {
  try {
    ptx::link(units);
  } catch (const base::InputError& e) {
    return e.what();
  }
  return "";
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("one unit stays as it is") {
  CHECK(ptx::link({{"a.ptx", "  " + link_head + "// note\n"}}) == "  " + link_head + "// note\n");
}

TEST_CASE("a call and a variable are found in another unit") {
  const std::string user = link_head +
                           ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
                           ".extern .global .align 4 .u32 scale;\n"
                           ".visible .entry k(.param .u64 p)\n" +
                           braced(
                               "  .reg .b32 %r<3>;\n  .reg .b64 %d<3>;\n"
                               "  ld.param.u64 %d1, [p];\n  ld.global.u32 %r1, [scale];\n"
                               "  { .param .b32 a; st.param.b32 [a], %r1; .param .b32 b;\n"
                               "    call (b), twice, (a); ld.param.b32 %r2, [b]; }\n"
                               "  st.global.u32 [%d1], %r2;\n");
  const std::string owner =
      ".version 8.3\n.target sm_80\n.address_size 64\n"
      ".visible .global .align 4 .u32 scale = 7;\n"
      ".visible .func (.param .b32 r) twice(.param .b32 x)\n" +
      braced(
          "  .reg .b32 %r<3>;\n  ld.param.b32 %r1, [x];\n  add.s32 %r2, %r1, %r1;\n"
          "  st.param.b32 [r], %r2;\n");
  for (const bool owner_first : {false, true}) {
    const ptx::LinkUnit a{"a.ptx", user}, b{"b.ptx", owner};
    const std::string text = ptx::link(owner_first ? std::vector{b, a} : std::vector{a, b});
    const ptx::ModuleResult module = ptx::parse_entries(text, "linked.ptx");
    INFO(text);
    CHECK(module.target == 80);
    CHECK(text.rfind(".version 8.3\n", 0) == 0);
    REQUIRE(module.entries.size() == 1);
    CHECK(module.entries.front().message.empty());
    REQUIRE(module.variables.size() == 1);
    CHECK(!module.variables.front().external);
    CHECK(module.variables.front().initial == std::vector<std::uint8_t>{7, 0, 0, 0});
  }
}

TEST_CASE("names of a unit's own are kept apart") {
  const auto unit = [](const std::string& name, const std::string& value) {
    return link_head + ".global .align 4 .u32 state = " + value + ";\n.visible .entry " + name + "(.param .u64 p)\n" +
           braced(
               "  .reg .b32 %r<2>;\n  .reg .b64 %d<2>;\n  ld.param.u64 %d1, [p];\n"
               "  ld.global.u32 %r1, [state];\n  st.global.u32 [%d1], %r1;\n");
  };
  const std::string text = ptx::link({{"a", unit("first", "1")}, {"b", unit("second", "2")}});
  const ptx::ModuleResult module = ptx::parse_entries(text, "linked.ptx");
  INFO(text);
  REQUIRE(module.variables.size() == 2);
  CHECK(module.variables[0].name == "state$0");
  CHECK(module.variables[0].initial.front() == 1);
  CHECK(module.variables[1].name == "state$1");
  CHECK(module.variables[1].initial.front() == 2);
  CHECK(count(text, "[state$0]") == 1);
  CHECK(count(text, "[state$1]") == 1);
  for (const ptx::EntryResult& e : module.entries) CHECK(e.message.empty());
}

TEST_CASE("a name of a unit's own does not meet another unit's visible one") {
  const std::string text = ptx::link({{"a", link_head + ".global .align 4 .u32 x = 1;\n"},
                                      {"b", link_head + ".visible .global .align 4 .u32 x = 2;\n"},
                                      {"c", link_head + ".extern .global .align 4 .u32 x;\n"}});
  const ptx::ModuleResult module = ptx::parse_entries(text, "linked.ptx");
  REQUIRE(module.variables.size() == 2);
  CHECK(module.variables[0].name == "x$0");
  CHECK(module.variables[1].name == "x");
  CHECK(module.variables[1].initial.front() == 2);
}

TEST_CASE("weak definitions of templates stand once, and give way to a strong one") {
  const auto kernel = [](const std::string& linkage, const std::string& what) {
    return link_head + linkage + " .entry k()\n" + braced("  // " + what + "\n");
  };
  CHECK(count(ptx::link({{"a", kernel(".weak", "A")}, {"b", kernel(".weak", "B")}}), "// A\n") == 1);
  CHECK(count(ptx::link({{"a", kernel(".weak", "A")}, {"b", kernel(".weak", "B")}}), "// B\n") == 0);
  CHECK(count(ptx::link({{"a", kernel(".weak", "A")}, {"b", kernel(".visible", "B")}}), "// B\n") == 1);
  CHECK(count(ptx::link({{"a", kernel(".weak", "A")}, {"b", kernel(".visible", "B")}}), "// A\n") == 0);
}

TEST_CASE("source lines keep their files") {
  const auto unit = [](const std::string& name, const std::string& source) {
    return link_head + ".visible .entry " + name + "()\n" + braced("  .loc 1 5 3\n") + ".file 1 \"" + source + "\"\n" +
           ".section .debug_str { info: .b8 1 }\n";
  };
  const std::string text = ptx::link({{"a", unit("first", "a.cu")}, {"b", unit("second", "b.cu")}});
  CHECK(count(text, ".loc 2 5 3") == 1);
  CHECK(count(text, ".file 2 \"b.cu\"") == 1);
  CHECK(count(text, ".section") == 0);
  CHECK(ptx::parse_entries(text, "linked.ptx").entries.size() == 2);
}

TEST_CASE("what cannot be linked is named") {
  const std::string x = link_head + ".visible .global .u32 x;\n";
  CHECK(link_message({{"a.ptx", x}, {"b.ptx", "\n" + x}}) == "b.ptx:5:1: error: 'x' is defined in a.ptx too");
  CHECK(link_message({{"a.ptx", x}, {"b.ptx", ".version 8.0\n.target sm_75\n.address_size 32\n"}}) ==
        "b.ptx:1:1: error: .address_size 32, other units have 64");
  CHECK(link_message({{"a.ptx", x}, {"b.ptx", ".entry k() {"}}) == "b.ptx:1:12: error: '{' is never closed");
  CHECK(link_message({{"a.ptx", x}, {"b.ptx", ".global .u32 y"}}) ==
        "b.ptx:1:15: error: found the end of the file, expected ';' after a declaration");
  CHECK(link_message({{"a.ptx", x}, {"b.ptx", "add.u32"}}) ==
        "b.ptx:1:1: error: found 'add', expected a directive such as .version, .global, .entry or .func");
  CHECK(link_message({{"a.ptx", x}, {"b.ptx", ".version x"}}) ==
        "b.ptx:1:10: error: found 'x', expected a PTX version number such as 8.0");
}
