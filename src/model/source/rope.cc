#include "model/source/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace tern {
namespace {

struct ScalingName {
  RopeScaling scaling;
  std::string_view name;
};
constexpr ScalingName kScalingNames[] = {{RopeScaling::kNone, "none"},
                                         {RopeScaling::kLinear, "linear"},
                                         {RopeScaling::kYarn, "yarn"},
                                         {RopeScaling::kLongrope, "longrope"}};

// The pair, as a real number, that makes `turns` turns in the original context.
double yarn_pair(const RopeParams& rope, int head_dim, double turns) {
  return head_dim * std::log(rope.original_ctx / (2 * std::numbers::pi * turns)) /
         (2 * std::log(static_cast<double>(rope.theta)));
}

// 1 for pairs that keep their frequency, 0 for pairs that are scaled by the whole factor.
class YarnRamp {
 public:
  YarnRamp(const RopeParams& rope, int head_dim)
      : low_(yarn_pair(rope, head_dim, rope.beta_fast)), high_(yarn_pair(rope, head_dim, rope.beta_slow)) {
    if (rope.rounds_ramp) low_ = std::floor(low_), high_ = std::ceil(high_);
    low_ = std::max(0.0, low_);
    high_ = std::min(head_dim - 1.0, high_);
  }
  double keeps(int pair) const { return 1 - std::clamp((pair - low_) / std::max(0.001, high_ - low_), 0.0, 1.0); }

 private:
  double low_, high_;
};

}  // namespace

RopeFrequencies rope_frequencies(const RopeParams& rope, int head_dim, int n_ctx) {
  const int half = head_dim / 2;
  const std::vector<float>& divisors = rope.is_long(n_ctx) ? rope.long_divisors : rope.divisors;
  CHECK(divisors.empty() || static_cast<int>(divisors.size()) == half);
  const YarnRamp ramp(rope, head_dim);
  RopeFrequencies out{.frequencies = {}, .magnitude = rope.attn_factor};
  if (rope.scaling == RopeScaling::kYarn) out.magnitude *= 1 + 0.1 * std::log(static_cast<double>(rope.factor));
  for (int i = 0; i < half; ++i) {
    double frequency = std::pow(static_cast<double>(rope.theta), -2.0 * i / head_dim);
    if (!divisors.empty()) frequency /= divisors[static_cast<size_t>(i)];
    if (rope.scaling == RopeScaling::kLinear) frequency /= rope.factor;
    if (rope.scaling == RopeScaling::kYarn) frequency *= ramp.keeps(i) + (1 - ramp.keeps(i)) / rope.factor;
    out.frequencies.push_back(frequency);
  }
  return out;
}

std::vector<float> llama3_divisors(const Llama3Rope& rope, double theta, int head_dim) {
  std::vector<float> divisors;
  for (int i = 0; i < head_dim / 2; ++i) {
    const double wave_length = 2 * std::numbers::pi * std::pow(theta, 2.0 * i / head_dim);
    const double turns = rope.original_ctx / wave_length;  // in the original context
    const double t =
        std::clamp((turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor), 0.0, 1.0);
    divisors.push_back(static_cast<float>(1 / ((1 - t) / rope.factor + t)));
  }
  return divisors;
}

std::string_view rope_scaling_name(RopeScaling scaling) {
  return std::ranges::find(kScalingNames, scaling, &ScalingName::scaling)->name;
}

std::optional<RopeScaling> find_rope_scaling(std::string_view name) {
  const auto* found = std::ranges::find(kScalingNames, name, &ScalingName::name);
  return found == std::end(kScalingNames) ? std::nullopt : std::optional(found->scaling);
}

}  // namespace tern
