// SPDX-License-Identifier: Apache-2.0
#include "tool_lists.h"

#include <regatta/assembly/machine.h>
#include <regatta/support/energy.h>
#include <regatta/support/table.h>
#include <regatta_embedded/energy_table.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

namespace regatta::assembly {

namespace {

using nlohmann::ordered_json;
using support::Table;

/// Characters of a line, as of --help.
constexpr std::size_t line_width = 118;
/// Characters of the column with the setting of a paper.
constexpr std::size_t setting_width = 30;

/// The lines of `text`, broken at spaces, of at most `width` characters where words permit.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines{""};
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::string& line = lines.back();
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines.push_back(word);
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
  }
  return lines;
}

/// Adds an entry to the table, over several lines if a cell needs them: the last one is wrapped at `last_width`
/// characters, the one before it at setting_width.
void add_entry(Table& table, std::vector<std::string> cells, std::size_t last_width) {
  const std::size_t last = cells.size() - 1;
  const std::vector<std::string> help = wrapped(cells[last], last_width);
  const std::vector<std::string> before = wrapped(cells[last - 1], setting_width);
  for (std::size_t i = 0; i < std::max(help.size(), before.size()); ++i) {
    std::vector<std::string> line(i == 0 ? cells : std::vector<std::string>(cells.size()));
    line[last - 1] = i < before.size() ? before[i] : "";
    line[last] = i < help.size() ? help[i] : "";
    table.row(std::move(line));
  }
}

/// The first sentence of the comment at the top of a preset, without the line of its licence.
std::string first_sentence(const std::string& toml) {
  std::string text;
  std::istringstream lines(toml);
  for (std::string line; std::getline(lines, line) && line.rfind('#', 0) == 0;) {
    if (line.find("SPDX-") != std::string::npos) continue;
    const std::size_t from = line.find_first_not_of("# ");
    if (from == std::string::npos) continue;
    text += (text.empty() ? "" : " ") + line.substr(from);
  }
  const std::size_t end = std::min(text.find(". "), text.find("; "));
  text = text.substr(0, end);
  if (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

ordered_json schemes(const SchemeRegistry& registry) {
  ordered_json all = ordered_json::array();
  for (const auto& scheme : registry.schemes()) {
    ordered_json one{{"name", scheme->name()}, {"published", nullptr}, {"help", scheme->help()}};
    if (const std::optional<Published> published = scheme->published()) {
      ordered_json knobs = ordered_json::object();
      for (const auto& [name, value] : published->knobs) knobs[name] = value;
      one["published"] = {{"source", published->source}, {"machine", published->machine}, {"knobs", knobs}};
    }
    all.push_back(one);
  }
  return all;
}

ordered_json machines(const PolicyRegistry& policies) {
  ordered_json all = ordered_json::array();
  for (const std::string& name : machine_names()) {
    MachineConfig machine;
    machine.policies = policies;
    support::OptionSet knobs;
    machine.declare(knobs);
    load_machine(knobs, machine, name);
    std::string file;
    all.push_back({{"name", name},
                   {"sms", machine.sms},
                   {"schedulers", machine.sm.schedulers},
                   {"scheduler", machine.sm.scheduler},
                   {"warp_registers", machine.register_file.registers},
                   {"shared_bytes", machine.sm.shared_bytes},
                   {"l1_bytes", machine.l1.size_bytes},
                   {"help", first_sentence(machine_text(name, file))}});
  }
  return all;
}

ordered_json schedulers(const PolicyRegistry& policies) {
  ordered_json all = ordered_json::array();
  for (const SchedulerPolicy& policy : policies.schedulers()) {
    all.push_back({{"name", policy.name}, {"help", policy.help}});
  }
  return all;
}

ordered_json energy_tables() {
  ordered_json all = ordered_json::array();
  for (const std::string& name : energy_table_names()) {
    all.push_back({{"name", name}, {"help", first_sentence(std::string(*embedded::energy_table(name)))}});
  }
  return all;
}

/// "gtx480 (HPCA 2018), sm.scheduler lrr".
std::string setting_text(const ordered_json& published) {
  if (published.is_null()) return "-";
  std::string text = published.at("machine").get<std::string>();
  const auto source = published.at("source").get<std::string>();
  if (!source.empty()) text += " (" + source + ")";
  for (const auto& [name, value] : published.at("knobs").items()) text += ", " + name + " " + value.get<std::string>();
  return text;
}

/// Characters of a column and of the blanks behind it.
std::size_t column_width(const ordered_json& entries, const std::string& key, const std::string& header) {
  std::size_t width = header.size();
  for (const ordered_json& one : entries) width = std::max(width, one.at(key).get<std::string>().size());
  return width + 2;
}

std::string text_of(const std::string& what, const ordered_json& entries) {
  const std::size_t name_width = column_width(entries, "name", "scheduler");
  const auto cell = [](const ordered_json& one, const char* key) { return one.at(key).get<std::string>(); };
  const auto number = [](const ordered_json& one, const char* key) {
    return support::with_thousands(one.at(key).get<std::uint64_t>());
  };
  const auto bytes = [](const ordered_json& one, const char* key) {
    return support::bytes_text(one.at(key).get<std::uint64_t>());
  };
  if (what == "schemes") {
    Table table({"scheme", "machine and knobs of its paper", "what it is"});
    for (const ordered_json& one : entries) {
      add_entry(table, {cell(one, "name"), setting_text(one.at("published")), cell(one, "help")},
                line_width - name_width - setting_width - 2);
    }
    return table.str() + "\nknobs of a scheme: regatta-sim --scheme NAME --help\n";
  }
  if (what == "machines") {
    constexpr auto right = Table::Align::right;
    Table table({"machine",
                 {"SMs", right},
                 {"schedulers", right},
                 {"registers", right},
                 {"shared", right},
                 {"L1", right},
                 "what it is"});
    for (const ordered_json& one : entries) {
      add_entry(table,
                {cell(one, "name"), number(one, "sms"), number(one, "schedulers"), number(one, "warp_registers"),
                 bytes(one, "shared_bytes"), bytes(one, "l1_bytes"), cell(one, "help")},
                48);
    }
    return table.str() + "\nOf one SM: schedulers, registers (each of a whole warp), shared memory, L1.\n";
  }
  Table table({what == "energy" ? "energy table" : "scheduler", "what it is"});
  for (const ordered_json& one : entries) table.row({cell(one, "name"), cell(one, "help")});
  return table.str();
}

}  // namespace

int print_list(const ToolOptions& options, const SchemeRegistry& registry, const PolicyRegistry& policies) {
  refuse_files(options, "--list runs nothing");
  const ordered_json entries = options.list == "schemes"      ? schemes(registry)
                               : options.list == "machines"   ? machines(policies)
                               : options.list == "schedulers" ? schedulers(policies)
                                                              : energy_tables();
  std::cout << (options.list_json ? entries.dump(2) + "\n" : text_of(options.list, entries)) << std::flush;
  if (!std::cout) throw support::ConfigError("the list cannot be written to standard output");
  return 0;
}

}  // namespace regatta::assembly
