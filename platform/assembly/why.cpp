// SPDX-License-Identifier: Apache-2.0
#include "why.h"

#include "memory_use.h"

#include <regatta/baseline/occupancy.h>
#include <regatta/support/table.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace regatta::assembly {

namespace {

using sm::Cause;
using sm::CauseKey;

/// Used above this share of its time, a resource of the memory limits the run; below it, its latency does.
constexpr double busy_enough = 0.6;
/// More than this many times the least number is worth a cause.
constexpr double too_many = 1.25;
/// Below this share of the warps that an SM holds, more warps are what helps against latency.
constexpr double few_warps = 0.4;
/// Below this share of active lanes, lanes are what is lost.
constexpr double few_lanes = 0.75;
/// Causes that held in less than this share of the cycles are left out.
constexpr double worth_naming = 0.01;
/// Above this share of issues there is little but instructions to save.
constexpr double issues_most = 0.7;
/// In at least this share of the cycles requests wait at the L1 where its entries limit the run.
constexpr double often_waited = 0.2;

/// An instruction of a kernel of the trace.
using Place = std::pair<std::uint32_t, std::uint32_t>;

/// Scheduler-cycles of one cause by the instruction that is to blame.
struct Group {
  double weight = 0;
  std::map<Place, double> by;
  void add(const CauseKey& key, double w, bool victim = false) {
    if (w <= 0) return;
    weight += w;
    by[{key.kernel, victim ? key.victim : key.culprit}] += w;
  }
  void add(const Group& other, double factor) {
    weight += other.weight * factor;
    for (const auto& [place, w] : other.by) by[place] += w * factor;
  }
  void scale(double factor) {
    weight *= factor;
    for (auto& [place, w] : by) w *= factor;
  }
};

/// Means of the executions of one memory instruction, and the least that their lanes need.
struct Access {
  double lanes = 0, passes = 0, lines = 0, sectors = 0;
  double least_passes = 1, least_lines = 1, least_sectors = 1;
  double total_passes = 0, total_least_passes = 0;
};

class Analysis {
 public:
  /// `with_tail`: the tail of a launch is a cause of its own.
  Analysis(const SimulationResult& result, const WhyFacts& facts, const MachineConfig& machine,
           const trace::Reader& trace, bool with_tail)
      : with_tail_(with_tail),
        r_(result),
        facts_(facts),
        machine_(machine),
        trace_(trace),
        use_(memory_use(result, facts.sms, machine.memory.l2.banks)) {}
  /// `held`: the share of the cycles of each cause, tails included.
  std::vector<WhyCause> causes(const std::map<std::string, double>& held);

 private:
  const trace::StaticInstruction* at(const Place& p) const {
    if (p.first >= trace_.kernels().size()) return nullptr;
    const auto& code = trace_.kernels()[p.first].instructions;
    return p.second < code.size() ? &code[p.second] : nullptr;
  }
  Access access(const Place& p) const;
  void sort_samples();
  void add_lsu(const CauseKey& key, double w);
  void add_memory(const CauseKey& key, double w);
  void add_dependence(const CauseKey& key, double w);
  Group& bandwidth();
  Group& limit_of_accesses();
  void lose_lanes();
  void lack_warps();
  /// The line with most of the group, and its instruction with most; none: no instruction is known.
  struct Line {
    bool known = false;
    Place place;
    std::string source, text;
    double share = 0;  ///< of the group
  };
  Line worst(const Group& group) const;
  double resident_share() const { return live_ / total_ / machine_.sm.max_warps; }
  /// Share of the cycles in which no scheduler could have issued instead.
  double without_issues() const { return surely(1 - issued_all_ / total_); }
  /// Share of the time of the pipelines of a unit in which they are in use.
  double busy(protocol::Unit unit) const;
  /// What a share that was sampled is at most, with a certainty of about 97 %: two standard deviations more.
  double surely(double share) const {
    return std::min(1.0, share + 2 * std::sqrt(share * std::max(0.0, 1 - share) * squares_) / total_);
  }
  /// `own`: what removing the cause would save of the time of the resource that it uses, at the resource's own rate.
  void tell(const std::string& name, const Group& group, const std::string& remedy, const Line& line,
            const std::string& evidence, double own = 0, const NextLimit& next = {}) {
    const auto found = held_.find(name);
    const double held = std::max(group.weight / total_, found == held_.end() ? 0 : found->second);
    tell_bounded(name, group, remedy, line, evidence, std::min(without_issues(), std::max(surely(held), own)), next);
  }
  /// `most`: the share of the cycles that removing the cause would save at most; `next`: what limits the run then, as
  /// the remedy does not relieve it.
  void tell_bounded(const std::string& name, const Group& group, const std::string& remedy, const Line& line,
                    const std::string& evidence, double most, const NextLimit& next = {});
  std::string limit(std::uint32_t kernel) const;
  Place branch_before(const Place& p) const;
  static std::string number(double n) {
    return n == std::floor(n) ? fmt::format("{:.0f}", n) : fmt::format("{:.1f}", n);
  }
  static std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

  const bool with_tail_;
  const SimulationResult& r_;
  const WhyFacts& facts_;
  const MachineConfig& machine_;
  const trace::Reader& trace_;
  const MemoryUse use_;
  double without_warp_ = 0;  ///< schedulers that have none, while others of the SM have some
  double total_ = 0, squares_ = 0, issued_all_ = 0, live_ = 0, lanes_ = 0, mean_lanes_ = 0, tail_warps_ = 0,
         tail_most_ = 0;
  Group issued_, conflicts_, uncoalesced_, atomics_, dram_, l2_, interconnect_, l1_, latency_, local_, occupancy_,
      tail_, dependence_, storage_, lsu_, mshrs_, miss_queue_, scheduler_, barrier_, icache_, branches_, fence_,
      divergence_;
  std::map<unsigned, Group> units_, gates_;
  std::map<std::string, double> held_;
  std::vector<WhyCause> causes_;
};

Access Analysis::access(const Place& p) const {
  Access a;
  const trace::StaticInstruction* i = at(p);
  if (i == nullptr || p.first >= facts_.accesses.size() || p.second >= facts_.accesses[p.first].size()) return a;
  const sm::AccessCounts& c = facts_.accesses[p.first][p.second];
  if (c.executions == 0) return a;
  const double n = double(c.executions);
  const double bytes = std::max<unsigned>(1, i->access_bytes);
  a.lanes = double(c.lanes) / n;
  a.passes = double(c.passes) / n;
  a.lines = double(c.lines) / n;
  a.sectors = double(c.sectors) / n;
  const double words = std::max(1.0, bytes / 4);
  a.least_passes = std::max(1.0, std::ceil(a.lanes * words / machine_.sm.shared_banks));
  a.least_lines = std::max(1.0, std::ceil(a.lanes * bytes / machine_.l1.line_bytes));
  a.least_sectors = std::max(1.0, std::ceil(a.lanes * bytes / protocol::sector_bytes));
  a.total_passes = double(c.passes);
  a.total_least_passes = a.least_passes * n;
  return a;
}

/// The usual name of a cause.
std::string title(const std::string& name) {
  static const std::map<std::string, std::string> titles{{"uncoalesced", "uncoalesced accesses"},
                                                         {"occupancy", "low occupancy"},
                                                         {"tail", "tail of a launch"},
                                                         {"dram_bandwidth", "DRAM bandwidth"},
                                                         {"l2_bandwidth", "L2 bandwidth"},
                                                         {"l1_bandwidth", "L1 bandwidth"},
                                                         {"l1_mshrs", "full MSHRs of the L1"},
                                                         {"l1_miss_queue", "full miss queue of the L1"},
                                                         {"load_store_unit", "load-store unit"},
                                                         {"instructions", "issue slots"}};
  const auto found = titles.find(name);
  if (found != titles.end()) return found->second;
  std::string words = name.rfind("unit_", 0) == 0 ? name.substr(5) + " pipelines" : name;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

double excess(double actual, double least) { return actual > too_many * least ? 1 - least / actual : 0; }

Group& Analysis::bandwidth() {
  const double most = use_.most();
  return most == use_.dram ? dram_ : most == use_.interconnect ? interconnect_ : most == use_.l2 ? l2_ : l1_;
}

/// What keeps the load-store unit busy with accesses that are as few as they can be.
Group& Analysis::limit_of_accesses() {
  if (use_.most() >= busy_enough) return bandwidth();
  if (std::max(use_.mshrs, use_.miss_queue) < often_waited) return lsu_;
  return use_.mshrs >= use_.miss_queue ? mshrs_ : miss_queue_;
}

void Analysis::add_lsu(const CauseKey& key, double w) {
  const Place place{key.kernel, key.culprit};
  const trace::StaticInstruction* i = at(place);
  if (i == nullptr) return lsu_.add(key, w);
  const Access a = access(place);
  if (i->op_class == trace::OpClass::atomic) return atomics_.add(key, w);
  if (i->space == trace::MemorySpace::local) return local_.add(key, w);
  if (a.passes > 0 && a.lines < 1) {
    double conflict = excess(a.passes, a.least_passes);
    // Banks that would have time to spare without the conflicts would keep nothing waiting.
    if (conflict > 0 && use_.banks * a.least_passes / a.passes < busy_enough) conflict = 1;
    conflicts_.add(key, w * conflict);
    lsu_.add(key, w * (1 - conflict));
    return;
  }
  const double scattered =
      std::max(excess(a.lines, a.least_lines), use_.most() >= busy_enough ? excess(a.sectors, a.least_sectors) : 0);
  uncoalesced_.add(key, w * scattered);
  limit_of_accesses().add(key, w * (1 - scattered));
}

void Analysis::add_memory(const CauseKey& key, double w) {
  const Place place{key.kernel, key.culprit};
  const trace::StaticInstruction* i = at(place);
  if (i == nullptr) return latency_.add(key, w);
  const Access a = access(place);
  if (i->op_class == trace::OpClass::atomic) return atomics_.add(key, w);
  if (i->space == trace::MemorySpace::local) return local_.add(key, w);
  if (use_.most() < busy_enough) return latency_.add(key, w);
  const double scattered = excess(a.sectors, a.least_sectors);
  uncoalesced_.add(key, w * scattered);
  bandwidth().add(key, w * (1 - scattered));
}

void Analysis::add_dependence(const CauseKey& key, double w) {
  const Place place{key.kernel, key.culprit};
  const trace::StaticInstruction* i = at(place);
  const Access a = access(place);
  if (i != nullptr && a.passes > 0) {
    if (i->op_class == trace::OpClass::atomic) return atomics_.add(key, w);
    const double latency = machine_.sm.shared_latency + a.passes - 1;
    const double conflict = excess(a.passes, a.least_passes) == 0 ? 0 : (a.passes - a.least_passes) / latency;
    conflicts_.add(key, w * conflict);
    w *= 1 - conflict;
  }
  dependence_.add(key, w);
}

void Analysis::sort_samples() {
  for (const auto& [key, sum] : facts_.samples) {
    const auto w = double(sum.weight);
    total_ += w;
    squares_ += double(sum.squares);
    live_ += double(sum.warps);
    if (key.cause == Cause::issued) issued_all_ += w;
    if (with_tail_ && key.tail && (key.cause != Cause::idle || facts_.sms > 1)) {
      tail_.add(key, w);
      tail_warps_ += double(sum.warps);
      tail_most_ += double(sum.most);
      continue;
    }
    switch (key.cause) {
      case Cause::issued:
        issued_.add(key, w);
        lanes_ += double(sum.lanes);
        break;
      case Cause::dependence:
        add_dependence(key, w);
        break;
      case Cause::unit:
        units_[key.detail].add(key, w);
        break;
      case Cause::storage:
        storage_.add(key, w);
        break;
      case Cause::lsu:
        add_lsu(key, w);
        break;
      case Cause::memory:
        add_memory(key, w);
        break;
      case Cause::gate:
        gates_[key.detail].add(key, w);
        break;
      case Cause::scheduler:
        scheduler_.add(key, w);
        break;
      case Cause::barrier:
        barrier_.add(key, w);
        break;
      case Cause::fetch_miss:
        icache_.add(key, w);
        break;
      case Cause::branch:
        branches_.add(key, w);
        break;
      case Cause::fence:
        fence_.add(key, w, true);
        break;
      case Cause::idle:
        if (sum.warps != 0) without_warp_ += w;
        break;
    }
  }
}

/// The branch that an instruction depends on, as far as the order of the code shows it: the last one before it that
/// jumps behind it; otherwise the last branch before it; otherwise itself.
Place Analysis::branch_before(const Place& p) const {
  if (at(p) == nullptr) return p;
  const auto& code = trace_.kernels()[p.first].instructions;
  std::uint32_t last = p.second;
  for (std::uint32_t i = p.second; i-- > 0;) {
    if (code[i].op_class != trace::OpClass::branch || code[i].guard.predicate < 0) continue;
    if (code[i].branch_target > static_cast<std::int32_t>(p.second)) return {p.first, i};
    if (last == p.second && code[i].branch_target > static_cast<std::int32_t>(i)) last = i;
  }
  return {p.first, last};
}

/// Of what the pipelines do and wait for, the part that inactive lanes cost.
void Analysis::lose_lanes() {
  if (issued_.weight == 0 || trace_.kernels().empty()) return;
  mean_lanes_ = lanes_ / issued_.weight;
  const double lanes = mean_lanes_ / trace_.kernels().front().warp_size;
  if (lanes >= few_lanes) return;
  std::map<Place, double> lost;
  for (const auto& [key, sum] : facts_.samples) {
    if (key.cause != Cause::issued || key.tail) continue;
    const double warp_size = trace_.kernels()[key.kernel].warp_size;
    const double gone = double(sum.weight) * warp_size - double(sum.lanes);
    if (gone > 0.25 * warp_size * double(sum.weight)) lost[branch_before({key.kernel, key.culprit})] += gone;
  }
  const double part = 1 - lanes;
  std::vector<Group*> groups{&issued_, &dependence_, &storage_, &branches_};
  for (auto& [unit, group] : units_) groups.push_back(&group);
  for (Group* group : groups) {
    divergence_.weight += group->weight * part;
    group->scale(1 - part);
  }
  divergence_.by = lost;
}

/// Of the waits for results, the part that more warps could fill.
void Analysis::lack_warps() {
  if (total_ == 0) return;
  const double resident = resident_share();
  if (resident >= few_warps) return;
  occupancy_.weight += without_warp_;
  for (Group* group : {&latency_, &dependence_, &branches_}) {
    occupancy_.add(*group, 1 - resident);
    group->scale(resident);
  }
}

Analysis::Line Analysis::worst(const Group& group) const {
  // The first of two analyses is asked for shares only.
  if (!with_tail_ || group.weight < worth_naming * total_) {
    Line any;
    any.known = !group.by.empty();
    if (any.known) any.place = group.by.begin()->first;
    return any;
  }
  std::map<std::string, std::pair<double, Place>> lines;
  std::map<std::string, double> most;
  double all = 0;
  for (const auto& [place, w] : group.by) {
    all += w;
    const trace::StaticInstruction* i = at(place);
    if (i == nullptr) continue;
    const std::string source = source_of(trace_.kernels()[place.first], *i);
    auto& line = lines[source];
    line.first += w;
    if (w > most[source]) {
      most[source] = w;
      line.second = place;
    }
  }
  Line worst;
  double best = 0;
  for (const auto& [source, line] : lines) {
    if (line.first <= best) continue;
    best = line.first;
    worst.known = true;
    worst.source = source;
    worst.place = line.second;
  }
  if (!worst.known) return worst;
  worst.share = best / all;
  const std::size_t colon = worst.source.rfind(':');
  const std::size_t folder = worst.source.rfind('/', colon);
  const std::size_t name = folder == std::string::npos ? 0 : folder + 1;
  worst.text = "line " + worst.source.substr(colon + 1) + " of " + worst.source.substr(name, colon - name);
  return worst;
}

double Analysis::busy(protocol::Unit unit) const {
  const std::string name = protocol::to_string(unit);
  const unsigned pipelines = unit == protocol::Unit::sp    ? machine_.sm.sp_units
                             : unit == protocol::Unit::sfu ? machine_.sm.sfu_units
                             : unit == protocol::Unit::dp  ? machine_.sm.dp_units
                                                           : machine_.sm.tensor.units;
  double most = 0;
  for (const auto& [path, group] : r_.stats.items()) {
    if (group.contains(name + "_busy")) most = std::max(most, group.at(name + "_busy").get<double>());
  }
  return most / std::max(1u, pipelines) / double(r_.cycles);
}

void Analysis::tell_bounded(const std::string& name, const Group& group, const std::string& remedy, const Line& line,
                            const std::string& evidence, double most, const NextLimit& next) {
  const double held = group.weight / total_;
  if (held < worth_naming) return;
  WhyCause cause;
  cause.name = name;
  cause.held = held;
  const double rest = 1 - std::min(1.0, next.share);
  cause.gain = std::min({1.0, most, rest});
  cause.source = line.source;
  if (line.known) {
    cause.kernel = trace_.kernels()[line.place.first].name;
    cause.instruction = line.place.second;
  }
  cause.sentence = title(name) + (line.known ? ", " + line.text : std::string()) + ": " + evidence + "; " + remedy +
                   " at most " + percent(cause.gain) + " fewer cycles";
  if (rest < most) cause.sentence += ", then " + next.name + " limits (in use in " + percent(next.share) + ")";
  causes_.push_back(std::move(cause));
}

/// What limits the warps of the kernel's longest launch.
std::string Analysis::limit(std::uint32_t kernel) const {
  const trace::Launch* longest = nullptr;
  std::uint64_t cycles = 0;
  for (const LaunchResult& l : r_.launches) {
    if (l.kernel_index != kernel || (longest != nullptr && l.cycles <= cycles)) continue;
    longest = &trace_.launches()[l.index];
    cycles = l.cycles;
  }
  if (longest == nullptr) return "";
  const trace::Kernel& k = trace_.kernels()[kernel];
  const models::Occupancy fits = models::occupancy(
      machine_.sm.limits(k.warp_size, machine_.register_file.registers), longest->warps_per_cta(k.warp_size),
      machine_.sm.allocated_registers(trace::registers_at_launch(k)), longest->shared_bytes_per_cta);
  if (longest->cta_count <= std::uint64_t{fits.ctas()} * facts_.sms) {
    return fmt::format("the grid has only {} CTA{} of {} threads for {} SM{}", longest->cta_count,
                       longest->cta_count == 1 ? "" : "s", longest->threads_per_cta(), facts_.sms,
                       facts_.sms == 1 ? "" : "s");
  }
  const std::string bound = fits.bound();
  if (bound == "registers") return fmt::format("limited by the registers ({} a thread)", trace::registers_at_launch(k));
  if (bound == "shared memory") {
    return fmt::format("limited by shared memory ({} bytes a CTA)", longest->shared_bytes_per_cta);
  }
  return fmt::format("limited by the {} of an SM (CTAs of {} threads)", bound, longest->threads_per_cta());
}

std::vector<WhyCause> Analysis::causes(const std::map<std::string, double>& held) {
  held_ = held;
  sort_samples();
  if (total_ == 0 || r_.cycles == 0) return {};
  lose_lanes();
  lack_warps();
  const auto share = [&](const Group& g) { return percent(g.weight / total_); };
  const NextLimit next = use_.next_limit();

  if (const Line l = worst(conflicts_); l.known) {
    const Access a = access(l.place);
    double spare = 0;
    for (const auto& [place, w] : conflicts_.by) {
      const Access each = access(place);
      spare += std::max(0.0, each.total_passes - each.total_least_passes);
    }
    tell_bounded("bank_conflicts", conflicts_, "without conflicts", l,
                 fmt::format("each access of shared memory takes {} passes, since its {} lanes share banks (least: {})",
                             number(a.passes), number(a.lanes), number(a.least_passes)),
                 std::min(without_issues(), spare / double(r_.cycles)), next);
  }
  if (const Line l = worst(uncoalesced_); l.known) {
    const Access a = access(l.place);
    tell("uncoalesced", uncoalesced_, "with neighbouring addresses", l,
         fmt::format("each access of {} lanes touches {} sectors of 32 bytes in {} line{}, where {} in {} would do",
                     number(a.lanes), number(a.sectors), number(a.lines), a.lines == 1 ? "" : "s",
                     number(a.least_sectors), number(a.least_lines)),
         std::max(use_.most() * excess(a.sectors, a.least_sectors), use_.l1 * excess(a.lines, a.least_lines)));
  }
  if (const Line l = worst(atomics_); l.known) {
    const Access a = access(l.place);
    const bool shared = a.passes > 0;
    tell("atomics", atomics_, "without these atomics", l,
         shared ? fmt::format("{} lanes of a warp go to the same banks of shared memory, {} passes for each atomic",
                              number(a.lanes), number(a.passes))
                : fmt::format("warps wait in {} of the cycles for atomics in the L2, each of {} lanes on {} sector{}",
                              share(atomics_), number(a.lanes), number(a.sectors), a.sectors == 1 ? "" : "s"),
         0, shared ? next : NextLimit{});
  }
  if (const Line l = worst(local_); l.known) {
    tell("local_memory", local_, "without local memory (spills, arrays of a thread)", l,
         fmt::format("accesses of local memory are waited for in {} of the cycles", share(local_)));
  }
  tell("dram_bandwidth", dram_, "with fewer bytes", worst(dram_),
       fmt::format("data come from DRAM, whose bandwidth is used in {} of the cycles", percent(use_.dram)), use_.dram);
  tell("interconnect_bandwidth", interconnect_, "with fewer bytes from the L2", worst(interconnect_),
       fmt::format("data come over the interconnect, which is used in {} of the cycles", percent(use_.interconnect)),
       use_.interconnect);
  tell("l2_bandwidth", l2_, "with fewer bytes from the L2", worst(l2_),
       fmt::format("the banks of the busiest L2 partition are used in {} of the cycles", percent(use_.l2)), use_.l2);
  tell("l1_bandwidth", l1_, "with fewer accesses", worst(l1_),
       fmt::format("the L1 takes a request in {} of the cycles", percent(use_.l1)), use_.l1);
  tell("l1_mshrs", mshrs_, "with more entries (l1.mshrs)", worst(mshrs_),
       fmt::format("the L1 fetches {} lines at a time, and in {} of the cycles a request waits for one of them",
                   machine_.l1.mshrs, percent(use_.mshrs)),
       use_.mshrs, next);
  tell("l1_miss_queue", miss_queue_, "with more places (l1.miss_queue)", worst(miss_queue_),
       fmt::format("{} requests of the L1 may wait for the interconnect, and in {} of the cycles one waits for a place",
                   machine_.l1.miss_queue, percent(use_.miss_queue)),
       use_.miss_queue, next);
  if (const Line l = worst(occupancy_); occupancy_.weight > 0) {
    tell_bounded(
        "occupancy", occupancy_, "with as many warps as an SM holds", l,
        fmt::format("warps wait for the result, and on average only {} of {} are resident to fill the time: {}",
                    number(std::round(10 * live_ / total_) / 10), machine_.sm.max_warps,
                    limit(l.known ? l.place.first : 0)),
        std::min(without_issues(), 1 - resident_share()), next);
  }
  if (const Line l = worst(tail_); tail_.weight > 0) {
    // What is done by few warps could be done by all at best as much faster as there are more of them.
    Group spread = tail_;
    spread.scale(tail_most_ > 0 ? 1 - tail_warps_ / tail_most_ : 1);
    tell_bounded("tail", spread, "with the work spread evenly", l,
                 fmt::format("in {} of the cycles at most half of the launch's warps are left; the last ones are here",
                             share(tail_)),
                 surely(spread.weight / total_), next);
  }
  if (const Line l = worst(divergence_); divergence_.weight > 0) {
    tell_bounded(
        "divergence", divergence_, "with all lanes active", l,
        fmt::format("an instruction that issues has {} of {} lanes active on average",
                    number(std::round(10 * mean_lanes_) / 10), trace_.kernels()[l.known ? l.place.first : 0].warp_size),
        1 - mean_lanes_ / trace_.kernels().front().warp_size);
  }
  tell("barrier", barrier_, "with warps that arrive together", worst(barrier_),
       fmt::format("warps wait at a barrier in {} of the cycles, most often for a warp that is here", share(barrier_)),
       0, next);
  tell("instruction_cache", icache_, "with code that stays in the instruction cache", worst(icache_),
       fmt::format("the next instruction is not in the instruction cache ({} bytes) in {} of the cycles",
                   machine_.sm.icache.size_bytes, share(icache_)),
       0, next);
  tell("branches", branches_, "without branches", worst(branches_),
       fmt::format("warps wait for the front end, behind this instruction, in {} of the cycles", share(branches_)), 0,
       next);
  tell("fence", fence_, "without fences", worst(fence_),
       fmt::format("a fence waits for earlier accesses in {} of the cycles", share(fence_)), 0, next);
  tell("memory_latency", latency_, "with the data at hand", worst(latency_),
       fmt::format("data are waited for in {} of the cycles, and no resource of the memory is at its limit (DRAM {}, "
                   "L2 {}, interconnect {})",
                   share(latency_), percent(use_.dram), percent(use_.l2), percent(use_.interconnect)),
       0, next);
  tell("dependence", dependence_, "with independent instructions in between", worst(dependence_),
       fmt::format("the next instruction waits for the result of this one in {} of the cycles", share(dependence_)), 0,
       next);
  for (const auto& [unit, group] : units_) {
    const std::string name = protocol::to_string(static_cast<protocol::Unit>(unit));
    const double used = busy(static_cast<protocol::Unit>(unit));
    tell_bounded("unit_" + name, group, "without these instructions", worst(group),
                 fmt::format("instructions wait for the {} pipelines in {} of the cycles (in use: {})", name,
                             share(group), percent(used)),
                 std::max(used, surely(group.weight / total_)), next);
  }
  tell("load_store_unit", lsu_, "with fewer accesses", worst(lsu_),
       fmt::format("it is busy with this access in {} of the cycles", share(lsu_)));
  // A scheme's registers may use the memory too, and leave it when the scheme keeps nothing waiting: no limit is next.
  tell("register_storage", storage_, "with operands at once", worst(storage_),
       fmt::format("instructions wait for their operands, or results for the register storage, in {} of the cycles",
                   share(storage_)));
  const std::string by_knobs =
      facts_.knobs.empty() ? "" : " (knobs of the scheme's longest wait: " + facts_.knobs + ")";
  for (const auto& [number, group] : gates_) {
    const std::string name = number < facts_.gates.size() ? facts_.gates[number] : "of the scheme";
    tell("issue_gate", group, "without the gate", worst(group),
         fmt::format("the gate {} holds warps that could issue in {} of the cycles, most often here{}", name,
                     share(group), by_knobs));
  }
  tell("scheduler", scheduler_, "without that", Line{},
       fmt::format("ready warps wait in {} of the cycles because of the scheduling policy or the interval of issues "
                   "({} cycle{})",
                   share(scheduler_), machine_.sm.issue_interval, machine_.sm.issue_interval == 1 ? "" : "s"),
       0, next);
  if (issued_.weight > issues_most * total_) {
    tell_bounded("instructions", issued_, "with fewer instructions", worst(issued_),
                 fmt::format("the schedulers issue in {} of the cycles, most often this line", share(issued_)),
                 surely(issued_all_ / total_));
  }
  // What held long and saves little when it is gone comes behind what limits the run then.
  std::stable_sort(causes_.begin(), causes_.end(),
                   [](const WhyCause& a, const WhyCause& b) { return a.weight() > b.weight(); });
  return std::move(causes_);
}

}  // namespace

std::vector<WhyCause> why(const SimulationResult& result, const WhyFacts& facts, const MachineConfig& machine,
                          const trace::Reader& trace) {
  std::map<std::string, double> held;
  for (const WhyCause& c : Analysis(result, facts, machine, trace, false).causes({})) held[c.name] = c.held;
  return Analysis(result, facts, machine, trace, true).causes(held);
}

}  // namespace regatta::assembly
