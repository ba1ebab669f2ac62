// Measures how a KV cache type changes the predictions, at several context lengths.
#include <algorithm>

#include "base/text/format_text.h"
#include "engine/engine_impl.h"
#include "tern/tools.h"
#include "tools/eval/divergence.h"
#include "tools/eval/eval_windows.h"

namespace tern {
namespace {

// Windows used in many published figures, and the model's trained context.
std::vector<int> usual_contexts(int trained) {
  std::vector<int> contexts = {512, 4096, trained};
  std::ranges::sort(contexts);
  const auto repeated = std::ranges::unique(contexts);
  contexts.erase(repeated.begin(), repeated.end());
  return contexts;
}

// Why windows of n_ctx tokens are meaningless here; empty: they are fine.
std::string reason_against(int n_ctx, int trained, size_t text_tokens) {
  if (n_ctx > trained) return format_text("the model was trained for {} tokens", trained);
  if (text_tokens < static_cast<size_t>(n_ctx)) return format_text("the text has {} tokens", text_tokens);
  return {};
}

}  // namespace

Result<KvDivergence> eval_kv(const Engine& engine, std::string_view text, KvType reference,
                             const EvalOptions& options) {
  const int trained = engine.info().n_ctx;
  if (options.n_ctx > trained) {
    return fail(ErrorCode::kInvalidArgument,
                "windows of {} tokens, but the model was trained for {}; give at most that", options.n_ctx, trained);
  }
  KvDivergence result;
  const auto measure = [&](const EvalText& cut, int n_ctx) -> Result<void> {
    TRY(const Divergence divergence,
        measure_divergence({engine, options.kv_type}, {engine, reference}, cut, n_ctx, options.on_progress));
    result.contexts.push_back({.n_ctx = n_ctx, .divergence = divergence});
    return {};
  };
  if (options.n_ctx != 0) {
    TRY(const EvalText cut, cut_eval_text(engine, text, options.n_ctx));
    TRY_STATUS(measure(cut, options.n_ctx));
    return result;
  }
  for (const int n_ctx : usual_contexts(trained)) {
    TRY(const EvalText cut, cut_eval_text(engine, text, n_ctx));
    std::string reason = reason_against(n_ctx, trained, cut.bos.size() + cut.tokens.size());
    if (reason.empty()) {
      TRY_STATUS(measure(cut, n_ctx));
    } else {
      result.left_out.push_back({.n_ctx = n_ctx, .reason = std::move(reason)});
    }
  }
  if (result.contexts.empty()) {
    const KvDivergence::LeftOut& least = result.left_out.front();
    return fail(ErrorCode::kInvalidArgument,
                "no window of {} tokens or more can be compared: {}; give a longer text, or a smaller context",
                least.n_ctx, least.reason);
  }
  return result;
}

}  // namespace tern
