// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/ptx/ptx.h>
#include <regatta/test/catch.h>

#include <string>

namespace regatta::ptx::test {

inline const char* registers =
    ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<40>; .reg .f32 %f<9>; .reg .b64 %rd<20>; .reg .f64 %fd<9>;\n";

/// A module with one entry "k" of the given body, registers declared.
inline std::string entry(const std::string& body) {
  return std::string(".version 8.0\n.target sm_75\n.address_size 64\n") +
         ".visible .entry k(.param .u64 a, .param .u32 n, .param .align 8 .b8 s[24])\n{\n" + registers + body + "\n}\n";
}

/// Instructions of the function, a line each; blocks after the first begin with "Bn:".
inline std::string text_of(const ir::Function& f) {
  std::string text;
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    if (b > 0) text += "B" + std::to_string(b) + ":\n";
    for (const ir::Instruction& i : f.blocks[b].instructions) text += ir::to_text(i, false) + "\n";
  }
  return text;
}

/// Lowers a body as it is.
inline ir::Function lower(const std::string& body) { return parse_module(entry(body), "k.ptx").functions.at(0); }

/// Stores that read %r1 to %r4, %rd1, %rd2, %f1, %fd1, %rs1, %rs2, %p1 and %p2, so that they are not dropped.
inline const char* keep =
    "\n@%p1 st.global.u32 [%rd9], %r1; @%p2 st.global.u32 [%rd9], %r2; st.global.u64 [%rd9], %rd1;"
    "st.global.u64 [%rd9], %rd2; st.global.f32 [%rd9], %f1; st.global.f64 [%rd9], %fd1; st.global.u16 [%rd9], %rs1;"
    "st.global.u16 [%rd9], %rs2; st.global.u32 [%rd9], %r3; st.global.u32 [%rd9], %r4;";

/// Text of the first `lines` instructions that a body becomes.
inline std::string first_lines(const std::string& body, std::size_t lines) {
  const std::string text = text_of(lower(body + keep));
  std::size_t end = 0;
  for (std::size_t n = 0; n < lines; ++n) {
    end = text.find('\n', end);
    if (end == std::string::npos) return text;
    ++end;
  }
  return text.substr(0, end == 0 ? 0 : end - 1);
}

/// The message with which a text is refused; empty if it is not.
inline std::string message_of(const std::string& text) {
  try {
    parse_module(text, "k.ptx");
  } catch (const trace::InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace regatta::ptx::test
