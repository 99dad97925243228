// SPDX-License-Identifier: Apache-2.0
#include <regatta/tool/console.h>

#include "scheme_codes.h"

#include <regatta/base/path.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>

namespace regatta::tool {

namespace {

constexpr std::size_t shown = 20;  // findings of a kind

void print_strays(const AnnotateOptions& o, const CodeResult& r) {
  if (o.out_of_bounds != OutOfBounds::warn) return;
  for (std::size_t i = 0; i < r.stray_reads.size() && i < shown; ++i) {
    const std::uint64_t lanes = r.stray_reads[i].lanes;
    std::cerr << r.stray_reads[i].message << " [" << lanes << (lanes == 1 ? " lane]\n" : " lanes]\n");
  }
  if (r.stray_reads.size() > shown) std::cerr << "... and " << r.stray_reads.size() - shown << " more instructions\n";
}

void print_races(const CodeResult& r) {
  for (std::size_t i = 0; i < r.races.size() && i < shown; ++i) {
    std::cerr << r.races[i].message << " [" << r.races[i].times << (r.races[i].times == 1 ? " time]\n" : " times]\n");
  }
  if (r.races.size() > shown) std::cerr << "... and " << r.races.size() - shown << " more pairs of instructions\n";
}

/// The table of --check: a line an entry, and why entries are refused.
void print_check(std::FILE* out, const AnnotateResult& r) {
  int width = static_cast<int>(std::string("entry").size());
  for (const auto& e : r.entries) width = std::max(width, static_cast<int>(e.name.size()));
  std::fprintf(out, "%-*s  %-8s  %9s  %6s  %7s  %12s  %6s", width, "entry", "", "registers", "budget", "spilled",
               "instructions", "blocks");
  if (!r.entries.empty()) {
    for (const passes::PassSummary& pass : r.entries.front().passes)
      for (const passes::TableColumn& c : pass.columns) std::fprintf(out, "  %s", c.heading.c_str());
  }
  std::fputc('\n', out);
  for (const auto& e : r.entries) {
    if (!e.accepted) {
      std::fprintf(out, "%-*s  refused\n", width, e.name.c_str());
      continue;
    }
    std::fprintf(out, "%-*s  accepted  %9u  %6u  %7u  %12llu  %6llu", width, e.name.c_str(), e.registers,
                 e.register_budget, e.spills, static_cast<unsigned long long>(e.instructions),
                 static_cast<unsigned long long>(e.blocks));
    for (const passes::PassSummary& pass : e.passes) {
      for (const passes::TableColumn& c : pass.columns) {
        const std::string value = pass.left_out.empty() ? std::to_string(c.value) : "-";
        std::fprintf(out, "  %*s", static_cast<int>(c.heading.size()), value.c_str());
      }
    }
    std::fputc('\n', out);
  }
}

/// Says why entries were refused. Returns whether any was.
bool print_refusals(const AnnotateResult& r) {
  std::size_t refused = 0;
  std::fflush(stdout);
  for (const auto& e : r.entries) {
    if (e.accepted) continue;
    ++refused;
    std::cerr << e.message << "\n";
  }
  if (refused == 0) return false;
  std::cerr << "regatta-annotate: " << refused << " of " << r.entries.size()
            << (r.entries.size() == 1 ? " entry" : " entries") << " refused\n";
  return true;
}

void print_warnings(const CodeResult& r) {
  for (const auto& e : r.entries) {
    for (const std::string& warning : e.warnings) std::cerr << warning << "\n";
  }
}

void print_summary(std::FILE* out, const AnnotateOptions& o, const CodeResult& r) {
  for (const auto& e : r.entries) {
    if (e.registers > e.registers_needed) {
      std::fprintf(out, "%s: %u registers are stated, %u needed\n", e.name.c_str(), e.registers, e.registers_needed);
    }
    std::string bound = e.register_budget == o.max_registers
                            ? ""
                            : " of at most " + std::to_string(e.register_budget) + " (" + e.budget_set_by + ")";
    if (e.entry_registers != 0) {
      bound = " of at most " + std::to_string(e.register_budget) + ", " + std::to_string(e.entry_registers) +
              " at its entry (" + e.budget_set_by + ")";
    }
    std::fprintf(out, "%s: %u register%s a thread%s", e.name.c_str(), e.registers, e.registers == 1 ? "" : "s",
                 bound.c_str());
    if (e.spills != 0) std::fprintf(out, ", %u spilled to %u bytes of local memory", e.spills, e.spill_bytes);
    std::fprintf(out, ", %llu instruction%s", static_cast<unsigned long long>(e.instructions),
                 e.instructions == 1 ? "" : "s");
    for (const passes::PassSummary& pass : e.passes) {
      const bool is_asked_for = !pass.is_default || (o.annotations && o.annotations->count(pass.name) != 0);
      if (is_asked_for && !pass.text.empty() && pass.left_out.empty()) std::fprintf(out, ", %s", pass.text.c_str());
    }
    std::fputc('\n', out);
    for (const passes::PassSummary& pass : e.passes) {
      if (!pass.left_out.empty())
        std::fprintf(out, "%s: no annotation '%s': %s\n", e.name.c_str(), pass.name.c_str(), pass.left_out.c_str());
    }
  }
  unsigned long long warp = 0, thread = 0, traced = 0;
  for (const auto& l : r.launches) {
    warp += l.warp_instructions;
    thread += l.thread_instructions;
    traced += l.traced_ctas;
  }
  std::fprintf(
      out, "%zu launch%s, %llu warp instructions, %llu thread instructions in %.2f s (%.1f M thread instructions/s)\n",
      r.launches.size(), r.launches.size() == 1 ? "" : "es", warp, thread, r.seconds,
      r.seconds > 0 ? static_cast<double>(thread) / r.seconds / 1e6 : 0.0);
  unsigned long long strays = 0;
  for (const emulator::StrayRead& s : r.stray_reads) strays += s.lanes;
  if (strays != 0) {
    std::fprintf(out, "%llu lane%s read outside of all buffers and got zero, at %zu instruction%s%s\n", strays,
                 strays == 1 ? "" : "s", r.stray_reads.size(), r.stray_reads.size() == 1 ? "" : "s",
                 o.out_of_bounds == OutOfBounds::zero ? " (--out-of-bounds warn names them)" : "");
  }
  if (!o.out.empty()) std::fprintf(out, "%s: %llu CTAs traced\n", o.out.c_str(), traced);
}

/// Whether a run leaves nothing but its summary, though nobody may want that.
bool asks_for_nothing(const AnnotateOptions& o) {
  return o.out.empty() && o.report.empty() && o.listing.empty() && o.dumps.empty() && !o.check_races;
}

/// Findings of one code; of a variant with its name. Returns whether a check failed.
bool print_findings(const AnnotateOptions& o, const CodeResult& r, const std::string& variant) {
  print_strays(o, r);
  print_races(r);
  for (const std::string& message : r.failed_expectations) std::cerr << message << variant << "\n";
  return !r.failed_expectations.empty() || !r.races.empty();
}

}  // namespace

int print_result(const AnnotateOptions& o, const AnnotateResult& result) {
  // The summary is not for a reader of the trace.
  bool is_taken = false;
  for (const std::string* path : {&o.out, &o.report, &o.listing}) is_taken |= base::is_standard_output(*path);
  for (const auto& dump : o.dumps) is_taken |= base::is_standard_output(dump.second);
  std::FILE* const out = is_taken ? stderr : stdout;
  if (!result.added.empty()) {
    std::fprintf(out, "%s\n", result.added.c_str());
    for (const std::string& line : result.without_variant) std::fprintf(out, "%s\n", line.c_str());
    return 0;
  }
  if (o.check) {
    print_check(out, result);
    std::fflush(out);
    print_warnings(result);
    return print_refusals(result) ? 2 : 0;
  }
  print_summary(out, o, result);
  for (const VariantResult& v : result.variants) {
    std::string schemes;
    for (const std::string& scheme : v.variant.schemes) schemes += (schemes.empty() ? "" : ", ") + scheme;
    std::fprintf(out, "\nvariant %s (%s), for %s\n", v.variant.name.c_str(), v.variant.options.c_str(),
                 schemes.c_str());
    AnnotateOptions of_variant = o;
    for (const trace::SchemeCode& code : trace::scheme_codes()) {
      if (code.name == v.variant.name) of_variant = with_code(o, code.options);
    }
    print_summary(out, of_variant, v);
  }
  for (const std::string& line : result.without_variant) std::fprintf(out, "%s\n", line.c_str());
  if (asks_for_nothing(o)) std::fprintf(out, "no trace written; --out FILE.rgt writes one\n");
  std::fflush(out);
  print_warnings(result);
  bool failed = print_findings(o, result, "");
  for (const VariantResult& v : result.variants) failed |= print_findings(o, v, " (variant " + v.variant.name + ")");
  return failed ? 3 : 0;
}

}  // namespace regatta::tool
