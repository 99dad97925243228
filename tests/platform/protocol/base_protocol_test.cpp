// SPDX-License-Identifier: Apache-2.0
// Every kind of violation is caught, and correct traffic is not.
#include <regatta/protocol/base_protocol_checker.h>
#include <regatta/protocol/payload.h>
#include <regatta/test/catch.h>

#include <cstring>

using namespace regatta;
using protocol::BaseProtocolRules;
using tlm::BEGIN_REQ;
using tlm::BEGIN_RESP;
using tlm::END_REQ;
using tlm::END_RESP;

namespace {

const sc_core::sc_time zero = sc_core::SC_ZERO_TIME;
const sc_core::sc_time one(1, sc_core::SC_NS);
const sc_core::sc_time two(2, sc_core::SC_NS);

struct Fixture {
  BaseProtocolRules rules{"checker"};
  protocol::MemoryPayloadPool pool{128};
  tlm::tlm_generic_payload* a = pool.take(tlm::TLM_READ_COMMAND, 0x100);
  tlm::tlm_generic_payload* b = pool.take(tlm::TLM_WRITE_COMMAND, 0x200);

  Fixture() {
    protocol::memory_access(*b).access = protocol::AccessClass::register_write;
    std::memset(b->get_data_ptr(), 5, 128);
  }
  ~Fixture() {
    a->release();
    b->release();
  }
  void request(tlm::tlm_generic_payload& p, const sc_core::sc_time& at = zero) { rules.forward_call(p, BEGIN_REQ, at); }
  void requested(tlm::tlm_generic_payload& p, const sc_core::sc_time& at = one) {
    request(p);
    rules.forward_return(p, BEGIN_REQ, tlm::TLM_UPDATED, END_REQ, zero, at);
  }
  void respond(tlm::tlm_generic_payload& p, const sc_core::sc_time& at = one) {
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    rules.backward_call(p, BEGIN_RESP, at);
  }
};

/// The message of the report that `f` raises; "" when it raises none.
template <class F>
std::string report(F&& f) {
  try {
    f();
  } catch (const sc_core::sc_report& r) {
    return r.get_msg();
  }
  return "";
}

bool says(const std::string& message, const char* part) {
  INFO(message);
  CHECK(message.find("checker: ") == 0);
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "correct traffic passes") {
  requested(*a);
  respond(*a, two);
  rules.backward_return(*a, BEGIN_RESP, tlm::TLM_COMPLETED, BEGIN_RESP, two, two);
  request(*b, one);
  rules.forward_return(*b, BEGIN_REQ, tlm::TLM_ACCEPTED, BEGIN_REQ, one, one);
  respond(*b, two);  // END_REQ is implied
  rules.backward_return(*b, BEGIN_RESP, tlm::TLM_ACCEPTED, BEGIN_RESP, two, two);
  rules.forward_call(*b, END_RESP, two);
  rules.forward_return(*b, END_RESP, tlm::TLM_COMPLETED, END_RESP, two, two);
  a->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  request(*a, two);
  a->set_response_status(tlm::TLM_OK_RESPONSE);
  rules.forward_return(*a, BEGIN_REQ, tlm::TLM_COMPLETED, BEGIN_REQ, two, two);
  rules.finish();
  CHECK(rules.violations() == 0);
  CHECK(rules.transactions() == 3);
}

TEST_CASE_METHOD(Fixture, "phases out of order") {
  CHECK(says(report([&] { respond(*a); }), "BEGIN_RESP for a transaction that was not requested"));
  a->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  CHECK(says(report([&] { rules.backward_call(*a, END_REQ, zero); }),
             "END_REQ for a transaction that is not in its request"));
  CHECK(says(report([&] { rules.forward_call(*a, END_RESP, zero); }),
             "END_RESP for a transaction that is not in its response"));
  requested(*a);
  CHECK(says(report([&] { request(*a, one); }), "BEGIN_REQ for a transaction that is not over"));
  CHECK(says(report([&] { rules.backward_call(*a, END_REQ, one); }), "END_REQ for a transaction"));
  respond(*a);
  CHECK(says(report([&] { respond(*a); }), "BEGIN_RESP twice"));
}

TEST_CASE_METHOD(Fixture, "phases on the wrong path") {
  CHECK(says(report([&] { rules.forward_call(*a, END_REQ, zero); }), "on the forward path"));
  CHECK(says(report([&] { rules.backward_call(*a, BEGIN_REQ, zero); }), "on the backward path"));
  CHECK(says(report([&] { rules.forward_call(*a, tlm::UNINITIALIZED_PHASE, zero); }), "on the forward path"));
  request(*a);
  CHECK(says(report([&] { rules.forward_return(*a, BEGIN_REQ, tlm::TLM_UPDATED, END_RESP, zero, zero); }),
             "expected END_REQ or BEGIN_RESP"));
}

TEST_CASE_METHOD(Fixture, "returns that the protocol does not have") {
  requested(*a);
  CHECK(says(report([&] { rules.backward_return(*a, END_REQ, tlm::TLM_COMPLETED, END_REQ, zero, zero); }),
             "TLM_COMPLETED returned for END_REQ"));
  respond(*a);
  CHECK(says(report([&] { rules.backward_return(*a, BEGIN_RESP, tlm::TLM_UPDATED, BEGIN_REQ, zero, one); }),
             "expected END_RESP"));
  rules.forward_call(*a, END_RESP, one);
  CHECK(says(report([&] { rules.forward_return(*a, END_RESP, tlm::TLM_UPDATED, END_REQ, zero, zero); }),
             "TLM_UPDATED returned for END_RESP"));
}

TEST_CASE_METHOD(Fixture, "request exclusion") {
  request(*a);
  CHECK(says(report([&] { request(*b); }), "request exclusion: BEGIN_REQ before END_REQ"));
}

TEST_CASE_METHOD(Fixture, "request exclusion counts annotated delays") {
  requested(*a, two);
  CHECK(says(report([&] { request(*b, one); }), "request exclusion: BEGIN_REQ at 1 ns"));
}

TEST_CASE_METHOD(Fixture, "response exclusion") {
  requested(*a);
  request(*b, one);
  rules.forward_return(*b, BEGIN_REQ, tlm::TLM_UPDATED, END_REQ, one, one);
  respond(*a);
  CHECK(says(report([&] { respond(*b); }), "response exclusion: BEGIN_RESP before END_RESP"));
}

TEST_CASE_METHOD(Fixture, "response status") {
  requested(*a);
  CHECK(says(report([&] { rules.backward_call(*a, BEGIN_RESP, one); }), "BEGIN_RESP without a response status"));
  request(*b, one);
  CHECK(says(report([&] { rules.forward_return(*b, BEGIN_REQ, tlm::TLM_COMPLETED, BEGIN_REQ, one, one); }),
             "TLM_COMPLETED without a response status"));
  b->set_response_status(tlm::TLM_OK_RESPONSE);
  CHECK(says(report([&] { request(*b, one); }), "expected TLM_INCOMPLETE_RESPONSE"));
}

TEST_CASE_METHOD(Fixture, "attributes") {
  SECTION("address") {
    requested(*a);
    a->set_address(1);
    CHECK(says(report([&] { respond(*a); }), "modified on its way: address"));
  }
  SECTION("command") {
    requested(*a);
    a->set_command(tlm::TLM_WRITE_COMMAND);
    CHECK(says(report([&] { respond(*a); }), "modified on its way: command"));
  }
  SECTION("data pointer") {
    requested(*a);
    a->set_data_ptr(b->get_data_ptr());
    CHECK(says(report([&] { respond(*a); }), "modified on its way: data pointer"));
  }
  SECTION("data length") {
    requested(*a);
    a->set_data_length(1);
    CHECK(says(report([&] { respond(*a); }), "modified on its way: data length"));
  }
  SECTION("bytes of a write") {
    requested(*b);
    b->get_data_ptr()[9] = 6;
    CHECK(says(report([&] { respond(*b); }), "modified on its way: bytes of a write"));
  }
  SECTION("no length") {
    a->set_data_length(0);
    CHECK(says(report([&] { request(*a); }), "data length 0"));
  }
  SECTION("no data") {
    b->set_data_ptr(nullptr);
    CHECK(says(report([&] { request(*b); }), "null data pointer"));
  }
  SECTION("a data access needs none") {
    unsigned char* data = a->get_data_ptr();
    a->set_data_ptr(nullptr);
    CHECK(report([&] { request(*a); }).empty());
    a->set_data_ptr(data);
  }
}

TEST_CASE("byte enables and lanes must agree") {
  BaseProtocolRules rules("checker");
  protocol::OperandPayload operand;
  protocol::WarpValue value{};
  operand.prepare(tlm::TLM_WRITE_COMMAND, protocol::WarpSlot(1), protocol::RegisterId(2), 0xff00ff, 32, value);
  CHECK(report([&] { rules.forward_call(operand.payload(), BEGIN_REQ, zero); }).empty());
  operand.payload().set_response_status(tlm::TLM_OK_RESPONSE);
  rules.forward_return(operand.payload(), BEGIN_REQ, tlm::TLM_COMPLETED, BEGIN_REQ, zero, zero);
  operand.prepare(tlm::TLM_WRITE_COMMAND, protocol::WarpSlot(1), protocol::RegisterId(2), 0xff00ff, 32, value);
  operand.access().lanes = 0xff01ff;
  CHECK(says(report([&] { rules.forward_call(operand.payload(), BEGIN_REQ, zero); }), "disagree about lane 8"));
}

TEST_CASE("a mask without byte enables must be full") {
  BaseProtocolRules rules("checker");
  protocol::OperandPayload operand;
  protocol::WarpValue value{};
  operand.prepare(tlm::TLM_READ_COMMAND, protocol::WarpSlot(1), protocol::RegisterId(2), 0xffffffff, 32, value);
  operand.access().lanes = 0x7fffffff;
  CHECK(says(report([&] { rules.forward_call(operand.payload(), BEGIN_REQ, zero); }), "disagree about lane 31"));
}

TEST_CASE_METHOD(Fixture, "time goes forward") {
  requested(*a, two);
  CHECK(says(report([&] { respond(*a, one); }), "time goes backwards within a transaction"));
  request(*b, two);
  CHECK(says(report([&] { rules.forward_return(*b, BEGIN_REQ, tlm::TLM_UPDATED, END_REQ, two, one); }),
             "the annotated delay shrank"));
}

TEST_CASE_METHOD(Fixture, "nothing may be left at the end") {
  requested(*a);
  CHECK(says(report([&] { rules.finish(); }), "1 transactions were not finished"));
  CHECK(rules.outstanding() == 1);
}
