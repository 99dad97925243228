// SPDX-License-Identifier: Apache-2.0
#include "scheme_codes.h"

#include <algorithm>
#include <stdexcept>

namespace regatta::tool {

namespace {

/// The register budget of a code: no more than the user allows.
unsigned budget(const AnnotateOptions& options, const trace::CodeOption& option) {
  return std::min(options.max_registers, static_cast<unsigned>(std::stoul(option.value)));
}

bool is_of_pass(const AnnotateOptions& options, const std::string& name) {
  const std::vector<passes::PassOption> all = options.passes.options();
  return std::any_of(all.begin(), all.end(), [&](const passes::PassOption& o) { return o.name == name; });
}

}  // namespace

std::vector<trace::SchemeCode> codes_for(const std::vector<std::string>& schemes) {
  std::vector<trace::SchemeCode> codes;
  for (const trace::SchemeCode& code : trace::scheme_codes()) {
    const bool is_wanted = std::any_of(schemes.begin(), schemes.end(), [&](const std::string& scheme) {
      return std::find(code.schemes.begin(), code.schemes.end(), scheme) != code.schemes.end();
    });
    if (is_wanted) codes.push_back(code);
  }
  return codes;
}

AnnotateOptions with_code(AnnotateOptions options, const std::vector<trace::CodeOption>& code) {
  for (const trace::CodeOption& o : code) {
    if (o.name == "max-registers") {
      options.max_registers = budget(options, o);
    } else if (o.name == "warp-size") {
      options.warp_size = static_cast<unsigned>(std::stoul(o.value));
    } else if (o.name == "shared-values") {
      options.shared_values = true;
    } else if (is_of_pass(options, o.name)) {
      options.pass_options.emplace(o.name, o.value.empty() ? "on" : o.value);
    } else {
      throw std::logic_error("the code of a scheme has an option that cannot be set: --" + o.name);
    }
  }
  options.dumps.clear();
  options.print_nothing = true;  // the first code has printed it
  return options;
}

std::string options_text(const AnnotateOptions& options, const std::vector<trace::CodeOption>& code) {
  std::vector<trace::CodeOption> effective = code;
  for (trace::CodeOption& o : effective) {
    if (o.name == "max-registers") o.value = std::to_string(options.max_registers);
    const auto of_pass = options.pass_options.find(o.name);
    if (of_pass != options.pass_options.end() && !o.value.empty()) o.value = of_pass->second;
  }
  return trace::to_string(effective);
}

}  // namespace regatta::tool
