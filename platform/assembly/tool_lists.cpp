// SPDX-License-Identifier: Apache-2.0
#include "tool_lists.h"

#include <regatta/assembly/machine.h>
#include <regatta/assembly/simulation.h>
#include <regatta/support/command_line.h>
#include <regatta/support/energy.h>
#include <regatta/support/table.h>
#include <regatta_embedded/energy_table.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "setting.h"

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

/// Entries by name, each with the schemes that add it; those of every scheme have none.
class ByName {
 public:
  /// `scheme`: the one that adds it; empty: the baseline.
  void add(ordered_json entry, const std::string& scheme) {
    const auto name = entry.at("name").get<std::string>();
    const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.first == name; });
    if (known == entries_.end()) {
      entry["schemes"] = ordered_json::array();
      if (!scheme.empty()) entry["schemes"].push_back(scheme);
      entries_.emplace_back(name, std::move(entry));
      return;
    }
    ordered_json& schemes = known->second["schemes"];
    if (!scheme.empty() && !schemes.empty() && schemes.back() != scheme) schemes.push_back(scheme);
  }

  /// Those with `part` in the name or in the help.
  ordered_json matching(const std::string& part) const {
    const auto lower = [](std::string text) {
      for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return text;
    };
    const std::string wanted = lower(part);
    ordered_json all = ordered_json::array();
    for (const auto& [name, entry] : entries_) {
      const std::string help = lower(entry.at("help").get<std::string>());
      if (lower(name).find(wanted) == std::string::npos && help.find(wanted) == std::string::npos) continue;
      all.push_back(entry);
    }
    return all;
  }

 private:
  std::vector<std::pair<std::string, ordered_json>> entries_;
};

/// A value as JSON, of its own type.
ordered_json value_of(const support::OptionValue& value) {
  return std::visit([](const auto& v) { return ordered_json(v); }, value);
}

void add_knobs(ByName& found, const support::OptionSet& knobs, const std::string& scheme) {
  std::vector<const support::Option*> sorted;
  for (const support::Option& option : knobs.options()) sorted.push_back(&option);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  for (const support::Option* o : sorted) {
    found.add({{"name", o->name},
               {"value", value_of(o->get())},
               {"default", value_of(o->default_value)},
               {"unit", o->unit},
               {"range", support::range_text(*o)},
               {"help", o->help}},
              scheme);
  }
}

/// Copies of a module are one: sm0.l1 is sm*.l1. The 1 of l1 counts no copies.
std::string pooled(const std::string& path) {
  const auto digit = [&](std::size_t i) { return std::isdigit(static_cast<unsigned char>(path[i])) != 0; };
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool of_level = i > 0 && path[i - 1] == 'l' && (i == 1 || path[i - 2] == '.' || path[i - 2] == '_');
    if (!digit(i) || of_level) {
      text += path[i];
      continue;
    }
    while (i + 1 < path.size() && digit(i + 1)) ++i;
    text += '*';
  }
  return text;
}

/// Of the scheme that is chosen only: SystemC elaborates one platform in a process.
void add_statistics(ByName& found, const Chosen& chosen) {
  const ordered_json described = Simulation::describe(chosen.machine, chosen.scheme, SimulationOptions{});
  for (const auto& [path, group] : described.items()) {
    for (const auto& [name, d] : group.items()) {
      found.add({{"name", pooled(path) + "." + name}, {"unit", d.at("unit")}, {"help", d.at("description")}}, "");
    }
  }
}

/// Of the scheme that is chosen, or else of the baseline and of all others, each in its paper's setting.
void all_knobs(ByName& found, const SchemeRegistry& registry, const PolicyRegistry& policies,
               const ToolOptions& options, const Chosen& chosen) {
  add_knobs(found, chosen.knobs, "");
  if (chosen.scheme_given) return;
  for (const auto& scheme : registry.schemes()) {
    if (scheme.get() == &chosen.scheme) continue;
    const Setting setting = setting_of(*scheme, chosen.machine_given ? options.machine : "");
    MachineConfig machine;
    machine.policies = policies;
    support::OptionSet knobs;
    machine.declare(knobs);
    scheme->declare(knobs);
    load_machine(knobs, machine, setting.machine);
    setting.apply(knobs, scheme->name());
    add_knobs(found, knobs, scheme->name());
  }
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

/// "regless", "always_on and 7 more"; "-" for what every scheme has.
std::string schemes_text(const ordered_json& schemes) {
  if (schemes.empty()) return "-";
  const auto first = schemes.front().get<std::string>();
  return schemes.size() == 1 ? first : first + " and " + std::to_string(schemes.size() - 1) + " more";
}

/// A line for each, however wide: it is to be searched.
std::string lines_of(bool knobs, const ordered_json& entries, bool of_one_scheme) {
  std::vector<Table::Column> columns{knobs ? "knob" : "statistic"};
  if (knobs) columns.insert(columns.end(), {"value", "range"});
  columns.emplace_back("unit");
  if (knobs && !of_one_scheme) columns.emplace_back("scheme");
  columns.emplace_back("what it is");
  Table table(columns);
  for (const ordered_json& one : entries) {
    std::vector<std::string> cells{one.at("name").get<std::string>()};
    if (knobs) {
      const ordered_json& value = one.at("value");
      cells.push_back(value.is_string() ? value.get<std::string>() : value.dump());
      cells.push_back(one.at("range").get<std::string>());
    }
    cells.push_back(one.at("unit").get<std::string>());
    if (knobs && !of_one_scheme) cells.push_back(schemes_text(one.at("schemes")));
    cells.push_back(one.at("help").get<std::string>());
    table.row(std::move(cells));
  }
  return table.str();
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

int print(const std::string& text) {
  std::cout << text << std::flush;
  if (!std::cout) throw support::ConfigError("the list cannot be written to standard output");
  return 0;
}

}  // namespace

int print_list(const ToolOptions& options, const SchemeRegistry& registry, const PolicyRegistry& policies,
               const Chosen& chosen) {
  refuse_files(options, "--list runs nothing");
  if (options.list == "knobs" || options.list == "statistics") {
    const bool knobs = options.list == "knobs";
    ByName found;
    if (knobs) {
      all_knobs(found, registry, policies, options, chosen);
    } else {
      add_statistics(found, chosen);
    }
    const ordered_json entries = found.matching(options.list_match);
    if (entries.empty()) {
      throw support::ConfigError("--match: found '" + options.list_match +
                                 "', expected a part of the name or of the help of one of the " + options.list);
    }
    return print(options.list_json ? entries.dump(2) + "\n" : lines_of(knobs, entries, chosen.scheme_given));
  }
  const ordered_json entries = options.list == "schemes"      ? schemes(registry)
                               : options.list == "machines"   ? machines(policies)
                               : options.list == "schedulers" ? schedulers(policies)
                                                              : energy_tables();
  return print(options.list_json ? entries.dump(2) + "\n" : text_of(options.list, entries));
}

}  // namespace regatta::assembly
