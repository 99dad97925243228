// SPDX-License-Identifier: Apache-2.0
//
// Which parts of an SM a scheme takes, and what it needs of the others: the table by which "--scheme a+b" decides
// whether schemes can be combined, and in which order they are built.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace regatta::assembly {

/// A part of an SM. One scheme at most has an exclusive part; the others are lists, to which every scheme adds.
enum class Place : std::uint8_t {
  storage,          ///< SmParts::storage
  windows,          ///< which rows of the storage a warp has
  row_power,        ///< power states of the storage's rows
  shared_contents,  ///< SmParts::shared_contents
  reuse_point,
  writeback_point,
  decode_point,
  residency,
  scheduler,
  gates,  ///< the first of the lists
  fetch_listeners,
  listeners,
  observers,
  l1_clients,
};
inline constexpr unsigned place_count = static_cast<unsigned>(Place::l1_clients) + 1;

inline constexpr bool is_exclusive(Place p) { return p < Place::gates; }
/// "the operand storage".
const char* to_string(Place p);

/// What a scheme can need of the parts that another one has.
enum class Feature : std::uint8_t {
  given_windows,  ///< the storage takes its windows from another block, and registers can move (models::MovableFile)
  switched_rows,  ///< the storage has rows that sleep transistors can switch
  leaving_ctas,   ///< a CTA can be switched out: it holds nothing for which another one waits
};
inline constexpr unsigned feature_count = static_cast<unsigned>(Feature::leaving_ctas) + 1;

/// "windows that it gives to warps".
const char* to_string(Feature f);

/// A set of enumerators.
template <class E>
class SetOf {
 public:
  SetOf() = default;
  SetOf(std::initializer_list<E> all) {
    for (const E e : all) add(e);
  }
  void add(E e) { bits_ |= 1u << static_cast<unsigned>(e); }
  void remove(E e) { bits_ &= ~(1u << static_cast<unsigned>(e)); }
  bool has(E e) const { return (bits_ >> static_cast<unsigned>(e) & 1) != 0; }
  bool empty() const { return bits_ == 0; }

 private:
  std::uint32_t bits_ = 0;
};

/// What a scheme takes of an SM, with any setting of its knobs.
struct Takings {
  SetOf<Place> takes;
  /// Exclusive parts that it replaces only if no other scheme takes them. As few as possible: a part of the other
  /// scheme then has to do.
  SetOf<Place> yields = {};
  SetOf<Feature> needs = {};
  /// Of its storage, if it takes one.
  SetOf<Feature> provides = {};
};

/// One of several schemes: its name and what it takes.
struct Claim {
  std::string scheme;
  Takings takings;
  std::string held_by_ctas;  ///< Scheme::held_by_ctas()
};

/// Why these schemes cannot be combined, as a clause that names two of them and the part; empty if they can.
std::string clash_of(const std::vector<Claim>& claims);

/// Schemes are built from the lowest layer to the highest, each on the parts of those below: a storage (0), what does
/// not depend on the storage (1), the power of its rows (2), what gives its windows or switches its CTAs (3).
unsigned layer_of(const Takings& takings);

/// The claims as a table in Markdown, a row per scheme, with the schemes that it can be combined with.
std::string takings_table(const std::vector<Claim>& claims);

}  // namespace regatta::assembly
