// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/pass_registry.h>

#include <regatta/base/suggestion.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::passes {

namespace {

PassOptions options_of(AnnotationPass& pass) {
  PassOptions options;
  pass.declare(options);
  return options;
}

/// Refuses a name that none of `known` is.
void check_names(const std::set<std::string>& names, const std::vector<std::string>& known) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
    throw trace::InputError("error: --annotations '" + name + "', expected all, none or some of " + list +
                            base::suggestion(name, known));
  }
}

}  // namespace

void PassRegistry::add(Factory make) {
  const std::unique_ptr<AnnotationPass> added = make();
  const PassOptions options = options_of(*added);
  for (const Factory& factory : factories_) {
    const std::unique_ptr<AnnotationPass> known = factory();
    if (known->name() == added->name())
      throw std::invalid_argument("the annotation pass '" + added->name() + "' is registered already");
    const PassOptions taken = options_of(*known);
    for (const PassOption& o : taken.options())
      if (options.has(o.name))
        throw std::invalid_argument("passes '" + known->name() + "' and '" + added->name() +
                                    "' both have an option --" + o.name);
  }
  factories_.push_back(std::move(make));
}

std::vector<PassOption> PassRegistry::options() const {
  std::vector<PassOption> all;
  for (const Factory& factory : factories_) {
    const std::unique_ptr<AnnotationPass> pass = factory();
    const PassOptions options = options_of(*pass);
    all.insert(all.end(), options.options().begin(), options.options().end());
  }
  return all;
}

std::vector<std::string> PassRegistry::default_names() const {
  std::vector<std::string> names;
  for (const Factory& factory : factories_) {
    const std::unique_ptr<AnnotationPass> pass = factory();
    if (pass->by_default()) names.push_back(pass->name());
  }
  return names;
}

std::vector<std::string> PassRegistry::asked_names(const PassOptionValues& values) const {
  std::vector<std::string> names;
  for (const Factory& factory : factories_) {
    const std::unique_ptr<AnnotationPass> pass = factory();
    const PassOptions options = options_of(*pass);
    const auto is_asked = [&](const auto& value) { return options.has(value.first); };
    if (!pass->by_default() && std::any_of(values.begin(), values.end(), is_asked)) names.push_back(pass->name());
  }
  return names;
}

PassList PassRegistry::make(const PassOptionValues& values, const std::optional<std::set<std::string>>& names) const {
  if (names) check_names(*names, default_names());
  PassList passes;
  std::vector<std::string> known;
  std::size_t found = 0;
  for (const Factory& factory : factories_) {
    std::unique_ptr<AnnotationPass> pass = factory();
    const PassOptions options = options_of(*pass);
    const std::size_t before = found;
    for (const PassOption& o : options.options()) {
      known.push_back(o.name);
      const auto given = values.find(o.name);
      if (given == values.end()) continue;
      options.set(o.name, given->second);
      ++found;
    }
    if (!names || found != before || names->count(pass->name()) != 0) passes.push_back(std::move(pass));
  }
  if (found != values.size()) {
    for (const auto& [name, text] : values)
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw trace::InputError("error: no annotation pass has an option '" + name + "'" +
                                base::suggestion(name, known));
  }
  for (const auto& pass : passes) pass->validate();
  return passes;
}

}  // namespace regatta::passes
