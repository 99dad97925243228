// SPDX-License-Identifier: Apache-2.0
// Traces with several codes of their program: each variant reads as a trace of its own would, and a file without one is
// of version 1.
#include <regatta/test/catch.h>
#include <regatta/trace/file.h>
#include <regatta/trace/scheme_code.h>
#include <regatta/trace/verify.h>

#include <trace.pb.h>
#include <set>

#include "sample.h"
#include "trace_container.h"

using namespace regatta::trace;
using namespace regatta::test;

namespace {

Reader of_variant(const std::string& path, const std::string& variant) {
  return Reader(path, SectionRegistry::with_builtin(), variant);
}

/// What a CTA did, as its warps' counts and columns say.
std::string text_of(const Reader& reader) {
  std::string text;
  const auto stream = reader.stream(0, reader.ctas().size());
  while (const auto cta = stream->next()) {
    text += std::to_string(cta->launch) + "/" + std::to_string(cta->index);
    for (const WarpColumns& w : cta->warps) {
      text += ":" + std::to_string(w.warp_instructions) + "," + std::to_string(w.thread_instructions) + ",";
      text.append(w.value_data.begin(), w.value_data.end());
    }
  }
  return text;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

/// The file with another index, whose places still fit.
std::string with_index(const std::string& good, const std::function<void(proto::Index&)>& change) {
  const std::size_t at = frame_starts(good).back();
  proto::Index index;
  REQUIRE(index.ParseFromString(frame_payload(good, at).value()));
  change(index);
  const auto version = get<std::uint32_t>(good, 8);
  return good.substr(0, at) + make_frame(3, index.SerializeAsString()) + make_trailer(at, version);
}

}  // namespace

TEST_CASE("each variant of a trace reads as a trace of its own does") {
  const TemporaryDirectory directory;
  const std::string path = directory / "v.rgt";
  write_variants(path, 5);
  write_sample(directory / "plain.rgt", 5);
  const Reader plain(path);
  CHECK(plain.version() == 2);
  CHECK(plain.variant().name == "plain");
  REQUIRE(plain.variants().size() == 3);
  CHECK(plain.variants()[1].variant.name == "fewer");
  CHECK(plain.variants()[1].variant.schemes == std::vector<std::string>{"a", "b"});
  CHECK(plain.variants()[1].variant.options == "--max-registers 63");
  CHECK(plain.variants()[2].variant.schemes == std::vector<std::string>{"c"});
  std::uint64_t bytes = 0;
  std::set<std::string> texts;
  for (const Reader::VariantEntry& v : plain.variants()) {
    CAPTURE(v.variant.name);
    CHECK(v.kernels == 2);
    CHECK(v.launches == 3);
    CHECK(v.ctas == 15);
    bytes += v.bytes;
    const Reader reader = of_variant(path, v.variant.name);
    CHECK(reader.variant().options == v.variant.options);
    REQUIRE(reader.ctas().size() == 15);
    CHECK(reader.read(14)->index == 5);
    CHECK(verify(reader, VerifyDepth::columns).warps > 0);
    texts.insert(text_of(reader));
  }
  CHECK(texts.size() == 3);
  const std::string all = read_bytes(path);
  CHECK(bytes == frame_starts(all).back() - trace_file_header);
  // The plain variant is what a file of its own has.
  const Reader own(directory / "plain.rgt");
  CHECK(own.version() == 1);
  CHECK(own.variants().size() == 1);
  CHECK(text_of(own) == text_of(plain));
  CHECK(own.data_digest() == plain.data_digest());
  CHECK(own.code_digest(0) == plain.code_digest(0));
  CHECK(code_digest(own.kernels()[0]) == plain.code_digest(0));
  CHECK(same_static_part(own.kernels()[1], plain.kernels()[1]));
  CHECK_FALSE(same_static_part(own.kernels()[1], plain.kernels()[0]));
}

TEST_CASE("a variant that is not there is refused with those that are") {
  const TemporaryDirectory directory;
  const std::string path = directory / "v.rgt";
  write_variants(path, 6);
  CHECK(error_of([&] { of_variant(path, "fewr"); }) ==
        path + ": no variant 'fewr', expected one of plain, fewer, wide; did you mean 'fewer'?");
  write_sample(path, 6);
  CHECK(error_of([&] { of_variant(path, "fewer"); }) == path + ": no variant 'fewer', expected one of plain");
}

TEST_CASE("a writer refuses variants that a reader could not tell apart") {
  const TemporaryDirectory directory;
  const std::string path = directory / "w.rgt";
  const std::string head = "trace::Writer: " + path + ": ";
  {
    Writer writer(path);
    CHECK(error_of([&] { writer.begin_variant({"fewer", {"a"}, ""}); }) == head + "variant 'fewer': was not announced");
    writer.add_kernel(sample_kernel(32));
    CHECK(error_of([&] { writer.announce_variants(); }) == head + "variants are announced too late");
  }
  Writer writer(path);
  writer.announce_variants();
  CHECK(error_of([&] { writer.finish(); }) == head + "the variants that were announced are missing");
  writer.add_kernel(sample_kernel(32));
  CHECK(error_of([&] {
          writer.begin_variant({"plain", {"a"}, ""});
        }) == head + "variant 'plain': two variants are called 'plain'");
  CHECK(error_of([&] {
          writer.begin_variant({"Fewer", {"a"}, ""});
        }) == head + "variant 'Fewer': the name of a variant is not made of lower-case letters, digits and '_'");
  writer.begin_variant({"fewer", {"a", "b"}, ""});
  CHECK(error_of([&] {
          writer.begin_variant({"wide", {"b"}, ""});
        }) == head + "variant 'wide': the scheme 'b' has two variants");
  CHECK(error_of([&] {
          writer.begin_variant({"fewer", {"c"}, ""});
        }) == head + "variant 'fewer': two variants are called 'fewer'");
  // A launch of a variant cannot use a kernel of another one.
  CHECK(error_of([&] { writer.begin_launch({}); }) != "");
  CHECK(writer.add_kernel(sample_kernel(64)) == 0);
}

TEST_CASE("damage to variants is refused with the place") {
  const TemporaryDirectory directory;
  const std::string path = directory / "v.rgt";
  write_variants(path, 7);
  const std::string good = read_bytes(path);
  const auto starts = frame_starts(good);
  const std::string index = "byte " + std::to_string(starts.back()) + ": index: ";
  const auto message = [&](const std::string& bytes, const std::string& variant) {
    write_bytes(path, bytes);
    const std::string text = error_of([&] { of_variant(path, variant).read(0); });
    return text.rfind(path + ": ", 0) == 0 ? text.substr(path.size() + 2) : "without path: " + text;
  };
  using proto::Index;
  CHECK(message(with_index(good, [](Index& i) { i.mutable_variants(1)->set_name("fewer"); }), "plain") ==
        index + "two variants are called 'fewer'");
  CHECK(message(with_index(good, [](Index& i) { i.mutable_variants(1)->set_name("a b"); }), "plain") ==
        index + "the name of a variant is not made of lower-case letters, digits and '_'");
  CHECK(message(with_index(good, [](Index& i) { i.mutable_variants(1)->add_schemes("a"); }), "plain") ==
        index + "the scheme 'a' has two variants");
  // The frames of all variants tile the file, whichever is read.
  const std::string places = message(with_index(good, [](Index& i) { i.mutable_variants()->RemoveLast(); }), "plain");
  CHECK(places.find(index + "the frames it names end at byte ") == 0);
  CHECK(message(with_index(good, [](Index& i) { *i.mutable_variants(0)->mutable_kernels(0) = i.kernels(0); }), "plain")
            .find(index + "names a frame at byte 12, expected the next at byte ") == 0);
  // What only the variant has is found when it is read.
  const auto fewer = with_index(good, [](Index& i) { i.mutable_variants(0)->mutable_launches(1)->set_kernel(2); });
  CHECK(message(fewer, "fewer").find("byte " + std::to_string(starts.back()) + ": index: variant fewer: launch 1: ") ==
        0);
  write_bytes(path, fewer);
  CHECK(error_of([&] { Reader(path).read(0); }).empty());
  std::string bytes = good;
  bytes[starts[17] + 40] ^= 1;  // the first kernel of "fewer"
  CHECK(message(bytes, "fewer") ==
        "byte " + std::to_string(starts[17]) + ": variant fewer: kernel 0: checksum is wrong: the file is corrupted");
  // A file of version 1 has none, and the version is part of the trailer's checksum.
  bytes = good;
  bytes[8] = 1;
  CHECK(message(bytes, "plain").find("trailer: ") != std::string::npos);
  const std::string old = bytes.substr(0, bytes.size() - trace_trailer) + make_trailer(starts.back(), 1);
  CHECK(message(old, "plain") == index + "names variants, which files of version 1 do not have");
}

TEST_CASE("every scheme has one code, and the codes of a table are apart") {
  std::set<std::string> names, schemes;
  for (const SchemeCode& code : scheme_codes()) {
    CAPTURE(code.name);
    CHECK(names.insert(code.name).second);
    CHECK_FALSE(code.schemes.empty());
    CHECK_FALSE(code.options.empty());
    for (const std::string& scheme : code.schemes) {
      CHECK(schemes.insert(scheme).second);
      CHECK(code_of_scheme(scheme) == &code);
    }
  }
  CHECK(code_of_scheme("baseline") == nullptr);
  CHECK(code_of_scheme("nothing") == nullptr);
  CHECK(to_string(code_of_scheme("scratchpad_sharing")->options_for(true)) ==
        "--max-registers 63 --shared-values --scratchpad-layout 0.1");
  CHECK(annotation_of_scheme("rfv") == "rfv");
  CHECK_FALSE(annotation_of_scheme("um"));
}
