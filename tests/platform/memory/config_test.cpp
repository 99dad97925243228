// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/l1_cache.h>
#include <regatta/memory/memory_config.h>
#include <regatta/memory/memory_system.h>
#include <regatta/test/catch.h>

using namespace regatta;

namespace {
std::string refusal(const memory::MemorySystemConfig& c) {
  try {
    c.check();
  } catch (const support::ConfigError& e) {
    return e.what();
  }
  return "";
}
}  // namespace

TEST_CASE("capacity and bandwidth shrink with the simulated SMs, latencies stay") {
  memory::MemorySystemConfig c;
  CHECK(c.partition_sets() == 2 * 1024 * 1024 / 16 / 4 / 8 / 128);
  const auto latency = c.l2_access_cycles();
  const double one =
      static_cast<double>(c.channel_bandwidth().bytes) / static_cast<double>(c.channel_bandwidth().cycles);
  c.simulated_sms = 16;
  CHECK(c.partition_sets() == 2 * 1024 * 1024 / 4 / 8 / 128);
  CHECK(c.l2_access_cycles() == latency);
  const double all =
      static_cast<double>(c.channel_bandwidth().bytes) / static_cast<double>(c.channel_bandwidth().cycles);
  CHECK(all / one > 15.999);
  CHECK(all / one < 16.001);
}

TEST_CASE("a few SMs with all of L2 and DRAM have what all SMs have") {
  memory::MemorySystemConfig c;
  c.simulated_sms = c.machine_sms;
  const auto sets = c.partition_sets();
  const auto bandwidth = c.dram_bandwidth();
  c.simulated_sms = 3;
  CHECK(c.partition_sets() != sets);
  c.extent = "whole";
  CHECK(c.partition_sets() == sets);
  CHECK(c.dram_bandwidth().bytes == bandwidth.bytes);
  CHECK(c.dram_bandwidth().cycles == bandwidth.cycles);
}

TEST_CASE("a store that leaves bytes out brings a mask, and headers have wires of their own") {
  memory::MemorySystemConfig c;
  c.interconnect.flit_bytes = 32;
  c.interconnect.header_bytes = 16;
  for (const bool partial : {false, true}) CHECK(c.store_flits(4, partial) == c.packet_flits(4));
  c.interconnect.mask_flits = 1;
  CHECK(c.store_flits(4, false) == 4);
  CHECK(c.store_flits(4, true) == 5);
  CHECK(c.store_flits(1, true) == 2);
  CHECK(c.store_flits(0, false) == c.packet_flits(0));  // a load's request
  CHECK(c.packet_flits(4) == 5);                        // an answer
}

TEST_CASE("a header may have wires of its own") {
  memory::MemorySystemConfig c;
  c.interconnect.flit_bytes = 64;
  c.interconnect.header_flits = 0;
  CHECK(c.packet_flits(0) == 1);  // a request has a flit in any case
  CHECK(c.packet_flits(1) == 1);
  CHECK(c.packet_flits(4) == 2);
  CHECK(refusal(c).empty());
}

TEST_CASE("a header shares a flit with the first data") {
  memory::MemorySystemConfig c;
  c.interconnect.flit_bytes = 64;
  CHECK(c.packet_flits(0) == 1);
  CHECK(c.packet_flits(1) == 2);
  CHECK(c.packet_flits(4) == 3);
  c.interconnect.header_bytes = 16;
  CHECK(c.packet_flits(0) == 1);
  CHECK(c.packet_flits(1) == 1);
  CHECK(c.packet_flits(2) == 2);  // 80 bytes
  CHECK(c.packet_flits(4) == 3);  // 144
  c.interconnect.header_flits = 2;
  CHECK(refusal(c).find("interconnect.header_bytes is 16 and interconnect.header_flits 2: expected one of the two") !=
        std::string::npos);
}

TEST_CASE("ports and pages of an L1 that do not fit are refused with a sentence") {
  const auto refused = [](const memory::L1Config& c) -> std::string {
    try {
      c.check();
      return "";
    } catch (const support::ConfigError& e) {
      return e.what();
    }
  };
  memory::L1Config c;
  c.tag_banks = 4;
  c.sectors = 4;
  CHECK(refused(c).empty());
  c.tag_banks = 3;
  CHECK(refused(c).find("l1.tag_banks is 3: expected 0 or a power of two") != std::string::npos);
  c.tag_banks = 0;
  c.sectors = 3;
  CHECK(refused(c).find("l1.sectors is 3: expected 0 or at least the 4 of a line") != std::string::npos);
  c.sectors = 0;
  c.tlb.page_bytes = 3000;
  CHECK(refused(c).find("tlb.page_bytes is 3000: expected a power of two") != std::string::npos);
  c.tlb.page_bytes = 8192;
  c.tlb.second_page_bytes = 4096;
  CHECK(refused(c).find("tlb.second_page_bytes is 4096: expected a power of two of at least tlb.page_bytes = 8192") !=
        std::string::npos);
}

TEST_CASE("configurations that do not fit together are refused with a sentence") {
  memory::MemorySystemConfig c;
  CHECK(refusal(c).empty());
  c.l2.latency = 40;
  CHECK(refusal(c).find("l2.latency is 40 cycles") != std::string::npos);
  c = {};
  c.l2.size_bytes = 65535;  // 8 ways of 128 bytes in each of 4 partitions, of 16 SMs
  CHECK(refusal(c).find("l2.size_bytes is 65535: the share of 1 of the machine's 16 SMs is no set of each partition") !=
        std::string::npos);
  CHECK(refusal(c).find("expected at least 65536") != std::string::npos);
  c.l2.size_bytes = 65536;
  CHECK(refusal(c).empty());
  c = {};
  c.dram.latency = 20;
  CHECK(refusal(c).find("dram.latency is 20 cycles") != std::string::npos);
  c = {};
  c.dram.latency = 65;
  CHECK(refusal(c).find("dram.latency is 65 cycles: expected at least 69") != std::string::npos);
  c.dram.scheduler = "fixed";
  CHECK(refusal(c).empty());
  c = {};
  c.dram.banks = 12;
  CHECK(refusal(c).find("dram.banks is 12: expected a power of two with dram.mapping 'xor'") != std::string::npos);
  c.dram.mapping = "row_bank_column";
  CHECK(refusal(c).empty());
  c = {};
  c.dram.row_bytes = 128;
  CHECK(refusal(c).find("dram.row_bytes is 128: expected a multiple of l2.interleave_bytes = 256") !=
        std::string::npos);
  c = {};
  c.dram.timing.rc = 0;
  CHECK(refusal(c).find("dram.rc is 0") != std::string::npos);
  c = {};
  c.simulated_sms = 17;
  CHECK(refusal(c).find("the machine has 16") != std::string::npos);
  c = {};
  c.l2.interleave_bytes = 100;
  CHECK(refusal(c).find("l2.interleave_bytes is 100") != std::string::npos);
  c = {};
  c.l2.line_bytes = 100;
  CHECK(refusal(c).find("l2.line_bytes is 100") != std::string::npos);
  memory::L1Config l1;
  l1.size_bytes = 1000;
  CHECK_THROWS_AS(l1.check(), support::ConfigError);
  l1 = {};
  l1.line_bytes = 64;
  CHECK_NOTHROW(l1.check());
  CHECK_THROWS_AS(memory::check(l1, memory::MemorySystemConfig{}), support::ConfigError);
  l1 = {};
  l1.local_store = "write_back";
  CHECK_THROWS_WITH(l1.check(), Catch::Matchers::Contains("l1.local_policy is 'bypass'"));
  l1 = {};
  l1.fill = "half";
  CHECK_THROWS_AS(l1.check(), support::ConfigError);
  l1 = {};
  l1.data_policy = "sometimes";
  CHECK_THROWS_AS(l1.check(), support::ConfigError);
}

TEST_CASE("every knob is an option") {
  memory::MemorySystemConfig c;
  memory::L1Config l1;
  support::OptionSet o;
  c.declare(o);
  l1.declare(o);
  o.set("l1.mshrs", "7", "command line", "--l1.mshrs");
  o.set("l2.latency", "300", "command line", "--l2.latency");
  CHECK(l1.mshrs == 7);
  CHECK(c.l2.latency == 300);
  CHECK_THROWS_AS(o.set("l1.data_policy", "maybe", "command line", "x"), support::ConfigError);
}
