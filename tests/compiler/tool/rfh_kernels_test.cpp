// SPDX-License-Identifier: Apache-2.0
//
// RFH's levels in the traces of our kernels: every warp of the small launches finds each operand at its level.
#include <regatta/test/catch.h>
#include <regatta/tool/annotate.h>
#include <regatta/trace/file.h>
#include <regatta/trace/rfh.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "folder.h"
#include "rfh_warp.h"

using namespace regatta;
using test::Folder;

namespace {

std::vector<std::string> kernels() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(REGATTA_KERNELS))
    if (std::filesystem::exists(entry.path() / "launch.small.toml")) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return test::some_of(names, 5);
}

}  // namespace

namespace {

struct Reads {
  std::uint64_t main = 0, entries = 0, banked = 0, strands = 0;
};

/// Annotates a kernel and replays all its warps. Fails the test at the first operand that is not at its level.
void replay(const std::string& name, unsigned entries, unsigned warp_size, bool split, Reads& reads) {
  CAPTURE(name, entries, warp_size, split);
  const Folder folder;
  tool::AnnotateOptions o;
  o.launch = std::string(REGATTA_KERNELS) + "/" + name + "/launch.small.toml";
  o.out = folder.file("k.rgt");
  o.warp_size = warp_size;
  o.pass_options = {{"rfh", std::to_string(entries)}, {"rfh-lrf", split ? "split" : "unified"}};
  tool::annotate(o);
  const trace::Reader reader(o.out);
  std::vector<trace::RfhPlan> plans;
  for (const trace::Kernel& kernel : reader.kernels()) {
    plans.push_back(trace::find_rfh(kernel).value());
    REQUIRE_NOTHROW(trace::verify_rfh(kernel, plans.back()));
  }
  for (std::size_t n = 0; n < reader.ctas().size(); ++n) {
    const std::uint32_t k = reader.launches().at(reader.ctas()[n].launch).kernel;
    const auto cta = reader.read(n);
    for (const trace::WarpColumns& columns : cta->warps) {
      test::RfhWarp warp(reader.kernels()[k], plans[k]);
      REQUIRE(warp.replay(columns) == "");
      reads.entries += warp.entry_reads();
      reads.banked += warp.banked_reads();
      reads.main += warp.main_reads();
      reads.strands += warp.strands();
    }
  }
}

}  // namespace

TEST_CASE("all kernels find their operands at the levels that the trace says") {
  const std::vector<std::string> names = kernels();
  CHECK(names.size() > test::times<std::size_t>(10, 50));
  double share = 0;
  for (const auto& [entries, warp_size] : {std::pair(1u, 32u), {3u, 32u}, {8u, 64u}}) {
    Reads reads;
    for (const std::string& name : names) replay(name, entries, warp_size, false, reads);
    CHECK(reads.banked == 0);
    CAPTURE(entries, warp_size, reads.main, reads.entries, reads.strands);
    CHECK(reads.strands > names.size());
    // More entries serve more reads. Of wide warps too: their code is the same.
    const double served = static_cast<double>(reads.entries) / static_cast<double>(reads.entries + reads.main);
    CHECK(served > share);
    share = served;
  }
  // Without entries that serve reads, nothing was shown.
  CHECK(share > 0.3);
}

TEST_CASE("all kernels find their operands at the levels of a split last-result file") {
  Reads reads;
  for (const std::string& name : kernels()) replay(name, 3, 32, true, reads);
  CAPTURE(reads.main, reads.entries, reads.banked);
  CHECK(reads.banked > reads.entries / 10);
}

TEST_CASE("levels for RFH") {
  const Folder folder;
  tool::AnnotateOptions o;
  o.launch = std::string(REGATTA_KERNELS) + "/vector_add/launch.small.toml";
  o.out = folder.file("k.rgt");
  o.listing = folder.file("k.txt");
  o.cta_count = 1;
  tool::annotate(o);
  REQUIRE(trace::find_rfh(trace::Reader(o.out).kernels()[0]));
  CHECK(trace::find_rfh(trace::Reader(o.out).kernels()[0])->entries == 3);
  CHECK(folder.read("k.txt").find("\n// rfh: 3 ORF entries\n") != std::string::npos);
  o.annotations = std::set<std::string>{"rfv", "power"};
  tool::annotate(o);
  CHECK_FALSE(trace::find_rfh(trace::Reader(o.out).kernels()[0]));
  CHECK(folder.read("k.txt").find("\n// rfh: ") == std::string::npos);
  CHECK(folder.read("k.txt").find(" MRF") == std::string::npos);

  o.pass_options = {{"rfh", "2"}};
  const tool::AnnotateResult result = tool::annotate(o);
  const trace::Reader reader(o.out);
  const trace::RfhPlan plan = trace::find_rfh(reader.kernels()[0]).value();
  CHECK(plan.entries == 2);
  const trace::RfhAccesses n = trace::count_accesses(reader.kernels()[0], plan);
  CHECK(n.last_reads + n.orf_reads > 0);
  std::vector<passes::Figure> figures;
  for (const passes::PassSummary& pass : result.entries.at(0).passes)
    for (const passes::Figure& figure : pass.figures)
      if (figure.key == "rfh") figures = std::get<std::vector<passes::Figure>>(figure.value);
  const auto figure = [&](const std::string& key) {
    for (const passes::Figure& f : figures)
      if (f.key == key) return std::get<std::uint64_t>(f.value);
    FAIL("no figure " << key);
    return std::uint64_t{0};
  };
  CHECK(figure("orf_entries") == 2);
  CHECK(figure("lrf_entries") == 1);
  CHECK(figure("mrf_reads") == n.main_reads);
  CHECK(figure("orf_reads") == n.orf_reads);
  CHECK(figure("lrf_reads") == n.last_reads);
  CHECK(figure("mrf_writes") == n.main_writes);
  CHECK(figure("orf_writes") == n.orf_writes);
  CHECK(figure("lrf_writes") == n.last_writes);
  CHECK(figure("strands") ==
        static_cast<std::uint64_t>(std::count_if(plan.instructions.begin(), plan.instructions.end(),
                                                 [](const trace::RfhInstruction& i) { return i.strand_begins; })));
  const std::string listing = folder.read("k.txt");
  CHECK(listing.find("\n// rfh: 2 ORF entries\n") != std::string::npos);
  CHECK(listing.find(" LRF") != std::string::npos);
  CHECK(listing.find(" LRF A") == std::string::npos);

  o.pass_options["rfh-lrf"] = "unified";
  tool::annotate(o);
  CHECK(trace::find_rfh(trace::Reader(o.out).kernels()[0]).value().split == false);
  o.pass_options["rfh-lrf"] = "split";
  tool::annotate(o);
  CHECK(trace::find_rfh(trace::Reader(o.out).kernels()[0]).value().split);
  CHECK(folder.read("k.txt").find("\n// rfh: 2 ORF entries, split LRF\n") != std::string::npos);
  CHECK(folder.read("k.txt").find(" LRF A") != std::string::npos);
}
