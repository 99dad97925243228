// SPDX-License-Identifier: Apache-2.0
// regatta-trace signatures: what is known of each launch without simulating it, as JSON.
#include <nlohmann/json.hpp>

#include <cstdio>

#include "commands.h"

namespace regatta::tool {
namespace {

using namespace trace;

/// The counts that are not 0, by name.
template <std::size_t size, class Name>
nlohmann::ordered_json counts(const std::array<std::uint64_t, size>& values, Name name_of) {
  nlohmann::ordered_json found = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < size; ++i) {
    if (values[i] != 0) found[name_of(i)] = values[i];
  }
  return found;
}

nlohmann::ordered_json signature_json(const Reader& reader, std::size_t number) {
  const Launch& launch = reader.launches()[number];
  const Kernel& kernel = reader.kernels()[launch.kernel];
  const LaunchSignature s = signature_of(reader, number);
  return {{"launch", number},
          {"kernel", kernel.name},
          {"kernel_index", launch.kernel},
          {"ctas", launch.cta_count},
          {"threads_per_cta", launch.threads_per_cta()},
          {"registers_per_thread", kernel.registers_per_thread},
          {"shared_bytes_per_cta", launch.shared_bytes_per_cta},
          {"warp_instructions", launch.warp_instructions},
          {"thread_instructions", launch.thread_instructions},
          {"classes", counts(s.classes, [](std::size_t i) { return to_string(static_cast<OpClass>(i)); })},
          {"values", counts(s.values, [](std::size_t i) { return value_kind_name(static_cast<unsigned>(i)); })},
          {"lines", s.lines},
          {"requests", s.requests},
          {"bytes", s.bytes}};
}

}  // namespace

void signatures(const Reader& reader) {
  std::printf("{\"line_bytes\":%u,\"launches\":[", LaunchSignature::line_bytes);
  for (std::size_t i = 0; i < reader.launches().size(); ++i) {
    // Names come from a file: what is no UTF-8 is replaced, so that any trace gives valid JSON.
    const std::string line =
        signature_json(reader, i).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    std::printf("%s\n%s", i == 0 ? "" : ",", line.c_str());
  }
  std::printf("\n]}\n");
}

}  // namespace regatta::tool
