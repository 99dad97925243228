// SPDX-License-Identifier: Apache-2.0
//
// Inserted instructions that issue, on every edge and in front of many instructions, under every scheme: each lane
// comes to them exactly where its own way through the program does, and no value is lost.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>

#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "scheme_runs.h"

using namespace regatta;
using test::SchemeCase;
using test::SchemeRun;
using trace::Disposition;
using trace::InsertedInstruction;
using trace::Kernel;
using trace::OpClass;

namespace {

constexpr const char* scheme = "probe";

InsertedInstruction probe(std::uint32_t before, std::int32_t after, unsigned number) {
  constexpr OpClass classes[] = {OpClass::metadata, OpClass::fence, OpClass::branch, OpClass::fence};
  InsertedInstruction inserted;
  inserted.before = before;
  inserted.after = after;
  inserted.disposition = Disposition::issue;
  inserted.instruction.op_class = classes[number % 4];
  inserted.instruction.opcode = "probe." + std::to_string(number % 4);
  inserted.instruction.opcode_id = 2000 + number % 4;
  inserted.instruction.scheme = scheme;
  if (number % 4 == 2) inserted.instruction.branch_target = static_cast<std::int32_t>(before);
  if (number % 4 == 3) inserted.instruction.space = trace::MemorySpace::shared;
  return inserted;
}

/// One on every edge between basic blocks, one or two in front of every third instruction.
void insert_probes(Kernel& kernel) {
  unsigned number = 0;
  for (const trace::BasicBlock& block : kernel.blocks) {
    const std::uint32_t last = block.first + block.count - 1;
    for (const std::uint32_t successor : block.successors) {
      kernel.inserted.push_back(probe(kernel.blocks[successor].first, static_cast<std::int32_t>(last), number++));
    }
  }
  for (std::uint32_t i = 0; i < kernel.instructions.size(); i += 3) {
    kernel.inserted.push_back(probe(i, -1, number++));
    if (i % 2 == 0) kernel.inserted.push_back(probe(i, -1, number++));
  }
  std::stable_sort(kernel.inserted.begin(), kernel.inserted.end(),
                   [](const auto& a, const auto& b) { return a.before < b.before; });
}

/// What a lane comes by: an instruction of the program by its index, or, from `inserted_from` on, an inserted one.
using Way = std::vector<std::uint32_t>;
constexpr std::uint32_t inserted_from = 1u << 20;

/// What a lane should come by, from its own way through the program.
Way expected_way(const Kernel& kernel, const std::vector<std::uint32_t>& program) {
  Way way;
  const auto add = [&](std::uint32_t before, std::int32_t after) {
    for (std::size_t i = 0; i < kernel.inserted.size(); ++i) {
      const InsertedInstruction& inserted = kernel.inserted[i];
      if (inserted.instruction.scheme == scheme && inserted.before == before && inserted.after == after) {
        way.push_back(inserted_from + static_cast<std::uint32_t>(i));
      }
    }
  };
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (i != 0) add(program[i], static_cast<std::int32_t>(program[i - 1]));
    add(program[i], -1);
    way.push_back(program[i]);
  }
  return way;
}

using WarpKey = std::tuple<std::uint32_t, std::uint64_t, unsigned>;  // launch, CTA, warp of it
using Ways = std::map<WarpKey, std::vector<Way>>;                    // per lane

/// Takes the probes, refuses now and then, and writes down what each lane comes by.
class Probes : public sc_core::sc_module, public protocol::IssueGate, public protocol::InsertedStream {
 public:
  Probes(const sc_core::sc_module_name& name, Ways& ways) : sc_module(name), ways_(ways), changed_("changed") {}
  std::string inserted_scheme() const override { return scheme; }
  void kernel_started(const protocol::KernelContext& context) override {
    kernel_ = context.kernel;
    launch_ = context.launch_index;
  }
  void warp_started(const protocol::WarpInfo& info) override {
    std::vector<Way>& ways = ways_[{launch_, info.cta_index, info.warp_in_cta}];
    ways.resize(trace::max_lanes);
    now_[info.warp.value()] = &ways;
  }
  bool may_issue(const protocol::DynamicInstruction& d) override {
    if (!d.injected) return true;
    if (asked_.first != d.warp.value() || asked_.second != d.info) {
      asked_ = {d.warp.value(), d.info};
      if (++refusals_ % 3 == 0) {
        changed_.notify(sc_core::SC_ZERO_TIME);
        return false;
      }
    }
    return true;
  }
  void issued(const protocol::DynamicInstruction& d) override {
    if (d.injected && d.info->scheme.empty()) return;  // another gate's move
    std::uint32_t what = d.traits->index;
    if (d.injected) {
      asked_ = {};
      for (std::size_t i = 0; i < kernel_->inserted.size(); ++i) {
        if (&kernel_->inserted[i].instruction == d.info) what = inserted_from + static_cast<std::uint32_t>(i);
      }
    }
    for (trace::LaneMask m = d.simt_mask; m != 0; m &= m - 1) {
      now_.at(d.warp.value())->at(static_cast<unsigned>(__builtin_ctzll(m))).push_back(what);
    }
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  Ways& ways_;
  sc_core::sc_event changed_;
  const Kernel* kernel_ = nullptr;
  std::uint32_t launch_ = 0;
  std::map<unsigned, std::vector<Way>*> now_;
  std::pair<unsigned, const trace::StaticInstruction*> asked_{};
  unsigned refusals_ = 0;
};

/// The trace with probes inserted, and what its lanes should come by.
Ways insert_into(const std::string& from, const std::string& to) {
  const trace::Reader reader(from);
  REQUIRE(reader.kernels().size() == 1);
  Kernel kernel = reader.kernels()[0];
  insert_probes(kernel);
  trace::Writer writer(to);
  writer.set_producer("regatta tests");
  writer.add_kernel(kernel);
  Ways ways;
  std::map<std::vector<std::uint32_t>, Way> known;
  std::size_t at = 0;
  for (std::uint32_t l = 0; l < reader.launches().size(); ++l) {
    writer.begin_launch(reader.launches()[l]);
    for (std::uint64_t c = 0; c < reader.launches()[l].cta_count; ++c) {
      const auto cta = reader.read(at++);
      writer.add_cta(*cta);
      for (unsigned w = 0; w < cta->warps.size(); ++w) {
        std::vector<std::vector<std::uint32_t>> program(trace::max_lanes);
        trace::WarpCursor cursor(kernel, cta->warps[w]);
        while (cursor.next()) {
          for (trace::LaneMask m = cursor.simt_mask(); m != 0; m &= m - 1) {
            program[static_cast<unsigned>(__builtin_ctzll(m))].push_back(cursor.index());
          }
        }
        std::vector<Way>& lanes = ways[{l, cta->index, w}];
        for (const std::vector<std::uint32_t>& p : program) {
          auto [way, is_new] = known.try_emplace(p);
          if (is_new) way->second = expected_way(kernel, p);
          lanes.push_back(way->second);
        }
      }
    }
  }
  writer.finish();
  return ways;
}

void check_inserted(const SchemeCase& c) {
  CAPTURE(c.name);
  const test::Folder folder;
  const std::string path = folder.file("probes.rgt");
  const Ways expected = insert_into(test::annotate_events(folder, c.warp_size, 3), path);
  Ways ways;
  const SchemeRun run = test::run_scheme_on(
      path, c, [&ways](assembly::SmParts& parts) { parts.gates.push_back(std::make_unique<Probes>("probes", ways)); });
  CHECK(run.result.operands_checked > 10000);
  CHECK(run.stat("sm*.pipeline", "issued_insertions") > 10000);
  REQUIRE(ways.size() == expected.size());
  for (const auto& [key, lanes] : expected) {
    const std::vector<Way>& found = ways.at(key);
    for (unsigned lane = 0; lane < lanes.size(); ++lane) {
      CAPTURE(std::get<0>(key), std::get<1>(key), std::get<2>(key), lane);
      REQUIRE(found[lane] == lanes[lane]);
    }
  }
}

const test::ForEachScheme inserted_lanes(
    "inserted: each lane comes to what issues where its own way does, values checked", check_inserted);
}  // namespace
