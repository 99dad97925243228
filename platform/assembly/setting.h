// SPDX-License-Identifier: Apache-2.0
//
// The machine and the knobs with which a run begins: those of the scheme's paper, unless the user names a machine.
#pragma once

#include <regatta/assembly/scheme.h>
#include <regatta/support/config.h>

#include <string>

namespace regatta::assembly {

/// The machine of schemes that no paper has run on another one.
inline constexpr const char* usual_machine = "gtx980";

struct Setting {
  std::string machine;
  std::string published;  ///< the machine of the scheme's paper; empty: none
  bool as_published = false;
  Published of;  ///< if as_published

  /// Sets the knobs of the paper, after those of the machine.
  void apply(support::OptionSet& knobs, const std::string& scheme) const;
  /// What a summary says of it, behind "SCHEME on MACHINE": ", as published (ISCA 2007): sm.scheduler = lrr"; or that
  /// the paper's machine is another one. Empty: nothing.
  std::string told(const Scheme& scheme) const;
  /// The options that give the baseline the same machine: "--machine gtx980 --sm.scheduler two_level". Empty: no scheme
  /// has chosen it.
  std::string for_baseline() const;
};

/// `machine`: as the user named it; empty: not at all.
Setting setting_of(const Scheme& scheme, const std::string& machine);

}  // namespace regatta::assembly
