// SPDX-License-Identifier: Apache-2.0
#include <regatta/test/catch.h>
#include <regatta/trace/regmutex.h>

#include <stdexcept>
#include <string>

using namespace regatta::trace;

namespace {

Kernel kernel_with_registers(unsigned registers) {
  Kernel kernel;
  kernel.name = "k";
  kernel.registers_per_thread = registers;
  kernel.instructions.resize(2);
  return kernel;
}

std::string regmutex_error(const Kernel& kernel, const std::string& payload, std::uint32_t version = 1) {
  try {
    decode_regmutex(kernel, {regmutex_section, version, payload});
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("register sets survive the section") {
  RegMutexRegisters registers;
  registers.base = 2;
  registers.extended = 2;
  registers.place = {0, 2, 1, 3};
  const std::string payload = encode(registers);
  CHECK(payload == std::string("\2\2\0\2\1\3", 6));
  Kernel kernel = kernel_with_registers(4);
  CHECK_FALSE(find_regmutex(kernel));
  kernel.annotations.push_back({regmutex_section, 2, "?"});
  CHECK_FALSE(find_regmutex(kernel));
  kernel.annotations.push_back({regmutex_section, 1, payload});
  const auto back = find_regmutex(kernel);
  REQUIRE(back);
  CHECK(back->base == 2);
  CHECK(back->extended == 2);
  CHECK(back->place == registers.place);
  CHECK(back->registers() == 4);
  CHECK_FALSE(back->is_extended(2));
  CHECK(back->is_extended(1));
  CHECK(back->index(2) == 1);
  CHECK(back->index(3) == 1);
  // No registers at all.
  CHECK(regmutex_error(kernel_with_registers(0), std::string(2, '\0')).empty());
  CHECK(encode(RegMutexRegisters{}) == std::string(2, '\0'));
}

TEST_CASE("damaged register sets are refused") {
  const Kernel kernel = kernel_with_registers(4);
  CHECK(regmutex_error(kernel, std::string("\2\2\0\2\1\3", 6)).empty());
  CHECK(regmutex_error(kernel, "") ==
        "kernel k: regmutex: 0 bytes, expected 6: one per register of the kernel, and two before them");
  CHECK(regmutex_error(kernel, std::string("\2\2\0\2\1\3\4", 7)) ==
        "kernel k: regmutex: 7 bytes, expected 6: one per register of the kernel, and two before them");
  CHECK(regmutex_error(kernel, std::string("\2\3\0\2\1\3", 6)) ==
        "kernel k: regmutex: sets of 2 and 3 registers, the kernel has 4");
  CHECK(regmutex_error(kernel, std::string("\2\2\0\4\1\3", 6)) ==
        "kernel k: regmutex: R1 has place 4, expected at most 3");
  CHECK(regmutex_error(kernel, std::string("\2\2\0\2\1\2", 6)) ==
        "kernel k: regmutex: R1 and R3 have the same place 2");
  CHECK(regmutex_error(kernel, std::string("\2\2\0\2\1\3", 6), 3) == "kernel k: regmutex: version 3, expected 1");

  RegMutexRegisters wrong;
  wrong.base = 3;
  CHECK_THROWS_WITH(encode(wrong), "regmutex: places of 0 registers, expected 3");
  wrong.extended = 253;
  CHECK_THROWS_WITH(encode(wrong), "regmutex: 256 registers, expected at most 255");
}
