// SPDX-License-Identifier: Apache-2.0
#include "tolerances.h"

#include <map>

namespace regatta::hardware {
namespace {

/// Why a kernel's results may differ.
enum class Cause {
  /// ex2, lg2, rcp, rsqrt or div.approx. On an H100 all coefficients of the first four were recovered from
  /// measurements, and div is a multiplication by rcp: no tolerance there. NVIDIA specifies other GPUs' by their
  /// largest
  /// error alone.
  interpolated,
  /// sin.approx, cos.approx: on an H100, 24 of 64 segments were measured.
  sine,
  /// tanh.approx: measured in [0.5, 1) alone; the emulator has no coefficients of it.
  tanh,
  /// wgmma.mma_async: the emulator computes as mma.sync does, which was measured; this was not.
  wgmma,
};

const char* text_of(Cause cause) {
  switch (cause) {
    case Cause::interpolated:
      return "known bit for bit";
    case Cause::sine:
      return "sin.approx and cos.approx were measured in 24 of 64 segments";
    case Cause::tanh:
      return "tanh.approx was measured in [0.5, 1) alone, and is not interpolated";
    case Cause::wgmma:
      return "the arithmetic of wgmma.mma_async was not measured";
  }
  return "";
}

struct Kernel {
  Cause cause;
  std::vector<Tolerance> buffers;
};

/// README.md says how the limits were chosen.
const std::map<std::string, Kernel>& kernels() {
  static const std::map<std::string, Kernel> all{
      {"binomial_options", {Cause::interpolated, {{"nodes", 1e-5}, {"value", 1e-5}}}},
      {"black_scholes", {Cause::interpolated, {{"call", 1e-5}, {"put", 1e-5}}}},
      {"cutcp", {Cause::interpolated, {{"potential", 1e-5}}}},
      {"flash_attention", {Cause::interpolated, {{"out", 1e-3, 1e-4}}}},
      {"gemm_split_k", {Cause::tanh, {{"out", 8e-3, 1e-3}}}},
      {"hopper_gemm", {Cause::wgmma, {{"c", 1e-3, 1e-4}}}},
      {"layer_norm", {Cause::interpolated, {{"normal", 1e-3, 1e-4}, {"means", 1e-5, 1e-6}, {"scaled", 8e-3}}}},
      {"libor", {Cause::interpolated, {{"value", 5e-5}, {"by_last_rate", 1e-5}, {"value_alone", 5e-5}}}},
      {"moe_routing", {Cause::interpolated, {{"weights", 1e-5}, {"out", 8e-3, 1e-4}}}},
      {"monte_carlo", {Cause::interpolated, {{"expected", 1e-5}, {"confidence", 1e-5}}}},
      {"mri_q", {Cause::sine, {{"qr", 1e-5}, {"qi", 1e-5}}}},
      {"myocyte", {Cause::interpolated, {{"state", 1e-5}, {"trial", 1e-5}, {"slope", 1}}}},
      {"paged_attention", {Cause::interpolated, {{"out", 2e-3, 1e-4}}}},
      {"rotary", {Cause::interpolated, {{"table", 0, 1e-5}, {"q", 1e-3, 1e-4}, {"k", 1e-3, 1e-4}}}},
      {"softmax", {Cause::interpolated, {{"weights", 1e-3, 1e-7}, {"probabilities", 1e-5}}}},
      {"srad",
       {Cause::interpolated,
        {{"picture", 1e-5},
         {"now", 1e-5},
         {"next", 1e-5},
         {"sums", 1e-5},
         {"squares", 1e-5},
         {"speckle", 1e-4},
         {"coefficient", 1e-3}}}},
      {"swiglu", {Cause::interpolated, {{"product", 8e-3}, {"product_half", 8e-3, 1e-4}}}},
  };
  return all;
}

}  // namespace

std::vector<Tolerance> tolerances_of(const std::string& kernel, const ComputeCapability& gpu) {
  const auto k = kernels().find(kernel);
  if (k == kernels().end()) return {};
  if (k->second.cause == Cause::interpolated && gpu == ComputeCapability{9, 0}) return {};
  return k->second.buffers;
}

std::vector<std::string> unmeasured() {
  std::vector<std::string> lines;
  for (const auto& [name, kernel] : kernels()) {
    if (kernel.cause != Cause::interpolated) lines.push_back(name + ": " + text_of(kernel.cause));
  }
  return lines;
}

}  // namespace regatta::hardware
