// SPDX-License-Identifier: Apache-2.0
// The wear recorder's summary of the times that it has counted.
#include <regatta/aging/wear_recorder.h>

#include <algorithm>
#include <ostream>

namespace regatta::models {

namespace {

WearRecorder::Duty share(const WearRecorder::Times& t) {
  const auto total = static_cast<double>(t.total());
  if (t.total() == 0) return {};
  return {static_cast<double>(t.zero) / total, static_cast<double>(t.one) / total, static_cast<double>(t.off) / total};
}

struct Longest {
  WearRecorder::Times zero, one;
  void consider(const WearRecorder::Times& t) {
    if (zero.total() == 0 || t.zero > zero.zero) zero = t;
    if (one.total() == 0 || t.one > one.one) one = t;
  }
};

}  // namespace

/// The longest and the shortest time that a bit of the row in `mask` is one; adds the times of all bits to `sum`. From
/// the highest plane down, only bits that can still be the longest or the shortest are kept.
std::pair<std::uint64_t, std::uint64_t> WearRecorder::extremes(std::uint32_t row,
                                                               const std::vector<std::uint32_t>& mask,
                                                               std::uint64_t& sum) const {
  const std::uint32_t* planes = &planes_[std::size_t{row} * plane_count * lanes_];
  std::vector<std::uint32_t> most = mask;
  std::vector<std::uint32_t> least = mask;
  std::pair<std::uint64_t, std::uint64_t> found{0, 0};
  for (unsigned k = plane_count; k-- > 0;) {
    if ((rows_[row].added >> k) == 0) continue;
    const std::uint32_t* plane = planes + std::size_t{k} * lanes_;
    std::uint32_t ones = 0;
    std::uint32_t zeros = 0;
    std::uint64_t counted = 0;
    for (unsigned w = 0; w < lanes_; ++w) {
      ones |= most[w] & plane[w];
      zeros |= least[w] & ~plane[w];
      counted += static_cast<unsigned>(__builtin_popcount(mask[w] & plane[w]));
    }
    sum += counted << k;
    if (ones != 0) {
      found.first |= std::uint64_t{1} << k;
      for (unsigned w = 0; w < lanes_; ++w) most[w] &= plane[w];
    }
    if (zeros != 0) {
      for (unsigned w = 0; w < lanes_; ++w) least[w] &= ~plane[w];
    } else {
      found.second |= std::uint64_t{1} << k;
    }
  }
  return found;
}

/// Calls f(times) for a set of bits of the row that includes those that are a zero longest and a one longest; adds the
/// times of all bits to `sum`.
template <class F>
void WearRecorder::look_at(std::uint32_t row, Times& sum, F&& f) const {
  if (!wide_.empty()) {
    for (const Times& t : times(row)) {
      f(t);
      sum.zero += t.zero;
      sum.one += t.one;
      sum.off += t.off;
    }
    return;
  }
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const std::uint64_t bits = segments_[s] - (s == 0 ? 0 : segments_[s - 1]);
    const std::uint64_t off = off_[std::size_t{row} * max_segments + s];
    std::uint64_t ones = 0;
    const auto [most, least] = extremes(row, masks_[s], ones);
    f(Times{cycles_ - off - most, most, off});
    f(Times{cycles_ - off - least, least, off});
    sum.one += ones;
    sum.off += off * bits;
    sum.zero += (cycles_ - off) * bits - ones;
  }
}

const WearRecorder::Summary& WearRecorder::summary() const {
  if (summarised_) return summary_;
  summarised_ = true;
  summary_ = Summary{};
  if (cycles_ == 0) return summary_;
  const std::uint32_t slice_rows = (rows() + slices_ - 1) / slices_;
  double zero = 0;
  double one = 0;
  double off = 0;
  for (std::uint32_t first = 0; first < rows(); first += slice_rows) {
    Longest longest;
    bool used = false;
    for (std::uint32_t row = first; row < std::min(rows(), first + slice_rows); ++row) {
      if (!rows_[row].used && rows_[row].added == 0 && wide_.empty() &&
          off_[std::size_t{row} * max_segments] == cycles_) {
        off += static_cast<double>(cycles_) * row_bits();
        continue;
      }
      used = true;
      Times sum;
      look_at(row, sum, [&](const Times& t) { longest.consider(t); });
      zero += static_cast<double>(sum.zero);
      one += static_cast<double>(sum.one);
      off += static_cast<double>(sum.off);
    }
    if (!used) continue;
    summary_.longest_zero.push_back(share(longest.zero));
    summary_.longest_one.push_back(share(longest.one));
  }
  const double all = zero + one + off;
  summary_.mean = Duty{zero / all, one / all, off / all};
  return summary_;
}

std::vector<WearRecorder::Duty> WearRecorder::by_bit() const {
  std::vector<Duty> mean(row_bits());
  const double share_of_row = cycles_ == 0 ? 0 : 1.0 / (static_cast<double>(cycles_) * rows());
  for (std::uint32_t row = 0; row < rows(); ++row) {
    const std::vector<Times> all = times(row);
    for (std::size_t b = 0; b < all.size(); ++b) {
      mean[b].zero += static_cast<double>(all[b].zero) * share_of_row;
      mean[b].one += static_cast<double>(all[b].one) * share_of_row;
      mean[b].off += static_cast<double>(all[b].off) * share_of_row;
    }
  }
  return mean;
}

std::vector<std::pair<WearRecorder::Duty, WearRecorder::Duty>> WearRecorder::by_row() const {
  std::vector<std::pair<Duty, Duty>> all;
  for (std::uint32_t row = 0; row < rows(); ++row) {
    Longest longest;
    Times sum;
    look_at(row, sum, [&](const Times& t) { longest.consider(t); });
    all.emplace_back(share(longest.zero), share(longest.one));
  }
  return all;
}

void WearRecorder::write_rows(std::ostream& out, unsigned sm) const {
  const auto all = by_row();
  const std::uint32_t slice_rows = (rows() + slices_ - 1) / slices_;
  for (std::size_t row = 0; row < all.size(); ++row) {
    const auto& [z, o] = all[row];
    out << sm << ',' << row << ',' << row / slice_rows << ',' << z.zero << ',' << z.one << ',' << z.off << ',' << o.zero
        << ',' << o.one << ',' << o.off << '\n';
  }
}

void WearRecorder::write_bits(std::ostream& out, unsigned sm) const {
  const std::vector<Duty> all = by_bit();
  for (std::size_t bit = 0; bit < all.size(); ++bit) {
    out << sm << ',' << bit << ',' << all[bit].zero << ',' << all[bit].one << ',' << all[bit].off << '\n';
  }
}

}  // namespace regatta::models
