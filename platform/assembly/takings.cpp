// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/takings.h>

#include <array>

namespace regatta::assembly {

namespace {

std::string quoted(const std::string& name) { return "'" + name + "'"; }

template <class F>
void for_each_place(F&& f) {
  for (unsigned p = 0; p < place_count; ++p) f(static_cast<Place>(p));
}

const Claim* taker(const std::vector<Claim>& claims, Place place) {
  for (const Claim& c : claims) {
    if (c.takings.takes.has(place)) return &c;
  }
  return nullptr;
}

std::string clash_of_two(const Claim& a, const Claim& b) {
  std::string clash;
  for_each_place([&](Place p) {
    if (!clash.empty() || !is_exclusive(p) || !a.takings.takes.has(p) || !b.takings.takes.has(p)) return;
    clash = "both " + quoted(a.scheme) + " and " + quoted(b.scheme) + " take " + to_string(p) +
            ": expected schemes that take different parts of an SM";
  });
  return clash;
}

/// Whether the schemes' storage is what `c` needs. The baseline's provides everything.
std::string missing_of(const Claim& c, const std::vector<Claim>& claims) {
  const Claim* const storage = taker(claims, Place::storage);
  for (const Feature f : {Feature::given_windows, Feature::switched_rows}) {
    if (!c.takings.needs.has(f) || storage == nullptr || storage->takings.provides.has(f)) continue;
    return quoted(c.scheme) + " needs " + to_string(f) + ", and the operand storage of " + quoted(storage->scheme) +
           " has none: expected a scheme whose storage has them";
  }
  if (!c.takings.needs.has(Feature::leaving_ctas)) return {};
  for (const Claim& other : claims) {
    if (&other == &c || other.held_by_ctas.empty()) continue;
    return other.held_by_ctas + ": a CTA that is switched out would keep others from running";
  }
  return {};
}

}  // namespace

const char* to_string(Place p) {
  static constexpr std::array<const char*, place_count> names{
      "the operand storage", "the windows of warps", "the power of rows", "the contents of shared memory",
      "the reuse point",     "the write-back point", "the decode point",  "the residency of CTAs",
      "the warp scheduler",  "issue gates",          "fetch listeners",   "lifecycle listeners",
      "observers",           "clients of the L1"};
  return names[static_cast<unsigned>(p)];
}

const char* to_string(Feature f) {
  static constexpr std::array<const char*, feature_count> names{
      "windows that another block gives", "rows that sleep transistors can switch", "CTAs that can be switched out"};
  return names[static_cast<unsigned>(f)];
}

std::string clash_of(const std::vector<Claim>& claims) {
  for (std::size_t a = 0; a < claims.size(); ++a) {
    for (std::size_t b = a + 1; b < claims.size(); ++b) {
      if (std::string clash = clash_of_two(claims[a], claims[b]); !clash.empty()) return clash;
    }
  }
  for (const Claim& c : claims) {
    if (std::string missing = missing_of(c, claims); !missing.empty()) return missing;
  }
  return {};
}

unsigned layer_of(const Takings& t) {
  if (t.takes.has(Place::storage)) return 0;
  if (t.takes.has(Place::row_power)) return 2;
  return t.takes.has(Place::windows) || t.needs.has(Feature::leaving_ctas) ? 3 : 1;
}

std::string takings_table(const std::vector<Claim>& claims) {
  // Without the article.
  const auto noun = [](Place p) {
    const std::string name = to_string(p);
    return name.rfind("the ", 0) == 0 ? name.substr(4) : name;
  };
  const auto add = [](std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; };
  const auto or_none = [](const std::string& list) { return list.empty() ? std::string("-") : list; };
  std::string table = "| scheme | takes alone | adds to | needs | combines with |\n| --- | --- | --- | --- | --- |\n";
  for (const Claim& c : claims) {
    std::string alone, lists, needs, with;
    for_each_place([&](Place p) {
      if (c.takings.takes.has(p)) add(is_exclusive(p) ? alone : lists, noun(p));
      if (c.takings.yields.has(p)) add(alone, "(" + noun(p) + ")");
    });
    for (unsigned f = 0; f < feature_count; ++f) {
      if (c.takings.needs.has(static_cast<Feature>(f))) add(needs, to_string(static_cast<Feature>(f)));
    }
    for (const Claim& other : claims) {
      if (&other != &c && clash_of({c, other}).empty()) add(with, "`" + other.scheme + "`");
    }
    table += "| `" + c.scheme + "` | " + or_none(alone) + " | " + or_none(lists) + " | " + or_none(needs) + " | " +
             or_none(with) + " |\n";
  }
  return table;
}

}  // namespace regatta::assembly
