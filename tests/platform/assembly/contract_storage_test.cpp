// SPDX-License-Identifier: Apache-2.0
//
// Operand storages that break the contract of their answers: the run ends, and the message names the storage, the
// access, what it answered and what was expected. Without --check-protocol, where nothing else is said.
#include "wrong_parts.h"

using namespace regatta;
using Catch::Matchers::Contains;
using test::HookedStorage;

namespace {

using Payload = HookedStorage::Payload;

std::string spoilt(const std::string& name, HookedStorage::Hook on_read, HookedStorage::Hook on_write,
                   bool check_protocol = false) {
  return test::in_child([&] {
    return test::outcome(
        "storage_" + name,
        [&](assembly::SmParts& parts) {
          parts.storage.reset();
          parts.storage = std::make_unique<HookedStorage>("wrong", std::move(on_read), std::move(on_write));
        },
        check_protocol);
  });
}

const std::string storage_head = "regatta/operand_storage: sm0.wrong in cycle ";

tlm::tlm_sync_enum half_a_cycle_more(HookedStorage&, Payload&, tlm::tlm_phase&, sc_core::sc_time& delay) {
  delay += test::wrong_parts_period / 2;
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum forget_status(HookedStorage&, Payload& p, tlm::tlm_phase&, sc_core::sc_time&) {
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  return tlm::TLM_COMPLETED;
}

/// Takes the request, and answers two cycles later by sending `phases`.
HookedStorage::Hook answer_later(std::vector<std::pair<tlm::tlm_phase, double>> phases) {
  return [phases](HookedStorage& s, Payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) {
    if (s.seen++ != 0) return tlm::TLM_COMPLETED;
    phase = tlm::END_REQ;
    s.later(2 * test::wrong_parts_period, [&s, &p, phases] {
      for (const auto& [sent, cycles] : phases) s.send(p, sent, test::wrong_parts_period * cycles);
    });
    return tlm::TLM_UPDATED;
  };
}

}  // namespace

TEST_CASE("contract: a read that takes half a cycle more") {
  const std::string said = spoilt("half_read", half_a_cycle_more, nullptr);
  CHECK_THAT(said, Contains(storage_head));
  CHECK_THAT(said, Contains("answers the read of R0 for warp "));
  CHECK_THAT(said, Contains(" PC 0x10 int_add with a delay of 2220 ps; expected whole cycles of 888 ps"));
}

TEST_CASE("contract: a write that takes half a cycle more") {
  const std::string said = spoilt("half_write", nullptr, half_a_cycle_more);
  CHECK_THAT(said, Contains(storage_head));
  CHECK_THAT(said, Contains("answers the write of R0 for warp 0 (CTA 0) PC 0x0 constant_load with a delay of "));
  CHECK_THAT(said, Contains("; expected whole cycles of 888 ps"));
}

TEST_CASE("contract: a read without a response status") {
  const std::string said = spoilt("no_status", forget_status, nullptr);
  CHECK_THAT(said, Contains(storage_head));
  CHECK_THAT(said, Contains("completes the read of R0 for warp "));
  CHECK_THAT(said, Contains(" without a response status (TLM_INCOMPLETE_RESPONSE); expected TLM_OK_RESPONSE"));
}

TEST_CASE("contract: a write without a response status") {
  CHECK_THAT(spoilt("no_write_status", nullptr, forget_status),
             Contains("completes the write of R0 for warp 0 (CTA 0) PC 0x0 constant_load without a response status"));
}

TEST_CASE("contract: a read that is answered with an error") {
  CHECK_THAT(spoilt(
                 "error",
                 [](HookedStorage&, Payload& p, tlm::tlm_phase&, sc_core::sc_time&) {
                   p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
                   return tlm::TLM_COMPLETED;
                 },
                 nullptr),
             Contains("with TLM_ADDRESS_ERROR_RESPONSE; expected TLM_OK_RESPONSE"));
}

TEST_CASE("contract: a request that is answered with a phase of the initiator's") {
  CHECK_THAT(spoilt(
                 "phase",
                 [](HookedStorage&, Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
                   phase = tlm::END_RESP;
                   return tlm::TLM_UPDATED;
                 },
                 nullptr),
             Contains("with phase END_RESP; expected END_REQ or BEGIN_RESP"));
}

TEST_CASE("contract: a read that is answered twice") {
  const auto twice = answer_later({{tlm::BEGIN_RESP, 1}, {tlm::BEGIN_RESP, 1}});
  CHECK_THAT(spoilt("twice", twice, nullptr),
             Contains("sends BEGIN_RESP for a read that is complete; expected one answer to each access"));
}

TEST_CASE("contract: a request that ends twice") {
  CHECK_THAT(spoilt("end_twice", answer_later({{tlm::END_REQ, 1}}), nullptr),
             Contains("whose request is over; expected one END_REQ to each request"));
}

TEST_CASE("contract: an answer between two cycles") {
  CHECK_THAT(spoilt("between", answer_later({{tlm::BEGIN_RESP, 0.5}}), nullptr),
             Contains("; expected a whole cycle of 888 ps"));
}

TEST_CASE("contract: an answer of the initiator's phase on the backward path") {
  CHECK_THAT(spoilt("back_phase", answer_later({{tlm::END_RESP, 0}}), nullptr),
             Contains("with phase END_RESP; expected END_REQ or BEGIN_RESP"));
}

TEST_CASE("contract: an access that takes no time") {
  const auto at_once = [](HookedStorage&, Payload&, tlm::tlm_phase&, sc_core::sc_time& delay) {
    delay = sc_core::SC_ZERO_TIME;
    return tlm::TLM_COMPLETED;
  };
  const auto response_at_once = [](HookedStorage&, Payload&, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    phase = tlm::BEGIN_RESP;
    delay = sc_core::SC_ZERO_TIME;
    return tlm::TLM_UPDATED;
  };
  const char* expected = " with a delay of 0 s; expected at least one cycle of 888 ps";
  const std::string read = spoilt("read_at_once", at_once, nullptr);
  CHECK_THAT(read, Contains(storage_head));
  CHECK_THAT(read, Contains("answers the read of R0 for warp "));
  CHECK_THAT(read, Contains(expected));
  CHECK_THAT(spoilt("write_at_once", nullptr, at_once), Contains(expected));
  CHECK_THAT(spoilt("response_at_once", response_at_once, nullptr), Contains(expected));
  CHECK_THAT(spoilt("later_at_once", answer_later({{tlm::BEGIN_RESP, 0}}), nullptr), Contains(expected));
}

TEST_CASE("contract: a storage that never answers is a deadlock, with --check-protocol too") {
  const auto take = [](HookedStorage&, Payload&, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    phase = tlm::END_REQ;
    delay = sc_core::SC_ZERO_TIME;
    return tlm::TLM_UPDATED;
  };
  const std::string said = spoilt("never", take, nullptr, true);
  CHECK_THAT(said, Contains("deadlock: launch 0 (hand_made) stopped at cycle "));
  CHECK_THAT(said, Contains("operand storage sm0.wrong has not answered reads: 8 warps (0-7), since cycle "));
}

TEST_CASE("contract: a read without an origin, with --check-protocol") {
  const auto no_origin = [](HookedStorage&, Payload& p, tlm::tlm_phase&, sc_core::sc_time&) {
    protocol::warp_access(p).origin = protocol::Origin{};
    return tlm::TLM_COMPLETED;
  };
  CHECK_THAT(spoilt("origin", no_origin, nullptr, true),
             Contains("without an origin; expected WarpAccess::origin to say where the value was found"));
}

TEST_CASE("contract: a read that fills nothing is no old value, with --check-protocol") {
  // The values are put back to what was in the payload before, which without the check is an earlier instruction's.
  const auto nothing = [](HookedStorage& s, Payload& p, tlm::tlm_phase&, sc_core::sc_time&) {
    static trace::WarpValue before;
    if (s.seen++ == 0) before.lane.fill(0);
    std::copy(before.lane.begin(), before.lane.begin() + 32, reinterpret_cast<std::uint32_t*>(p.get_data_ptr()));
    return tlm::TLM_COMPLETED;
  };
  CHECK_THAT(spoilt("nothing", nothing, nullptr, true), Contains("value mismatch: "));
}

TEST_CASE("contract: what keeps to it is let be") { CHECK(spoilt("right", nullptr, nullptr, true).empty()); }
