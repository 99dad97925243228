// SPDX-License-Identifier: Apache-2.0
//
// Our own kernels in the form of Accel-Sim's traces, imported again; and faults of a register file that version tags
// show.
#include <regatta/test/catch.h>
#include <regatta/trace/verify.h>

#include <algorithm>
#include <random>

#include "imported_kernel.h"
#include "process.h"
#include "traceg_writer.h"

using namespace regatta;
using test::Folder;
using trace::LaneMask;

namespace {

template <class Numbers>
std::vector<unsigned> listed(const Numbers& numbers, unsigned count) {
  return {numbers.begin(), numbers.begin() + count};
}

/// The static code of the launch's kernel that was executed, by the place of each instruction in the new code.
std::vector<std::uint32_t> executed(const trace::Reader& reader, std::uint32_t kernel) {
  std::vector<bool> seen(reader.kernels()[kernel].instructions.size(), false);
  const auto stream = reader.stream(0, reader.ctas().size());
  while (const auto cta = stream->next()) {
    if (reader.launches()[cta->launch].kernel != kernel) continue;
    for (const trace::WarpColumns& w : cta->warps) {
      for (std::size_t r = 0; r < w.run_start.size(); ++r) {
        for (std::uint32_t n = 0; n < w.run_length[r]; ++n) seen[w.run_start[r] + n] = true;
      }
    }
  }
  std::vector<std::uint32_t> index(seen.size(), 0);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) index[i] = seen[i] ? next++ : ~0u;
  return index;
}

struct Compared {
  std::uint64_t instructions = 0, other_paths = 0;
};

Compared compare(const std::string& ours, const std::string& imported) {
  const trace::Reader a(ours), b(imported);
  REQUIRE(a.launches().size() == b.launches().size());
  REQUIRE(a.ctas().size() == b.ctas().size());
  std::vector<std::vector<std::uint32_t>> index;
  for (std::uint32_t k = 0; k < a.kernels().size(); ++k) index.push_back(executed(a, k));
  Compared result;
  for (std::size_t position = 0; position < a.ctas().size(); ++position) {
    const auto cta = a.read(position), other = b.read(position);
    const trace::Launch &launch = a.launches()[cta->launch], &copy = b.launches()[other->launch];
    REQUIRE(launch.grid == copy.grid);
    REQUIRE(launch.block == copy.block);
    REQUIRE(launch.shared_bytes_per_cta == copy.shared_bytes_per_cta);
    const trace::Kernel &kernel = a.kernels()[launch.kernel], &new_kernel = b.kernels()[copy.kernel];
    REQUIRE(new_kernel.version_tags);
    REQUIRE(kernel.name == new_kernel.name);
    REQUIRE(kernel.registers_per_thread == new_kernel.registers_per_thread);
    for (std::size_t w = 0; w < cta->warps.size(); ++w) {
      trace::WarpCursor x(kernel, cta->warps[w]), y(new_kernel, other->warps[w]);
      while (x.next()) {
        REQUIRE(y.next());
        INFO(kernel.name << " CTA " << cta->index << " warp " << w << " instruction " << x.position() << " "
                         << x.instruction().opcode << " | " << y.instruction().opcode);
        ++result.instructions;
        const trace::StaticInstruction& i = y.instruction();
        const test::TracegInstruction expected = test::traceg_instruction(x.instruction());
        REQUIRE(index[launch.kernel][x.index()] == y.index());
        REQUIRE(i.op_class == expected.op_class);
        REQUIRE(listed(i.destinations, i.destination_count) == expected.destinations);
        REQUIRE(listed(i.sources, i.source_count) == expected.sources);
        REQUIRE(x.active_mask() == y.active_mask());
        result.other_paths += x.simt_mask() == y.simt_mask() ? 0 : 1;
        if (!expected.has_addresses) continue;
        REQUIRE(i.space == x.instruction().space);
        REQUIRE(i.access_bytes == expected.access_bytes);
        std::uint64_t p[trace::max_lanes], q[trace::max_lanes];
        x.addresses(p);
        y.addresses(q);
        for (LaneMask m = x.active_mask(); m != 0; m &= m - 1) {
          const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
          if (base::window_number(p[lane]) == base::window_number(trace::local_window))
            continue;  // frames begin elsewhere
          REQUIRE(p[lane] == q[lane]);
        }
      }
      REQUIRE(!y.next());
    }
  }
  return result;
}

/// A write of a register whose value a later instruction reads.
struct Site {
  std::uint64_t cta = 0, sequence = 0;
  std::size_t warp = 0;
  unsigned reg = 0;
};

std::vector<Site> sites(const trace::Reader& reader) {
  std::vector<Site> all;
  const auto stream = reader.stream(0, reader.ctas().size());
  while (const auto cta = stream->next()) {
    if (cta->launch != 0) break;
    const trace::Kernel& kernel = reader.kernels()[reader.launches()[0].kernel];
    for (std::size_t w = 0; w < cta->warps.size(); ++w) {
      // The write that each lane of each register has its value of, and whether it is known as read.
      std::vector<std::array<std::size_t, 32>> from(kernel.registers_per_thread);
      for (auto& r : from) r.fill(~std::size_t{0});
      std::vector<Site> writes;
      std::vector<bool> read;
      trace::WarpCursor cursor(kernel, cta->warps[w]);
      while (cursor.next()) {
        const trace::StaticInstruction& i = cursor.instruction();
        for (unsigned s = 0; s < i.source_count; ++s) {
          for (LaneMask m = cursor.active_mask(); m != 0; m &= m - 1) {
            const std::size_t write = from[i.sources[s]][static_cast<unsigned>(__builtin_ctzll(m))];
            if (write != ~std::size_t{0}) read[write] = true;
          }
        }
        for (unsigned d = 0; d < i.destination_count; ++d) {
          for (LaneMask m = cursor.active_mask(); m != 0; m &= m - 1) {
            from[i.destinations[d]][static_cast<unsigned>(__builtin_ctzll(m))] = writes.size();
          }
          writes.push_back({cta->index, cursor.position(), w, i.destinations[d]});
          read.push_back(false);
        }
      }
      for (std::size_t n = 0; n < writes.size(); ++n) {
        if (read[n]) all.push_back(writes[n]);
      }
    }
  }
  return all;
}

const char* const kernels[] = {
    "vector_add",       "bfs",  "sgemm", "reduction",   "hotspot", "needleman_wunsch", "histogram", "pathfinder",
    "binomial_options", "scan", "spmv",  "bitonic_sort"};

}  // namespace

TEST_CASE("a kernel that is exported as a .traceg comes back with its code, lanes and addresses") {
  std::uint64_t instructions = 0;
  for (const char* kernel : kernels) {
    const Folder folder;
    INFO(kernel);
    std::string ours;
    const std::string imported = test::imported_kernel(folder, kernel, &ours);
    const trace::Reader reader(imported);
    CHECK(reader.version() == 4);
    trace::verify(reader, trace::VerifyDepth::program);
    const Compared c = compare(ours, imported);
    instructions += c.instructions;
    CAPTURE(c.instructions, c.other_paths);
    // What a guard switches off, and what waits elsewhere, is not in the traces: it is found again.
    CHECK(c.other_paths == 0);
  }
  CHECK(instructions > 100000);
}

TEST_CASE("an imported trace runs under schemes that move values, and those that look at them refuse it") {
  const Folder folder;
  test::imported_kernel(folder, "bfs");
  const auto sim = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{REGATTA_SIM, "imported.rgt"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    test::ProcessOptions o;
    o.directory = folder.path();
    return test::run_process(arguments, o);
  };
  for (const char* scheme :
       {"baseline", "virtual_thread", "sleep_reg", "warp_level_divergence", "register_sharing", "um"}) {
    INFO(scheme);
    const test::ProcessResult r = sim({"--scheme", scheme, "--check-protocol"});
    CAPTURE(r.err);
    CHECK(r.status == 0);
    CHECK(r.out.find(", mismatches: 0") != std::string::npos);
  }
  const std::string why =
      ", and 'imported.rgt' has none: the results of kernel bfs_expand are version tags, because the trace was made "
      "without "
      "the program's values; expected a trace of regatta-annotate, or a scheme that only moves values\n";
  const auto refusal = [&](const std::vector<std::string>& more) {
    const test::ProcessResult r = sim(more);
    CHECK(r.status == 2);
    std::string text = r.err;
    const std::string name = trace::Reader(folder.file("imported.rgt")).kernels()[0].name;
    if (const std::size_t at = text.find("kernel " + name); at != std::string::npos)
      text.replace(at + 7, name.size(), "bfs_expand");
    return text;
  };
  CHECK(refusal({"--scheme", "wir"}) ==
        "regatta-sim: scheme wir: reuses the results of instructions with equal values" + why);
  CHECK(refusal({"--scheme", "wir+um", "--machine", "gtx480"}) ==
        "regatta-sim: scheme wir+um: wir reuses the results of instructions with equal values" + why);
  CHECK(refusal({"--scheme", "regless"}) ==
        "regatta-sim: scheme regless: compresses registers by their values (compressor.enabled)" + why);
  CHECK(refusal({"--scheme", "rc", "--machine", "gtx980"}) ==
        "regatta-sim: scheme rc: compresses registers by their values (gated.compression)" + why);
  CHECK(refusal({"--scheme", "rar", "--machine", "gtx980"}) ==
        "regatta-sim: scheme rar: records how long each bit of the values is 0 and 1 (wear.enabled)" + why);
}

TEST_CASE("100 lost, stale, swapped and strayed registers in imported traces are all found") {
  std::mt19937 random(47);
  unsigned planted = 0;
  for (const char* kernel : {"bfs", "reduction", "hotspot", "spmv"}) {
    const Folder folder;
    const std::string imported = test::imported_kernel(folder, kernel);
    const std::vector<Site> all = sites(trace::Reader(imported));
    REQUIRE(all.size() > 100);
    for (unsigned n = 0; n < 25; ++n) {
      const Site& site = all[random() % all.size()];
      const char* const kinds[] = {"lost", "stale", "swapped", "strayed"};
      const std::string kind = kinds[n % 4];
      const test::ProcessResult r = test::run_process(
          {REGATTA_FAULTY_FILE_SIM, imported, "--scheme", "faulty_file", "--plant.kind", kind, "--plant.cta",
           std::to_string(site.cta), "--plant.warp", std::to_string(site.warp), "--plant.register",
           std::to_string(site.reg), "--plant.sequence", std::to_string(site.sequence), "--launches", "0"});
      INFO(kernel << ": " << kind << " at CTA " << site.cta << " warp " << site.warp << " R" << site.reg
                  << " instruction " << site.sequence << "\n"
                  << r.err);
      CHECK(r.status == 3);
      CHECK(r.err.find("value mismatch") != std::string::npos);
      ++planted;
    }
  }
  CHECK(planted == 100);
}
