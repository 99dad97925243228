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

PassList PassRegistry::make(const PassOptionValues& values) const {
  PassList passes;
  std::vector<std::string> names;
  std::size_t found = 0;
  for (const Factory& factory : factories_) {
    passes.push_back(factory());
    const PassOptions options = options_of(*passes.back());
    for (const PassOption& o : options.options()) {
      names.push_back(o.name);
      const auto given = values.find(o.name);
      if (given == values.end()) continue;
      options.set(o.name, given->second);
      ++found;
    }
  }
  if (found != values.size()) {
    for (const auto& [name, text] : values)
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw trace::InputError("error: no annotation pass has an option '" + name + "'" +
                                base::suggestion(name, names));
  }
  for (const auto& pass : passes) pass->validate();
  return passes;
}

}  // namespace regatta::passes
