#include <cmath>
#include <vector>

#include "backend/ref/ops.h"

namespace tern::ref {

void rms_norm(const ops::RmsNorm& op) {
  for (int r = 0; r < op.n; ++r) {
    const float* in = op.in + static_cast<size_t>(r) * static_cast<size_t>(op.width);
    float* out = op.out + static_cast<size_t>(r) * static_cast<size_t>(op.width);
    double squares = 0;
    for (int i = 0; i < op.width; ++i) squares += static_cast<double>(in[i]) * in[i];
    const double factor = 1.0 / std::sqrt(squares / op.width + static_cast<double>(op.eps));
    for (int i = 0; i < op.width; ++i) out[i] = static_cast<float>(in[i] * factor * op.gain[i]);
  }
}

void rms_norm_quantize(const ops::RmsNormQuantize& op) {
  std::vector<float> normed(static_cast<size_t>(op.n) * static_cast<size_t>(op.width));
  rms_norm({op.in, op.gain, op.eps, op.n, op.width, normed.data()});
  quantize({normed.data(), op.n, op.width, op.out});
}

}  // namespace tern::ref
