// SPDX-License-Identifier: Apache-2.0
//
// Opcodes of all generations: class, space, registers.
#include <regatta/test/catch.h>

#include <stdexcept>

#include "sass.h"

using namespace regatta::import;
using regatta::trace::MemorySpace;
using regatta::trace::OpClass;
using R = std::vector<unsigned>;

namespace {

Meaning of(const std::string& opcode, std::vector<std::uint8_t> destinations, std::vector<std::uint8_t> sources,
           unsigned width = 0) {
  return meaning_of({opcode, std::move(destinations), std::move(sources), width});
}

}  // namespace

TEST_CASE("register groups follow from opcode and modifiers") {
  const auto check = [](const Meaning& m, const R& destinations, const R& sources) {
    CHECK(m.destinations == destinations);
    CHECK(m.sources == sources);
    CHECK(m.remarks.empty());
  };
  check(of("IADD3", {2}, {0, 1, 255}), {2}, {0, 1});
  check(of("IMAD.WIDE.U32", {2}, {0, 1, 4}), {2, 3}, {0, 1, 4, 5});
  check(of("DFMA", {2}, {4, 6, 8}), {2, 3}, {4, 5, 6, 7, 8, 9});
  check(of("DSETP.GEU.AND", {}, {4, 6}), {}, {4, 5, 6, 7});
  check(of("F2F.F64.F32", {2}, {1}), {2, 3}, {1});
  check(of("F2F.F32.F64", {2}, {4}), {2}, {4, 5});
  check(of("I2F.F64", {2}, {1}), {2, 3}, {1});
  check(of("I2F.F64.S64", {2}, {4}), {2, 3}, {4, 5});
  check(of("I2F.U32.RP", {2}, {1}), {2}, {1});
  check(of("F2I.S64.F64.TRUNC", {2}, {4}), {2, 3}, {4, 5});
  check(of("F2I.U32.TRUNC.NTZ", {2}, {4}), {2}, {4});
  check(of("CS2R", {2}, {}), {2, 3}, {});
  check(of("CS2R.32", {2}, {}), {2}, {});
  check(of("LDC.64", {2}, {255}), {2, 3}, {});
  check(of("LDG.E.128.CONSTANT.SYS", {8}, {2}, 16), {8, 9, 10, 11}, {2, 3});
  check(of("LDG.U8", {8}, {2}, 1), {8}, {2});
  check(of("STG.E.64", {}, {2, 6}, 8), {}, {2, 3, 6, 7});
  check(of("STS.128", {}, {0, 4}, 16), {}, {0, 4, 5, 6, 7});
  check(of("LDSM.16.M88.4", {8}, {1}, 2), {8, 9, 10, 11}, {1});
  check(of("LDSM.16.MT88.2", {8}, {1}, 2), {8, 9}, {1});
  check(of("HMMA.884.F32.F32.STEP2", {8}, {2, 4, 8}), {8, 9}, {2, 3, 4, 5, 8, 9});
  check(of("HMMA.16816.F16", {8}, {2, 6, 8}).destinations == R{8, 9} ? of("HMMA.1688.F16", {8}, {2, 4, 8}) : Meaning(),
        {8, 9}, {2, 3, 4, 8, 9});
  // The tracer takes an operand that is no register, if it is the first, for no destination.
  check(of("SHFL.DOWN", {}, {5, 4}), {5}, {4});
  check(of("LOP3.LUT", {}, {255, 2, 3}), {}, {2, 3});
  check(of("LOP3.LUT", {6}, {2, 3, 255}), {6}, {2, 3});
  check(of("MATCH.ALL", {}, {5, 4}), {5}, {4});
  check(of("ATOMG.E.ADD.STRONG.GPU", {}, {5, 2, 7}, 4), {5}, {2, 3, 7});
  check(of("ATOMG.E.CAS.64", {}, {8, 2, 4, 6}, 8), {8, 9}, {2, 3, 4, 5, 6, 7});
  check(of("ATOMS.ADD", {5}, {4, 3}, 4), {5}, {4, 3});
  check(of("RED.E.ADD.F32.FTZ.RN.STRONG.GPU", {}, {2, 7}, 4), {}, {2, 3, 7});
  check(of("RET.REL.NODEC", {20}, {}), {}, {20});
  check(of("NANOSLEEP", {3}, {}), {}, {3});
  // A list of destinations is one.
  check(of("HMMA.16816.F32", {20, 21, 22, 23}, {}), {20, 21, 22, 23}, {});
}

TEST_CASE("classes, spaces and control of opcodes of all generations") {
  struct Case {
    const char* opcode;
    OpClass op_class;
    Control control;
  };
  for (const Case& c : std::vector<Case>{{"XMAD.MRG", OpClass::int_mad, Control::none},
                                         {"ISCADD32I", OpClass::int_add, Control::none},
                                         {"VIADD", OpClass::int_add, Control::none},
                                         {"UIADD3", OpClass::int_add, Control::none},
                                         {"IMNMX.U32", OpClass::int_max, Control::none},
                                         {"FFMA", OpClass::fp32_mad, Control::none},
                                         {"HFMA2.MMA", OpClass::fp32_mad, Control::none},
                                         {"FMNMX", OpClass::fp32_max, Control::none},
                                         {"MUFU.RSQ", OpClass::sfu, Control::none},
                                         {"I2FP.F32.S32", OpClass::convert, Control::none},
                                         {"S2UR", OpClass::constant_load, Control::none},
                                         {"MEMBAR.SC.GPU", OpClass::fence, Control::none},
                                         {"BAR.SYNC.DEFER_BLOCKING", OpClass::barrier, Control::none},
                                         {"SSY", OpClass::nop, Control::none},
                                         {"SYNC", OpClass::branch, Control::anywhere},
                                         {"BRK", OpClass::branch, Control::anywhere},
                                         {"BRX", OpClass::branch, Control::anywhere},
                                         {"BRA", OpClass::branch, Control::target},
                                         {"CALL.ABS.NOINC", OpClass::branch, Control::target},
                                         {"BSYNC", OpClass::nop, Control::meets},
                                         {"WARPSYNC", OpClass::nop, Control::meets},
                                         {"EXIT", OpClass::exit, Control::exit}}) {
    INFO(c.opcode);
    const Meaning m = of(c.opcode, {}, {});
    CHECK(m.op_class == c.op_class);
    CHECK(m.control == c.control);
  }
  CHECK(of("BAR.ARV", {}, {}).barrier_arrives);
  const Meaning strong = of("LDG.E.STRONG.GPU", {4}, {2}, 4);
  CHECK(strong.bypasses_l1);
  CHECK(strong.is_volatile);
  CHECK(!of("LDG.E.SYS", {4}, {2}, 4).bypasses_l1);
  CHECK(of("LD.E", {4}, {2}, 4).space == MemorySpace::generic);
  CHECK(of("LDL.LU", {4}, {2}, 4).space == MemorySpace::local);
  CHECK(of("ATOMS.CAST.SPIN", {4}, {2, 3, 5}, 4).space == MemorySpace::shared);
  CHECK(of("RED.E.ADD", {}, {2, 4}, 4).writes_memory);
  CHECK(known_opcodes().size() > 250);
}

TEST_CASE("what a trace cannot hold is remarked or refused") {
  CHECK(of("FROB.X", {1}, {2}).remarks ==
        std::vector<std::string>{"the opcode FROB is unknown: it is timed as a 32-bit integer operation"});
  CHECK(of("FROB.X", {1}, {2}, 4).remarks ==
        std::vector<std::string>{
            "the opcode FROB is unknown: it is timed as a 32-bit integer operation, and its addresses are left out"});
  CHECK(of("LDGSTS.E.BYPASS.128", {}, {6, 8}, 16).remarks ==
        std::vector<std::string>{"LDGSTS is taken for a load: what it writes to shared memory is left out"});
  CHECK(of("HGMMA.64x64x16.F32", {24}, {24}).remarks ==
        std::vector<std::string>{"HGMMA accumulates in registers that the trace does not name"});
  CHECK_THROWS_WITH(of("LDG", {1}, {2}), "LDG has no addresses");
  CHECK_THROWS_WITH(of("DADD", {254}, {2, 4}), "R254 is the first of 2 registers, and the last one is R254");
}

TEST_CASE("instructions follow each other over the words of control information") {
  CHECK(follows(0x10, 0x20, 70));
  CHECK(!follows(0x10, 0x18, 80));
  CHECK(follows(0x08, 0x10, 61));
  CHECK(follows(0x18, 0x28, 52));
  CHECK(!follows(0x10, 0x20, 52));
  CHECK(follows(0x38, 0x48, 35));
  CHECK(!follows(0x18, 0x28, 35));
}
