#include "backend/gpu/run/profile/layout_search.h"

#include <algorithm>
#include <optional>

namespace tern::gpu {
namespace {

// Measurements vary by a percent or two; a smaller gain does not count.
constexpr double kGain = 0.98;

class Search {
 public:
  Search(const LayoutTrials& trials, const std::function<void(const TuneTrial&)>& on_trial)
      : trials_(trials), on_trial_(on_trial) {}

  Result<TuneResult> run(std::span<const Knob> knobs) {
    TRY(result_.decode_ms_before, trials_.measure(false, {}));
    TRY(result_.prompt_ms_before, trials_.measure(true, {}));
    double best_decode = result_.decode_ms_before, best_prompt = result_.prompt_ms_before;
    for (const Knob& knob : knobs) TRY_STATUS(turn(knob, knob.is_of_prompts ? best_prompt : best_decode));
    TRY_STATUS(confirm());
    return std::move(result_);
  }

 private:
  // Tries the knob's values and keeps the fastest, if a second measurement confirms it. `best`: ms with the settings
  // kept so far.
  Result<void> turn(const Knob& knob, double& best) {
    std::optional<std::string> winner;
    double winners = best * kGain;
    for (const std::string& value : knob.values) {
      if (trials_.is_late()) {
        result_.is_complete = false;
        break;
      }
      const std::string setting = knob.name + "=" + value;
      TRY(const auto ms, try_setting(knob.is_of_prompts, setting));
      if (ms && *ms < winners) winner = setting, winners = *ms;
    }
    if (!winner) return {};
    LayoutSettings with = result_.settings;
    with.push_back(*winner);
    TRY(const double without_it, trials_.measure(knob.is_of_prompts, result_.settings));
    TRY(const double with_it, trials_.measure(knob.is_of_prompts, with));
    best = std::min(best, without_it);
    if (with_it >= without_it * kGain) return {};
    best = with_it;
    result_.settings = with;
    return {};
  }

  // None if the device has no room for such a layout.
  Result<std::optional<double>> try_setting(bool of_prompts, const std::string& setting) {
    LayoutSettings with = result_.settings;
    with.push_back(setting);
    const Result<double> ms = trials_.measure(of_prompts, with);
    if (!ms && ms.error().code == ErrorCode::kDeviceLost) return std::unexpected(ms.error());
    TuneTrial trial{.setting = setting, .of_prompts = of_prompts, .ms = ms.value_or(0)};
    if (!ms) trial.failure = ms.error().message;
    if (on_trial_) on_trial_(trial);
    result_.trials.push_back(std::move(trial));
    return ms ? std::optional(*ms) : std::nullopt;
  }

  // Measures all kept settings against none, in turns; without a gain for prompts or decoding, none are kept. Results
  // with them must also be right.
  Result<void> confirm() {
    result_.decode_ms_after = result_.decode_ms_before, result_.prompt_ms_after = result_.prompt_ms_before;
    if (result_.settings.empty()) return {};
    if (auto right = trials_.check(result_.settings); !right) {
      if (right.error().code != ErrorCode::kNotSupported) return right;
      result_.settings.clear();
      result_.rejected = right.error().message;
      return {};
    }
    TRY_STATUS(compare(false, result_.decode_ms_before, result_.decode_ms_after));
    TRY_STATUS(compare(true, result_.prompt_ms_before, result_.prompt_ms_after));
    const bool is_faster = result_.decode_ms_after < result_.decode_ms_before * kGain ||
                           result_.prompt_ms_after < result_.prompt_ms_before * kGain;
    if (!is_faster) result_.settings.clear();
    return {};
  }

  Result<void> compare(bool of_prompts, double& before, double& after) const {
    constexpr int kRounds = 2;
    for (int round = 0; round < kRounds; ++round) {
      TRY(const double none, trials_.measure(of_prompts, {}));
      TRY(const double all, trials_.measure(of_prompts, result_.settings));
      before = round == 0 ? none : std::min(before, none);
      after = round == 0 ? all : std::min(after, all);
    }
    return {};
  }

  const LayoutTrials& trials_;
  const std::function<void(const TuneTrial&)>& on_trial_;
  TuneResult result_;
};

}  // namespace

Result<TuneResult> search_layouts(std::span<const Knob> knobs, const LayoutTrials& trials,
                                  const std::function<void(const TuneTrial&)>& on_trial) {
  return Search(trials, on_trial).run(knobs);
}

}  // namespace tern::gpu
