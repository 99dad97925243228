// SPDX-License-Identifier: Apache-2.0
// Broken files: refused with the place and the reason, never a crash, never a wrong answer taken for a right one.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>
#include "sample.h"
#include "trace_container.h"

using namespace regatta::trace;
using namespace regatta::test;

namespace {

/// Opens, reads and decodes all there is; the message if that is refused, "" if it is not.
std::string read_all(const std::string& path) {
  try {
    const Reader reader(path);
    const auto stream = reader.stream(0, reader.ctas().size());
    while (const auto cta = stream->next()) {
      const Kernel& kernel = reader.kernels()[reader.launches()[cta->launch].kernel];
      for (const WarpColumns& warp : cta->warps) {
        WarpCursor cursor(kernel, warp);
        WarpValue value;
        std::uint64_t address[max_lanes];
        std::vector<StackEvent> events;
        while (cursor.next()) {
          const StaticInstruction& i = cursor.instruction();
          if (has_addresses(i)) cursor.addresses(address);
          for (unsigned d = 0; d < i.destination_count; ++d) cursor.result(value);
          for (unsigned d = 0; d < i.destination_predicate_count; ++d) cursor.predicate();
          cursor.stack_events(events);
        }
      }
    }
  } catch (const InputError& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("broken files are refused with exact messages") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.rgt";
  write_sample(path, 1);
  const std::string good = read_bytes(path);
  REQUIRE(read_all(path).empty());
  const auto starts = frame_starts(good);
  REQUIRE(starts.size() == 2 + 15 + 1);
  const auto message = [&](const std::string& bytes) {
    write_bytes(path, bytes);
    const std::string text = read_all(path);
    return text.rfind(path + ": ", 0) == 0 ? text.substr(path.size() + 2) : "without path: " + text;
  };
  const auto at = [](std::size_t offset) { return "byte " + std::to_string(offset) + ": "; };

  CHECK(message("") == "the file is empty");
  CHECK(message("PK") == "not a regatta trace: its first bytes are not the magic of a .rgt file");
  CHECK(message("#!/bin/sh\necho a shell script\n") ==
        "not a regatta trace: its first bytes are not the magic of a .rgt file");
  SECTION("what makes a trace of another kind of file") {
    const auto other = [&](const std::string& name) {
      const std::string file = directory / name;
      write_bytes(file, "ptx = \"k.ptx\"\n");
      const std::string text = read_all(file),
                        begin = file + ": not a regatta trace: its first bytes are not the magic of a .rgt file";
      return text.rfind(begin, 0) == 0 ? text.substr(begin.size()) : "otherwise: " + text;
    };
    const std::string then = "(compiler/launch/README.md), then: regatta-annotate --launch FILE.toml --out FILE.rgt";
    CHECK(other("hist.toml") == "; a launch file? first: regatta-annotate --launch " + directory / "hist.toml" +
                                    " --out " + directory / "hist.rgt");
    CHECK(other("a b.toml") == "; a launch file? first: regatta-annotate --launch '" + directory / "a b.toml" +
                                   "' --out '" + directory / "a b.rgt" + "'");
    CHECK(other("k.ptx") == "; PTX? write a launch file that names it " + then);
    CHECK(other("k.cu") == "; CUDA source? compile it to PTX, write a launch file that names the PTX " + then);
    CHECK(other("k.txt").empty());
    CHECK(other("toml").empty());
  }
  std::string bytes = good;
  bytes[8] = 7;
  CHECK(message(bytes) == "format version 7 is too new: this reads up to version 6");
  bytes[8] = 0;
  CHECK(message(bytes) == "byte 8: format version 0 does not exist: the file is corrupted");

  for (const std::size_t length : {std::size_t{5}, std::size_t{11}, std::size_t{12}, std::size_t{67}}) {
    CHECK(message(good.substr(0, length)) ==
          "the file is truncated: it ends after " + std::to_string(length) + " bytes");
  }
  for (const std::size_t length : {std::size_t{68}, starts[1], starts[5] + 40, starts.back(), good.size() - 1}) {
    CHECK(message(good.substr(0, length)) ==
          at(length - 24) + "trailer: the end mark is missing: the file is truncated or was not finished");
  }
  CHECK(message(good + "x") ==
        at(good.size() - 23) + "trailer: the end mark is missing: the file is truncated or was not finished");

  bytes = good;
  bytes[starts[4] + 50] ^= 1;  // frames 0 and 1 are the kernels
  CHECK(message(bytes) == at(starts[4]) + "CTA 2 of launch 0: checksum is wrong: the file is corrupted");
  bytes = good;
  bytes[starts[4] + 14] ^= 1;
  CHECK(message(bytes).rfind(at(starts[4]) + "CTA 2 of launch 0: a payload of ", 0) == 0);
  bytes = good;
  bytes[starts[4] + 22] ^= 1;  // terabytes
  CHECK(message(bytes).rfind(at(starts[4]) + "CTA 2 of launch 0: sizes are impossible: ", 0) == 0);
  bytes = good;
  bytes[starts[4]] ^= 1;
  CHECK(message(bytes) == at(starts[4]) + "CTA 2 of launch 0: no frame begins there: the file is corrupted");
  bytes = good;
  bytes[starts[1] + 40] ^= 1;
  CHECK(message(bytes) == at(starts[1]) + "kernel 1: checksum is wrong: the file is corrupted");
  bytes = good;
  bytes[starts.back() + 40] ^= 1;
  CHECK(message(bytes) == at(starts.back()) + "index: checksum is wrong: the file is corrupted");
  bytes = good;
  bytes[good.size() - 20] ^= 1;
  CHECK(message(bytes) == at(good.size() - 24) + "trailer: checksum of the trailer is wrong: the file is corrupted");

  bytes = good;
  bytes.replace(good.size() - 24, 24, make_trailer(starts[3]));
  CHECK(message(bytes) == at(starts[3]) + "index: the frame's kind is CTA, expected index");
  bytes.replace(good.size() - 24, 24, make_trailer(good.size() + 5));
  CHECK(message(bytes) == at(good.size() + 5) + "index: a frame header does not fit there");
}

TEST_CASE("the stream gives what is whole, then the error, again and again") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.rgt";
  write_sample(path, 2);
  std::string bytes = read_bytes(path);
  bytes[frame_starts(bytes)[2 + 3] + 60] ^= 4;
  write_bytes(path, bytes);
  const Reader reader(path);
  const auto stream = reader.stream(0, 15);
  for (unsigned n = 0; n < 3; ++n) CHECK(stream->next() != nullptr);
  CHECK_THROWS_AS(stream->next(), InputError);
  CHECK_THROWS_AS(stream->next(), InputError);
  CHECK_THROWS_AS(reader.read(3), InputError);
  CHECK(reader.read(4)->index == 4);
}

// Checksums made right again, so that the corruption reaches the messages and what stands in them.
TEST_CASE("corrupted messages under right checksums never crash") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a.rgt";
  write_sample(path, 4);
  const std::string good = read_bytes(path);
  const auto starts = frame_starts(good);
  const std::size_t index = starts.back();
  Random random(4);
  unsigned refused = 0;

  SECTION("index") {
    for (unsigned n = 0; n < 1000; ++n) {
      std::string raw = *frame_payload(good, index);
      for (unsigned i = 0; i < 1 + n % 3; ++i) raw[random() % raw.size()] = static_cast<char>(random());
      write_bytes(path, good.substr(0, index) + make_frame(3, raw) + make_trailer(index));
      if (!read_all(path).empty()) ++refused;
    }
    CHECK(refused > 900);
  }
  SECTION("kernels and CTAs") {
    // A file of one frame each, so that the index needs no new offsets but the last: rebuilt through its own bytes.
    for (unsigned n = 0; n < 2000; ++n) {
      const std::size_t victim = random() % 4;
      std::string raw = *frame_payload(good, starts[victim]);
      for (unsigned i = 0; i < 1 + n % 3; ++i) {
        char& c = raw[random() % raw.size()];
        c = static_cast<char>(random() % 2 == 0 ? c ^ (1 << random() % 8) : random());
      }
      const std::uint64_t old_bytes = starts[victim + 1] - starts[victim];
      std::string frame = make_frame(victim < 2 ? 1 : 2, raw);
      if (frame.size() > old_bytes) continue;
      // A skippable zstd frame fills the payload to its old size, so that no offset changes.
      const std::uint64_t gap = old_bytes - frame.size();
      if (gap != 0 && gap < 8) continue;
      if (gap != 0) {
        std::string filler(gap, '\0');
        put<std::uint32_t>(filler, 0, 0x184d2a50);
        put<std::uint32_t>(filler, 4, static_cast<std::uint32_t>(gap - 8));
        frame += filler;
        put<std::uint64_t>(frame, 8, old_bytes - trace_frame_header);
        sign_frame(frame);
      }
      std::string bytes = good;
      bytes.replace(starts[victim], old_bytes, frame);
      write_bytes(path, bytes);
      if (!read_all(path).empty()) ++refused;
    }
    CHECK(refused > 100);
  }
}
