// SPDX-License-Identifier: Apache-2.0
//
// The contents of shared memory alone: where bytes lie, what accesses read, and what is refused.
#include <regatta/sharing/multiplexed_scratchpad.h>
#include <regatta/sharing/shared_scratchpad.h>

#include <regatta/test/bad_requests.h>

#include <random>
#include <set>

#include "../sharing_blocks.h"

using namespace regatta;
using namespace regatta::test::sharing;

namespace {

struct Initiator : sc_core::sc_module, tlm::tlm_bw_transport_if<> {
  explicit Initiator(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") { socket.bind(*this); }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    FAIL("a backward call");
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  tlm::tlm_initiator_socket<32> socket;
};

/// One CTA that shares nothing in slot 0; pairs of slots 1 and 3, 2 and 4. CTAs use 100 of 104 bytes, 24 are private.
struct ScratchpadBench {
  static constexpr unsigned used = 100, taken = 104, own = 24, ctas = 5;

  explicit ScratchpadBench(unsigned bytes = 4096)
      : pairs("pairs", 1, 2, own, taken), memory("memory", bytes), initiator("initiator"), launch(ctas, 2, 8) {
    memory.pairs.bind(pairs);
    memory.boundary.bind(pairs);
    initiator.socket.bind(memory.socket);
    payload.set_extension(&access);
    launch.launch.shared_bytes_per_cta = used;
    sc_core::sc_report_handler::set_actions("regatta/shared_scratchpad", sc_core::SC_ERROR, sc_core::SC_THROW);
    run_to(1);
  }
  ~ScratchpadBench() { payload.clear_extension(&access); }
  void start() { memory.kernel_started(launch.context); }
  tlm::tlm_response_status transfer(tlm::tlm_command command, unsigned cta, protocol::LaneMask lanes, unsigned bytes,
                                    const std::vector<std::uint64_t>& offsets) {
    addresses.assign(64, 0);
    for (std::size_t i = 0; i < offsets.size(); ++i) addresses[i] = trace::shared_window + offsets[i];
    access.cta = cta_at(cta);
    access.lanes = lanes;
    access.bytes = bytes;
    access.addresses = addresses.data();
    payload.set_command(command);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(words.data()));
    payload.set_data_length(static_cast<unsigned>(access.words() * sizeof words[0]));
    payload.set_streaming_width(payload.get_data_length());
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time none;
    initiator.socket->b_transport(payload, none);
    CHECK(none == sc_core::SC_ZERO_TIME);
    return payload.get_response_status();
  }
  void write(unsigned cta, std::uint64_t offset, std::uint32_t word, unsigned bytes = 4) {
    words[0].lane[0] = word;
    REQUIRE(transfer(tlm::TLM_WRITE_COMMAND, cta, 1, bytes, {offset}) == tlm::TLM_OK_RESPONSE);
  }
  std::uint32_t read(unsigned cta, std::uint64_t offset, unsigned bytes = 4) {
    words[0].lane[0] = 0xdeadbeef;
    REQUIRE(transfer(tlm::TLM_READ_COMMAND, cta, 1, bytes, {offset}) == tlm::TLM_OK_RESPONSE);
    return words[0].lane[0];
  }
  FixedPairs pairs;
  models::SharedScratchpad memory;
  Initiator initiator;
  Launch launch;
  tlm::tlm_generic_payload payload;
  protocol::SharedAccess access;
  protocol::SharedWords words{};
  std::vector<std::uint64_t> addresses;
};

}  // namespace

TEST_CASE("shared scratchpad alone: private bytes are each CTA's own, common ones the pair's, and nothing overlaps") {
  ScratchpadBench b;
  b.start();
  // By the definition of section 2.2.2, without the layout: who may share a byte with whom.
  std::map<std::uint32_t, std::set<std::pair<unsigned, unsigned>>> users;
  for (unsigned cta = 0; cta < ScratchpadBench::ctas; ++cta) {
    for (unsigned o = 0; o < ScratchpadBench::taken; ++o) users[b.memory.place(cta_at(cta), o)].insert({cta, o});
  }
  for (const auto& [place, who] : users) {
    CAPTURE(place);
    REQUIRE(place < 104 + 2 * (104 + 24));
    const auto [cta, offset] = *who.begin();
    if (cta == 0 || offset < ScratchpadBench::own) {
      REQUIRE(who.size() == 1);
    } else {
      REQUIRE(who == std::set<std::pair<unsigned, unsigned>>{{cta, offset}, {cta + 2, offset}});
    }
  }
  CHECK(users.size() == 104 + 2 * (104 + 24));
}

TEST_CASE("shared scratchpad alone: a CTA reads what it wrote, unless its partner wrote the common part since") {
  ScratchpadBench b;
  b.start();
  for (unsigned cta = 0; cta < 5; ++cta) b.write(cta, 20, 100 + cta);
  for (unsigned cta = 0; cta < 5; ++cta) CHECK(b.read(cta, 20) == 100 + cta);
  for (unsigned cta = 0; cta < 5; ++cta) b.write(cta, 24, 200 + cta);
  CHECK(b.read(0, 24) == 200);
  CHECK(b.read(1, 24) == 203);
  CHECK(b.read(3, 24) == 203);
  CHECK(b.read(2, 24) == 204);
  CHECK(stat_of(b.memory, "words_written") == 10);
  CHECK(stat_of(b.memory, "words_read") == 9);
  CHECK(stat_of(b.memory, "common_words") == 4 + 3);
}

TEST_CASE("shared scratchpad alone: narrow and wide accesses") {
  ScratchpadBench b;
  b.start();
  b.write(1, 40, 0x44332211);
  b.write(1, 42, 0xaa, 1);
  CHECK(b.read(1, 40) == 0x44aa2211);
  CHECK(b.read(1, 42, 2) == 0x44aa);
  CHECK(b.read(1, 43, 1) == 0x44);
  // Addresses of space shared are offsets, those of generic space lie in a window.
  CHECK(b.read(1, 40 - trace::shared_window) == 0x44aa2211);
  // 16 bytes over the boundary: a word is private, three are common.
  for (unsigned w = 0; w < 4; ++w) b.words[w].lane[0] = w + 1;
  REQUIRE(b.transfer(tlm::TLM_WRITE_COMMAND, 1, 1, 16, {20}) == tlm::TLM_OK_RESPONSE);
  CHECK(b.read(1, 20) == 1);
  CHECK(b.read(3, 20) != 1);
  for (unsigned w = 1; w < 4; ++w) CHECK(b.read(3, 20 + 4 * w) == w + 1);
}

TEST_CASE("shared scratchpad alone: only the lanes of the mask are transferred") {
  ScratchpadBench b;
  b.start();
  for (unsigned i = 0; i < 4; ++i) b.words[0].lane[i] = 10 + i;
  REQUIRE(b.transfer(tlm::TLM_WRITE_COMMAND, 2, 0b1010, 4, {48, 52, 56, 60}) == tlm::TLM_OK_RESPONSE);
  CHECK(b.read(2, 52) == 11);
  CHECK(b.read(2, 60) == 13);
  CHECK(b.read(2, 48) == 0);
  for (unsigned i = 0; i < 4; ++i) b.words[0].lane[i] = 7;
  REQUIRE(b.transfer(tlm::TLM_READ_COMMAND, 2, 0b0010, 4, {48, 52, 56, 60}) == tlm::TLM_OK_RESPONSE);
  CHECK(b.words[0].lane[1] == 11);
  CHECK(b.words[0].lane[3] == 7);
}

TEST_CASE("shared scratchpad alone: random accesses against a byte array per CTA and common part") {
  ScratchpadBench b;
  b.start();
  std::mt19937 random(5);
  std::map<std::pair<unsigned, unsigned>, std::uint8_t> bytes;  // by CTA, or 10 + pair, and offset
  const auto owner = [](unsigned cta, unsigned offset) {
    return cta == 0 || offset < ScratchpadBench::own ? cta : 10 + (cta - 1) % 2;
  };
  for (unsigned n = 0; n < 20000; ++n) {
    const unsigned cta = random() % 5, size = 1u << (random() % 3), offset = random() % (100 / size) * size;
    if (random() % 2 == 0) {
      const auto word = static_cast<std::uint32_t>(random());
      b.write(cta, offset, word, size);
      for (unsigned i = 0; i < size; ++i) bytes[{owner(cta, offset + i), offset + i}] = std::uint8_t(word >> (8 * i));
    } else {
      std::uint32_t expected = 0;
      for (unsigned i = 0; i < size; ++i) {
        expected |= std::uint32_t{bytes[{owner(cta, offset + i), offset + i}]} << (8 * i);
      }
      REQUIRE(b.read(cta, offset, size) == expected);
    }
  }
}

TEST_CASE("shared scratchpad alone: an access outside the CTA's shared memory is refused") {
  ScratchpadBench b;
  b.start();
  CHECK(b.transfer(tlm::TLM_READ_COMMAND, 1, 1, 4, {96}) == tlm::TLM_OK_RESPONSE);
  CHECK(b.transfer(tlm::TLM_READ_COMMAND, 1, 1, 8, {96}) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(b.transfer(tlm::TLM_WRITE_COMMAND, 1, 1, 4, {100}) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(b.transfer(tlm::TLM_WRITE_COMMAND, 1, 1, 4, {~std::uint64_t{0}}) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_CASE("shared scratchpad alone: a plan that takes more than there is") {
  ScratchpadBench b(359);
  CHECK(error_of([&] { b.start(); }) == "memory: 5 CTAs, of which 2 pairs, take 360 bytes; expected at most 359");
}

namespace {

/// Four CTAs, two places: CTA 1 has place 1, CTA 3 has place 0.
class FixedPlaces : public sc_core::sc_module, public models::Multiplex, public models::ScratchpadPlaces {
 public:
  explicit FixedPlaces(const sc_core::sc_module_name& name, unsigned places = 2) : sc_module(name), plan_{4, places} {}
  const models::MultiplexPlan& plan() const override { return plan_; }
  unsigned free_places() const override { return 0; }
  std::optional<unsigned> place(CtaSlot cta) const override {
    return of.count(cta.value()) != 0 ? of.at(cta.value()) : std::optional<unsigned>();
  }
  void take(CtaSlot) override {}
  void give_back(CtaSlot) override {}
  std::map<unsigned, std::optional<unsigned>> of{{1, 1}, {3, 0}};

 private:
  models::MultiplexPlan plan_;
};

struct MultiplexedBench {
  explicit MultiplexedBench(unsigned bytes = 4096) : boundary("boundary", 4, 0, 24, 104), memory("memory", bytes) {
    memory.boundary.bind(boundary);
    memory.multiplex.bind(places);
    memory.places.bind(places);
    initiator.socket.bind(memory.socket);
    launch.launch.shared_bytes_per_cta = 100;
    sc_core::sc_report_handler::set_actions("regatta/shared_scratchpad", sc_core::SC_ERROR, sc_core::SC_THROW);
    run_to(1);
  }
  FixedPairs boundary;
  FixedPlaces places{"places"};
  models::MultiplexedScratchpad memory;
  Initiator initiator{"initiator"};
  Launch launch{4, 2, 8};
};

}  // namespace

TEST_CASE("multiplexed scratchpad alone: private bytes are each CTA's own, common ones lie in the place of the CTA") {
  MultiplexedBench b;
  b.memory.kernel_started(b.launch.context);
  std::set<std::uint32_t> own;
  for (unsigned cta = 0; cta < 4; ++cta) {
    for (unsigned o = 0; o < 24; ++o) REQUIRE(own.insert(b.memory.place(cta_at(cta), o)).second);
  }
  CHECK(*own.rbegin() == 4 * 24 - 1);
  for (unsigned o = 24; o < 104; ++o) {
    REQUIRE(b.memory.place(cta_at(3), o) == 96 + o - 24);
    REQUIRE(b.memory.place(cta_at(1), o) == 96 + 80 + o - 24);
  }
  // A place that has passed to another CTA.
  b.places.of = {{0, 1}};
  CHECK(b.memory.place(cta_at(0), 24) == 96 + 80);
}

TEST_CASE("multiplexed scratchpad alone: more than there is, is refused") {
  MultiplexedBench b(255);
  CHECK(error_of([&] { b.memory.kernel_started(b.launch.context); }) ==
        "memory: 4 CTAs, with 2 places, take 256 bytes; expected at most 255");
}

TEST_CASE("shared scratchpad alone: bad requests end in an error that names the socket") {
  ScratchpadBench b;
  b.start();
  b.write(0, 0, 1);
  const auto refused = [&](const std::string& found, const std::function<void()>& spoil) {
    b.write(0, 0, 1);  // what was spoilt is good again
    spoil();
    test::refuses("memory.socket", found, [&] {
      sc_core::sc_time none;
      b.initiator.socket->b_transport(b.payload, none);
    });
  };
  for (const test::BadRequest& bad : test::badly_shaped(256, "the values of the access")) {
    refused(bad.found, [&] { bad.spoil(b.payload); });
    b.payload.set_byte_enable_ptr(nullptr);
  }
  refused("byte enables; expected none", [&] {
    b.payload.set_byte_enable_ptr(reinterpret_cast<unsigned char*>(b.words.data()));
    b.payload.set_byte_enable_length(256);
  });
  b.payload.set_byte_enable_ptr(nullptr);
  refused("a null data pointer; expected the values of the access (", [&] { b.payload.set_data_ptr(nullptr); });
  refused("an access of 0 bytes in a lane; expected 1 to 16 (", [&] { b.access.bytes = 0; });
  refused("an access of 17 bytes in a lane; expected 1 to 16 (", [&] { b.access.bytes = 17; });
  refused("an access without addresses; expected one for each lane (", [&] { b.access.addresses = nullptr; });
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time none;
  test::refuses("memory.socket", "nb_transport_fw(); expected b_transport(), which takes no time (",
                [&] { b.initiator.socket->nb_transport_fw(b.payload, phase, none); });
  tlm::tlm_generic_payload bare;
  test::refuses("memory.socket", "a payload without its SharedAccess extension; expected one (",
                [&] { b.initiator.socket->b_transport(bare, none); });
  // A CTA slot that does not exist lies beyond the memory.
  b.write(0, 0, 1);
  CHECK(b.transfer(tlm::TLM_READ_COMMAND, 1000, 1, 4, {0}) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
}
