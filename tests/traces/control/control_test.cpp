// SPDX-License-Identifier: Apache-2.0
#include <regatta/test/catch.h>
#include <regatta/trace/control.h>
#include <regatta/trace/section_registry.h>

#include <functional>
#include <random>
#include <stdexcept>
#include <string>

using namespace regatta::trace;

namespace {

StaticInstruction op_of(OpClass op_class, const std::string& opcode, std::vector<unsigned> destinations,
                        std::vector<unsigned> sources) {
  StaticInstruction i;
  i.opcode = opcode;
  i.op_class = op_class;
  for (const unsigned d : destinations) i.destinations[i.destination_count++] = static_cast<std::uint8_t>(d);
  for (const unsigned s : sources) i.sources[i.source_count++] = static_cast<std::uint8_t>(s);
  return i;
}

/// R4 = [R2.64]; R5 = R4 * R0 + 3; [R2.64] = R5; exit.
Kernel control_kernel() {
  Kernel kernel;
  kernel.name = "k";
  kernel.registers_per_thread = 6;
  StaticInstruction load = op_of(OpClass::load, "ld.global.f32", {4}, {2, 3});
  load.space = MemorySpace::global;
  load.reads_memory = true;
  StaticInstruction fma = op_of(OpClass::fp32_mad, "fma.rn.f32", {5}, {4, 0});
  fma.operands = {{Operand::Kind::reg, 1, false, 5},
                  {Operand::Kind::reg, 1, false, 4},
                  {Operand::Kind::reg, 1, false, 0},
                  {Operand::Kind::immediate, 1, false, 0x40400000}};
  fma.operand_destinations = 1;
  StaticInstruction store = op_of(OpClass::store, "st.global.f32", {}, {2, 3, 5});
  store.space = MemorySpace::global;
  store.writes_memory = true;
  kernel.instructions = {load, fma, store, op_of(OpClass::exit, "exit", {}, {})};
  BasicBlock block;
  block.count = 4;
  kernel.blocks = {block};
  return kernel;
}

ControlSection control_sample() {
  ControlSection control;
  control.bits.resize(4);
  control.bits[0] = {2, false, 0, 1, 0, 0};
  control.bits[1] = {5, false, no_counter, no_counter, 1, 2};
  control.bits[2] = {1, false, no_counter, 5, 0, 0};
  control.bits[3] = {12, true, no_counter, no_counter, 0x22, 0};
  control.latency = {0, 4, 0, 1};
  return control;
}

std::string control_encode_error(const std::function<void(ControlSection&)>& change) {
  ControlSection control = control_sample();
  change(control);
  try {
    encode(control_kernel(), control);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

std::string control_payload_error(const std::string& payload) {
  try {
    decode_control(control_kernel(), payload);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

bool same_bits(const ControlBits& a, const ControlBits& b) {
  return a.stall == b.stall && a.yield == b.yield && a.write_counter == b.write_counter &&
         a.read_counter == b.read_counter && a.wait_mask == b.wait_mask && a.reuse == b.reuse;
}

}  // namespace

TEST_CASE("control bits survive the section") {
  Kernel kernel = control_kernel();
  const ControlSection control = control_sample();
  const std::string payload = encode(kernel, control);
  // Instruction 1: stall 5, no yield (1), counters 7 and 7, waits for 0, reuse of B, latency 4.
  REQUIRE(payload.size() == 16);
  const std::uint32_t word = 5u | 1u << 4 | 7u << 5 | 7u << 8 | 1u << 11 | 2u << 17 | 4u << 24;
  for (unsigned byte = 0; byte < 4; ++byte)
    CHECK(static_cast<std::uint8_t>(payload[4 + byte]) == (word >> (8 * byte) & 0xff));
  CHECK_FALSE(find_control(kernel));
  kernel.annotations.push_back({control_section, 2, "?"});
  CHECK_FALSE(find_control(kernel));
  kernel.annotations.push_back({control_section, 1, payload});
  const auto back = find_control(kernel);
  REQUIRE(back);
  CHECK(back->latency == control.latency);
  for (std::size_t i = 0; i < 4; ++i) CHECK(same_bits(back->bits[i], control.bits[i]));
}

TEST_CASE("control bits as text") {
  const ControlSection control = control_sample();
  CHECK(to_string(control.bits[0]) == "B------:R1:W0:-:S02");
  CHECK(to_string(control.bits[1]) == "B0-----:R-:W-:-:S05 reuse B");
  CHECK(to_string(control.bits[3]) == "B-1---5:R-:W-:Y:S12");
  Kernel kernel = control_kernel();
  const SectionRegistry registry = SectionRegistry::with_builtin();
  const SectionFormat* format = nullptr;
  for (const auto& f : registry.formats())
    if (f->name() == control_section) format = f.get();
  REQUIRE(format != nullptr);
  CHECK(format->info(kernel).empty());
  CHECK(format->notes(kernel).empty());
  kernel.annotations.push_back({control_section, 1, encode(kernel, control)});
  format->validate(kernel);
  REQUIRE(format->info(kernel).size() == 1);
  CHECK(format->info(kernel)[0].text == "2 of fixed latency; 2 raise counters, 2 wait, 1 reuse");
  CHECK(format->notes(kernel)[1] == "control B0-----:R-:W-:-:S05 reuse B L4");
  CHECK(format->notes(kernel)[2] == "control B------:R5:W-:-:S01");
}

TEST_CASE("regatta-trace verify proves the bits") {
  const SectionRegistry registry = SectionRegistry::with_builtin();
  const auto message = [&](const ControlSection& control) -> std::string {
    Kernel kernel = control_kernel();
    kernel.annotations.push_back({control_section, 1, encode(kernel, control)});
    try {
      for (const auto& format : registry.formats()) format->verify(kernel);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  ControlSection control = control_sample();
  CHECK(message(control) ==
        "control: instruction 3 (exit) leaves behind R0 that instruction 1 (fma.rn.f32) left in the "
        "register file cache");
  control.bits[1].reuse = 0;
  CHECK(message(control) == "");
  control.bits[1].stall = 4;
  CHECK(message(control) ==
        "control: instruction 2 (st.global.f32) reads R5 of instruction 1 (fma.rn.f32) after 4 cycles, expected 5");
}

TEST_CASE("the section refuses bits that no instruction can have") {
  using C = ControlSection;
  CHECK(control_encode_error([](C&) {}) == "");
  CHECK(control_encode_error([](C& c) {
          c.bits[1].stall = 16;
          c.bits[1].yield = true;
        }) == "control: instruction 1 has a stall count of 16, expected at most 15");
  CHECK(control_encode_error([](C& c) { c.bits[1].stall = 12; }) ==
        "control: instruction 1 has a stall count of 12 without yield, expected at most 11");
  CHECK(control_encode_error([](C& c) { c.bits[3].stall = 0; }) ==
        "control: instruction 3 has a stall count of 0 with yield, which hardware takes for 45 cycles");
  CHECK(control_encode_error([](C& c) { c.bits[0].write_counter = 6; }) ==
        "control: instruction 0 has write counter 6, expected 0 to 5, or 7 for none");
  CHECK(control_encode_error([](C& c) { c.bits[2].read_counter = 6; }) ==
        "control: instruction 2 has read counter 6, expected 0 to 5, or 7 for none");
  CHECK(control_encode_error([](C& c) { c.bits[1].write_counter = 2; }) ==
        "control: instruction 1 has a write counter, expected none: its latency is fixed");
  CHECK(control_encode_error([](C& c) { c.bits[2].write_counter = 2; }) ==
        "control: instruction 2 has a write counter and no result");
  CHECK(control_encode_error([](C& c) { c.bits[1].wait_mask = 0x40; }) ==
        "control: instruction 1 has a wait mask of 64, expected bits of counters 0 to 5");
  CHECK(control_encode_error([](C& c) { c.bits[1].reuse = 4; }) ==
        "control: instruction 1 has a reuse flag in position C, which is not a register");
  CHECK(control_encode_error([](C& c) { c.bits[1].reuse = 8; }) ==
        "control: instruction 1 has reuse flags 8, expected bits of positions A to C");
  CHECK(control_encode_error([](C& c) { c.bits[0].reuse = 1; }) ==
        "control: instruction 0 has a reuse flag, and does not use the register file cache");
  CHECK(control_encode_error([](C& c) { c.latency[1] = 0; }) ==
        "control: instruction 1 has a latency of 0, expected one of at least 1: its latency is fixed");
  CHECK(control_encode_error([](C& c) { c.latency[0] = 20; }) ==
        "control: instruction 0 has a latency of 20, expected 0: its latency is variable");
  CHECK(control_encode_error([](C& c) { c.bits.pop_back(); }) ==
        "control: bits of 3 instructions and latencies of 4, the kernel has 4");
  // A counter that nobody raises may be waited for, and a result may be without a counter.
  CHECK(control_encode_error([](C& c) { c.bits[0].write_counter = no_counter; }) == "");
}

TEST_CASE("damaged payloads") {
  std::string payload = encode(control_kernel(), control_sample());
  CHECK(control_payload_error(payload.substr(1)) ==
        "control: 15 bytes, expected 16: four per instruction of the kernel");
  CHECK(control_payload_error(payload + '\0') == "control: 17 bytes, expected 16: four per instruction of the kernel");
  std::string beyond = payload;
  beyond[2] = static_cast<char>(beyond[2] | 0x10);
  CHECK(control_payload_error(beyond) == "control: instruction 0 has bits beyond the reuse flags, expected 0");
  Kernel kernel = control_kernel();
  kernel.annotations.push_back({control_section, 1, beyond});
  CHECK_THROWS_AS(find_control(kernel), InputError);
  // Whatever the bytes: refused, or read and written back alike.
  std::mt19937 random(1);
  unsigned taken = 0;
  for (unsigned round = 0; round < 20'000; ++round) {
    std::string damaged = payload;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    if (control_payload_error(damaged) != "") continue;
    ++taken;
    CHECK(encode(control_kernel(), decode_control(control_kernel(), damaged)) == damaged);
  }
  CHECK(taken > 1'000);
}

TEST_CASE("which instructions have a fixed latency") {
  const auto fixed = [](OpClass c, const char* opcode) { return has_fixed_latency(op_of(c, opcode, {1}, {2})); };
  CHECK(fixed(OpClass::fp32_mad, "fma.rn.f32"));
  CHECK(fixed(OpClass::int64, "add.s64"));
  CHECK(fixed(OpClass::branch, "bra"));
  CHECK_FALSE(fixed(OpClass::fp64_add, "add.f64"));
  CHECK_FALSE(fixed(OpClass::fp32_div, "div.rn.f32"));
  CHECK_FALSE(fixed(OpClass::barrier, "bar.sync"));
  CHECK_FALSE(fixed(OpClass::shuffle, "vote.ballot.b32"));
  CHECK(fixed(OpClass::convert, "cvt.s64.s32"));
  CHECK(fixed(OpClass::convert, "cvt.sat.u8.s32"));
  CHECK(fixed(OpClass::convert, "cvt.rn.f32.s32"));
  CHECK_FALSE(fixed(OpClass::convert, "cvt.rp.f32.u32"));
  CHECK_FALSE(fixed(OpClass::convert, "cvt.rn.f32.u8"));
  CHECK_FALSE(fixed(OpClass::convert, "cvt.rzi.ftz.s32.f32"));
  CHECK_FALSE(fixed(OpClass::convert, "cvt.rn.bf16.f32"));
  CHECK_FALSE(fixed(OpClass::convert, "cvt.f64.s32"));

  StaticInstruction constant = op_of(OpClass::constant_load, "ld.param.u64", {2, 3}, {});
  constant.space = MemorySpace::param;
  constant.access_bytes = 8;
  CHECK(has_fixed_latency(constant));
  constant.access_bytes = 16;
  CHECK_FALSE(has_fixed_latency(constant));
  CHECK_FALSE(has_fixed_latency(op_of(OpClass::constant_load, "mov.u32", {2}, {})));
  StaticInstruction by_register = op_of(OpClass::constant_load, "ld.const.f32", {2}, {5});
  by_register.space = MemorySpace::constant;
  by_register.access_bytes = 4;
  CHECK_FALSE(has_fixed_latency(by_register));
}

TEST_CASE("source positions are places among the operands, without predicates") {
  // fma R5, R4, 3.0, R8.64 with a predicate in front: positions A and C.
  StaticInstruction i = op_of(OpClass::fp32_mad, "op", {5}, {4, 8, 9});
  i.operands = {{Operand::Kind::reg, 1, false, 5},
                {Operand::Kind::predicate, 1, false, 1},
                {Operand::Kind::reg, 1, false, 4},
                {Operand::Kind::immediate, 1, false, 3},
                {Operand::Kind::reg, 2, false, 8}};
  i.operand_destinations = 1;
  CHECK(source_positions(i) == std::array<std::int8_t, max_source_registers>{0, 2, 2, -1, -1, -1, -1, -1, -1, -1});
  CHECK(source_positions(op_of(OpClass::int_add, "op", {}, {1, 2, 3, 4})) ==
        std::array<std::int8_t, max_source_registers>{0, 1, 2, -1, -1, -1, -1, -1, -1, -1});
}
