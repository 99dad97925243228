// SPDX-License-Identifier: Apache-2.0
// regatta-trace signatures: what is known of each launch without simulating it, as JSON.
#include <cinttypes>
#include <cstdio>
#include <string>

#include "commands.h"

namespace regatta::tool {
namespace {

using namespace trace;

/// A JSON string. Bytes that are no printable ASCII become escapes, one by one: names of kernels are identifiers.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte > 0x7e) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

class Fields {
 public:
  void add(const std::string& name, std::uint64_t value) { add_text(name, std::to_string(value)); }
  void add_text(const std::string& name, const std::string& json) {
    text_ += (text_.empty() ? "" : ", ") + quoted(name) + ": " + json;
  }
  /// The counts that are not 0.
  template <std::size_t size, class Name>
  void add_counts(const std::string& name, const std::array<std::uint64_t, size>& counts, Name name_of) {
    Fields fields;
    for (std::size_t i = 0; i < size; ++i) {
      if (counts[i] != 0) fields.add(name_of(i), counts[i]);
    }
    add_text(name, fields.json());
  }
  std::string json() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string launch_json(const Reader& reader, std::size_t number) {
  const Launch& launch = reader.launches()[number];
  const Kernel& kernel = reader.kernels()[launch.kernel];
  const LaunchSignature s = signature_of(reader, number);
  Fields f;
  f.add("launch", number);
  f.add_text("kernel", quoted(kernel.name));
  f.add("kernel_index", launch.kernel);
  f.add("ctas", launch.cta_count);
  f.add("threads_per_cta", launch.threads_per_cta());
  f.add("registers_per_thread", kernel.registers_per_thread);
  f.add("shared_bytes_per_cta", launch.shared_bytes_per_cta);
  f.add("warp_instructions", launch.warp_instructions);
  f.add("thread_instructions", launch.thread_instructions);
  f.add_counts("classes", s.classes, [](std::size_t i) { return to_string(static_cast<OpClass>(i)); });
  f.add_counts("values", s.values, [](std::size_t i) { return value_kind_name(static_cast<unsigned>(i)); });
  f.add("lines", s.lines);
  f.add("requests", s.requests);
  f.add("bytes", s.bytes);
  return f.json();
}

}  // namespace

void signatures(const Reader& reader) {
  std::printf("{\"line_bytes\": %u, \"launches\": [", LaunchSignature::line_bytes);
  for (std::size_t i = 0; i < reader.launches().size(); ++i) {
    std::printf("%s\n  %s", i == 0 ? "" : ",", launch_json(reader, i).c_str());
  }
  std::printf("\n]}\n");
}

}  // namespace regatta::tool
