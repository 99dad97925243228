// SPDX-License-Identifier: Apache-2.0
#include "sample.h"

#include <regatta/trace/region_words.h>

#include <algorithm>

namespace regatta::test {

using namespace trace;

namespace {

StaticInstruction make(const std::string& opcode, std::uint32_t id, OpClass op_class,
                       std::vector<std::uint8_t> destinations, std::vector<std::uint8_t> sources) {
  StaticInstruction i;
  i.opcode = opcode;
  i.opcode_id = id;
  i.op_class = op_class;
  i.destination_count = static_cast<std::uint8_t>(destinations.size());
  std::copy(destinations.begin(), destinations.end(), i.destinations.begin());
  i.source_count = static_cast<std::uint8_t>(sources.size());
  std::copy(sources.begin(), sources.end(), i.sources.begin());
  for (const std::uint8_t d : destinations) i.operands.push_back({Operand::Kind::reg, 1, false, d});
  i.operand_destinations = i.destination_count;
  for (const std::uint8_t s : sources) i.operands.push_back({Operand::Kind::reg, 1, false, s});
  return i;
}

StaticInstruction memory(StaticInstruction i, MemorySpace space, std::uint8_t bytes, bool reads, bool writes) {
  i.space = space;
  i.access_bytes = bytes;
  i.reads_memory = reads;
  i.writes_memory = writes;
  return i;
}

}  // namespace

Kernel sample_kernel(unsigned warp_size) {
  Kernel k;
  k.name = "sample" + std::to_string(warp_size);
  k.ptx_file = "odd \xff path.ptx";
  k.source_files = {"sample.cu"};
  k.warp_size = warp_size;
  k.registers_per_thread = 12;
  k.predicates = 4;
  k.static_shared_bytes = 256;
  k.shared_values = warp_size == 64;
  auto& code = k.instructions;
  code.push_back(make("mov.u32", 0, OpClass::int_add, {0}, {}));
  code.push_back(make("setp.lt.s32", 1, OpClass::int_add, {}, {0, 1}));
  code.back().destination_predicate_count = 1;
  code.back().destination_predicates[0] = 0;
  code.push_back(memory(make("ld.global.f32", 2, OpClass::load, {2}, {0, 1}), MemorySpace::global, 4, true, false));
  code.back().guard = {0, false};
  code.back().address_offset = -4096;
  code.back().bypasses_l1 = true;
  code.push_back(
      memory(make("ld.shared.v4.f32", 3, OpClass::load, {4, 5, 6, 7}, {0}), MemorySpace::shared, 16, true, false));
  code.push_back(memory(make("st.global.f32", 4, OpClass::store, {}, {0, 1, 2}), MemorySpace::global, 4, false, true));
  code.back().guard = {3, true};
  code.back().barrier_arrives = true;
  code.back().barrier_id = 3;
  code.back().barrier_threads = 64;
  code.back().reads_carry = code.back().writes_carry = true;  // whatever that may mean of a store
  code.push_back(make("bra", 5, OpClass::branch, {}, {}));
  code.back().guard = {0, true};
  code.back().branch_target = 1;
  code.push_back(make("add.s64", 6, OpClass::int64, {8, 9}, {8, 9, 0, 1}));
  code.push_back(
      memory(make("ld.param.u64", 7, OpClass::constant_load, {10, 11}, {}), MemorySpace::param, 8, true, false));
  code.push_back(make("setp.eq.and.s32", 8, OpClass::int_add, {}, {0, 1}));
  code.back().destination_predicate_count = 2;
  code.back().destination_predicates = {1, 2};
  code.back().source_predicate_count = 1;
  code.back().source_predicates[0] = 3;
  code.back().source_line = 7;
  code.push_back(memory(make("atom.add.u32", 9, OpClass::atomic, {3}, {0, 1, 2}), MemorySpace::generic, 4, true, true));
  code.push_back(make("exit", 10, OpClass::exit, {}, {}));
  k.blocks.push_back({0, 1, {1}, 1});
  k.blocks.push_back({1, 5, {1, 2}, 2});
  k.blocks.push_back({6, 5, {}, -1});
  k.shared_variables.push_back({"tile", 0, 256});
  k.shared_variables.push_back({"more", 256, 0});
  std::uint32_t begin = 0;
  for (const std::uint32_t end : {1u, 6u, 11u}) {
    RegionWords region;
    region.lines = {1, 0, 2, 0, 0, 0, 0, static_cast<std::uint8_t>(end)};
    region.entries = {{RegionEntry::Kind::preload, 3}, {RegionEntry::Kind::erase_at_end, 11}};
    region.uses.resize(end - begin);
    region.uses[0] = {LastUse::erase, LastUse::none, LastUse::evict};
    for (const PlacedWord& word : encode(region)) {
      const auto id =
          20 + static_cast<std::uint32_t>(opcode_of(word.word)) - static_cast<std::uint32_t>(RegionOpcode::region);
      k.inserted.push_back({begin + word.before, region_instruction(word.word, id)});
    }
    begin = end;
  }
  InsertedInstruction other{10, make("relssp", 30, OpClass::metadata, {}, {})};
  other.instruction.scheme = "sharing";
  k.inserted.push_back(other);
  InsertedInstruction jump{10, make("relssp.jump", 31, OpClass::branch, {}, {}), Disposition::issue, 9};
  jump.instruction.scheme = "sharing";
  jump.instruction.branch_target = 10;
  k.inserted.push_back(jump);
  k.annotations.push_back({"regions", 3, std::string("\0\1\xfe", 3)});
  return k;
}

WarpValue random_value(Random& random, unsigned warp_size) {
  WarpValue v;
  const unsigned half = warp_size / 2;
  const auto base = static_cast<std::uint32_t>(random());
  const auto other = static_cast<std::uint32_t>(random());
  const auto step = static_cast<std::uint32_t>(random() % 3 == 0 ? random() : random() % 17 - 8);
  const auto sort = random() % 7;
  for (unsigned i = 0; i < max_lanes; ++i) {
    switch (sort) {
      case 0:
        v.lane[i] = base;
        break;
      case 1:
        v.lane[i] = base + i * step;
        break;
      case 2:
        v.lane[i] = (i < half ? base : other) + i % half * step;
        break;
      case 3:
        v.lane[i] = base + static_cast<std::uint32_t>(random() % 256);
        break;
      case 4:
        v.lane[i] = base + static_cast<std::uint32_t>(random() % 65536);
        break;
      case 5:
        v.lane[i] = static_cast<std::uint32_t>(random());
        break;
      default:
        v.lane[i] = random() % 8 == 0 ? base : other;
        break;
    }
  }
  if (random() % 4 == 0) v.lane[random() % warp_size] ^= 1u << random() % 32;
  return v;
}

LaneMask random_mask(Random& random, unsigned warp_size) {
  const LaneMask all = all_lanes(warp_size);
  const LaneMask half = all_lanes(warp_size / 2);
  switch (random() % 8) {
    case 0:
      return 0;
    case 1:
      return LaneMask{1} << random() % warp_size;
    case 2:
      return (LaneMask{1} << random() % warp_size) | (LaneMask{1} << random() % warp_size);
    case 3:
      return half;
    case 4:
      return all & ~half;
    case 5:
      return random() & all;
    default:
      return all;
  }
}

std::vector<Step> random_steps(Random& random, const Kernel& kernel, std::size_t count) {
  std::vector<Step> steps;
  LaneMask simt = all_lanes(kernel.warp_size);
  std::uint32_t index = 0;
  unsigned depth = 0;
  for (std::size_t n = 0; n < count; ++n) {
    Step s;
    if (random() % 5 == 0) simt = random_mask(random, kernel.warp_size);
    s.index = index;
    s.simt = simt;
    const StaticInstruction& i = kernel.instructions[index];
    s.active = i.guard.predicate >= 0 ? simt & random_mask(random, kernel.warp_size) : simt;
    for (unsigned d = 0; d < i.destination_count; ++d) s.results.push_back(random_value(random, kernel.warp_size));
    for (unsigned d = 0; d < i.destination_predicate_count; ++d) s.predicates.push_back(random());
    if (has_addresses(i)) {
      const std::uint64_t base = random();
      const std::uint64_t step = random() % 3 == 0 ? random() : random() % 64 - 32;
      const bool scattered = random() % 3 == 0;
      for (unsigned lane = 0; lane < kernel.warp_size; ++lane) {
        s.addresses.push_back(scattered ? random() : base + lane * step);
      }
    }
    if (kernel.shared_values && has_addresses(i) && i.writes_memory) {
      if (i.space == MemorySpace::generic) {
        for (std::uint64_t& a : s.addresses) {
          if (random() % 2 == 0) a = shared_window + a % 4096;
        }
      }
      s.shared = shared_lanes(i, s.active, s.addresses.data());
      for (unsigned w = 0; s.shared != 0 && w < shared_write_words(i); ++w) {
        s.stored.push_back(random_value(random, kernel.warp_size));
      }
    }
    while (random() % 6 == 0) {
      StackEvent e;
      e.push = depth == 0 || random() % 2 == 0;
      if (e.push) {
        e.resume_index = static_cast<std::uint32_t>(random() % (kernel.instructions.size() + 1));
        e.mask = random_mask(random, kernel.warp_size);
        ++depth;
      } else {
        --depth;
      }
      s.events.push_back(e);
    }
    steps.push_back(std::move(s));
    index = random() % 6 == 0 || index + 1 == kernel.instructions.size()
                ? static_cast<std::uint32_t>(random() % kernel.instructions.size())
                : index + 1;
  }
  return steps;
}

namespace {

/// `after(encoder, step)` is called after each step.
template <class After>
WarpColumns encode(const Kernel& kernel, const std::vector<Step>& steps, const After& after) {
  WarpEncoder encoder(kernel);
  for (const Step& s : steps) {
    encoder.instruction(s.index, s.simt, s.active);
    for (const WarpValue& v : s.results) encoder.result(v);
    for (const LaneMask p : s.predicates) encoder.predicate(p);
    if (!s.addresses.empty()) encoder.addresses(s.addresses.data());
    for (const WarpValue& v : s.stored) encoder.stored(v);
    for (const StackEvent& e : s.events) {
      if (e.push) {
        encoder.push(e.resume_index, e.mask);
      } else {
        encoder.pop();
      }
    }
    after(encoder, static_cast<std::size_t>(&s - steps.data()));
  }
  return encoder.finish();
}

/// Segments in memory.
class KeptSegments : public WarpSegments {
 public:
  std::shared_ptr<const WarpColumns> segment(std::uint64_t number) override {
    return number < all.size() ? all[number] : nullptr;
  }
  std::vector<std::shared_ptr<const WarpColumns>> all;
};

}  // namespace

WarpColumns encode(const Kernel& kernel, const std::vector<Step>& steps) {
  return encode(kernel, steps, [](const WarpEncoder&, std::size_t) {});
}

WarpColumns encode_in_segments(const Kernel& kernel, const std::vector<Step>& steps, const std::vector<bool>& ends) {
  const auto segments = std::make_shared<KeptSegments>();
  WarpColumns whole = encode(kernel, steps, [&](WarpEncoder& encoder, std::size_t step) {
    if (!ends[step] && step + 1 != steps.size()) return;
    segments->all.push_back(std::make_shared<const WarpColumns>(encoder.take_segment()));
  });
  whole.segments = segments;
  return whole;
}

std::string difference(const Kernel& kernel, const WarpColumns& columns, const std::vector<Step>& steps) {
  WarpCursor cursor(kernel, columns);
  std::vector<StackEvent> events;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    const Step& s = steps[n];
    const auto at = [n](const std::string& what) { return "instruction " + std::to_string(n) + ": " + what; };
    if (cursor.at_end()) return at("ends early");
    if (cursor.path().peek_index() != s.index) return at("peek_index");
    if (!cursor.next()) return at("next");
    if (cursor.position() != n + 1) return at("position");
    if (cursor.index() != s.index || &cursor.instruction() != &kernel.instructions[s.index]) return at("index");
    if (cursor.simt_mask() != s.simt || cursor.active_mask() != s.active) return at("mask");
    for (const WarpValue& expected : s.results) {
      WarpValue v;
      v.lane.fill(0xdeadbeef);
      cursor.result(v);
      for (unsigned lane = 0; lane < max_lanes; ++lane) {
        if ((s.active >> lane & 1) != 0 && v.lane[lane] != expected.lane[lane]) return at("result");
        if (lane >= kernel.warp_size && v.lane[lane] != 0xdeadbeef) return at("result beyond the warp");
      }
    }
    for (const LaneMask expected : s.predicates) {
      if (cursor.predicate() != (expected & s.active)) return at("predicate");
    }
    if (!s.addresses.empty()) {
      std::vector<std::uint64_t> address(kernel.warp_size);
      cursor.addresses(address.data());
      for (unsigned lane = 0; lane < kernel.warp_size; ++lane) {
        if ((s.active >> lane & 1) != 0 && address[lane] != s.addresses[lane]) return at("address");
      }
    }
    if (cursor.stored_words() != s.stored.size()) return at("number of stored words");
    for (const WarpValue& expected : s.stored) {
      if (cursor.stored_lanes() != s.shared) return at("lanes of shared memory");
      WarpValue v;
      cursor.stored(v);
      for (unsigned lane = 0; lane < kernel.warp_size; ++lane) {
        if ((s.shared >> lane & 1) != 0 && v.lane[lane] != expected.lane[lane]) return at("stored word");
      }
    }
    events.clear();
    if (cursor.stack_events(events) != s.events.size()) return at("number of stack events");
    for (std::size_t e = 0; e < events.size(); ++e) {
      if (events[e].push != s.events[e].push || events[e].resume_index != s.events[e].resume_index ||
          events[e].mask != s.events[e].mask) {
        return at("stack event");
      }
    }
  }
  if (!cursor.at_end() || cursor.next()) return "does not end";
  if (cursor.leftover()) return std::string("left over: ") + cursor.leftover();
  return {};
}

}  // namespace regatta::test
