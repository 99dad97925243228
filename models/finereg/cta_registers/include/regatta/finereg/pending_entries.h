// SPDX-License-Identifier: Apache-2.0
//
// Between the register management unit of FineReg and the register file of pending CTAs (MICRO 2018, section V-D).
#pragma once

#include <regatta/protocol/ids.h>
#include <regatta/trace/types.h>

#include <cstdint>
#include <systemc>

namespace regatta::models {

/// Figure 11: the tag of an entry.
struct PendingTag {
  bool valid = false;
  bool end = false;        ///< the last register of its CTA
  std::uint16_t next = 0;  ///< entry of the CTA's next register; of no meaning at the end
  std::uint8_t warp = 0;   ///< in the CTA
  std::uint8_t reg = 0;
};

/// Entries of a tag and a warp register. One can be read and one written in a cycle; tags have a write port of
/// their own.
class PendingEntries : public virtual sc_core::sc_interface {
 public:
  virtual unsigned entries() const = 0;
  /// The port is free in the present cycle.
  virtual bool can_read() const = 0;
  virtual bool can_write() const = 0;
  virtual PendingTag read(unsigned entry, trace::WarpValue& value) = 0;
  virtual void write(unsigned entry, const PendingTag& tag, const trace::WarpValue& value) = 0;
  /// Writes some lanes of an entry: the result of a load of a pending CTA.
  virtual void merge(unsigned entry, protocol::LaneMask lanes, const trace::WarpValue& value) = 0;
  /// Writes only the tag.
  virtual void write_tag(unsigned entry, const PendingTag& tag) = 0;
  /// The tag, for who keeps the chain; takes no port.
  virtual const PendingTag& tag(unsigned entry) const = 0;
};

}  // namespace regatta::models
