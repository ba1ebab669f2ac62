#include "tools/validate/verdict.h"

#include <algorithm>
#include <cmath>

#include "base/text/format_text.h"

namespace tern {
namespace {

constexpr double kMostOtherTokens = 0.25;  // of a mixture of experts

bool agrees(const LayerDifference& layer) { return layer.nmse <= allowed_nmse(layer.rounding_nmse); }

// Describes where the backend first departs from the reference.
std::string blame(const ValidateResult& result, const WhatWasRun& run) {
  const auto wrong = std::ranges::find_if_not(result.layers, agrees);
  if (wrong != result.layers.end()) {
    return format_text("failed: {} differs from the reference, first at step {} (NMSE {:.1e}, rounding makes {:.1e})",
                       run.backend, wrong->step, wrong->nmse, wrong->rounding_nmse);
  }
  return format_text(
      "failed: on {} every step agrees with the reference, but the logits of the fused plan do not (NMSE {:.1e})",
      run.backend, result.logits_nmse);
}

}  // namespace

double allowed_nmse(double rounding_nmse) { return std::max(1e-3, 4 * rounding_nmse); }
double allowed_cosine(double rounding_nmse) { return 1 - std::max(2e-4, 4 * rounding_nmse) / 2; }
double near_tie(double nmse) { return 4 * std::sqrt(2 * nmse); }

void judge(ValidateResult& result, const WhatWasRun& run) {
  const bool steps_agree = std::ranges::all_of(result.layers, agrees);
  const bool logits_agree = result.logits_nmse <= allowed_nmse(result.rounding_nmse) && result.same_top1;
  const bool cache_agrees = result.cached_cosine >= allowed_cosine(result.rounding_nmse) && result.cached_same_top1;
  // Over a longer text, rounding errors grow to a few times those of the few compared tokens.
  const double drift = 4 * std::max(result.logits_nmse, result.rounding_nmse);
  const bool ties_part = result.largest_lead <= near_tie(std::min(drift, allowed_nmse(result.rounding_nmse)));
  // A wrong kernel makes nearly all tokens others.
  const bool experts_part = run.has_experts && std::isfinite(result.largest_lead) &&
                            result.n_other_tokens <= kMostOtherTokens * result.n_tokens;
  const bool tokens_agree = ties_part || experts_part;
  result.passed = steps_agree && logits_agree && cache_agrees && tokens_agree;
  if (result.passed) {
    result.verdict =
        format_text("passed: {} agrees with the reference on {} tokens, and {} cached steps with full passes",
                    run.backend, run.n_reference, run.n_decode);
    if (!ties_part) {
      result.verdict +=
          format_text("; where experts' scores are nearly the same it chooses others: {} of {} tokens differ",
                      result.n_other_tokens, result.n_tokens);
    }
  } else if (!steps_agree || !logits_agree) {
    result.verdict = blame(result, run);
  } else if (cache_agrees) {
    result.verdict = format_text(
        "failed: {} chooses other tokens than the CPU, first at step {}, where the CPU's logits prefer another by "
        "{:.3f}",
        run.backend, result.first_other_token, result.first_lead);
  } else {
    result.verdict = format_text("failed: on {} cached decoding differs from reading the whole text (cosine {:.6f})",
                                 run.backend, result.cached_cosine);
  }
}

}  // namespace tern
