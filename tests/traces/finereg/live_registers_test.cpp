// SPDX-License-Identifier: Apache-2.0
#include <regatta/test/catch.h>
#include <regatta/trace/live_registers.h>

#include <random>
#include <stdexcept>
#include <string>

using namespace regatta::trace;

namespace {

Kernel kernel_of(unsigned registers, std::size_t instructions) {
  Kernel kernel;
  kernel.name = "k";
  kernel.registers_per_thread = registers;
  kernel.instructions.resize(instructions);
  return kernel;
}

std::string decoding_error(const Kernel& kernel, const std::string& payload, std::uint32_t version = 1) {
  try {
    decode_live_registers(kernel, {liveness_section, version, payload});
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

std::string encoding_error(const LiveRegisters& live) {
  try {
    encode(live);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("live registers of any number of registers survive the section") {
  std::mt19937 random(7);
  for (const unsigned registers : {0u, 1u, 63u, 64u, 65u, 128u, 129u, 255u}) {
    CAPTURE(registers);
    Kernel kernel = kernel_of(registers, 20);
    LiveRegisters live(registers, 20);
    CHECK(live.words == (registers <= 64 ? 1u : (registers + 63) / 64));
    for (std::uint32_t i = 0; i < 20; ++i)
      for (unsigned r = 0; r < registers; ++r)
        if (random() % 2 == 0) live.set(i, r);
    const std::string payload = encode(live);
    CHECK(payload.size() == 1 + 20 * 8 * live.words);
    kernel.annotations.push_back({liveness_section, 1, payload});
    const std::optional<LiveRegisters> back = find_live_registers(kernel);
    REQUIRE(back);
    CHECK(back->registers == registers);
    CHECK(back->words == live.words);
    CHECK(back->vectors == live.vectors);
    CHECK(back->instructions() == 20);
  }
}

TEST_CASE("the bytes of the section") {
  LiveRegisters live(66, 2);
  live.set(0, 1);
  live.set(0, 15);
  live.set(1, 63);
  live.set(1, 65);
  const std::string zeros(7, '\0');
  CHECK(encode(live) ==
        std::string("\x42\x02\x80", 3) + std::string(6, '\0') + std::string(8, '\0') + zeros + "\x80\x02" + zeros);
  CHECK(live_text(live, 0) == "live R1 R15");
  CHECK(live_text(live, 1) == "live R63 R65");
  CHECK(live.vector(0) == 0x8002);
  CHECK(live.vector(1) == std::uint64_t{1} << 63);
  CHECK(live.vector(1, 1) == 2);
  CHECK(live.live(1, 65));
  CHECK_FALSE(live.live(1, 64));
  CHECK_FALSE(live.live(1, 66));
  CHECK(live.count(1) == 2);
}

TEST_CASE("nothing is live at the kernel's exit") {
  LiveRegisters live(3, 2);
  for (std::uint32_t i = 0; i < 2; ++i)
    for (unsigned r = 0; r < 3; ++r) live.set(i, r);
  CHECK(live_text(live, 1) == "live R0-R2");
  CHECK(live.vector(2) == 0);
  CHECK_FALSE(live.live(2, 0));
  CHECK(live_text(live, 2) == "live none");
}

TEST_CASE("a kernel without the section, or with another version, has no live registers") {
  Kernel kernel = kernel_of(3, 2);
  CHECK_FALSE(find_live_registers(kernel));
  kernel.annotations.push_back({liveness_section, 2, "?"});
  CHECK_FALSE(find_live_registers(kernel));
}

TEST_CASE("damaged live registers are refused") {
  const Kernel kernel = kernel_of(3, 2);
  LiveRegisters live(3, 2);
  live.set(1, 2);
  const std::string payload = encode(live);
  CHECK(decoding_error(kernel, payload).empty());
  CHECK(decoding_error(kernel, "") ==
        "kernel k: live registers: 0 bytes, expected 17: 8 per instruction of the kernel, and one before them");
  CHECK(decoding_error(kernel, payload + "x") ==
        "kernel k: live registers: 18 bytes, expected 17: 8 per instruction of the kernel, and one before them");
  CHECK(decoding_error(kernel_of(65, 2), payload) ==
        "kernel k: live registers: 17 bytes, expected 33: 16 per instruction of the kernel, and one before them");
  CHECK(decoding_error(kernel_of(4, 2), payload) == "kernel k: live registers: of 3 registers, the kernel has 4");
  std::string bad = payload;
  bad[9] = 0x09;
  CHECK(decoding_error(kernel, bad) ==
        "kernel k: live registers: R3 is live before instruction 1, the kernel has 3 registers");
  bad = payload;
  bad[8] = 0x40;
  CHECK(decoding_error(kernel, bad) ==
        "kernel k: live registers: R62 is live before instruction 0, the kernel has 3 registers");
  CHECK(decoding_error(kernel, payload, 2) == "kernel k: live registers: version 2, expected 1");
  Kernel with = kernel;
  with.annotations.push_back({liveness_section, 1, bad});
  CHECK_THROWS_AS(find_live_registers(with), InputError);

  live.words = 2;
  CHECK(encoding_error(live) == "live registers: 2 words in vectors of 2 for 3 registers");
  live.words = 1;
  live.registers = 256;
  CHECK(encoding_error(live) == "live registers: 256 registers, expected at most 255");
}
