// SPDX-License-Identifier: Apache-2.0
#include "trace_variant.h"

#include <regatta/trace/making.h>
#include <regatta/trace/scheme_code.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "scheme_parts.h"

namespace regatta::assembly {

namespace {

using trace::Making;

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::string names_of(const trace::Reader& trace) {
  std::string names;
  for (const trace::Reader::VariantEntry& v : trace.variants()) {
    names += (names.empty() ? "" : ", ") + v.variant.name;
  }
  return names;
}

bool fits(const trace::Reader& trace, const std::string& option, unsigned long value, unsigned lanes) {
  return std::all_of(trace.kernels().begin(), trace.kernels().end(), [&](const trace::Kernel& k) {
    return option == "warp-size" ? k.warp_size == value : k.registers_per_thread <= value && k.warp_size == lanes;
  });
}

/// A variant of the file that has what the options ask for; "" if none has, or that cannot be seen.
std::string fitting_variant(const trace::Reader& trace, const std::vector<Making::Option>& wanted) {
  if (wanted.size() != 1 || !wanted[0].value) return "";
  const std::string& name = wanted[0].name;
  if ((name != "warp-size" && name != "max-registers") || trace.kernels().empty()) return "";
  for (const trace::Reader::VariantEntry& v : trace.variants()) {
    if (v.variant.name == trace.variant().name) continue;
    const trace::Reader other(trace.path(), trace.sections(), v.variant.name);
    if (fits(other, name, std::stoul(*wanted[0].value), trace.kernels()[0].warp_size)) return v.variant.name;
  }
  return "";
}

/// The command that made the trace, without files that a new one would overwrite. If the trace does not say it, or its
/// launch file is not there, the general form.
Making making_of(const trace::Reader& trace) {
  std::error_code error;
  std::optional<Making> made = Making::of(trace.producer());
  if (!made || !std::filesystem::exists(*made->value("launch"), error)) {
    Making general;
    general.set("launch", "LAUNCH.toml");
    return general;
  }
  for (const char* output : {"report", "listing", "dump-buffer"}) made->remove(output);
  return *made;
}

/// "k.annotated.rgt" for "k.rgt": a trace is not written over while it is read.
std::string annotated_name(const std::string& path) {
  const std::filesystem::path old(path);
  return (old.parent_path() / (old.stem().string() + ".annotated.rgt")).string();
}

/// Whether a kernel's results are version tags: then regatta-import made the trace, and there is no program.
bool has_tags(const trace::Reader& trace) {
  return std::any_of(trace.kernels().begin(), trace.kernels().end(),
                     [](const trace::Kernel& k) { return k.version_tags; });
}

/// The remedy for a trace without a program: its code stays as it is, annotations can be added.
std::string remedy_without_program(const trace::Reader& trace, const std::vector<Making::Option>& wanted,
                                   const std::string& part) {
  const bool other_code = std::any_of(wanted.begin(), wanted.end(), [](const Making::Option& o) {
    return o.name == "max-registers" || o.name == "warp-size" || o.name == "scratchpad-layout" || o.name == "control";
  });
  if (other_code || (part.empty() && wanted.empty())) {
    return "\nThe trace was imported, and without its program no other code can be made of it";
  }
  Making making;
  making.set("trace", trace.path());
  if (!part.empty()) making.set("for", part);
  for (const Making::Option& o : wanted) making.set(o.name, o.value.value_or(""));
  making.set("out", annotated_name(trace.path()));
  return "\nThis command makes a trace that fits: " + making.text();
}

/// The part of a scheme that runs on a code of its own or needs an annotation; "" if none does.
std::string needy_part(const std::string& scheme) {
  for (const std::string& part : scheme_parts(scheme)) {
    if (trace::code_of_scheme(part) != nullptr) return part;
  }
  for (const std::string& part : scheme_parts(scheme)) {
    if (trace::annotation_of_scheme(part)) return part;
  }
  return "";
}

/// Whether the code of a scheme is made with this option.
bool is_in_code(const std::string& scheme, const Making::Option& option) {
  const trace::SchemeCode* code = trace::code_of_scheme(scheme);
  if (code == nullptr) return false;
  const std::vector<trace::CodeOption> options = code->options_for(true);
  return std::any_of(options.begin(), options.end(), [&](const trace::CodeOption& o) {
    return o.name == option.name && o.value == option.value.value_or("");
  });
}

}  // namespace

std::unique_ptr<const trace::Reader> open_variant(const std::string& path, const std::string& scheme,
                                                  const std::string& asked) {
  const auto open = [&](const std::string& variant) {
    return std::make_unique<const trace::Reader>(path, trace::SectionRegistry::with_builtin(), variant);
  };
  if (!asked.empty()) return open(asked);
  std::unique_ptr<const trace::Reader> first = open(trace::plain_variant);
  std::string chosen = trace::plain_variant, by;
  for (const std::string& part : scheme_parts(scheme)) {
    for (const trace::Reader::VariantEntry& v : first->variants()) {
      if (!has(v.variant.schemes, part) || v.variant.name == chosen) continue;
      if (!by.empty()) {
        throw support::ConfigError("--scheme: found '" + scheme + "', and of the variants of '" + path + "' " + by +
                                   " runs on " + chosen + ", " + part + " on " + v.variant.name +
                                   ": expected --variant NAME, one of " + names_of(*first));
      }
      chosen = v.variant.name;
      by = part;
    }
  }
  if (chosen == trace::plain_variant) return first;
  return open(chosen);
}

support::ConfigError with_remedy(const support::UnfitTrace& error, const trace::Reader& trace,
                                 const std::string& scheme) {
  const std::vector<Making::Option> wanted = Making::options_of(error.options());
  const std::string what = error.what();
  if (const std::string other = fitting_variant(trace, wanted); !other.empty()) {
    return support::ConfigError(what + "\nThe trace has such a code: run it with --variant " + other);
  }
  const std::string part = needy_part(scheme);
  if (has_tags(trace)) return support::ConfigError(what + remedy_without_program(trace, wanted, part));
  Making making = making_of(trace);
  making.set("out", trace.path());
  if (!part.empty()) making.add_scheme(part);
  for (const Making::Option& o : wanted) {
    if (part.empty() || !is_in_code(part, o)) making.set(o.name, o.value.value_or(""));
  }
  return support::ConfigError(what + "\nThis command makes a trace that fits: " + making.text());
}

}  // namespace regatta::assembly
