// SPDX-License-Identifier: Apache-2.0
#include <regatta/test/catch.h>
#include <regatta/trace/power_states.h>

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace regatta::trace;

namespace {

StaticInstruction instruction(std::vector<unsigned> destinations, std::vector<unsigned> sources) {
  StaticInstruction i;
  i.opcode = "op";
  i.op_class = OpClass::int_add;
  for (const unsigned d : destinations) i.destinations[i.destination_count++] = static_cast<std::uint8_t>(d);
  for (const unsigned s : sources) i.sources[i.source_count++] = static_cast<std::uint8_t>(s);
  return i;
}

std::string message(const Kernel& kernel, const std::string& payload) {
  try {
    decode_power_states(kernel, payload);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("table 4.1") {
  CHECK(power_of({3, true}, 3) == RegisterPower::on);
  CHECK(power_of({3, false}, 3) == RegisterPower::on);
  CHECK(power_of({4, true}, 3) == RegisterPower::sleep);
  CHECK(power_of({4, false}, 3) == RegisterPower::off);
  CHECK(power_of({0, true}, 31) == RegisterPower::sleep);
  CHECK(power_of({0, false}, 31) == RegisterPower::off);
}

TEST_CASE("fields: a destination, two sources, and no address") {
  // mad r12, r14, r13, r12 SLEEP, OFF, OFF: figure 4.3, line 11.
  const StaticInstruction mad = instruction({12}, {14, 13, 12});
  const std::vector<NextAccess> next = {{0, true}, {6, false}, {0, false}, {0, true}};
  const std::uint8_t bits = power_bits(mad, next, 3);
  CHECK(power_text(mad, bits) == "R12 SLEEP, R14 OFF, R13 OFF");
  CHECK(power_bits(mad, next, 7) == (bits & ~0xcu));
  CHECK(power_state(power_fields_of(mad), bits, 14) == RegisterPower::off);
  CHECK(power_state(power_fields_of(mad), bits, 12) == RegisterPower::sleep);

  // A third source and a second destination have no field.
  const StaticInstruction wide = instruction({2, 3}, {4, 5, 6, 7});
  const std::vector<NextAccess> dead(6, NextAccess{0, false});
  const std::uint8_t off = power_bits(wide, dead, 3);
  CHECK(power_text(wide, off) == "R2 OFF, R4 OFF, R5 OFF");
  CHECK(power_state(power_fields_of(wide), off, 3) == RegisterPower::sleep);
  CHECK(power_state(power_fields_of(wide), off, 6) == RegisterPower::sleep);

  // st [R2:R3], R4
  StaticInstruction store = instruction({}, {2, 3, 4});
  store.writes_memory = true;
  store.operands = {{Operand::Kind::reg, 2, false, 2}, {Operand::Kind::reg, 1, false, 4}};
  CHECK(power_fields_of(store) == PowerFields{-1, 4, -1});
  CHECK(power_text(store, power_bits(store, {{1, true}, {1, true}, {0, false}}, 3)) == "R4 OFF");
  // ld R4, [R2:R3]
  StaticInstruction load = instruction({4}, {2, 3});
  load.reads_memory = true;
  load.operands = {{Operand::Kind::reg, 1, false, 4}, {Operand::Kind::reg, 2, false, 2}};
  load.operand_destinations = 1;
  CHECK(power_fields_of(load) == PowerFields{4, -1, -1});

  CHECK(power_text(instruction({}, {}), 0).empty());
}

TEST_CASE("a payload says what was put in, and damage is refused") {
  std::mt19937 random(7);
  Kernel kernel;
  PowerStates states;
  states.bound = 31;
  states.threshold = 5;
  for (unsigned i = 0; i < 200; ++i) {
    std::vector<unsigned> destinations, sources;
    for (unsigned d = 0; d < random() % 3; ++d) destinations.push_back(10 + d);
    for (unsigned s = 0; s < random() % 5; ++s) sources.push_back(20 + s);
    kernel.instructions.push_back(instruction(destinations, sources));
    std::vector<NextAccess>& next = states.next.emplace_back();
    for (std::size_t k = 0; k < destinations.size() + sources.size(); ++k)
      next.push_back({static_cast<std::uint8_t>(random() % 32), random() % 2 == 0});
  }
  const std::string payload = encode(states);
  const PowerStates back = decode_power_states(kernel, payload);
  CHECK(back.bound == 31);
  CHECK(back.threshold == 5);
  REQUIRE(back.next.size() == states.next.size());
  for (std::size_t i = 0; i < back.next.size(); ++i) {
    REQUIRE(back.next[i].size() == states.next[i].size());
    for (std::size_t k = 0; k < back.next[i].size(); ++k) {
      CHECK(back.next[i][k].distance == states.next[i][k].distance);
      CHECK(back.next[i][k].live == states.next[i][k].live);
    }
  }

  CHECK(says(message(kernel, ""), "0 bytes, expected"));
  CHECK(says(message(kernel, payload.substr(1)), "bytes, expected"));
  CHECK(says(message(kernel, payload + "x"), "bytes, expected"));
  std::string bad = payload;
  bad[0] = 0;
  CHECK(says(message(kernel, bad), "the bound is 0, expected 1 to 127"));
  bad = payload;
  bad[1] = 32;
  CHECK(says(message(kernel, bad), "the threshold is 32, expected 1 to 31"));
  bad = payload;
  bad[2] = 40;
  CHECK(says(message(kernel, bad), "has a distance of 40, expected at most 31"));

  Kernel twice;
  twice.instructions.push_back(instruction({1}, {1}));
  CHECK(says(message(twice, std::string("\x1f\x03\x01\x02")), "instruction 0 says two things of R1"));
  CHECK(message(twice, std::string("\x1f\x03\x02\x02")).empty());

  PowerStates wrong;
  wrong.threshold = 0;
  CHECK_THROWS_AS(encode(wrong), std::invalid_argument);
  wrong.threshold = 3;
  wrong.next = {{{32, true}}};
  CHECK_THROWS_AS(encode(wrong), std::invalid_argument);
}
