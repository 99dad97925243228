// SPDX-License-Identifier: Apache-2.0
#include "oracle.h"

#include <cstring>
#include <stdexcept>

#include "operations.h"
#include "threads.h"

namespace regatta::test::differential {
namespace {

enum class Flow : std::uint8_t { on, left, exited };

class Walk {
 public:
  Walk(const Program& program, Thread& thread) : program_(program), thread_(thread) {}

  Flow one(const Statement& s, Frame& f) {
    switch (s.kind) {
      case Statement::Kind::operation:
        if (guard_holds(f, s)) operation(s, f);
        return Flow::on;
      case Statement::Kind::branch:
        return list(guard_holds(f, s) ? s.body : s.other, f);
      case Statement::Kind::loop:
        return loop(s, f);
      case Statement::Kind::leave:
        return guard_holds(f, s) ? Flow::left : Flow::on;
      case Statement::Kind::exit:
        return guard_holds(f, s) ? Flow::exited : Flow::on;
      case Statement::Kind::load:
      case Statement::Kind::store:
        if (guard_holds(f, s)) memory(s, f);
        return Flow::on;
      case Statement::Kind::call:
        return call(s, f);
      case Statement::Kind::copy:
        return copy(s, f);
      default:
        throw std::logic_error("a statement that all threads do together, in one thread");
    }
  }

 private:
  Flow list(const std::vector<Statement>& body, Frame& f) {
    for (const Statement& s : body) {
      const Flow flow = one(s, f);
      if (flow != Flow::on) return flow;
    }
    return Flow::on;
  }

  static void operation(const Statement& s, Frame& f) {
    std::uint64_t in[8] = {};
    std::uint64_t out[2] = {};
    for (std::size_t i = 0; i < s.from.size(); ++i) in[i] = get(f, s.from[i]);
    operations()[s.row].apply(in, out);
    for (std::size_t i = 0; i < s.to.size(); ++i) set(f, s.to[i], out[i]);
  }

  Flow loop(const Statement& s, Frame& f) {
    const std::uint64_t trips = s.trips != 0 ? s.trips : get(f, s.from[0]) & 3;
    for (std::uint64_t n = 0; n < trips; ++n) {
      const Flow flow = list(s.body, f);
      if (flow == Flow::left) break;
      if (flow == Flow::exited) return flow;
    }
    return Flow::on;
  }

  void memory(const Statement& s, Frame& f) {
    auto& slot = thread_.slots[static_cast<unsigned>(s.space)];
    const unsigned access = s.count * s.element_bytes;
    std::uint64_t at = s.offset;
    if (s.indexed) at = (get(f, s.from[0]) & (slot_bytes / access - 1)) * access;
    for (unsigned i = 0; i < s.count; ++i, at += s.element_bytes) {
      if (s.kind == Statement::Kind::store) {
        const std::uint64_t v = get(f, s.from[i + (s.indexed ? 1 : 0)]);
        std::memcpy(&slot[at], &v, s.element_bytes);
        continue;
      }
      std::uint64_t v = 0;
      std::memcpy(&v, &slot[at], s.element_bytes);
      const unsigned width = 8 * s.element_bytes;
      const bool is_signed = s.element[0] == 's';
      if (is_signed && width < 64 && ((v >> (width - 1)) & 1) != 0) v |= ~std::uint64_t{0} << width;
      set(f, s.to[i], v);
    }
  }

  Flow copy(const Statement& s, Frame& f) {
    const bool holds = guard_holds(f, s);
    auto& to = thread_.slots[static_cast<unsigned>(Space::shared)];
    if (holds) {
      const auto& from = thread_.slots[static_cast<unsigned>(Space::global)];
      for (const CopyPart& c : s.copies) {
        unsigned bytes = c.bytes;
        if (c.mode == CopyPart::Mode::cut) bytes = static_cast<unsigned>(get(f, c.operand)) & (c.bytes - 1);
        if (c.mode == CopyPart::Mode::ignored && get(f, c.operand) != 0) bytes = 0;
        std::memset(&to[c.to], 0, c.bytes);
        if (bytes != 0) std::memcpy(&to[c.to], &from[c.from], bytes);
      }
    }
    const Flow flow = list(s.body, f);
    if (!holds) return flow;
    std::uint32_t word = 0;
    std::memcpy(&word, &to[s.copies[0].to], sizeof word);
    set(f, s.to[0], word);
    return flow;
  }

  Flow call(const Statement& s, Frame& f) {
    const Function& callee = program_.functions[s.function];
    Frame frame = callee.initial;
    for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
      frame[class_index(callee.parameters[i])][i] = get(f, s.from[i]);
    }
    for (unsigned c = 0; c < class_count; ++c) {
      for (std::uint64_t& v : frame[c]) v = cut(v, classes[c]);
    }
    const Flow flow = list(callee.body, frame);
    if (flow == Flow::exited) return flow;
    set(f, s.to[0], frame[class_index(callee.result)][0]);
    return Flow::on;
  }

  const Program& program_;
  Thread& thread_;
};

/// One CTA.
class Cta {
 public:
  Cta(const Program& program, unsigned index) : program_(program), threads_(threads_per_cta) {
    for (unsigned t = 0; t < threads_per_cta; ++t) {
      for (unsigned c = 0; c < class_count; ++c) {
        for (unsigned i = 0; i < program.initial[c].size(); ++i) {
          threads_[t].frame[c].push_back(
              first_value(classes[c], i, program.initial[c][i], index * threads_per_cta + t));
        }
      }
    }
  }

  void run() {
    for (const Statement& s : program_.body) {
      switch (s.kind) {
        case Statement::Kind::shuffle:
          shuffle(s);
          break;
        case Statement::Kind::vote:
          vote(s);
          break;
        case Statement::Kind::exchange:
          exchange(s);
          break;
        case Statement::Kind::reduce:
          reduce(s);
          break;
        case Statement::Kind::product:
        case Statement::Kind::transpose:
        case Statement::Kind::matrix_load:
        case Statement::Kind::matrix_store:
        case Statement::Kind::memory_product:
        case Statement::Kind::bulk_load:
        case Statement::Kind::bulk_store:
          run_modern(s, threads_);
          break;
        default:
          for (Thread& t : threads_) {
            if (!t.exited) t.exited = Walk(program_, t).one(s, t.frame) == Flow::exited;
          }
      }
    }
  }

  void write(std::uint8_t* to) const {
    for (const Thread& t : threads_) {
      std::memcpy(to, t.slots[0].data(), slot_bytes);
      if (!t.exited) {
        std::memcpy(to + slot_bytes, t.slots[1].data(), slot_bytes);
        std::memcpy(to + 2 * slot_bytes, t.slots[2].data(), slot_bytes);
        std::uint8_t* at = to + 3 * slot_bytes;
        for (const auto& variables : t.frame) {
          for (const std::uint64_t v : variables) {
            std::memcpy(at, &v, 8);
            at += 8;
          }
        }
      }
      to += result_bytes(program_);
    }
  }

 private:
  /// The operand in every thread.
  std::vector<std::uint64_t> all(const Operand& o) const {
    std::vector<std::uint64_t> values;
    for (const Thread& t : threads_) values.push_back(get(t.frame, o));
    return values;
  }

  // As the PTX manual's description of shfl.sync has it, with clamp and segment mask of a segment of `distance` lanes.
  void shuffle(const Statement& s) {
    const auto values = all(s.from[0]);
    const auto offsets = all(s.from[1]);
    const unsigned segment_mask = lanes - s.distance;
    for (unsigned t = 0; t < threads_per_cta; ++t) {
      const int lane = static_cast<int>(t % lanes);
      const int b = static_cast<int>(offsets[t] & 31);
      const int first = static_cast<int>(static_cast<unsigned>(lane) & segment_mask);
      const int last = first + static_cast<int>(s.distance) - 1;
      int from = 0;
      bool valid = false;
      switch (s.mode) {
        case 0:
          from = lane - b;
          valid = from >= first;
          break;
        case 1:
          from = lane + b;
          valid = from <= last;
          break;
        case 2:
          from = lane ^ b;
          valid = from <= last;
          break;
        default:
          from = first | static_cast<int>(static_cast<unsigned>(b) & ~segment_mask);
          valid = from <= last;
      }
      if (!valid) from = lane;
      set(threads_[t].frame, s.to[0], values[t - static_cast<unsigned>(lane) + static_cast<unsigned>(from)]);
      if (s.to.size() > 1) set(threads_[t].frame, s.to[1], valid ? 1 : 0);
    }
  }

  void vote(const Statement& s) {
    const auto values = all(s.from[0]);
    for (unsigned t = 0; t < threads_per_cta; ++t) {
      const unsigned first = t / lanes * lanes;
      std::uint64_t ballot = 0;
      for (unsigned i = 0; i < lanes; ++i) {
        const bool vote = s.mode == 4 ? values[first + i] == values[t] : values[first + i] != 0;
        ballot |= std::uint64_t{vote} << i;
      }
      const std::uint64_t full = 0xffffffff;
      const std::uint64_t results[] = {ballot == full, ballot != 0, ballot == full || ballot == 0, ballot, ballot};
      set(threads_[t].frame, s.to[0], results[s.mode]);
    }
  }

  void exchange(const Statement& s) {
    std::vector<std::uint64_t> values;
    if (s.mode == by_copy) {
      for (const Thread& t : threads_)
        values.push_back(word_of(t.slots[static_cast<unsigned>(Space::global)], s.offset));
    } else {
      values = all(s.from[0]);
    }
    for (unsigned t = 0; t < threads_per_cta; ++t) {
      set(threads_[t].frame, s.to[0], values[(t + s.distance) % threads_per_cta]);
    }
  }

  void reduce(const Statement& s) {
    std::uint32_t sum = 0;
    for (const Thread& t : threads_) {
      if (!guard_holds(t.frame, s)) continue;
      sum = reductions()[s.mode].apply(sum, static_cast<std::uint32_t>(get(t.frame, s.from[0])));
    }
    for (Thread& t : threads_) set(t.frame, s.to[0], sum);
  }

  const Program& program_;
  std::vector<Thread> threads_;
};

}  // namespace

std::vector<std::uint8_t> expected_memory(const Program& program) {
  const std::size_t cta_bytes = std::size_t{threads_per_cta} * result_bytes(program);
  std::vector<std::uint8_t> memory(ctas * cta_bytes);
  for (unsigned c = 0; c < ctas; ++c) {
    Cta cta(program, c);
    cta.run();
    cta.write(memory.data() + c * cta_bytes);
  }
  return memory;
}

}  // namespace regatta::test::differential
