// SPDX-License-Identifier: Apache-2.0
// Files: what was written is read, in any order, and nothing half-written is ever seen.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>
#include <regatta/trace/region_words.h>

#include <filesystem>
#include <utility>

#include "sample.h"

using namespace regatta::trace;
using namespace regatta::test;

namespace {

std::string cta_difference(const Reader& reader, const Cta& cta, const std::vector<std::vector<Step>>& warps) {
  if (cta.warps.size() != warps.size()) return "number of warps";
  const Kernel& kernel = reader.kernels()[reader.launches()[cta.launch].kernel];
  for (std::size_t w = 0; w < warps.size(); ++w) {
    if (cta.warps[w].warp != w || cta.warps[w].cta != cta.index) return "place of a warp";
    const std::string text = difference(kernel, cta.warps[w], warps[w]);
    if (!text.empty()) return "warp " + std::to_string(w) + ": " + text;
  }
  return {};
}

/// A launch of `ctas` CTAs of one warp that do the same.
void write_alike(Writer& writer, const Kernel& kernel, const std::vector<Step>& steps, std::uint64_t ctas) {
  Launch launch;
  launch.kernel = writer.add_kernel(kernel);
  launch.grid = {static_cast<std::uint32_t>(ctas), 1, 1};
  launch.block = {32, 1, 1};
  launch.shared_bytes_per_cta = kernel.static_shared_bytes;
  const std::uint32_t number = writer.begin_launch(launch);
  for (std::uint64_t i = 0; i < ctas; ++i) {
    Cta cta;
    cta.launch = number;
    cta.index = i;
    cta.warps.push_back(encode(kernel, steps));
    cta.warps.back().cta = i;
    writer.add_cta(std::move(cta));
  }
}

}  // namespace

TEST_CASE("digests tell programs apart, and nothing else") {
  const TemporaryDirectory directory;
  Random random(7);
  const Kernel kernel = sample_kernel(32);
  const std::vector<Step> steps = random_steps(random, kernel, 50), others = random_steps(random, kernel, 50);
  unsigned files = 0;
  const auto digests = [&](const Kernel& k, const std::vector<Step>& of_warp, std::uint64_t ctas) {
    const std::string path = directory / std::to_string(files++);
    Writer writer(path);
    writer.set_producer("number " + std::to_string(files));
    write_alike(writer, k, of_warp, ctas);
    writer.finish();
    const Reader reader(path);
    return std::pair{reader.code_digest(0), reader.data_digest()};
  };
  const auto base = digests(kernel, steps, 3);
  CHECK(digests(kernel, steps, 3) == base);
  Kernel renamed = kernel;  // annotated otherwise, from another folder, with another comment above
  renamed.ptx_file = "elsewhere.ptx";
  renamed.source_files = {"a.cu", "b.cu"};
  renamed.annotations.clear();
  renamed.inserted.clear();
  for (StaticInstruction& i : renamed.instructions) i.ptx_line += 5;
  CHECK(digests(renamed, steps, 3) == base);
  Kernel other = kernel;
  other.instructions.front().opcode += ".x";
  CHECK(digests(other, steps, 3).first != base.first);
  other = kernel;
  ++other.registers_per_thread;
  CHECK(digests(other, steps, 3).first != base.first);
  CHECK(digests(kernel, others, 3).first == base.first);
  CHECK(digests(kernel, others, 3).second != base.second);
  CHECK(digests(kernel, steps, 2).second != base.second);
  CHECK_THROWS_AS(Reader(directory / "0").code_digest(1), std::out_of_range);
}

TEST_CASE("the static part comes back") {
  const TemporaryDirectory directory;
  write_sample(directory / "a.rgt", 1);
  const Reader reader(directory / "a.rgt");
  CHECK(reader.path() == directory / "a.rgt");
  CHECK(reader.version() == 1);
  CHECK(reader.producer() == "sample");
  CHECK(reader.file_bytes() == std::filesystem::file_size(directory / "a.rgt"));
  REQUIRE(reader.kernels().size() == 2);
  for (const unsigned warp_size : {32u, 64u}) {
    const Kernel expected = sample_kernel(warp_size);
    const Kernel& k = reader.kernels()[warp_size / 64];
    CHECK(k.name == expected.name);
    CHECK(k.ptx_file == expected.ptx_file);
    CHECK(k.source_files == expected.source_files);
    CHECK(k.warp_size == warp_size);
    CHECK(k.registers_per_thread == 12);
    CHECK(k.predicates == 4);
    CHECK(k.static_shared_bytes == 256);
    CHECK(k.shared_values == (warp_size == 64));
    REQUIRE(k.instructions.size() == expected.instructions.size());
    for (std::size_t n = 0; n < k.instructions.size(); ++n) {
      const StaticInstruction& a = k.instructions[n];
      const StaticInstruction& b = expected.instructions[n];
      CHECK(a.opcode == b.opcode);
      CHECK(a.opcode_id == b.opcode_id);
      CHECK(a.op_class == b.op_class);
      CHECK(a.guard.predicate == b.guard.predicate);
      CHECK(a.guard.negated == b.guard.negated);
      CHECK(a.source_count == b.source_count);
      CHECK(a.sources == b.sources);
      CHECK(a.destination_count == b.destination_count);
      CHECK(a.destinations == b.destinations);
      CHECK(a.source_predicate_count == b.source_predicate_count);
      CHECK(a.source_predicates == b.source_predicates);
      CHECK(a.destination_predicate_count == b.destination_predicate_count);
      CHECK(a.destination_predicates == b.destination_predicates);
      CHECK(a.space == b.space);
      CHECK(a.access_bytes == b.access_bytes);
      CHECK(a.bypasses_l1 == b.bypasses_l1);
      CHECK(a.reads_memory == b.reads_memory);
      CHECK(a.barrier_id == b.barrier_id);
      CHECK(a.barrier_threads == b.barrier_threads);
      CHECK(a.barrier_arrives == b.barrier_arrives);
      CHECK(a.writes_memory == b.writes_memory);
      CHECK(a.address_offset == b.address_offset);
      CHECK(a.reads_carry == b.reads_carry);
      CHECK(a.writes_carry == b.writes_carry);
      CHECK(a.branch_target == b.branch_target);
      CHECK(a.operands.size() == b.operands.size());
      CHECK(a.operand_destinations == b.operand_destinations);
      CHECK(a.source_line == b.source_line);
    }
    CHECK(k.static_revision == current_static_revision);
    REQUIRE(k.blocks.size() == 3);
    CHECK(k.blocks[1].successors == std::vector<std::uint32_t>{1, 2});
    CHECK(k.blocks[1].reconvergence == 2);
    CHECK(k.blocks[2].reconvergence == -1);
    REQUIRE(k.shared_variables.size() == 2);
    CHECK(k.shared_variables[1].offset == 256);
    REQUIRE(k.inserted.size() == expected.inserted.size());
    for (std::size_t n = 0; n < k.inserted.size(); ++n) {
      const InsertedInstruction& a = k.inserted[n];
      const InsertedInstruction& b = expected.inserted[n];
      CHECK(a.disposition == b.disposition);
      CHECK(a.after == b.after);
      CHECK(a.before == b.before);
      CHECK(a.instruction.opcode == b.instruction.opcode);
      CHECK(a.instruction.opcode_id == b.instruction.opcode_id);
      CHECK(a.instruction.scheme == b.instruction.scheme);
      CHECK(a.instruction.op_class == b.instruction.op_class);
      if (b.instruction.scheme == region_scheme) CHECK(region_word(a.instruction) == region_word(b.instruction));
    }
    CHECK(k.inserted.back().instruction.scheme == "sharing");
    REQUIRE(k.annotations.size() == 1);
    CHECK(k.annotations[0].version == 3);
    CHECK(k.annotations[0].payload == std::string("\0\1\xfe", 3));
  }
}

TEST_CASE("launches are counted by the writer") {
  const TemporaryDirectory directory;
  std::vector<std::vector<std::vector<Step>>> steps;
  write_sample(directory / "a.rgt", 2, &steps);
  const Reader reader(directory / "a.rgt");
  REQUIRE(reader.launches().size() == 3);
  REQUIRE(reader.ctas().size() == 6 + 5 + 4);
  std::uint64_t instructions = 0;
  for (std::size_t l = 0; l < 3; ++l) {
    CHECK(reader.launches()[l].first_cta == l);
    CHECK(reader.launches()[l].cta_count == 6 - l);
    CHECK(reader.launches()[l].grid == std::array<std::uint32_t, 3>{3, 2, 1});
    CHECK(reader.launches()[l].block == std::array<std::uint32_t, 3>{17, 5, 1});
    instructions += reader.launches()[l].warp_instructions;
  }
  for (const auto& cta : steps) {
    for (const auto& warp : cta) instructions -= warp.size();
  }
  CHECK(instructions == 0);
}

TEST_CASE("CTAs are read in any order and streamed in order") {
  const TemporaryDirectory directory;
  std::vector<std::vector<std::vector<Step>>> steps;
  write_sample(directory / "a.rgt", 3, &steps);
  const Reader reader(directory / "a.rgt");
  for (const std::size_t position : {14, 0, 7, 7, 3}) {
    const auto cta = reader.read(position);
    CHECK(cta->index == reader.ctas()[position].index);
    CHECK(cta_difference(reader, *cta, steps[position]) == "");
  }
  CHECK_THROWS_AS(reader.read(15), std::out_of_range);

  const auto stream = reader.stream(2, 9);
  const auto other = reader.stream(0, 1000);
  for (std::size_t position = 2; position < 11; ++position) {
    const auto cta = stream->next();
    REQUIRE(cta);
    CHECK(cta_difference(reader, *cta, steps[position]) == "");
    CHECK(cta_difference(reader, *reader.read(position), steps[position]) == "");
  }
  CHECK(stream->next() == nullptr);
  CHECK(stream->next() == nullptr);
  std::size_t count = 0;
  while (other->next()) ++count;
  CHECK(count == 15);
  CHECK(reader.stream(15, 1)->next() == nullptr);
  CHECK(reader.stream(99, 1)->next() == nullptr);
  reader.stream(0, 15);  // dropped before its end
}

TEST_CASE("a stream outlives its reader") {
  const TemporaryDirectory directory;
  write_sample(directory / "a.rgt", 4);
  std::unique_ptr<Reader::Stream> stream;
  {
    const Reader reader(directory / "a.rgt");
    stream = reader.stream(0, 15);
  }
  std::size_t count = 0;
  while (stream->next()) ++count;
  CHECK(count == 15);
}

TEST_CASE("the same trace gives the same bytes") {
  const TemporaryDirectory directory;
  write_sample(directory / "a.rgt", 5);
  write_sample(directory / "b.rgt", 5);
  CHECK(read_bytes(directory / "a.rgt") == read_bytes(directory / "b.rgt"));
}

TEST_CASE("an empty trace is a trace") {
  const TemporaryDirectory directory;
  Writer(directory / "a.rgt").finish();
  const Reader reader(directory / "a.rgt");
  CHECK(reader.ctas().empty());
  CHECK(reader.stream(0, 1)->next() == nullptr);
}

TEST_CASE("a writer that does not finish leaves no file") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.rgt";
  {
    Writer writer(path);
    writer.add_kernel(sample_kernel(32));
    CHECK_FALSE(std::filesystem::is_empty(std::filesystem::path(path).parent_path()));
    CHECK_FALSE(std::filesystem::exists(path));
  }
  CHECK(std::filesystem::is_empty(std::filesystem::path(path).parent_path()));
  write_sample(path, 6);
  const std::filesystem::directory_iterator files(std::filesystem::path(path).parent_path());
  CHECK(files->path() == path);
  CHECK(std::distance(files, std::filesystem::directory_iterator()) == 1);
  const std::string before = read_bytes(path);
  { Writer writer(path); }
  CHECK(read_bytes(path) == before);
}

TEST_CASE("files that cannot be written or read say so") {
  const TemporaryDirectory directory;
  const auto message = [](const auto& action) {
    try {
      action();
    } catch (const regatta::base::InputError& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  const std::string path = directory / "none/a.rgt";
  CHECK(message([&] { Writer writer(path); }) == "cannot write '" + path + "': No such file or directory");
  CHECK(message([&] { Reader reader(path); }) == path + ": cannot be opened: No such file or directory");
  const std::string folder = directory / ".";
  CHECK(message([&] { Reader reader(folder); }) == folder + ": not a regular file");
  if (std::filesystem::exists("/dev/full")) {
    CHECK(message([] {
            Writer writer("/dev/full");
            writer.finish();
          }) == "cannot write '/dev/full': No space left on device");
  }
}

namespace {

/// A launch of CTAs of more than half a megabyte each.
std::vector<Step> write_large(Writer& writer, std::uint64_t ctas) {
  const Kernel kernel = sample_kernel(32);
  Random random(11);
  std::vector<Step> steps = random_steps(random, kernel, 16000);
  write_alike(writer, kernel, steps, ctas);
  return steps;
}

}  // namespace

TEST_CASE("more CTAs than may wait to be written arrive in order") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.rgt";
  std::vector<Step> steps;
  {
    Writer writer(path);
    steps = write_large(writer, 60);
    writer.finish();
  }
  const Reader reader(path);
  REQUIRE(reader.ctas().size() == 60);
  std::uint64_t raw = 0;
  const auto stream = reader.stream(0, 60);
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::shared_ptr<const Cta> cta = stream->next();
    REQUIRE(cta != nullptr);
    CHECK(cta->index == i);
    CHECK(cta_difference(reader, *cta, {steps}).empty());
    raw += cta->warps[0].value_data.size() + 8 * cta->warps[0].address_delta.size();
  }
  CHECK(raw > 32 << 20);
}

TEST_CASE("a file that cannot be written further says so at once, and at every call") {
  if (!std::filesystem::exists("/dev/full")) return;
  const auto message = [](const auto& action) {
    try {
      action();
    } catch (const regatta::base::InputError& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  Writer writer("/dev/full");
  CHECK(message([&] { write_large(writer, 100); }) == "cannot write '/dev/full': No space left on device");
  CHECK(message([&] { writer.add_kernel(sample_kernel(32)); }) == "cannot write '/dev/full': No space left on device");
  CHECK(message([&] { writer.finish(); }) == "cannot write '/dev/full': No space left on device");
}

TEST_CASE("a writer that is given up while CTAs wait leaves no file") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.rgt";
  {
    Writer writer(path);
    write_large(writer, 20);
  }
  CHECK(std::filesystem::is_empty(std::filesystem::path(path).parent_path()));
}

TEST_CASE("a trace may be written to a device or through a link") {
  const TemporaryDirectory directory;
  {
    Writer writer("/dev/null");
    writer.add_kernel(sample_kernel(32));
    writer.finish();
  }
  CHECK(std::filesystem::is_character_file("/dev/null"));
  write_sample(directory / "plain.rgt", 6);
  std::filesystem::create_symlink("real.rgt", directory / "link.rgt");
  write_sample(directory / "link.rgt", 6);
  CHECK(std::filesystem::is_symlink(directory / "link.rgt"));
  CHECK(read_bytes(directory / "real.rgt") == read_bytes(directory / "plain.rgt"));
}

TEST_CASE("the writer refuses what a reader would refuse") {
  const TemporaryDirectory directory;
  Writer writer(directory / "a.rgt");
  const auto refused = [](const auto& action) {
    try {
      action();
    } catch (const std::logic_error& e) {
      const std::string text = e.what();
      return text.substr(text.find(".rgt: ") + 6);
    }
    return std::string("nothing");
  };
  const auto kernel_with = [&](const auto& spoil) {
    Kernel kernel = sample_kernel(32);
    spoil(kernel);
    return refused([&] { writer.add_kernel(kernel); });
  };
  CHECK(kernel_with([](Kernel& k) { k.instructions[2].sources[0] = 12; }) ==
        "kernel sample32: instruction 2: source register is 12, expected less than 12");
  CHECK(kernel_with([](Kernel& k) { k.instructions[2].guard.predicate = 4; }) ==
        "kernel sample32: instruction 2: guard predicate is 4, expected less than 4");
  CHECK(kernel_with([](Kernel& k) { k.instructions[0].destination_count = 5; }) ==
        "kernel sample32: instruction 0: number of destination registers is 5, expected at most 4");
  CHECK(kernel_with([](Kernel& k) { k.instructions[5].branch_target = 11; }) ==
        "kernel sample32: instruction 5: branch target is 11, expected less than 11");
  CHECK(kernel_with([](Kernel& k) { k.instructions[5].opcode_id = 6; }) ==
        "kernel sample32: instruction 6: opcode id 6 stands for two opcodes");
  CHECK(kernel_with([](Kernel& k) { k.blocks[1].successors[0] = 3; }) ==
        "kernel sample32: basic block 1: successor is 3, expected less than 3");
  CHECK(kernel_with([](Kernel& k) { k.blocks[2].count = 6; }) ==
        "kernel sample32: basic block 2: end is 12, expected at most 11");
  CHECK(kernel_with([](Kernel& k) { k.shared_variables[0].offset = 4; }) ==
        "kernel sample32: shared variable 0: end is 260, expected at most 256");
  CHECK(kernel_with([](Kernel& k) { k.warp_size = 48; }) == "kernel sample32: warp size is 48, expected 32 or 64");
  CHECK(kernel_with([](Kernel& k) { k.instructions.clear(); }) == "kernel sample32: has no instruction");

  const Kernel kernel = sample_kernel(32);
  CHECK(writer.add_kernel(kernel) == 0);
  Launch launch;
  launch.kernel = 1;
  CHECK(refused([&] { writer.begin_launch(launch); }) == "launch 0: kernel is 1, expected less than 1");
  launch.kernel = 0;
  launch.grid[1] = 0;
  CHECK(refused([&] { writer.begin_launch(launch); }) == "launch 0: a dimension of the grid or block is 0");
  launch.grid = {2, 1, 1};
  launch.block = {1024, 2, 1};
  CHECK(refused([&] { writer.begin_launch(launch); }) == "launch 0: threads per CTA is 2048, expected at most 1024");
  launch.block = {64, 1, 1};
  writer.begin_launch(launch);
  Cta cta;
  cta.warps.resize(2);
  cta.index = 1;
  CHECK(refused([&] { writer.add_cta(cta); }) == "CTA 1 of launch 0: expected CTA 0 next");
  cta.index = 0;
  cta.warps.resize(3);
  CHECK(refused([&] { writer.add_cta(cta); }) == "CTA 0 of launch 0: number of warps is 3, expected 2");
  cta.warps.resize(2);
  cta.warps[1].warp_instructions = 1;
  CHECK(refused([&] { writer.add_cta(cta); }) ==
        "CTA 0 of launch 0: warp 1: number of warp instructions is 1, expected 0");
  cta.warps[1].warp_instructions = 0;
  Random random(3);
  cta.warps[1] = encode(kernel, random_steps(random, kernel, 4));
  const auto with_stack = [&](const std::vector<std::uint32_t>& events) {
    Cta spoilt = cta;
    WarpColumns& c = spoilt.warps[1];
    c.stack_at.assign(events.size(), 0);
    c.stack_event = events;
    c.stack_mask.clear();
    for (const std::uint32_t event : events) {
      if ((event & 1) != 0) c.stack_mask.push_back(1);
    }
    return refused([&] { writer.add_cta(spoilt); });
  };
  CHECK(with_stack({0}) == "CTA 0 of launch 0: warp 1: the SIMT stack is popped more often than pushed");
  CHECK(with_stack({1, 0, 0}) == "CTA 0 of launch 0: warp 1: the SIMT stack is popped more often than pushed");
  CHECK(with_stack({2}) == "CTA 0 of launch 0: warp 1: SIMT stack event 2 is unknown");
  cta.warps[1] = {};
  writer.add_cta(cta);
  cta.index = 1;
  writer.add_cta(cta);
  cta.index = 2;
  CHECK(refused([&] { writer.add_cta(cta); }) == "CTA 2 of launch 0: is outside the grid");
  writer.finish();
  CHECK_THROWS_AS(writer.finish(), std::logic_error);
}

TEST_CASE("inserted instructions out of order or place are refused") {
  const TemporaryDirectory directory;
  const auto message = [&](const auto& change) {
    Kernel k = sample_kernel(32);
    change(k.inserted);
    try {
      Writer(directory / "a.rgt").add_kernel(k);
    } catch (const std::logic_error& e) {
      const std::string text = e.what();
      return text.substr(std::min(text.size(), text.find("sample32: ") + 10));
    }
    return std::string();
  };
  using Inserted = std::vector<InsertedInstruction>;
  CHECK(message([](Inserted&) {}).empty());
  CHECK(message([](Inserted& i) { i[1].instruction.scheme.clear(); }) == "inserted instruction 1: names no scheme");
  CHECK(message([](Inserted& i) { i.back().before = 11; }) ==
        "inserted instruction " + std::to_string(sample_kernel(32).inserted.size() - 1) +
            ": place is 11, expected less than 11");
  CHECK(message([](Inserted& i) { i[0].before = 2; }) ==
        "inserted instruction 1: stands before the place of the one before it");
  CHECK(message([](Inserted& i) { i[0].instruction.opcode_id = 0; }) ==
        "inserted instruction 0: opcode id 0 stands for two opcodes");
  CHECK(message([](Inserted& i) { i[0].instruction.opcode.clear(); }) == "inserted instruction 0: opcode is empty");
  // The last one, a jump on the edge from 9 to 10, issues.
  const std::string last = "inserted instruction " + std::to_string(sample_kernel(32).inserted.size() - 1) + ": ";
  const auto issuing = [&](const auto& change) {
    return message([&](Inserted& i) {
      i.back().disposition = Disposition::issue;
      change(i.back());
    });
  };
  CHECK(issuing([](InsertedInstruction&) {}).empty());
  CHECK(issuing([](InsertedInstruction& i) { i.after = -1; }).empty());
  CHECK(issuing([](InsertedInstruction& i) { i.instruction.op_class = OpClass::int_add; }) ==
        last + "issues and is of class int_add, expected metadata, fence or branch");
  CHECK(issuing([](InsertedInstruction& i) { i.instruction.source_count = 1; }) ==
        last + "issues and names registers or predicates, for which a trace has no values");
  CHECK(issuing([](InsertedInstruction& i) {
          i.instruction.guard = {0, false};
        }) == last + "issues and names registers or predicates, for which a trace has no values");
  CHECK(issuing([](InsertedInstruction& i) { i.instruction.reads_memory = true; }) ==
        last + "issues and accesses memory, for which a trace has no addresses");
  CHECK(issuing([](InsertedInstruction& i) { i.instruction.space = MemorySpace::shared; }) ==
        last + "issues and names the space shared, expected none, or shared for a fence");
  CHECK(issuing([](InsertedInstruction& i) {
          i.instruction.op_class = OpClass::fence;
          i.instruction.space = MemorySpace::shared;
        }).empty());
  CHECK(issuing([](InsertedInstruction& i) { i.disposition = static_cast<Disposition>(2); }) ==
        last + "disposition is 2, expected at most 1");
  CHECK(issuing([](InsertedInstruction& i) { i.after = 11; }) ==
        last + "the instruction that it follows is 11, expected less than 11");
  CHECK(issuing([](InsertedInstruction& i) { i.after = 8; }) ==
        last + "stands on an edge from 8 to 10, which the kernel does not have");
  CHECK(message([](Inserted& i) { i.back().disposition = Disposition::decode; }) ==
        last + "stands on an edge and is removed at decode, expected one that issues");
  Kernel k = sample_kernel(32);
  k.instructions[2].scheme = region_scheme;
  CHECK_THROWS_AS(Writer(directory / "a.rgt").add_kernel(k), std::logic_error);
}
