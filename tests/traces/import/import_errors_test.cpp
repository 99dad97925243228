// SPDX-License-Identifier: Apache-2.0
//
// Each way in which a trace of Accel-Sim can be malformed, with its message.
#include <regatta/base/error.h>
#include <regatta/import/import.h>
#include <regatta/test/catch.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "hand_written.h"

using namespace regatta;
using test::Traceg;

namespace {

/// The message for a file with these bytes, without "NAME".
std::string error_in(const std::string& bytes, const std::string& name = "bad.traceg") {
  std::ofstream(name, std::ios::binary) << bytes;
  std::filesystem::remove("bad.rgt");
  import::ImportOptions options;
  options.input = name;
  options.out = "bad.rgt";
  try {
    import::import_trace(options);
  } catch (const base::InputError& e) {
    CHECK(!std::filesystem::exists("bad.rgt"));
    std::string text = e.what();
    return text.rfind(name, 0) == 0 ? text.substr(name.size()) : text;
  }
  return "no error";
}

std::string with(const std::string& key, const std::string& value) {
  Traceg t = test::two_sides_traceg();
  t.set(key, value);
  return error_in(t.text());
}

/// Of one warp; its instructions begin in line 22.
std::string of_warp(const test::TracegWarp& warp, const std::string& version = "3") {
  Traceg t = test::one_warp_traceg(warp);
  t.set("accelsim tracer version", version);
  return error_in(t.text());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

const std::string exits = "0010 ffffffff 0 EXIT 0 0";

}  // namespace

TEST_CASE("a malformed header names its line and what it should say") {
  CHECK(with("kernel name", "") == ":1:16: error: an empty kernel name");
  CHECK(with("kernel name", "a\xff") == ":1:16: error: found 'a?', expected a kernel name of printable characters");
  CHECK(with("grid dim", "2,1,1") == ":3:13: error: found '2,1,1' for 'grid dim', expected (X,Y,Z)");
  CHECK(with("grid dim", "(2,1)") == ":3:14: error: found '2,1', expected X,Y,Z");
  CHECK(with("grid dim", "(0,1,1)") == ":3:13: error: a dimension of 0 for 'grid dim'");
  CHECK(with("grid dim", "(4000000000,4000000000,1)") == ":3:13: error: a grid of more than 2^40 thread blocks");
  CHECK(with("block dim", "(64,64,1)") == ":4:14: error: found 4096 threads per block, expected at most 1024");
  CHECK(with("shmem", "many") == ":5:10: error: found 'many' for 'shmem', expected a number of at most 16777216");
  CHECK(with("nregs", "many") == ":6:10: error: found 'many' for 'nregs', expected a number of at most 4294967295");
  CHECK(with("binary version", "20") ==
        ":7:19: error: binary version 20: expected a compute capability from 30 to 129, as 70 for 7.0");
  CHECK(with("accelsim tracer version", "9") == ":12:28: error: tracer version 9: expected 1 to 7");
  CHECK(with("shmem base_addr", "here") ==
        ":9:20: error: found 'here' for 'shmem base_addr', expected a number of at most 18446744073709551615");
  for (const char* key :
       {"kernel name", "grid dim", "block dim", "shmem", "nregs", "binary version", "accelsim tracer version"}) {
    Traceg t = test::two_sides_traceg();
    t.remove(key);
    CHECK(error_in(t.text()) == std::string(":13:1: error: the header has no line '-") + key + " = ...'");
  }
  const std::string text = test::two_sides_traceg().text();
  CHECK(error_in(replaced(text, "-shmem = 256", "shmem 256")) ==
        ":5:1: error: found 'shmem 256', expected a line '-KEY = VALUE' of the header");
  CHECK(error_in(text.substr(0, text.find("#traces"))) ==
        ":14:1: error: the file ends, expected a line '#traces format = ...' behind the header");
  CHECK(error_in(replaced(text, text.substr(text.find("#traces"), text.find("#BEGIN") - text.find("#traces")), "")) ==
        ":14:1: error: found #BEGIN_TB, expected a line '#traces format = ...' before it");
  CHECK(error_in("") == ":1:1: error: the file ends, expected a line '#traces format = ...' behind the header");
}

TEST_CASE("malformed thread blocks and warps are named") {
  const std::string text = test::two_sides_traceg().text();
  CHECK(error_in(text.substr(0, text.find("#BEGIN"))) == ": error: the trace has no thread block");
  CHECK(error_in(replaced(text, "#BEGIN_TB", "#END_TB")) == ":16:1: error: found '#END_TB', expected #BEGIN_TB");
  CHECK(error_in(replaced(text, "#BEGIN_TB", "warp = 0")) == ":16:1: error: found 'warp = 0', expected #BEGIN_TB");
  CHECK(error_in(replaced(text, "thread block = 0,0,0", "block 0")) ==
        ":18:1: error: found 'block 0', expected 'thread block = X,Y,Z'");
  CHECK(error_in(replaced(text, "thread block = 0,0,0", "thread block = 0,x,0")) ==
        ":18:16: error: found '0,x,0', expected X,Y,Z");
  CHECK(error_in(replaced(text, "thread block = 0,0,0", "thread block = 2,0,0")) ==
        ":18:16: error: found thread block 2,0,0, outside the grid");
  CHECK(error_in(replaced(text, "thread block = 0,0,0", "thread block = 1,0,0")) ==
        ":18:16: error: found thread block 1,0,0, expected 0,0,0: a trace has its first CTAs without a gap");
  CHECK(error_in(replaced(text, "warp = 0", "warp = 1")) == ":20:1: error: found 'warp = 1', expected 'warp = 0'");
  CHECK(error_in(replaced(text, "insts = 17", "17 lines")) == ":21:1: error: found '17 lines', expected 'insts = N'");
  CHECK(error_in(replaced(text, "insts = 17", "insts = 18")) ==
        ":40:1: error: found 'warp = 1' after 17 instructions, expected 18");
  CHECK(error_in(replaced(text, "insts = 17", "insts = 16")) ==
        ":38:1: error: found '00f0 ffffffff 0 EXIT 0 0 ', expected 'warp = 1'");
  Traceg t = test::two_sides_traceg();
  t.blocks[1].pop_back();
  CHECK(error_in(t.text()) == ":86:1: error: the thread block has 1 warps, expected 2");
  t = test::two_sides_traceg();
  t.blocks[0].push_back(t.blocks[0][0]);
  CHECK(error_in(t.text()) == ":60:1: error: found 'warp = 2', expected #END_TB");
  t = test::two_sides_traceg();
  t.blocks[0][1].clear();
  CHECK(error_in(t.text()) == ":41:1: error: a warp without an instruction, expected its exit");
  CHECK(error_in(text.substr(0, text.find("0020 "))) == ":24:1: error: the file ends, expected 15 more instructions");
  CHECK(error_in(text.substr(0, text.rfind("#END_TB"))) ==
        ":106:1: error: the file ends, expected 'warp = N' or #END_TB");
}

TEST_CASE("each column of an instruction is checked") {
  CHECK(of_warp({"xyz ffffffff 0 EXIT 0 0"}) == ":22:1: error: found 'xyz', expected a PC in hexadecimal");
  CHECK(of_warp({"0000 123456789 0 EXIT 0 0"}) ==
        ":22:6: error: found '123456789', expected a mask of at most 4294967295");
  CHECK(of_warp({"0000 ffffffff"}) ==
        ":22:14: error: found the end of the line, expected the number of destination registers");
  CHECK(of_warp({"0000 ffffffff 65 EXIT 0 0"}) ==
        ":22:15: error: found '65', expected the number of destination registers of at most 64");
  CHECK(of_warp({"0000 ffffffff 1 R256 MOV 0 0"}) == ":22:17: error: found 'R256', expected a register, R0 to R255");
  CHECK(of_warp({"0000 ffffffff 1 P0 MOV 0 0"}) == ":22:17: error: found 'P0', expected a register, R0 to R255");
  CHECK(of_warp({"0000 ffffffff 0 0 0 0"}) == ":22:17: error: found '0', expected an opcode");
  CHECK(of_warp({"0000 ffffffff 0 .E 0 0"}) == ":22:17: error: found '.E', expected an opcode");
  CHECK(of_warp({"0000 ffffffff 0 EXIT 1 R1"}) == ":22:26: error: found the end of the line, expected a memory width");
  CHECK(of_warp({"0000 ffffffff 0 EXIT 0 0 7"}) == ":22:26: error: found '7', expected the end of the line");
  CHECK(of_warp({"0000 ffffffff 0 EXIT 0 0 seven"}, "4") ==
        ":22:26: error: found 'seven', expected a number or the end of the line");
  const std::string load = "0000 ffffffff 1 R2 LDG 1 R0 4 ";
  CHECK(of_warp({load}) == ":22:31: error: found the end of the line, expected an address mode");
  CHECK(of_warp({load + "9"}) == ":22:31: error: address mode 9: expected 0, 1 or 2");
  CHECK(of_warp({load + "3"}) == ":22:31: error: address mode 3, a copy of a tensor: regatta has none");
  CHECK(of_warp({load + "1 0x10"}) == ":22:37: error: found the end of the line, expected a stride");
  CHECK(of_warp({load + "1 0x10 four"}) == ":22:38: error: found 'four', expected a stride");
  CHECK(of_warp({load + "1 16g 4"}) == ":22:33: error: found '16g', expected an address in hexadecimal");
  CHECK(of_warp({load + "2 0x10 4 4"}) ==
        ":22:41: error: found the end of the line, expected the difference of two addresses");
  CHECK(of_warp({load + "0 0x10 0x20"}) == ":22:42: error: found the end of the line, expected an address");
  CHECK(of_warp({load + "1 0x1000000000000 0", exits}) ==
        ":22:20: error: lane 0: the address 0x1000000000000 of global memory, expected less than 0x1000000000000");
  CHECK(of_warp({"0000 ffffffff 1 R2 LDG 1 R0 0", exits}) == ":22:20: error: LDG has no addresses");
  CHECK(of_warp({"0000 ffffffff 1 R2 LDG.512 1 R0 64 1 0x0 0", exits}) == ":22:20: error: LDG.512 accesses 512 bits");
  CHECK(of_warp({"0000 ffffffff 1 R254 LDG.64 1 R0 8 1 0x0 0", exits}) ==
        ":22:22: error: R254 is the first of 2 registers, and the last one is R254");
  CHECK(of_warp({"0000 ffffffff 1 R2 LDS 1 R0 4 1 0x1000000 4", exits}) ==
        ":22:20: error: an access to shared memory beyond 16 MiB");
  CHECK(of_warp({"0000 ffffffff 1 R2 LDL 1 R0 4 1 0x0 8000000", exits}) ==
        ":22:20: error: the local memory of a thread has more than 16 MiB from its first to its last access");
  CHECK(of_warp({std::string("0000 ffffffff 0 EX\0IT 0 0", 25)}) == ":22:19: error: a byte of value 0, expected text");
  CHECK(of_warp({std::string(70000, ' ')}) == ":22:65536: error: a line of more than 65536 bytes");
}

TEST_CASE("control flow that no branch explains is an error") {
  CHECK(of_warp({"0000 ffffffff 1 R0 MOV 0 0"}) == ":22:20: error: the warp ends, and lanes ffffffff have not exited");
  CHECK(of_warp({"0000 ffffffff 1 R0 MOV 0 0", "0010 0000ffff 0 EXIT 0 0"}) ==
        ":23:17: error: the warp ends, and lanes ffff0000 have not exited");
  CHECK(of_warp({"0000 ffffffff 0 EXIT 0 0", "0010 00000001 0 EXIT 0 0"}) ==
        ":23:17: error: lane 0 of lanes 00000001 executes instructions from here on, and it has exited, or does not "
        "exist");
  CHECK(of_warp({"0000 ffffffff 1 R0 MOV 0 0", "0020 ffffffff 1 R0 MOV 0 0", "0010 ffffffff 0 EXIT 0 0"}) ==
        ":23:20: error: lane 0 of lanes ffffffff executes instructions from here on, and no branch took it there");
  CHECK(of_warp({"0000 ffffffff 1 R0 MOV 0 0", "0000 ffffffff 1 R1 MOV 0 0"}) ==
        ":23:20: error: MOV (R1 <-) has the PC of MOV (R0 <-) in line 22: the trace has the code of two functions, "
        "which it "
        "does not tell apart");
  Traceg t = test::two_sides_traceg();
  t.blocks[1][0].erase(t.blocks[1][0].begin());
  CHECK(error_in(t.text()) == ":68:1: error: a warp begins at another PC than the first warp of the file");
}

TEST_CASE("damaged xz files and lists are named") {
  const std::string text = test::two_sides_traceg().text();
  std::string xz = test::as_xz(text);
  CHECK(error_in(xz.substr(0, xz.size() / 2), "bad.traceg.xz").rfind(": error: the xz file ends early, at byte ", 0) ==
        0);
  xz[xz.size() / 2] = static_cast<char>(xz[xz.size() / 2] ^ 0x55);
  CHECK(error_in(xz, "bad.traceg.xz").rfind(": error: the xz file is damaged at byte ", 0) == 0);
  CHECK(error_in("kernel-1.trace\n", "badlist.g") ==
        ":1:1: error: found 'kernel-1.trace', whose warps are not sorted yet: expected a .traceg, which Accel-Sim's "
        "post-traces-processing makes of it");
  CHECK(error_in("MemcpyHtoD,0x0,4\nother\n", "badlist.g") ==
        ":2:1: error: found 'other', expected a kernel's trace (.traceg, .traceg.xz, .tracez) or 'Memcpy...'");
  CHECK(error_in("MemcpyHtoD,0x0,4\n", "badlist.g") == ": error: names no kernel's trace");
  CHECK(error_in("not_there.traceg\n", "badlist.g") ==
        "not_there.traceg: error: cannot read the file: No such file or directory");
}

TEST_CASE("a damaged paged trace names the byte") {
  const Traceg t = test::two_sides_traceg();
  const std::string whole = t.paged(4);
  const auto paged_error = [&](std::size_t at, const std::string& bytes) {
    std::string changed = whole;
    return error_in(changed.replace(at, bytes.size(), bytes), "bad.tracez");
  };
  const auto number = [](std::uint64_t value, unsigned bytes) {
    std::string text;
    for (unsigned n = 0; n < bytes; ++n) text += static_cast<char>(value >> (8 * n) & 0xff);
    return text;
  };
  const std::size_t head = whole.find('\0'), end = whole.size() - 8;
  std::uint64_t index = 0;
  for (unsigned n = 0; n < 8; ++n) index |= std::uint64_t{static_cast<unsigned char>(whole[end + n])} << (8 * n);
  const auto byte = [](std::uint64_t at) { return ": error: byte " + std::to_string(at) + ": "; };
  CHECK(error_in(t.header_text(), "bad.tracez") == byte(0) + "no byte of value 0 ends the header");
  CHECK(paged_error(head + 1, number(1u << 23, 4)) ==
        byte(head + 9) + "a dictionary of 8388608 bytes, which the file does not have");
  CHECK(paged_error(end, number(end + 1, 8)) ==
        byte(end) + "the index is at byte " + std::to_string(end + 1) + ", behind the end of the file");
  CHECK(paged_error(index, number(3, 4)) == byte(index) + "3 thread blocks, and the grid has 2");
  CHECK(paged_error(index, number(1, 4)).find("the index ends, and ") != std::string::npos);
  CHECK(paged_error(index + 4, number(0, 4)) == byte(index) + "thread block 0,0,0 is there twice");
  CHECK(paged_error(index + 4, number(7, 4)) == byte(index + 4) + "thread block 7,0,0 is outside the grid");
  CHECK(paged_error(index + 44, number(5, 4)) == byte(index + 4) + "thread block 1,0,0 has 5 warps, expected 2");
  CHECK(paged_error(index + 48, number(18, 4)) == byte(index + 48) + "a warp of 18 instructions has 17 in its pages");
  CHECK(paged_error(index + 52, number(1u << 30, 4)) ==
        byte(index + 48) + "a warp of 1073741824 pages, which the index does not have");
  CHECK(paged_error(index + 56, number(0, 8)) ==
        byte(0) + "what stands before the pages of thread block 1,0,0, warp 0 is not what the index says");
  std::uint64_t warp = head + 9;
  CHECK(paged_error(warp + 8, number(1u << 30, 4)) ==
        byte(warp + 8) + "a page of 1073741824 bytes, which the file does not have");
  CHECK(paged_error(warp + 12, number(0, 4)) == byte(warp + 8) + "a page that is no zstd frame of up to 64 MiB");
  Traceg bad = t;
  bad.blocks[0][1][6] = "0060 0000fff0 1 R4 LDG.E.64.SYS 1 R2 8 7";
  CHECK(error_in(bad.paged(4), "bad.tracez") ==
        " (thread block 0,0,0, warp 1, page 1):3:40: error: address mode 7: expected 0, 1 or 2");
}
