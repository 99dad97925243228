// SPDX-License-Identifier: Apache-2.0
#include "tool_report.h"

#include "why.h"

#include <regatta/support/table.h>

#include <fmt/format.h>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

namespace regatta::assembly {

namespace {

/// "1 of 16 SMs of gtx980 runs all CTAs, with its share of the L2 and of DRAM bandwidth (--sms 16: the whole GPU)"
std::string simulated_part(const ToolOptions& o, const MachineConfig& machine) {
  if (machine.sms == 1) return "the only SM of " + o.machine;
  if (o.sms == machine.sms) return fmt::format("all {} SMs of {}", o.sms, o.machine);
  return fmt::format(
      "{} of {} SMs of {} {} all CTAs, with {} share of the L2 and of DRAM bandwidth (--sms {}: the whole GPU)", o.sms,
      machine.sms, o.machine, o.sms == 1 ? "runs" : "run", o.sms == 1 ? "its" : "their", machine.sms);
}

/// Instructions per cycle of all simulated SMs, and of one of them.
std::vector<std::string> ipc_cells(std::uint64_t instructions, std::uint64_t cycles, unsigned sms) {
  if (cycles == 0) return std::vector<std::string>(sms == 1 ? 1 : 2, "-");
  const double ipc = double(instructions) / double(cycles);
  std::vector<std::string> cells{support::fixed(ipc, 3)};
  if (sms != 1) cells.push_back(support::fixed(ipc / sms, 3));
  return cells;
}

}  // namespace

void print_summary(const SimulationResult& r, const ToolOptions& o, const MachineConfig& machine,
                   const trace::Reader& trace) {
  using support::fixed;
  using support::with_thousands;
  const unsigned sms = o.replay ? 1 : o.sms;
  std::vector<support::Table::Column> columns{
      {"launch", support::Table::Align::right}, "kernel",
      {"CTAs", support::Table::Align::right},   {"warp instructions", support::Table::Align::right},
      {"cycles", support::Table::Align::right}, {"IPC", support::Table::Align::right}};
  if (sms != 1) columns.emplace_back("IPC of an SM", support::Table::Align::right);
  support::Table launches(std::move(columns));
  const auto row = [&](std::vector<std::string> cells, std::uint64_t instructions, std::uint64_t cycles) {
    for (std::string& cell : ipc_cells(instructions, cycles, sms)) cells.push_back(std::move(cell));
    launches.row(std::move(cells));
  };
  // An iterative program has many launches; the first few are representative.
  constexpr std::size_t shown = 8;
  for (std::size_t i = 0; i < r.launches.size() && i < shown; ++i) {
    const LaunchResult& l = r.launches[i];
    row({std::to_string(l.index), l.kernel, with_thousands(l.ctas), with_thousands(l.warp_instructions),
         with_thousands(l.cycles)},
        l.warp_instructions, l.cycles);
  }
  if (r.launches.size() > shown) launches.row({"...", fmt::format("{} more", r.launches.size() - shown)});
  launches.rule();
  std::uint64_t ctas = 0;
  for (const LaunchResult& l : r.launches) ctas += l.ctas;
  row({"", "total", with_thousands(ctas), with_thousands(r.warp_instructions), with_thousands(r.cycles)},
      r.warp_instructions, r.cycles);
  const std::string variant = trace.variants().size() > 1 ? ", variant " + trace.variant().name : "";
  std::cout << trace.path() << variant
            << (o.replay ? ", replayed" : " on " + o.machine + ", scheme " + o.scheme + o.setting) << "\n";
  if (!o.replay) std::cout << simulated_part(o, machine) << "\n";
  if (!o.replay && !o.for_baseline.empty()) std::cout << "the baseline to compare with: " << o.for_baseline << "\n";
  std::cout << "\n" << launches.str() << "\n";
  // Of several schemes each reason has its name.
  const bool is_one = o.scheme.find('+') == std::string::npos;
  if (!r.idle.empty()) std::cout << (is_one ? o.scheme + ": " : "") << r.idle << "\n\n";

  if (r.skipped) {
    std::cout << "simulated " << r.launches.size() << " of " << trace.launches().size() << " launches; "
              << r.skipped->warmed.size() << " of the others passed through the tags of the L2 ("
              << with_thousands(r.skipped->warmed_warp_instructions) << " warp instructions)\n\n";
  }
  if (!o.replay) {
    std::uint64_t slots = 0;
    for (std::uint64_t s : r.stall_cycles) slots += s;
    support::Table stalls({"scheduler cycles", {"share", support::Table::Align::right}});
    for (unsigned s = 0; s < protocol::stall_count && slots != 0; ++s) {
      if (s >= protocol::common_stall_count && r.stall_cycles[s] == 0) continue;
      stalls.row({s == 0 ? "issued" : std::string("stalled: ") + protocol::to_string(static_cast<protocol::Stall>(s)),
                  support::percent(double(r.stall_cycles[s]) / double(slots))});
    }
    std::cout << stalls.str() << "\n";
    if (o.check) {
      std::cout << "operands checked: " << with_thousands(r.operands_checked);
      if (r.shared_words_checked) {
        std::cout << ", words of shared memory: " << with_thousands(*r.shared_words_checked);
      }
      std::cout << ", mismatches: " << r.mismatches << "\n";
      if (r.shared_words_checked == 0) {
        std::cout
            << "no word of shared memory was compared: the trace has contents of shared memory if it is annotated "
               "with --shared-values\n";
      }
    } else {
      std::cout << "operands not checked (--no-check)\n";
    }
    if (!o.checked_block.empty()) {
      std::cout << "protocol and contracts checked: " << o.checked_block
                << " is not one of regatta's own (--no-check-protocol leaves the check out)\n";
    }
  }
  if (!o.replay && r.energy.seconds > 0) {
    std::cout << "energy: " << fixed(r.energy.total_nj() * 1e-3, 1) << " uJ"
              << ", " << fixed(r.energy.total_nj() * 1e-9 / r.energy.seconds, 2) << " W, register structures "
              << support::percent(r.energy.total_nj() > 0 ? r.energy.of("register_structures") / r.energy.total_nj()
                                                          : 0)
              << "\n";
  }
  if (const WorkingSet& w = r.register_working_set; w.window != 0) {
    std::cout << "registers touched in " << w.window << " cycles: " << fixed(w.mean, 1) << " of an SM, at most "
              << w.peak << "\n";
  }
  if (const RegisterShare& u = r.register_use; u.window != 0) {
    std::cout << "allocated registers named in " << u.window << " instructions: " << support::percent(u.mean)
              << ", from " << support::percent(u.lowest) << " to " << support::percent(u.highest) << "\n";
  }
  std::cout << why_text(r.why);
  std::cout << "host: " << support::duration_text(r.seconds);
  if (r.seconds > 0)
    std::cout << ", " << support::with_prefix(double(r.warp_instructions) / r.seconds, "warp instructions/s");
  std::cout << "\n";
}

namespace {

/// What a statistic means, and the knobs of the waits that it counts.
std::string meaning(const nlohmann::ordered_json& description, const Waits& waits, const std::string& path,
                    const std::string& name) {
  std::string text = description.at("description").get<std::string>();
  const char* before = "; knobs: ";
  for (const std::string& knob : waits.knobs_of(path, name)) {
    text += before + knob;
    before = ", ";
  }
  return text;
}

}  // namespace

void print_stat_descriptions(const nlohmann::ordered_json& descriptions, const Waits& waits) {
  support::Table table({{"statistic"}, {"unit"}, {"meaning"}});
  for (const auto& [path, group] : descriptions.items()) {
    for (const auto& [name, d] : group.items()) {
      table.row({path + "." + name, d.at("unit").get<std::string>(), meaning(d, waits, path, name)});
    }
  }
  std::cout << table.str();
}

void print_stats(const nlohmann::ordered_json& stats, const nlohmann::ordered_json& descriptions, bool describe,
                 const Waits& waits) {
  std::vector<support::Table::Column> columns{"statistic", {"value", support::Table::Align::right}, "unit"};
  if (describe) columns.emplace_back("meaning");
  support::Table table(columns);
  for (const auto& [path, group] : stats.items()) {
    for (const auto& [name, value] : group.items()) {
      const auto& d = descriptions.at(path).at(name);
      std::vector<std::string> row{path + "." + name, value.dump(), d.at("unit").get<std::string>()};
      if (describe) row.push_back(meaning(d, waits, path, name));
      table.row(row);
    }
  }
  std::cout << "\n" << table.str();
}

void print_energy(const SimulationResult& r) {
  using support::fixed;
  using support::percent;
  using support::Table;
  constexpr auto right = Table::Align::right;
  const support::EnergyReport& e = r.energy;
  const double total = e.total_nj();
  const auto share = [&](double nj) { return total > 0 ? percent(nj / total) : std::string("-"); };
  const auto uj = [](double nj) { return fixed(nj * 1e-3, 3); };
  Table structures({{"structure"}, {"dynamic uJ", right}, {"static uJ", right}, {"total uJ", right}, {"share", right}});
  for (const auto& [name, nj] : e.by_structure()) {
    structures.row({name, uj(nj.first), uj(nj.second), uj(nj.first + nj.second), share(nj.first + nj.second)});
  }
  structures.rule();
  structures.row({"total", uj(e.dynamic_nj()), uj(e.static_nj()), uj(total), share(total)});
  Table events(
      {{"event"}, {"count", right}, {"pJ, mW", right}, {"uJ", right}, {"share", right}, {"basis"}, {"scaled"}});
  for (const support::EnergyTerm& t : e.terms()) {
    events.row({t.value.value.name, t.is_static ? fixed(t.count * 1e6, 3) + " us" : fixed(t.count, 0),
                fixed(t.value.scaled, 1), uj(t.nj), share(t.nj), support::to_string(t.value.value.basis),
                (t.module.empty() ? "" : t.module + ": ") + t.value.note});
  }
  Table bases({{"basis of the numbers"}, {"uJ", right}, {"share", right}});
  for (unsigned b = 0; b < support::basis_count; ++b) {
    const double nj = e.of(static_cast<support::Basis>(b));
    bases.row({support::to_string(static_cast<support::Basis>(b)), uj(nj), share(nj)});
  }
  std::cout << "\nenergy table " << r.energy_table << "\n"
            << structures.str() << "\n"
            << events.str() << "\n"
            << bases.str();
}

void print_cpi(const SimulationResult& r) {
  using support::Table;
  // Many launches of an iterative program: the first few, and all of them together.
  constexpr std::size_t shown = 6;
  std::vector<Table::Column> columns{"cycles per warp instruction"};
  std::vector<nlohmann::ordered_json> stacks;
  std::vector<double> totals;
  for (std::size_t i = 0; i < r.launches.size() && i < shown && r.launches.size() > 1; ++i) {
    const LaunchResult& l = r.launches[i];
    columns.emplace_back("launch " + std::to_string(l.index), Table::Align::right);
    stacks.push_back(cpi_stack(l.stall_cycles, l.warp_instructions, r.schedulers));
    totals.push_back(double(l.cycles) / double(std::max<std::uint64_t>(1, l.warp_instructions)));
  }
  columns.emplace_back("all launches", Table::Align::right);
  stacks.push_back(cpi_stack(r.stall_cycles, r.warp_instructions, r.schedulers));
  totals.push_back(double(r.cycles) / double(std::max<std::uint64_t>(1, r.warp_instructions)));
  Table table(columns);
  auto row = [&](const std::string& label, auto&& value) {
    std::vector<std::string> cells{label};
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      cells.push_back(stacks[i].empty() ? "-" : support::fixed(value(i), 3));
    }
    table.row(std::move(cells));
  };
  for (const auto& [reason, cycles] : stacks.back().items()) {
    if (cycles.is_number())
      row(reason, [&, &name = reason](std::size_t i) { return stacks[i].at(name).template get<double>(); });
  }
  table.rule();
  row("total", [&](std::size_t i) { return totals[i]; });
  if (stacks.back().contains("structural_by_unit")) {
    for (const auto& [unit, cycles] : stacks.back().at("structural_by_unit").items()) {
      row("structural, " + unit, [&, &name = unit](std::size_t i) {
        return stacks[i].at("structural_by_unit").at(name).template get<double>();
      });
    }
  }
  std::cout << "\n" << table.str();
  if (r.launches.size() > shown)
    std::cout << r.launches.size() - shown << " more launches: in the file of --stats, launches[].stall_cycles\n";
}

}  // namespace regatta::assembly
