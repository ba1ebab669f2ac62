// Compares a model's predictions with another model's.
#include <algorithm>

#include "base/text/quoted.h"
#include "engine/engine_impl.h"
#include "tern/tools.h"
#include "tools/eval/divergence.h"
#include "tools/eval/eval_windows.h"

namespace tern {
namespace {

Result<void> check_same_vocabulary(const Engine& engine, const Engine& reference) {
  const std::string &path = engine.info().path, &other_path = reference.info().path;
  if (!reference.has_tokenizer()) {
    return fail(ErrorCode::kNotSupported,
                "{}: the file holds no tokenizer, so no text can be evaluated; use another model", other_path);
  }
  const Tokenizer &own = engine.tokenizer(), &other = reference.tokenizer();
  const int n = own.vocab_size();
  if (n != other.vocab_size() || engine.info().n_vocab != reference.info().n_vocab) {
    return fail(ErrorCode::kInvalidArgument,
                "{} has {} tokens and {} logits, but {} has {} and {}; only models with the same vocabulary can be "
                "compared",
                path, n, engine.info().n_vocab, other_path, other.vocab_size(), reference.info().n_vocab);
  }
  for (TokenId id = 0; id < n; ++id) {
    if (own.piece(id, true) == other.piece(id, true)) continue;
    return fail(ErrorCode::kInvalidArgument,
                "token {} is {} in {}, but {} in {}; only models with the same vocabulary can be compared", id,
                tern::quoted(std::string(own.piece(id, true))), path, tern::quoted(std::string(other.piece(id, true))),
                other_path);
  }
  return {};
}

// The same vocabulary may be used with other tokenizer rules.
Result<void> check_same_tokens(const EvalText& own, const EvalText& other, const Engine& engine,
                               const Engine& reference) {
  if (own.bos != other.bos) {
    return fail(
        ErrorCode::kInvalidArgument,
        "{} and {} do not begin a text with the same token; only models with the same tokenizer can be compared",
        engine.info().path, reference.info().path);
  }
  const auto [at, other_at] = std::ranges::mismatch(own.tokens, other.tokens);
  if (at == own.tokens.end() && other_at == other.tokens.end()) return {};
  return fail(ErrorCode::kInvalidArgument,
              "{} and {} split the text differently, first at token {}; only models with the same tokenizer can be "
              "compared",
              engine.info().path, reference.info().path, at - own.tokens.begin());
}

Result<int> context_of_both(const Engine& engine, const Engine& reference, int n_ctx) {
  const int most = std::min(engine.info().n_ctx, reference.info().n_ctx);
  if (n_ctx > most) {
    return fail(ErrorCode::kInvalidArgument,
                "windows of {} tokens, but one of the models was trained for {}; give at "
                "most that",
                n_ctx, most);
  }
  return n_ctx != 0 ? n_ctx : most;
}

}  // namespace

Result<Divergence> eval_against(const Engine& engine, const Engine& reference, std::string_view text,
                                const EvalOptions& options) {
  TRY(const int n_ctx, context_of_both(engine, reference, options.n_ctx));
  TRY(const EvalText cut, cut_eval_text(engine, text, n_ctx));
  TRY_STATUS(check_same_vocabulary(engine, reference));
  TRY(const EvalText other, cut_eval_text(reference, text, n_ctx));
  TRY_STATUS(check_same_tokens(cut, other, engine, reference));
  return measure_divergence({engine, options.kv_type}, {reference, options.kv_type}, cut, n_ctx, options.on_progress);
}

}  // namespace tern
