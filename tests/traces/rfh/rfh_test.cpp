// SPDX-License-Identifier: Apache-2.0
#include <regatta/test/catch.h>
#include <regatta/trace/divergent_paths.h>
#include <regatta/trace/rfh.h>
#include <regatta/trace/section_registry.h>

#include <stdexcept>
#include <string>

using namespace regatta::trace;

namespace {

/// R1 = f(R0, R0); R2 = f(R1) by the special function unit; exit.
Kernel small_kernel() {
  Kernel kernel;
  kernel.name = "k";
  kernel.registers_per_thread = 3;
  kernel.instructions.resize(3);
  StaticInstruction& add = kernel.instructions[0];
  add.op_class = OpClass::int_add;
  add.source_count = 2;
  add.destination_count = 1;
  add.destinations = {1};
  StaticInstruction& special = kernel.instructions[1];
  special.op_class = OpClass::sfu;
  special.source_count = 1;
  special.sources = {1};
  special.destination_count = 1;
  special.destinations = {2};
  kernel.instructions[2].op_class = OpClass::exit;
  BasicBlock block;
  block.count = 3;
  kernel.blocks = {block};
  return kernel;
}

RfhPlan small_plan() {
  RfhPlan plan;
  plan.entries = 3;
  plan.instructions.resize(3);
  plan.instructions[0].strand_begins = true;
  plan.instructions[0].sources[0] = plan.instructions[0].sources[1] = {true, true, -1};
  plan.instructions[0].destinations[0] = {true, false, 2};
  plan.instructions[1].sources[0] = {false, false, 2};
  return plan;
}

std::string error(const Kernel& kernel, const RfhPlan& plan) {
  try {
    verify_rfh(kernel, decode_rfh(kernel, encode(kernel, plan)));
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

std::string payload_error(const std::string& payload) {
  try {
    decode_rfh(small_kernel(), payload);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("levels of RFH survive the section") {
  Kernel kernel = small_kernel();
  const RfhPlan plan = small_plan();
  const std::string payload = encode(kernel, plan);
  CHECK(payload == std::string("\3\1\xa2\xc0\xc0\0\x80\x22\0", 9));
  CHECK(error(kernel, plan) == "");
  CHECK_FALSE(find_rfh(kernel));
  kernel.annotations.push_back({rfh_section, 2, "?"});
  CHECK_FALSE(find_rfh(kernel));
  kernel.annotations.push_back({rfh_section, 1, payload});
  const auto back = find_rfh(kernel);
  REQUIRE(back);
  CHECK(back->entries == 3);
  REQUIRE(back->instructions.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(back->instructions[i].strand_begins == plan.instructions[i].strand_begins);
    CHECK(back->instructions[i].destinations == plan.instructions[i].destinations);
    CHECK(back->instructions[i].sources == plan.instructions[i].sources);
  }
  const RfhAccesses n = count_accesses(kernel, plan);
  CHECK(n.main_reads == 2);
  CHECK(n.last_reads == 0);
  CHECK(n.orf_reads == 1);
  CHECK(n.main_writes == 2);
  CHECK(n.last_writes == 1);  // one copy of a register that is read twice
  CHECK(n.orf_writes == 1);
  CHECK(rfh_text(kernel.instructions[0], plan.instructions[0]) == "strand: R1 MRF+ORF 2 <- R0 MRF+LRF, R0 MRF+LRF");
  CHECK(rfh_text(kernel.instructions[1], plan.instructions[1]) == "R2 MRF <- R1 ORF 2");
  CHECK(rfh_text(kernel.instructions[2], plan.instructions[2]).empty());

  const SectionRegistry sections = SectionRegistry::with_builtin();
  for (const auto& format : sections.formats()) {
    if (format->name() != rfh_section) continue;
    const std::vector<InfoRow> rows = format->info(kernel);
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].name == "rfh");
    CHECK(rows[0].text == "3 ORF entries, 1 strands");
    CHECK(rows[1].name == "rfh reads");
    CHECK(rows[1].text == "MRF 66.7 %, ORF 33.3 %, LRF 0.0 % of 3");
    CHECK(rows[2].name == "rfh writes");
    CHECK(rows[2].text == "MRF 50.0 %, ORF 25.0 %, LRF 25.0 % of 4");
    CHECK(format->notes(kernel) ==
          std::vector<std::string>{"rfh strand: R1 MRF+ORF 2 <- R0 MRF+LRF, R0 MRF+LRF", "rfh R2 MRF <- R1 ORF 2", ""});
  }
  kernel.annotations[1].payload.pop_back();
  CHECK_THROWS_WITH(find_rfh(kernel),
                    "kernel k: rfh: 8 bytes, expected 9: one per instruction and register operand of "
                    "the kernel, and one before them");
}

TEST_CASE("levels with a split LRF survive the section") {
  Kernel kernel = small_kernel();
  kernel.instructions[1].op_class = OpClass::fp32_mul;
  RfhPlan plan = small_plan();
  plan.split = true;
  // R0, in slots A and B, is copied to bank C; R1 is written to the bank of the slot in which it is read.
  plan.instructions[0].sources[0] = plan.instructions[0].sources[1] = {true, true, -1, 3};
  plan.instructions[0].destinations[0] = {true, true, -1, 1};
  plan.instructions[1].sources[0] = {false, true, -1, 1};
  const std::string payload = encode(kernel, plan);
  CHECK(payload == std::string("\x83\1\xc8\xd8\xd8\0\x80\x48\0", 9));
  CHECK(error(kernel, plan) == "");
  const RfhPlan back = decode_rfh(kernel, payload);
  CHECK(back.split);
  CHECK(back.entries == 3);
  CHECK(back.instructions[0].sources == plan.instructions[0].sources);
  CHECK(back.instructions[0].destinations == plan.instructions[0].destinations);
  CHECK(rfh_text(kernel.instructions[1], back.instructions[1]) == "R2 MRF <- R1 LRF A");
  kernel.annotations = {{rfh_section, 1, payload}};
  const SectionRegistry sections = SectionRegistry::with_builtin();
  for (const auto& format : sections.formats())
    if (format->name() == rfh_section) CHECK(format->info(kernel).at(0).text == "3 ORF entries, split LRF, 1 strands");

  const auto with = [&](std::size_t at, unsigned byte) {
    std::string changed = payload;
    changed[at] = static_cast<char>(byte);
    try {
      decode_rfh(kernel, changed);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(with(0, 3) == "rfh: instruction 0 has an operand with byte 200, expected no bits beyond the levels");
  CHECK(with(2, 0xc0) == "rfh: instruction 0 names LRF, and the LRF is split");
  CHECK(with(2, 0xd8) == "rfh: instruction 0 writes LRF C twice");
  CHECK(with(6, 0x88) == "rfh: instruction 1 has an operand with byte 136, expected no bits beyond the levels");
  CHECK(with(7, 0x50) == "rfh: instruction 1 reads R1 from LRF B in operand A");
  plan.split = false;
  CHECK(error(kernel, plan) == "rfh: instruction 0 names LRF C, and the LRF is not split");
}

TEST_CASE("operand slots are counted as written") {
  StaticInstruction i;
  i.source_count = 4;
  i.sources = {4, 8, 9, 2};
  // P0, R4, a number, a pair: the destination and the predicate are no slot.
  const auto operand = [](Operand::Kind kind, std::uint64_t value, std::uint8_t words = 1) {
    Operand o;
    o.kind = kind;
    o.value = value;
    o.words = words;
    return o;
  };
  using Kind = Operand::Kind;
  i.operand_destinations = 1;
  i.operands = {operand(Kind::reg, 7),       operand(Kind::predicate, 0), operand(Kind::reg, 4),
                operand(Kind::immediate, 5), operand(Kind::reg, 8, 2),    operand(Kind::reg, 2)};
  using Banks = std::array<std::uint8_t, max_source_registers>;
  CHECK(lrf_banks_of(i) == Banks{1, 3, 3, 0});
  i.operands.clear();
  CHECK(lrf_banks_of(i) == Banks{1, 2, 3, 0});
}

TEST_CASE("damaged levels of RFH are refused") {
  const std::string right("\3\1\xa2\xc0\xc0\0\x80\x22\0", 9);
  const auto with = [&](std::size_t at, unsigned byte) {
    std::string payload = right;
    payload[at] = static_cast<char>(byte);
    return payload_error(payload);
  };
  CHECK(payload_error(right) == "");
  CHECK(with(0, 0) == "rfh: the ORF has 0 entries, expected 1 to 8");
  CHECK(with(0, 9) == "rfh: the ORF has 9 entries, expected 1 to 8");
  CHECK(with(0, 2) == "rfh: instruction 0 names MRF+ORF 2, and the ORF has 2 entries");
  CHECK(with(1, 2) == "rfh: instruction 0 has a strand byte of 2, expected 0 or 1");
  CHECK(with(2, 0x90) == "rfh: instruction 0 has an operand with byte 144, expected no bits beyond the levels");
  CHECK(with(2, 0x81) == "rfh: instruction 0 has an operand with byte 129, expected no bits beyond the levels");
  CHECK(with(2, 0) == "rfh: instruction 0 writes R1 to no level");
  CHECK(with(2, 0x40) == "rfh: instruction 0 writes the LRF twice");
  CHECK(with(3, 0) == "rfh: instruction 0 reads R0 from no level");
  CHECK(with(3, 0xe0) == "rfh: instruction 0 reads R0 with both LRF and ORF");
  CHECK(with(4, 0x80) == "rfh: instruction 0 reads R0 from two levels");
  CHECK(with(6, 0x40) == "rfh: instruction 1 uses the LRF, which only private ALUs reach");
  CHECK(with(7, 0x40) == "rfh: instruction 1 uses the LRF, which only private ALUs reach");
  std::string twice = right;
  twice[3] = twice[4] = static_cast<char>(0xa2);
  CHECK(payload_error(twice) == "rfh: instruction 0 writes ORF 2 twice");
  RfhPlan plan = small_plan();
  plan.instructions.pop_back();
  CHECK(error(small_kernel(), plan) == "rfh: levels of 2 instructions, the kernel has 3");
}

TEST_CASE("verify follows strands and values") {
  Kernel kernel = small_kernel();
  RfhPlan plan = small_plan();
  plan.instructions[0].strand_begins = false;
  CHECK(error(kernel, plan) == "rfh: no strand begins at instruction 0, which is the first");
  plan = small_plan();
  plan.instructions[1].strand_begins = true;
  CHECK(error(kernel, plan) == "rfh: instruction 1 reads R1 from ORF 2, which may hold something else");
  plan = small_plan();
  plan.instructions[0].destinations[0].main = false;
  CHECK(error(kernel, plan) == "");
  plan.instructions[1].sources[0] = {};
  CHECK(error(kernel, plan) == "rfh: instruction 1 reads R1 from the MRF, which may lack its value");
  // Under a guard, lanes whose guard is false have an older value.
  plan = small_plan();
  kernel.instructions[0].guard.predicate = 0;
  CHECK(error(kernel, plan) == "rfh: instruction 1 reads R1 from ORF 2, which may hold something else");
  kernel = small_kernel();
  kernel.instructions[1].op_class = OpClass::barrier;
  CHECK(error(kernel, small_plan()) == "rfh: no strand begins at instruction 2, which follows a barrier");
  kernel.instructions[1].op_class = OpClass::branch;
  kernel.instructions[1].branch_target = 0;
  CHECK(error(kernel, small_plan()) == "rfh: no strand begins at instruction 2, which follows a backward branch");
  kernel = small_kernel();
  kernel.instructions[0].reads_memory = true;
  kernel.instructions[0].space = MemorySpace::global;
  kernel.instructions[0].op_class = OpClass::load;
  plan = small_plan();
  plan.instructions[0].sources[0] = plan.instructions[0].sources[1] = {};
  CHECK(error(kernel, plan) ==
        "rfh: no strand begins at instruction 1, which needs a long-latency result of its strand");
}

TEST_CASE("lanes wait at the other side of a branch and where its sides meet") {
  // 0 -> 1, 2; 1 -> 3; 2 -> 3.
  Kernel kernel;
  kernel.blocks.resize(4);
  kernel.blocks[0].successors = {2, 1};
  kernel.blocks[1].successors = {3};
  kernel.blocks[2].successors = {3};
  for (std::uint32_t b = 0; b < 3; ++b) kernel.blocks[b].reconvergence = 3;
  const DivergentPaths paths(kernel);
  const auto others = [&](std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> blocks;
    for (const std::uint32_t w : paths.of_edge(from, to))
      blocks.insert(blocks.end(), paths.waits()[w].others.begin(), paths.waits()[w].others.end());
    return blocks;
  };
  CHECK(others(0, 1) == std::vector<std::uint32_t>{2});
  CHECK(others(0, 2) == std::vector<std::uint32_t>{1});
  CHECK(others(1, 3) == std::vector<std::uint32_t>{2});
  CHECK(others(2, 3) == std::vector<std::uint32_t>{1});
  CHECK(predecessors_of(kernel)[3] == std::vector<std::uint32_t>{1, 2});
  // Without an else, only the lanes that pass the side by wait.
  kernel.blocks[0].successors = {3, 1};
  const DivergentPaths one(kernel);
  REQUIRE(one.waits().size() == 1);
  CHECK(one.waits()[0].to == 3);
  CHECK(one.waits()[0].from == std::vector<std::uint32_t>{0});
  CHECK(one.waits()[0].others == std::vector<std::uint32_t>{1});
}

TEST_CASE("a warp goes from the end of one side of a branch to the other side and to where they meet") {
  using Blocks = std::vector<std::uint32_t>;
  // 0 -> 1, 4; 1 -> 2, 3 (a branch within the side); 2 -> 4; 3 exits; 4 -> 5; 5 exits. Block 1 names 2 twice.
  Kernel kernel;
  kernel.blocks.resize(6);
  kernel.instructions.resize(6);
  for (std::uint32_t b = 0; b < 6; ++b) {
    kernel.blocks[b].first = b;
    kernel.blocks[b].count = 1;
  }
  kernel.instructions[3].op_class = kernel.instructions[5].op_class = OpClass::exit;
  kernel.blocks[0].successors = {4, 1};
  kernel.blocks[1].successors = {3, 2, 2};
  kernel.blocks[2].successors = {4};
  kernel.blocks[4].successors = {5};
  kernel.blocks[2].reconvergence = 4;
  kernel.blocks[4].reconvergence = 5;
  const std::vector<DivergentBranch> branches = divergent_branches(kernel);
  REQUIRE(branches.size() == 2);
  CHECK(branches[0].block == 0);
  CHECK(branches[0].join == -1);
  CHECK(branches[0].sides == Blocks{1, 4});
  CHECK(branches[0].run == std::vector<Blocks>{{1, 2, 3, 4, 5}, {4, 5}});
  CHECK(branches[1].block == 1);
  CHECK(branches[1].sides == Blocks{2, 3});
  CHECK(branches[1].run == std::vector<Blocks>{{2, 4, 5}, {3}});
  // From the exits, lanes that wait at the sides of either branch go on.
  const std::vector<Blocks> next = warp_successors(kernel);
  CHECK(next == std::vector<Blocks>{{1, 4}, {2, 3}, {4}, {1, 2, 3, 4}, {5}, {1, 2, 3, 4}});

  // With an immediate post-dominator, the sides end there, and what is behind belongs to none.
  kernel.blocks[3].successors = {4};
  kernel.instructions[3].op_class = OpClass::branch;
  kernel.blocks[0].reconvergence = kernel.blocks[1].reconvergence = kernel.blocks[3].reconvergence = 4;
  const std::vector<DivergentBranch> meeting = divergent_branches(kernel);
  CHECK(meeting[0].join == 4);
  CHECK(meeting[0].run == std::vector<Blocks>{{1, 2, 3}, {}});
  CHECK(meeting[1].run == std::vector<Blocks>{{2}, {3}});
  CHECK(warp_successors(kernel) == std::vector<Blocks>{{1, 4}, {2, 3}, {1, 2, 3, 4}, {1, 2, 3, 4}, {5}, {}});
}
