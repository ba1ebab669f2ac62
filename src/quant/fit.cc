#include "quant/fit.h"

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {
namespace {

// Divisors to try, all at once so that the loops vectorize. The first belongs to the smallest scale that covers the
// values, so it wins ties; the others lie around it. The last repeats the first.
constexpr int kEachSide = 9, kDivisors = 2 * kEachSide + 2;
constexpr float step_of_try(int i) { return static_cast<float>((i + kEachSide) % (2 * kEachSide + 1) - kEachSide); }

// x ≈ scale · level − min
struct Line {
  float scale = 0, min = 0;
};

// Nearest integer in `least` … `most`, ties to even. NaN (which infinities lead to) gives one end of the range.
float nearest(float x, float least, float most) {
  constexpr float kShift = 0x1.8p23f;  // leaves the integer in a float's low bits
  const float below = x < most ? x : most;
  return ((below > least ? below : least) + kShift) - kShift;
}

// Finds the nearest of a coding's levels.
class Levels {
 public:
  explicit Levels(const Coding& coding)
      : has_table_(coding.levels != nullptr),
        least_(static_cast<float>(coding.level(0))),
        most_(static_cast<float>(coding.level(coding.n_codes - 1))) {
    for (int i = 1; has_table_ && i < coding.n_codes; ++i) {
      steps_[n_steps_++] = {static_cast<float>(coding.levels[i - 1] + coding.levels[i]) / 2,
                            static_cast<float>(coding.levels[i] - coding.levels[i - 1])};
    }
  }
  float least() const { return least_; }

  // Sets levels[i] to the level nearest to x[i].
  void find(const float (&x)[kDivisors], float (&levels)[kDivisors]) const {
    if (!has_table_) {
      for (int i = 0; i < kDivisors; ++i) levels[i] = nearest(x[i], least_, most_);
      return;
    }
    for (float& level : levels) level = least_;
    for (int n = 0; n < n_steps_; ++n) {
      for (int i = 0; i < kDivisors; ++i) levels[i] += x[i] > steps_[n].from ? steps_[n].size : 0.0f;
    }
  }

  int code(float x) const {
    if (!has_table_) return static_cast<int>(nearest(x, least_, most_) - least_);
    return static_cast<int>(std::count_if(steps_, steps_ + n_steps_, [&](const Step& step) { return x > step.from; }));
  }

 private:
  struct Step {
    float from, size;  // from: half way to the next level; size: the step to it
  };
  bool has_table_;
  float least_, most_;
  Step steps_[15] = {};
  int n_steps_ = 0;
};

// The best scale without a min. For given levels q it is Σxq / Σq², with the error Σx² − (Σxq)² / Σq², so the largest
// (Σxq)² / Σq² wins. A value's weight multiplies its terms in all these sums. The value of largest magnitude is mapped
// to the level of largest magnitude, which is the least level.
Line fit_scale(const Levels& levels, std::span<const float> x, const float* weights) {
  float greatest = 0;
  for (const float value : x) {
    if (std::fabs(value) > std::fabs(greatest)) greatest = value;
  }
  if (!(std::fabs(greatest) > 1e-15f)) return {};
  float divisor[kDivisors], scaled[kDivisors], q[kDivisors], xq[kDivisors] = {}, qq[kDivisors] = {};
  for (int i = 0; i < kDivisors; ++i) divisor[i] = levels.least() * (1 + 0.02f * step_of_try(i)) / greatest;
  for (size_t j = 0; j < x.size(); ++j) {
    const float value = x[j], w = weights[j];
    for (int i = 0; i < kDivisors; ++i) scaled[i] = value * divisor[i];
    levels.find(scaled, q);
    for (int i = 0; i < kDivisors; ++i) {
      xq[i] += w * value * q[i];
      qq[i] += w * q[i] * q[i];
    }
  }
  Line best;
  float best_gain = 0;
  for (int i = 0; i < kDivisors; ++i) {
    if (qq[i] > 0 && xq[i] * xq[i] > best_gain * qq[i]) {
      best.scale = xq[i] / qq[i];
      best_gain = xq[i] * best.scale;
    }
  }
  return best;
}

// The best scale and min: the line of least squared error through the points (code, x). If mins are integers, they are
// not negative.
Line fit_line(const Coding& coding, std::span<const float> x, const float* weights) {
  const auto [least, greatest] = std::ranges::minmax(x);
  const float low = coding.has_scales() ? std::min(least, 0.0f) : least;
  if (!(greatest - low > 1e-15f)) return {.scale = 0, .min = -low};
  const auto most = static_cast<float>(coding.n_codes - 1);
  float divisor[kDivisors], sum_c[kDivisors] = {}, sum_yc[kDivisors] = {}, sum_cc[kDivisors] = {}, sum_y = 0, n = 0;
  for (int i = 0; i < kDivisors; ++i) divisor[i] = (most + 0.1f * step_of_try(i)) / (greatest - low);
  for (size_t j = 0; j < x.size(); ++j) {
    const float y = x[j] - low,
                w = weights[j];  // relative to `low`: a large offset would swamp small differences in the sums of
                                 // squares
    n += w;
    sum_y += w * y;
    for (int i = 0; i < kDivisors; ++i) {
      const float c = nearest(y * divisor[i], 0, most);
      sum_c[i] += w * c;
      sum_yc[i] += w * y * c;
      sum_cc[i] += w * c * c;
    }
  }
  Line best = {.scale = 0, .min = -low};
  float best_gain = 0;  // Σy² minus the error
  for (int i = 0; i < kDivisors; ++i) {
    const float determinant = n * sum_cc[i] - sum_c[i] * sum_c[i];
    if (!(determinant > 0)) continue;
    const float offset = (sum_cc[i] * sum_y - sum_c[i] * sum_yc[i]) / determinant;
    Line line = {.scale = (n * sum_yc[i] - sum_y * sum_c[i]) / determinant, .min = -low - offset};
    float gain = line.scale * sum_yc[i] + offset * sum_y;
    if (coding.has_scales() && line.min < 0) {
      const float sum_xc = sum_yc[i] + low * sum_c[i];
      line = {.scale = sum_xc / sum_cc[i], .min = 0};
      gain = line.scale * sum_xc - low * (2 * sum_y + n * low);
    }
    if (gain > best_gain) {
      best = line;
      best_gain = gain;
    }
  }
  return best;
}

// Sets the f16 numbers d and dmin and the integer scales and mins that they multiply.
void set_scales(const Coding& coding, std::span<const Line> lines, BlockParts& parts) {
  float greatest = 0, greatest_min = 0;
  for (const Line& line : lines) {
    if (std::fabs(line.scale) > std::fabs(greatest)) greatest = line.scale;
    greatest_min = std::max(greatest_min, line.min);
  }
  // The range of signed scales reaches one further below 0 than above.
  const auto end = static_cast<float>(coding.least_scale < 0 ? coding.least_scale : coding.most_scale);
  parts.d = f32_to_f16(greatest / end);
  parts.dmin = f32_to_f16(greatest_min / static_cast<float>(coding.most_scale));
  const float inverse = inverse_or_zero(f16_to_f32(parts.d)), inverse_min = inverse_or_zero(f16_to_f32(parts.dmin));
  for (size_t g = 0; g < lines.size(); ++g) {
    const int scale = round_and_clamp(lines[g].scale * inverse, coding.least_scale, coding.most_scale);
    parts.scales[g] = static_cast<int8_t>(scale);
    parts.mins[g] = static_cast<uint8_t>(round_and_clamp(lines[g].min * inverse_min, 0, coding.most_scale));
  }
}

}  // namespace

void even_out(std::span<const float> given, float* weights) {
  double sum = 0;
  for (const float weight : given) sum += weight;
  for (size_t i = 0; i < given.size(); ++i) {
    weights[i] = sum > 0 ? static_cast<float>(given[i] * static_cast<double>(given.size()) / sum) : 1.0f;
  }
}

BlockParts fit_parts(const Coding& coding, std::span<const float> from, std::span<const float> given) {
  float x[kMostBlock], weights[kMostBlock];
  for (size_t i = 0; i < from.size(); ++i) x[i] = std::isnan(from[i]) ? 0.0f : from[i];
  const auto group = static_cast<size_t>(coding.group);
  const size_t n_groups = from.size() / group;
  const auto values = [&](size_t g) { return std::span<const float>(x).subspan(g * group, group); };
  const Levels levels(coding);
  Line lines[kMostGroups];
  for (size_t g = 0; g < n_groups; ++g) {
    float* const w = weights + g * group;
    if (given.empty()) {
      std::fill_n(w, group, 1.0f);
    } else {
      even_out(given.subspan(g * group, group), w);
    }
    lines[g] = coding.has_mins ? fit_line(coding, values(g), w) : fit_scale(levels, values(g), w);
  }
  BlockParts parts = {};
  if (coding.has_scales()) {
    set_scales(coding, std::span(lines).first(n_groups), parts);
  } else {
    parts.d = f32_to_f16(lines[0].scale);
    parts.dmin = f32_to_f16(lines[0].min);
  }
  const float d = f16_to_f32(parts.d), dmin = f16_to_f32(parts.dmin);
  for (size_t g = 0; g < n_groups; ++g) {
    const float inverse = inverse_or_zero(coding.has_scales() ? d * static_cast<float>(parts.scales[g]) : d);
    const float min = coding.has_scales() ? dmin * static_cast<float>(parts.mins[g]) : dmin;
    for (size_t i = g * group; i < (g + 1) * group; ++i) {
      parts.codes[i] = static_cast<uint8_t>(levels.code((coding.has_mins ? x[i] + min : x[i]) * inverse));
    }
  }
  return parts;
}

}  // namespace tern
