// SPDX-License-Identifier: Apache-2.0
//
// CTAs as bytes, against Protocol Buffers' own.
#include <regatta/test/catch.h>
#include <regatta/trace/warp_stream.h>
#include <trace.pb.h>

#include <cta_bytes.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace cta_bytes {

using regatta::trace::Cta;
using regatta::trace::CtaSerializer;
using regatta::trace::WarpColumns;
namespace proto = regatta::trace::proto;

namespace {

/// Of all lengths as a varint.
template <class T>
void fill(std::mt19937_64& random, std::vector<T>& column) {
  column.resize(random() % 3 == 0 ? 0 : random() % 200);
  for (T& value : column) value = static_cast<T>(random() >> random() % 64);
}

void fill(std::mt19937_64& random, std::string& column) {
  column.resize(random() % 3 == 0 ? 0 : random() % 3000);
  for (char& value : column) value = static_cast<char>(random());
}

std::uint64_t number(std::mt19937_64& random) { return random() % 3 == 0 ? 0 : random() >> random() % 64; }

/// The same CTA twice: as it is, and as the message.
void make(std::mt19937_64& random, Cta& cta, proto::Cta& message) {
  cta.launch = static_cast<std::uint32_t>(number(random));
  cta.index = number(random);
  cta.warps.resize(random() % 4);
  message.set_launch(cta.launch);
  message.set_index(cta.index);
  for (WarpColumns& c : cta.warps) {
    proto::WarpColumns& m = *message.add_warps();
    const auto both = [&](auto& column, auto* field) {
      fill(random, column);
      field->Assign(column.begin(), column.end());
    };
    both(c.run_start, m.mutable_run_start());
    both(c.run_length, m.mutable_run_length());
    both(c.mask_at, m.mutable_mask_at());
    both(c.mask, m.mutable_mask());
    both(c.guard_mask, m.mutable_guard_mask());
    both(c.address_base, m.mutable_address_base());
    both(c.address_delta, m.mutable_address_delta());
    both(c.predicate, m.mutable_predicate());
    both(c.stack_at, m.mutable_stack_at());
    both(c.stack_event, m.mutable_stack_event());
    both(c.stack_mask, m.mutable_stack_mask());
    fill(random, c.address_kind);
    fill(random, c.value_kind);
    fill(random, c.value_data);
    fill(random, c.shared_value_kind);
    fill(random, c.shared_value_data);
    m.set_address_kind(c.address_kind);
    m.set_value_kind(c.value_kind);
    m.set_value_data(c.value_data);
    m.set_shared_value_kind(c.shared_value_kind);
    m.set_shared_value_data(c.shared_value_data);
    c.warp_instructions = number(random);
    c.thread_instructions = number(random);
    m.set_warp_instructions(c.warp_instructions);
    m.set_thread_instructions(c.thread_instructions);
  }
}

}  // namespace

TEST_CASE("CTAs as bytes: as Protocol Buffers write them") {
  std::mt19937_64 random(45);
  CtaSerializer serializer;  // one for all, as the writer has
  for (int i = 0; i < 300; ++i) {
    Cta cta;
    proto::Cta message;
    make(random, cta, message);
    const char* const bytes = serializer.serialize(cta);
    REQUIRE(std::string(bytes, serializer.bytes()) == message.SerializeAsString());
  }
}

TEST_CASE("CTAs as bytes: an empty one is empty") {
  CtaSerializer serializer;
  serializer.serialize(Cta());
  CHECK(serializer.bytes() == 0);
}

}  // namespace cta_bytes
