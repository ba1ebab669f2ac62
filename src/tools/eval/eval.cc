// Perplexity: how well the model predicts a text.
#include "engine/engine_impl.h"
#include "tern/tools.h"
#include "tools/eval/eval_windows.h"

namespace tern {

Result<EvalResult> eval(const Engine& engine, std::string_view text, const EvalOptions& options) {
  const int n_ctx = options.n_ctx != 0 ? options.n_ctx : engine.info().n_ctx;
  TRY(const EvalText cut, cut_eval_text(engine, text, n_ctx));
  TRY(Session session, engine.new_session({.n_ctx = n_ctx, .kv_type = options.kv_type}));
  Surprise surprise;
  for (const EvalWindow& window : cut.windows) {
    const std::vector<TokenId> tokens = cut.read(window);
    const size_t first_target = cut.first_target(window);
    TRY_STATUS(session.logits(tokens, [&](size_t i, std::span<const float> logits) -> Result<void> {
      if (i + 1 >= first_target && i + 1 < tokens.size()) surprise.add(logits, tokens[i + 1]);
      return {};
    }));
    if (options.on_progress) {
      options.on_progress({.what = "reading", .done = window.end, .total = cut.tokens.size(), .unit = "tokens"});
    }
  }
  return surprise.result();
}

}  // namespace tern
