// SPDX-License-Identifier: Apache-2.0
//
// Our own kernels exported, imported and annotated: the schemes that need annotations run, planted faults and wrong
// annotations are found by the version tags, and the commands that refusals name work.
#include <regatta/base/shell_words.h>
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/live_registers.h>
#include <regatta/trace/power_states.h>
#include <regatta/trace/rfv.h>
#include <regatta/trace/verify.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "imported_kernel.h"
#include "process.h"

using namespace regatta;
using test::Folder;
using test::ProcessResult;

namespace {

struct SchemeRun {
  const char* scheme;
  const char* section;
  const char* machine;
  std::vector<std::string> options;
};

const std::vector<SchemeRun>& scheme_runs() {
  static const std::vector<SchemeRun> all{
      {"finereg", "liveness", "finereg", {}}, {"rfv", "rfv", "gtx980", {}},
      {"greener", "power", "k20x", {}},       {"regless", "regions", "gtx980", {"--compressor.enabled", "false"}},
      {"rfh", "rfh", "gtx980", {}},           {"vt_regmutex", "regmutex", "finereg", {}}};
  return all;
}

/// Files so small that FineReg moves the registers of a CTA: one fits into the active part.
std::vector<std::string> small_file(const std::string& path) {
  const trace::Reader reader(path);
  unsigned rows = 16;
  for (const trace::Launch& l : reader.launches()) {
    const unsigned registers = (reader.kernels()[l.kernel].registers_per_thread + 7) / 8 * 8;
    rows = std::max(rows, registers * l.warps_per_cta(32));
  }
  return {"--finereg.active_registers", std::to_string(rows), "--finereg.pending_registers", std::to_string(3 * rows)};
}

ProcessResult simulate(const Folder& folder, const std::string& trace, const SchemeRun& run,
                       const std::vector<std::string>& more = {}) {
  std::vector<std::string> command{REGATTA_SIM, trace,       "--scheme",        run.scheme,
                                   "--machine", run.machine, "--check-protocol"};
  command.insert(command.end(), run.options.begin(), run.options.end());
  if (run.scheme == std::string("finereg"))
    for (std::string& word : small_file(folder.file(trace))) command.push_back(std::move(word));
  command.insert(command.end(), more.begin(), more.end());
  test::ProcessOptions o;
  o.directory = folder.path();
  return test::run_process(command, o);
}

/// Imports a kernel, annotates it as annotated.rgt, and returns what was said.
tool::AnnotateResult annotate_imported(const Folder& folder, const std::string& kernel) {
  tool::AnnotateOptions o;
  o.trace = test::imported_kernel(folder, kernel);
  o.out = folder.file("annotated.rgt");
  return tool::annotate(o);
}

bool have(const trace::Reader& reader, const std::string& section) {
  const auto& kernels = reader.kernels();
  return std::all_of(kernels.begin(), kernels.end(), [&](const trace::Kernel& k) {
    return std::any_of(k.annotations.begin(), k.annotations.end(), [&](const auto& a) { return a.name == section; });
  });
}

/// The trace with other sections.
void rewrite(const std::string& from, const std::string& to, const std::function<void(trace::Kernel&)>& change) {
  const trace::Reader reader(from);
  trace::Writer writer(to);
  writer.set_producer(reader.producer());
  for (trace::Kernel kernel : reader.kernels()) {
    change(kernel);
    writer.add_kernel(kernel);
  }
  std::size_t position = 0;
  for (std::uint32_t l = 0; l < reader.launches().size(); ++l) {
    writer.begin_launch(reader.launches()[l]);
    for (; position < reader.ctas().size() && reader.ctas()[position].launch == l; ++position)
      writer.add_cta(*reader.read(position));
  }
  writer.finish();
}

trace::AnnotationSection& section_of(trace::Kernel& kernel, const std::string& name) {
  const auto found = std::find_if(kernel.annotations.begin(), kernel.annotations.end(),
                                  [&](const trace::AnnotationSection& a) { return a.name == name; });
  REQUIRE(found != kernel.annotations.end());
  return *found;
}

/// Instructions with one result, which is read in their block, by all lanes, before it is written again.
std::vector<std::uint32_t> read_soon(const trace::Kernel& kernel) {
  std::vector<std::uint32_t> found;
  for (const trace::BasicBlock& b : kernel.blocks) {
    for (std::uint32_t n = b.first; n < b.first + b.count; ++n) {
      const trace::StaticInstruction& i = kernel.instructions[n];
      if (i.destination_count != 1) continue;
      const auto names = [&](const auto& registers, unsigned count) {
        return std::find(registers.begin(), registers.begin() + count, i.destinations[0]) != registers.begin() + count;
      };
      for (std::uint32_t later = n + 1; later < b.first + b.count; ++later) {
        const trace::StaticInstruction& other = kernel.instructions[later];
        const bool reads = names(other.sources, other.source_count) && other.guard.predicate < 0;
        if (reads) found.push_back(n);
        if (reads || names(other.destinations, other.destination_count)) break;
      }
    }
  }
  return found;
}

/// Lanes whose next read of a register comes before their next write, and the annotation says that it is dead. `steps`:
/// how often a lane came to an instruction.
std::uint64_t lanes_that_lose(const trace::Reader& reader, std::uint64_t& steps) {
  struct Step {
    std::uint32_t index;
    trace::LaneMask path, active;
  };
  std::uint64_t lost = 0;
  const auto stream = reader.stream(0, reader.ctas().size());
  while (const auto cta = stream->next()) {
    const trace::Kernel& kernel = reader.kernels()[reader.launches()[cta->launch].kernel];
    REQUIRE(kernel.registers_per_thread <= 64);
    const trace::LiveRegisters live = trace::find_live_registers(kernel).value();
    for (const trace::WarpColumns& warp : cta->warps) {
      std::vector<Step> all;
      trace::WarpCursor cursor(kernel, warp);
      while (cursor.next()) all.push_back({cursor.index(), cursor.simt_mask(), cursor.active_mask()});
      std::array<std::uint64_t, 32> needs{};  // registers, by lane
      for (auto step = all.rbegin(); step != all.rend(); ++step) {
        const trace::StaticInstruction& i = kernel.instructions[step->index];
        std::uint64_t reads = 0, writes = 0;
        for (unsigned s = 0; s < i.source_count; ++s) reads |= std::uint64_t{1} << i.sources[s];
        for (unsigned d = 0; d < i.destination_count; ++d) writes |= std::uint64_t{1} << i.destinations[d];
        for (unsigned lane = 0; lane < 32; ++lane) {
          if ((step->path >> lane & 1) == 0) continue;
          if ((step->active >> lane & 1) != 0) needs[lane] = (needs[lane] & ~writes) | reads;
          lost += (needs[lane] & ~live.vector(step->index)) == 0 ? 0 : 1;
          ++steps;
        }
      }
    }
  }
  return lost;
}

}  // namespace

TEST_CASE("imported and annotated kernels run under the schemes that need annotations") {
  std::map<std::string, unsigned> runs;
  std::uint64_t moved = 0, steps = 0;
  for (const char* kernel : {"vector_add", "bfs", "sgemm", "reduction", "hotspot", "needleman_wunsch", "histogram",
                             "pathfinder", "binomial_options", "scan", "spmv", "bitonic_sort"}) {
    CAPTURE(kernel);
    const Folder folder;
    const tool::AnnotateResult result = annotate_imported(folder, kernel);
    const trace::Reader before(folder.file("imported.rgt")), reader(folder.file("annotated.rgt"));
    CHECK(before.data_digest() == reader.data_digest());
    trace::verify(reader, trace::VerifyDepth::program);
    for (const char* section : {"liveness", "power", "regions", "rfv"}) {
      CAPTURE(section);
      CHECK(have(reader, section));
    }
    CHECK(lanes_that_lose(reader, steps) == 0);
    for (const SchemeRun& run : scheme_runs()) {
      if (!have(reader, run.section)) continue;
      CAPTURE(run.scheme);
      const ProcessResult r = simulate(folder, "annotated.rgt", run, {"--stats", "s.json"});
      CAPTURE(r.err);
      CHECK(r.status == 0);
      CHECK(r.out.find(", mismatches: 0") != std::string::npos);
      ++runs[run.scheme];
      const auto stats = nlohmann::json::parse(folder.read("s.json")).at("stats");
      if (run.scheme == std::string("finereg")) moved += stats.at("finereg").at("moved_out").get<std::uint64_t>();
    }
  }
  for (const SchemeRun& run : scheme_runs()) {
    CAPTURE(run.scheme);
    CHECK(runs[run.scheme] >= 6);
  }
  CHECK(moved > 0);
  CHECK(steps > 1000000);
}

TEST_CASE("100 flipped bits in imported and annotated kernels are all found, in each scheme") {
  std::mt19937 random(470);
  unsigned planted = 0;
  for (const char* kernel : {"bfs", "reduction", "hotspot", "spmv"}) {
    const Folder folder;
    annotate_imported(folder, kernel);
    const trace::Reader reader(folder.file("annotated.rgt"));
    const std::vector<std::uint32_t> places = read_soon(reader.kernels()[reader.launches()[0].kernel]);
    REQUIRE(places.size() >= 5);
    for (const SchemeRun& run : scheme_runs()) {
      if (!have(reader, run.section)) continue;
      unsigned here = 0;
      for (unsigned tries = 0; here < 5 && tries < 50; ++tries) {
        const std::string pc = std::to_string(places[random() % places.size()] * trace::bytes_per_instruction);
        const std::string lane = std::to_string(random() % 32), bit = std::to_string(random() % 32);
        const ProcessResult r = simulate(folder, "annotated.rgt", run,
                                         {"--launches", "0", "--fault.at", "write", "--fault.pc", pc, "--fault.lane",
                                          lane, "--fault.bit", bit, "--fault.cycle", std::to_string(random() % 500)});
        if (r.err.find("no fault was planted") != std::string::npos) continue;
        INFO(kernel << ", " << run.scheme << ": PC " << pc << " lane " << lane << " bit " << bit << "\n" << r.err);
        CHECK(r.status == 3);
        CHECK(r.err.find("value mismatch") != std::string::npos);
        ++here;
      }
      planted += here;
    }
  }
  CHECK(planted >= 100);
}

TEST_CASE("a wrong annotation of an imported trace is found by the version tags") {
  const Folder folder;
  annotate_imported(folder, "hotspot");
  const std::string right = folder.file("annotated.rgt"), wrong = folder.file("wrong.rgt");
  const auto found = [&](const SchemeRun& run) {
    CAPTURE(run.scheme);
    CHECK(simulate(folder, "annotated.rgt", run).status == 0);
    const ProcessResult r = simulate(folder, "wrong.rgt", run);
    CAPTURE(r.err);
    CHECK(r.status == 3);
    CHECK(r.err.find("value mismatch") != std::string::npos);
  };
  // One register is left out of all live sets.
  rewrite(right, wrong, [](trace::Kernel& k) {
    const trace::LiveRegisters live = trace::find_live_registers(k).value();
    unsigned longest = 0;
    std::vector<unsigned> lives(live.registers, 0);
    for (std::uint32_t i = 0; i < live.instructions(); ++i)
      for (unsigned r = 0; r < live.registers; ++r) lives[r] += live.live(i, r) ? 1 : 0;
    longest = static_cast<unsigned>(std::max_element(lives.begin(), lives.end()) - lives.begin());
    trace::LiveRegisters less(live.registers, live.instructions());
    for (std::uint32_t i = 0; i < live.instructions(); ++i)
      for (unsigned r = 0; r < live.registers; ++r)
        if (r != longest && live.live(i, r)) less.set(i, r);
    section_of(k, "liveness").payload = trace::encode(less);
  });
  found(scheme_runs()[0]);
  // The first source that is read again is released. The run is given up, and what is wrong is found in the words.
  rewrite(right, wrong, [](trace::Kernel& k) {
    const trace::RfvSection section = trace::find_rfv(k).value();
    trace::RfvReleases releases = trace::read_rfv_words(k, section);
    const auto release = [&] {
      for (std::size_t n = 0; n < k.instructions.size(); ++n) {
        const auto slots = trace::use_slots_of(k.instructions[n]);
        for (unsigned s = 0; s < trace::use_slots; ++s) {
          if (!trace::is_source(slots[s]) || (releases.flags[n] >> s & 1) != 0) continue;
          if ((trace::registers_of(slots[s]) & trace::written_by(k.instructions[n])) != 0) continue;
          releases.flags[n] = static_cast<std::uint8_t>(releases.flags[n] | 1u << s);
          return;
        }
      }
    };
    release();
    std::uint32_t id = 0;
    for (const trace::InsertedInstruction& i : k.inserted) id = std::max(id, i.instruction.opcode_id);
    const auto is_old = [](const trace::InsertedInstruction& i) { return i.instruction.scheme == trace::rfv_scheme; };
    k.inserted.erase(std::remove_if(k.inserted.begin(), k.inserted.end(), is_old), k.inserted.end());
    for (trace::InsertedInstruction& word : trace::rfv_words(k, releases, id + 1))
      k.inserted.push_back(std::move(word));
    std::stable_sort(k.inserted.begin(), k.inserted.end(),
                     [](const auto& a, const auto& b) { return a.before < b.before; });
  });
  const ProcessResult early = simulate(folder, "wrong.rgt", scheme_runs()[1]);
  CAPTURE(early.err);
  CHECK(early.status == 2);
  CHECK(early.err.find(", which is released on a path to it (the run ended with: regatta/register_file: ") !=
        std::string::npos);
  // Everything counts as dead.
  rewrite(right, wrong, [](trace::Kernel& k) {
    trace::AnnotationSection& section = section_of(k, "power");
    trace::PowerStates states = trace::decode_power_states(k, section.payload);
    for (auto& next : states.next)
      for (trace::NextAccess& n : next) n = {0, false};
    section.payload = trace::encode(states);
  });
  found(scheme_runs()[2]);
}

TEST_CASE("the command that a refusal of an imported trace names makes a trace that runs") {
  const Folder folder;
  test::imported_kernel(folder, "spmv");
  for (const SchemeRun& run : scheme_runs()) {
    CAPTURE(run.scheme);
    const ProcessResult refused = simulate(folder, "imported.rgt", run);
    CHECK(refused.status == 2);
    const std::string before = "\nThis command makes a trace that fits: ";
    const std::size_t at = refused.err.find(before);
    CAPTURE(refused.err);
    REQUIRE(at != std::string::npos);
    std::string text = refused.err.substr(at + before.size());
    text.pop_back();
    CHECK(text ==
          "regatta-annotate --trace imported.rgt --for " + std::string(run.scheme) + " --out imported.annotated.rgt");
    std::vector<std::string> command = base::shell_words(text).value();
    command[0] = REGATTA_ANNOTATE;
    test::ProcessOptions o;
    o.directory = folder.path();
    const ProcessResult annotated = test::run_process(command, o);
    CAPTURE(annotated.err);
    CHECK(annotated.status == 0);
    CHECK(simulate(folder, "imported.annotated.rgt", run).status == 0);
    std::filesystem::remove(folder.file("imported.annotated.rgt"));
  }
  // No other code can be made.
  const SchemeRun wide{"baseline", "", "hd7770", {}};
  CHECK(simulate(folder, "imported.rgt", wide)
            .err.find("(sm.lanes): annotate it with --warp-size 64\nThe trace was imported, and without its program no "
                      "other code "
                      "can be made of it\n") != std::string::npos);
}
