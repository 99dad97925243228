// SPDX-License-Identifier: Apache-2.0
//
// What a foreign initiator may get wrong (public report: gem5 PR 2763): every memory socket answers it with an error
// that names the socket, whether or not a checker stands before it.
#include <regatta/memory/dram_channel.h>
#include <regatta/memory/request_arbiter.h>
#include <regatta/protocol/base_protocol_checker.h>
#include <regatta/test/bad_requests.h>
#include <regatta/test/clock.h>

#include <memory>

#include "driver.h"

using namespace regatta;
using test::refuses_bad_memory_requests;
using test::StrangerInitiator;

TEST_CASE("bad requests: every memory socket names itself and what is wrong") {
  using Stranger = StrangerInitiator<256>;
  memory::MemorySystemConfig config;
  config.simulated_sms = 2;
  memory::L1Config l1_config;
  const sc_core::sc_time period = test::cycle_time();
  memory::MemorySystem memory("memory", config, test::clock(period));
  memory::L1Cache l1("l1", l1_config, test::clock(period));
  memory::RequestArbiter arbiter("arbiter", 1, test::clock(period));
  memory::L2Partition l2("l2", config, test::clock(period));
  memory::DramChannel below("below", config, test::clock(period)), dram("dram", config, test::clock(period));
  Stranger to_interconnect("to_interconnect"), to_arbiter("to_arbiter"), to_l1("to_l1"), to_l2("to_l2"),
      to_dram("to_dram");
  memory::L1Cache other_l1("other_l1", l1_config, test::clock(period));
  memory::MemorySystem others("others", config, test::clock(period));
  to_interconnect.socket.bind(memory.upstream()[0]);
  other_l1.downstream.bind(memory.upstream()[1]);
  to_l1.socket.bind(other_l1.upstream);
  to_arbiter.socket.bind(arbiter.upstream(0));
  arbiter.downstream.bind(l1.upstream);
  l1.downstream.bind(others.upstream()[0]);
  memory::L1Cache unused("unused", l1_config, test::clock(period));
  unused.downstream.bind(others.upstream()[1]);
  Stranger nobody("nobody");
  nobody.socket.bind(unused.upstream);
  to_l2.socket.bind(l2.upstream);
  l2.downstream.bind(below.upstream);
  to_dram.socket.bind(dram.upstream);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  refuses_bad_memory_requests(to_dram.socket, "dram.upstream", 128);
  refuses_bad_memory_requests(to_l2.socket, "l2.upstream", 128);
  refuses_bad_memory_requests(to_interconnect.socket, "memory.interconnect.upstream_0", 128);
  refuses_bad_memory_requests(to_l1.socket, "other_l1.upstream", 128);
  refuses_bad_memory_requests(to_l1.socket, "other_l1.upstream", 128, protocol::AccessClass::register_read);
  refuses_bad_memory_requests(to_arbiter.socket, "arbiter.upstream_0", 0);

  // A good request within a cycle.
  sc_core::sc_start(sc_core::sc_time(300, sc_core::SC_PS));
  protocol::MemoryPayloadPool pool(128);
  tlm::tlm_generic_payload* const good = pool.take(tlm::TLM_READ_COMMAND, 0x1000);
  for (Stranger* s : {&to_dram, &to_l2, &to_l1, &to_interconnect, &to_arbiter}) {
    const std::string message = test::protocol_error_of([&] { test::begin(s->socket, *good); });
    CHECK(message.find(" at 300 ps: a call with a delay of 0 s; expected one in a whole cycle of the clock") !=
          std::string::npos);
  }
  // In the next cycle it is taken.
  sc_core::sc_start(period - sc_core::sc_time(300, sc_core::SC_PS));
  CHECK(test::protocol_error_of([&] { test::begin(to_dram.socket, *good); }).empty());
  good->release();
}

TEST_CASE("bad requests: behind a checker the error is the target's, or the checker's if it looks first") {
  memory::MemorySystemConfig config;
  memory::DramChannel dram("dram", config, test::clock(test::cycle_time()));
  StrangerInitiator<256> stranger("stranger");
  protocol::BaseProtocolChecker<256> checker("checker");
  stranger.socket.bind(checker.in);
  checker.out.bind(dram.upstream);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  unsigned char data[128] = {};
  tlm::tlm_generic_payload unmanaged;
  protocol::MemoryAccess access;
  unmanaged.set_extension(&access);
  unmanaged.set_command(tlm::TLM_READ_COMMAND);
  unmanaged.set_data_ptr(data);
  unmanaged.set_data_length(128);
  unmanaged.set_streaming_width(128);
  const std::string message = test::protocol_error_of([&] { test::begin(stranger.socket, unmanaged); });
  unmanaged.clear_extension(&access);
  CHECK(message ==
        "checker before dram.upstream: BEGIN_REQ without a memory manager, which a payload of memory needs (read at "
        "address 0x0)");
}

TEST_CASE("bad answers: every initiator socket of the memory names itself and what is wrong") {
  memory::MemorySystemConfig config;
  config.simulated_sms = 1;
  config.l2.partitions = 1;
  const sc_core::sc_time period = test::cycle_time();
  memory::L1Config l1_config;
  memory::L1Cache l1("l1", l1_config, test::clock(period)), other("other", l1_config, test::clock(period));
  memory::L2Partition l2("l2", config, test::clock(period));
  memory::RequestArbiter arbiter("arbiter", 1, test::clock(period));
  memory::Interconnect interconnect("interconnect", config, 1, test::clock(period));
  StrangerInitiator<256> to_l1("to_l1"), to_l2("to_l2"), to_arbiter("to_arbiter");
  test::StrangerTarget<256> below_l1("below_l1"), below_l2("below_l2"), below_arbiter("below_arbiter"),
      below_interconnect("below_interconnect");
  StrangerInitiator<256> to_other("to_other");
  to_l1.socket.bind(l1.upstream);
  l1.downstream.bind(below_l1.socket);
  to_l2.socket.bind(l2.upstream);
  l2.downstream.bind(below_l2.socket);
  to_arbiter.socket.bind(arbiter.upstream(0));
  arbiter.downstream.bind(below_arbiter.socket);
  to_other.socket.bind(other.upstream);
  other.downstream.bind(interconnect.upstream[0]);
  interconnect.downstream[0].bind(below_interconnect.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  test::refuses_bad_answers(below_l1.socket, "l1.downstream");
  test::refuses_bad_answers(below_l2.socket, "l2.downstream");
  test::refuses_bad_answers(below_arbiter.socket, "arbiter.downstream");
  test::refuses_bad_answers(below_interconnect.socket, "interconnect.downstream_0");
}
