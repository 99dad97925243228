// SPDX-License-Identifier: Apache-2.0
//
// What schemes say that they take of an SM is what they change in it, and the page of the schemes says the same.
#include <regatta/baseline/occupancy_residency.h>
#include <regatta/baseline/register_file.h>
#include <regatta/baseline/row_power.h>
#include <regatta/schemes/schemes.h>
#include <regatta/test/catch.h>

#include <fstream>
#include <sstream>
#include <string>
#include <typeinfo>

#include "scheme_runs.h"

using namespace regatta;
using assembly::Claim;
using assembly::Place;
using assembly::SetOf;
using assembly::SmParts;

namespace {

/// The parts that differ from the baseline's.
SetOf<Place> changed_parts(const SmParts& parts) {
  SetOf<Place> changed;
  const auto add = [&](Place place, bool is_changed) {
    if (is_changed) changed.add(place);
  };
  const protocol::OperandStorage& storage = *parts.storage;
  const protocol::Residency& residency = *parts.residency;
  add(Place::storage, typeid(storage) != typeid(models::RegisterFile));
  add(Place::residency, typeid(residency) != typeid(models::OccupancyResidency));
  if (auto* file = dynamic_cast<models::MovableFile*>(parts.storage.get()); file != nullptr) {
    add(Place::windows, file->window_port().size() != 0 || file->own_windows() != "fixed");
  }
  for (const auto& module : parts.modules) {
    add(Place::row_power, dynamic_cast<const models::RowPower*>(module.get()) != nullptr);
  }
  add(Place::shared_contents, parts.shared_contents != nullptr);
  add(Place::reuse_point, parts.reuse_point != nullptr);
  add(Place::writeback_point, parts.writeback_point != nullptr);
  add(Place::decode_point, parts.decode_point != nullptr);
  add(Place::gates, !parts.gates.empty());
  add(Place::fetch_listeners, !parts.fetch_listeners.empty());
  add(Place::listeners, !parts.listeners.empty());
  add(Place::observers, !parts.observers.empty());
  add(Place::l1_clients, !parts.l1_clients.empty());
  return changed;
}

void check_takings(const test::SchemeCase& c) {
  const assembly::SchemeRegistry registry = schemes::all();
  const std::optional<assembly::Takings> said = registry.get(c.scheme).takings();
  REQUIRE(said);
  const bool by_default = c.name == c.scheme;
  unsigned seen = 0;
  test::run_scheme(c, [&](SmParts& parts) {
    ++seen;
    const SetOf<Place> changed = changed_parts(parts);
    for (unsigned i = 0; i < assembly::place_count; ++i) {
      const auto place = static_cast<Place>(i);
      INFO(c.scheme << ": " << to_string(place));
      if (changed.has(place)) CHECK((said->takes.has(place) || said->yields.has(place)));
      // With other knobs it may take less. The windows of a file that lets nobody give them are its own.
      if (!by_default || !is_exclusive(place) || !said->takes.has(place)) continue;
      CHECK(changed.has(place));
    }
  });
  CHECK(seen == 2);
}

const test::ForEachScheme all{"a scheme changes the parts that it says it takes", check_takings};

std::string page() {
  std::ifstream file(REGATTA_SOURCE_DIR "/models/SCHEMES.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Claim claim(const std::string& scheme, SetOf<Place> takes, SetOf<assembly::Feature> needs = {},
            SetOf<assembly::Feature> provides = {}) {
  assembly::Takings t;
  t.takes = takes;
  t.needs = needs;
  t.provides = provides;
  return Claim{scheme, t, {}};
}

}  // namespace

TEST_CASE("every scheme says what it takes") {
  const assembly::SchemeRegistry registry = schemes::all();
  CHECK(registry.claims().size() == registry.schemes().size());
}

TEST_CASE("models/SCHEMES.md has the table of what schemes take") {
  const std::string table = assembly::takings_table(schemes::all().claims());
  const std::string expected = REGATTA_BINARY_DIR "/takings.txt";
  std::ofstream(expected) << table;
  INFO("expected the table that is in " << expected << " now");
  CHECK(page().find("\n" + table + "\n") != std::string::npos);
}

TEST_CASE("schemes clash where both take a part, or one lacks what the other needs") {
  using assembly::Feature;
  const Claim file = claim("file", {Place::storage, Place::gates});
  const Claim windowed = claim("windowed", {Place::storage, Place::gates}, {}, {Feature::given_windows});
  const Claim mover = claim("mover", {Place::windows, Place::gates}, {Feature::given_windows});
  CHECK(assembly::clash_of({file, windowed}) ==
        "both 'file' and 'windowed' take the operand storage: expected schemes that take different parts of an SM");
  CHECK(assembly::clash_of({mover, file}) ==
        "'mover' needs windows that another block gives, and the operand storage of 'file' has none: expected a scheme "
        "whose storage has them");
  CHECK(assembly::clash_of({mover, windowed}).empty());
  CHECK(assembly::clash_of({mover}).empty());  // the baseline's
  CHECK(assembly::clash_of({mover, claim("gate", {Place::gates}), mover}).find("both 'mover' and 'mover'") == 0);
  CHECK(assembly::layer_of(file.takings) < assembly::layer_of(claim("gate", {Place::gates}).takings));
  CHECK(assembly::layer_of(claim("gate", {Place::gates}).takings) < assembly::layer_of(mover.takings));
}

TEST_CASE("a scheme is the same machine whatever the order of its names") {
  const assembly::SchemeRegistry registry = schemes::all();
  CHECK(registry.get("greener+finereg").stat_groups() == registry.get("finereg+greener").stat_groups());
  CHECK(registry.get("greener+finereg").name() == "greener+finereg");
  CHECK(&registry.get("finereg+greener") == &registry.get("finereg+greener"));
  CHECK(registry.is_own("finereg+greener"));
  CHECK_FALSE(registry.is_own("finereg+another"));
}
