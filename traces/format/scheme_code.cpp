// SPDX-License-Identifier: Apache-2.0
#include <regatta/trace/scheme_code.h>

namespace regatta::trace {

namespace {

struct Needs {
  const char* scheme;
  const char* code;     ///< a name of code_options(); "": the first
  const char* section;  ///< "": none
};

// What the pages of the schemes use: models/<idea>/README.md. Fermi's machines, FineReg's tags and RFV's words know 63
// registers of a thread.
constexpr Needs needs[] = {
    {"baseline", "", ""},
    {"always_on", "", ""},
    {"greener", "", "power"},
    {"sleep_reg", "", ""},
    {"regless", "", "regions"},
    {"rfh", "", "rfh"},
    {"rfv", "registers_63", "rfv"},
    {"wir", "registers_63", ""},
    {"virtual_thread", "registers_63", ""},
    {"finereg", "registers_63", "liveness"},
    {"reg_dram", "registers_63", ""},
    {"vt_regmutex", "registers_63", "regmutex"},
    {"um", "registers_63", ""},
    {"vt_um", "registers_63", ""},
    {"finereg_um", "registers_63", "liveness"},
    {"warp_level_divergence", "registers_63", ""},
    {"register_sharing", "first_use", ""},
    {"scratchpad_sharing", "scratchpad_layout", ""},
    {"scratchpad_multiplexing", "scratchpad_layout", ""},
    {"rar", "lanes_64", ""},
    {"rc", "lanes_64", ""},
    {"rc_rar", "lanes_64", ""},
    {"wc", "lanes_64", ""},
    {"argo", "lanes_64", ""},
};

std::vector<SchemeCode> make_codes() {
  std::vector<SchemeCode> codes = {
      {"registers_63", {{"max-registers", "63"}}, {}},
      {"first_use", {{"max-registers", "63"}, {"reorder-registers", ""}}, {}},
      {"scratchpad_layout", {{"max-registers", "63"}}, {}, {{"shared-values", ""}, {"scratchpad-layout", "0.1"}}},
      {"lanes_64", {{"warp-size", "64"}}, {}},
  };
  for (SchemeCode& code : codes) {
    for (const Needs& n : needs) {
      if (code.name == n.code) code.schemes.emplace_back(n.scheme);
    }
  }
  return codes;
}

}  // namespace

std::vector<CodeOption> SchemeCode::options_for(bool shared_memory) const {
  std::vector<CodeOption> all = options;
  if (shared_memory) all.insert(all.end(), shared_memory_options.begin(), shared_memory_options.end());
  return all;
}

const std::vector<SchemeCode>& scheme_codes() {
  static const std::vector<SchemeCode> codes = make_codes();
  return codes;
}

const SchemeCode* code_of_scheme(const std::string& scheme) {
  for (const SchemeCode& code : scheme_codes()) {
    for (const std::string& s : code.schemes) {
      if (s == scheme) return &code;
    }
  }
  return nullptr;
}

std::optional<std::string> annotation_of_scheme(const std::string& scheme) {
  for (const Needs& n : needs) {
    if (scheme == n.scheme && n.section[0] != '\0') return n.section;
  }
  return std::nullopt;
}

std::vector<std::string> schemes_with_code() {
  std::vector<std::string> names;
  for (const Needs& n : needs) names.emplace_back(n.scheme);
  return names;
}

std::string to_string(const std::vector<CodeOption>& options) {
  std::string text;
  for (const CodeOption& o : options) {
    text += (text.empty() ? "--" : " --") + o.name + (o.value.empty() ? "" : " " + o.value);
  }
  return text;
}

}  // namespace regatta::trace
