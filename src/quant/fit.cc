#include "quant/fit.h"

#include <algorithm>
#include <cmath>

#include "base/half.h"
#include "quant/block_loop.h"

namespace tern {
namespace {

constexpr int kTriesEachSide = 9;  // to each side of the scale that just covers the values

// x ≈ scale · level − min
struct Line {
  float scale = 0, min = 0;
};

int nearest_level(const Coding& coding, float x) {
  const int8_t* const end = coding.levels + coding.n_codes;
  const int8_t* const above = std::upper_bound(coding.levels, end, x, [](float a, int8_t b) { return a < b; });
  if (above == coding.levels) return 0;
  if (above == end) return coding.n_codes - 1;
  const bool is_above = static_cast<float>(*above) - x < x - static_cast<float>(above[-1]);
  return static_cast<int>(above - coding.levels) - (is_above ? 0 : 1);
}

int code_of(const Coding& coding, float level) {
  if (coding.levels) return nearest_level(coding, level);
  return round_and_clamp(level, -coding.zero, coding.n_codes - 1 - coding.zero) + coding.zero;
}

// Without a min. For given levels q the best scale is Σxq / Σq²; it leaves the error Σx² − (Σxq)² / Σq², and so the
// greatest (Σxq)² / Σq² wins. The signed maximum lies at the level of greatest magnitude, which is the least.
Line fit_scale(const Coding& coding, std::span<const float> x) {
  float greatest = 0;
  for (const float value : x) {
    if (std::fabs(value) > std::fabs(greatest)) greatest = value;
  }
  if (!(std::fabs(greatest) > 1e-15f)) return {};
  Line best;
  float best_gain = 0;
  for (int i = 0; i <= 2 * kTriesEachSide; ++i) {
    const int step = (i + kTriesEachSide) % (2 * kTriesEachSide + 1) -
                     kTriesEachSide;  // 0 first: it stays where all are equally good
    const float divisor = static_cast<float>(coding.level(0)) * (1 + 0.02f * static_cast<float>(step)) / greatest;
    float xq = 0, qq = 0;
    for (const float value : x) {
      const auto q = static_cast<float>(coding.level(code_of(coding, value * divisor)));
      xq += value * q;
      qq += q * q;
    }
    if (qq > 0 && xq * xq > best_gain * qq) {
      best.scale = xq / qq;
      best_gain = xq * best.scale;
    }
  }
  return best;
}

// The line of least squared error through (code, x). Where mins are whole numbers they are not negative.
Line line_through(const Coding& coding, std::span<const float> x, float low, float divisor) {
  double n = 0, sx = 0, sc = 0, sxc = 0, scc = 0;
  for (const float value : x) {
    const double c = code_of(coding, (value - low) * divisor);
    n += 1, sx += value, sc += c, sxc += c * value, scc += c * c;
  }
  const double determinant = n * scc - sc * sc;
  if (!(determinant > 0)) return {.scale = 0, .min = -low};
  const Line line{.scale = static_cast<float>((n * sxc - sx * sc) / determinant),
                  .min = static_cast<float>((sc * sxc - scc * sx) / determinant)};
  if (!coding.has_scales() || line.min >= 0) return line;
  return {.scale = static_cast<float>(sxc / scc), .min = 0};
}

float squared_error(const Coding& coding, std::span<const float> x, const Line& line) {
  const float inverse = inverse_or_zero(line.scale);
  float error = 0;
  for (const float value : x) {
    const auto level = static_cast<float>(coding.level(code_of(coding, (value + line.min) * inverse)));
    const float off = line.scale * level - line.min - value;
    error += off * off;
  }
  return error;
}

Line fit_line(const Coding& coding, std::span<const float> x) {
  const auto [least, greatest] = std::ranges::minmax(x);
  const float low = coding.has_scales() ? std::min(least, 0.0f) : least;
  if (!(greatest - low > 1e-15f)) return {.scale = 0, .min = -low};
  Line best;
  float best_error = 0;
  for (int i = 0; i <= 2 * kTriesEachSide; ++i) {
    const int step = (i + kTriesEachSide) % (2 * kTriesEachSide + 1) - kTriesEachSide;
    const float divisor = (static_cast<float>(coding.n_codes - 1) + 0.1f * static_cast<float>(step)) / (greatest - low);
    const Line line = line_through(coding, x, low, divisor);
    const float error = squared_error(coding, x, line);
    if (i == 0 || error < best_error) {
      best = line;
      best_error = error;
    }
  }
  return best;
}

// Whole-number scales and mins, and the f16 numbers that scale them.
void set_scales(const Coding& coding, std::span<const Line> lines, BlockParts& parts) {
  float greatest = 0, greatest_min = 0;
  for (const Line& line : lines) {
    if (std::fabs(line.scale) > std::fabs(greatest)) greatest = line.scale;
    greatest_min = std::max(greatest_min, line.min);
  }
  // Signed scales reach one further below 0.
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

BlockParts fit_parts(const Coding& coding, std::span<const float> from) {
  float x[kMostBlock];
  for (size_t i = 0; i < from.size(); ++i) x[i] = std::isnan(from[i]) ? 0.0f : from[i];
  const auto group = static_cast<size_t>(coding.group);
  const size_t n_groups = from.size() / group;
  const auto values = [&](size_t g) { return std::span<const float>(x).subspan(g * group, group); };
  Line lines[kMostGroups];
  for (size_t g = 0; g < n_groups; ++g) {
    lines[g] = coding.has_mins ? fit_line(coding, values(g)) : fit_scale(coding, values(g));
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
      parts.codes[i] = static_cast<uint8_t>(code_of(coding, (coding.has_mins ? x[i] + min : x[i]) * inverse));
    }
  }
  return parts;
}

}  // namespace tern
