// SPDX-License-Identifier: Apache-2.0
#include "expected.h"

#include <cmath>
#include <complex>

namespace regatta::test {

std::vector<Expected> expected_mri_q(const LaunchData& data) {
  const auto count = static_cast<std::size_t>(data.scalar<std::int32_t>(0, "phi_mag"));
  const auto real = data.buffer<float>("phi_real"), imaginary = data.buffer<float>("phi_imaginary");
  std::vector<float> magnitudes;
  for (std::size_t i = 0; i < count; ++i)
    magnitudes.push_back(std::fma(real.at(i), real.at(i), imaginary.at(i) * imaginary.at(i)));

  struct Sample {
    float kx, ky, kz, magnitude;
  };
  const auto samples = data.global<Sample>("samples");
  const auto x = data.buffer<float>("x"), y = data.buffer<float>("y"), z = data.buffer<float>("z");
  std::vector<double> qr, qi;
  for (std::size_t v = 0; v < x.size(); ++v) {
    std::complex<double> q;
    for (std::size_t k = 0; k < count; ++k) {
      const Sample& s = samples.at(k);
      const double turns =
          static_cast<double>(s.kx) * x[v] + static_cast<double>(s.ky) * y[v] + static_cast<double>(s.kz) * z[v];
      q += std::polar(static_cast<double>(s.magnitude), 2 * 3.14159265358979323846 * turns);
    }
    qr.push_back(q.real());
    qi.push_back(q.imag());
  }
  return {exact("phi_mag", magnitudes), near("qr", qr), near("qi", qi)};
}

}  // namespace regatta::test
