// SPDX-License-Identifier: Apache-2.0
//
// Warp-level divergence on programs made by hand: what a partial CTA brings, that it ends, and faults between the
// blocks, each of which is found.
#include "scheme_warp_level_divergence.h"

#include <functional>

#include "put_before.h"
#include "sharing_support.h"

using namespace regatta;
using models::RegisterWindow;
using models::WarpRoom;
using models::WindowPolicy;
using protocol::WarpSlot;
using test::Before;
using test::counter;
using test::put_before;
using test::run_sharing;

namespace {

/// One window more than there is.
class RoomForOneMore : public Before<WarpRoom> {
 public:
  using Before::Before;
  unsigned slices() const override { return inner_.slices(); }
  unsigned slice_of(WarpSlot warp) const override { return inner_.slice_of(warp); }
  unsigned free_windows(unsigned slice) const override { return inner_.free_windows(slice) + 1; }
};

/// One window less, which is never used.
class RoomForOneLess : public Before<WarpRoom> {
 public:
  using Before::Before;
  unsigned slices() const override { return inner_.slices(); }
  unsigned slice_of(WarpSlot warp) const override { return inner_.slice_of(warp); }
  unsigned free_windows(unsigned slice) const override {
    const unsigned free = inner_.free_windows(slice);
    return free == 0 ? 0 : free - 1;
  }
};

class WindowsBefore : public Before<WindowPolicy> {
 public:
  using Before::Before;
  std::string name() const override { return inner_.name(); }
  void kernel_started(std::uint32_t rows, unsigned registers) override { inner_.kernel_started(rows, registers); }
  std::optional<RegisterWindow> first_window(WarpSlot warp) const override { return inner_.first_window(warp); }
  RegisterWindow assign(WarpSlot warp) override { return inner_.assign(warp); }
  void release(WarpSlot warp) override { inner_.release(warp); }
};

/// The fifth warp gets the rows of the fourth, which is still running.
class RowsInUse : public WindowsBefore {
 public:
  using WindowsBefore::WindowsBefore;
  RegisterWindow assign(WarpSlot warp) override {
    const RegisterWindow window = inner_.assign(warp);
    return last_ = ++count_ == 5 ? last_ : window;
  }

 private:
  unsigned count_ = 0;
  RegisterWindow last_;
};

/// The same, and the file is told that the two warps may have rows in common.
class RowsInCommon : public RowsInUse {
 public:
  using RowsInUse::RowsInUse;
  std::vector<WarpSlot> shares_with(WarpSlot warp) const override {
    std::vector<WarpSlot> all;
    for (unsigned w = 0; w < warp.value(); ++w) all.emplace_back(static_cast<WarpSlot::rep>(w));
    return all;
  }
};

/// Rows are given back by a warp of which the table hears nothing.
class LostRelease : public WindowsBefore {
 public:
  using WindowsBefore::WindowsBefore;
  void release(WarpSlot warp) override {
    if (warp.value() != 2) inner_.release(warp);
  }
};

struct DivergenceFaults {
  std::function<WarpRoom&(assembly::SmParts&, WarpRoom&)> room;
  std::function<WindowPolicy&(assembly::SmParts&, WindowPolicy&)> windows;
};

class FaultyDivergence : public schemes::WarpLevelDivergence {
 public:
  explicit FaultyDivergence(DivergenceFaults faults = {}) : faults_(std::move(faults)) {}

 protected:
  WarpRoom& room_for_residency(assembly::SmParts& parts, WarpRoom& room) override {
    return faults_.room ? faults_.room(parts, room) : room;
  }
  WindowPolicy& windows_for_file(assembly::SmParts& parts, WindowPolicy& windows) override {
    return faults_.windows ? faults_.windows(parts, windows) : windows;
  }

 private:
  DivergenceFaults faults_;
};

constexpr unsigned of_warp = 20, of_cta = 4 * of_warp;  ///< rows, of sharing_trace()

std::string divergence_said(const std::string& name, DivergenceFaults faults, unsigned rows = of_cta * 3 / 2) {
  FaultyDivergence scheme(std::move(faults));
  try {
    const assembly::SimulationResult r =
        run_sharing(test::sharing_trace(name), scheme, rows, {{"sm.sub_cores", "1"}, {"sm.schedulers", "1"}});
    CHECK((r.mismatches != 0 || r.ending != assembly::Ending::completed));
    return r.message;
  } catch (const std::exception& e) {
    return e.what();
  }
}

void divergence_contains(const std::string& message, const std::string& part) {
  CAPTURE(message, part);
  CHECK(message.find(part) != std::string::npos);
}

assembly::SimulationResult divergence(const std::string& path, unsigned rows, const char* release = "warp") {
  FaultyDivergence scheme;
  const assembly::SimulationResult r = run_sharing(path, scheme, rows, {{"warp_level_divergence.release", release}});
  test::require_clean(r);
  return r;
}

double divergence_stat(const assembly::SimulationResult& r, const char* name) {
  return counter(r, "warp_level_divergence", name);
}

}  // namespace

TEST_CASE("warp-level divergence: a CTA and a half, whose barriers wait for warps that come later") {
  // A CTA has barriers: a partial one ends only if its warps enter.
  const auto r = divergence(test::sharing_trace("half"), of_cta * 3 / 2);
  CHECK(divergence_stat(r, "partial_ctas") > 0);
  CHECK(divergence_stat(r, "whole_ctas") + divergence_stat(r, "partial_ctas") == 30);
  CHECK(divergence_stat(r, "late_warps") > 0);
  CHECK(divergence_stat(r, "partial_cycles") > 0);
  CHECK(divergence_stat(r, "partial_cycles") < static_cast<double>(r.cycles));
  CHECK(divergence_stat(r, "rows_max") == of_cta * 3 / 2);
  CHECK(divergence_stat(r, "rows_mean") > of_cta);
  CHECK(divergence_stat(r, "storage_bits") > 0);
}

TEST_CASE("warp-level divergence: with rows for one CTA, warps of the next enter as those of the first end") {
  const auto r = divergence(test::sharing_trace("alone"), of_cta);
  CHECK(divergence_stat(r, "partial_ctas") > 0);
  CHECK(divergence_stat(r, "rows_max") == of_cta);
}

TEST_CASE("warp-level divergence: with rows that are given back by CTA and none left over, all CTAs are whole") {
  const auto r = divergence(test::sharing_trace("whole"), of_cta, "cta");
  CHECK(divergence_stat(r, "partial_ctas") == 0);
  CHECK(divergence_stat(r, "whole_ctas") == 30);
  CHECK(counter(r, "sm0.pipeline", "resident_ctas_mean") == 1);
}

TEST_CASE("warp-level divergence: rows left over for two warps, and given back by CTA") {
  const auto r = divergence(test::sharing_trace("left"), of_cta + 2 * of_warp, "cta");
  CHECK(divergence_stat(r, "partial_ctas") > 0);
  CHECK(divergence_stat(r, "late_warps") > 0);
}

TEST_CASE("warp-level divergence: warps that end early make room for those of the partial CTA") {
  // Of the first CTAs, both warps are late; of the others, both early.
  const auto r = divergence(test::crossing_trace("cross", 16, false), 3 * of_warp + 2);
  CHECK(divergence_stat(r, "partial_ctas") > 0);
}

TEST_CASE("warp-level divergence faults: a warp is admitted when no rows are free") {
  DivergenceFaults faults;
  faults.room = put_before<RoomForOneMore, WarpRoom>;
  divergence_contains(divergence_said("more", faults), "windows of slice 0 are taken; expected a free one");
}

TEST_CASE("warp-level divergence faults: a warp gets rows that are in use, and the file refuses them") {
  DivergenceFaults faults;
  faults.windows = put_before<RowsInUse, WindowPolicy>;
  divergence_contains(divergence_said("in_use", faults), "for R0, which is warp 3's");
}

TEST_CASE("warp-level divergence faults: a warp gets rows that are in use, and a value is lost") {
  DivergenceFaults faults;
  faults.windows = put_before<RowsInCommon, WindowPolicy>;
  divergence_contains(divergence_said("in_common", faults), "value mismatch");
}

TEST_CASE("warp-level divergence faults: rows that are not given back break the law") {
  DivergenceFaults faults;
  faults.windows = put_before<LostRelease, WindowPolicy>;
  divergence_contains(divergence_said("lost", faults, of_cta * 40), "warps that get rows give them back");
}

TEST_CASE("warp-level divergence faults: a CTA for whose last warp there never is room is a deadlock with its name") {
  DivergenceFaults faults;
  faults.room = put_before<RoomForOneLess, WarpRoom>;
  const std::string message = divergence_said("less", faults, of_cta);
  divergence_contains(message, "deadlock");
  divergence_contains(message, "residency sm0.residency has not admitted 1 warp of CTA slot 0");
}
