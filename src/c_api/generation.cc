// Replies, at once or step by step.
#include <span>

#include "c_api/error.h"
#include "c_api/handles.h"
#include "c_api/options.h"

using namespace tern;
using namespace tern::c_api;

namespace {

constexpr size_t kStepSize = 32, kStatsSize = 48;  // in the first version
static_assert(sizeof(tern_step) == kStepSize);
static_assert(sizeof(tern_stats) == kStatsSize + 8);  // n_guessed and n_guessed_right were added

int32_t finish_of(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStopToken:
      return TERN_FINISH_STOP_TOKEN;
    case FinishReason::kStopString:
      return TERN_FINISH_STOP_STRING;
    case FinishReason::kMaxTokens:
      return TERN_FINISH_MAX_TOKENS;
    case FinishReason::kContextFull:
      return TERN_FINISH_CONTEXT_FULL;
    case FinishReason::kCancelled:
      return TERN_FINISH_CANCELLED;
  }
  return TERN_FINISH_NONE;
}

Result<std::unique_ptr<tern_generation>> begin(tern_session* session, const int32_t* prompt, size_t n_prompt,
                                               const tern_generate_options* options) {
  TRY_STATUS(given(session, "session"));
  if (n_prompt > 0) TRY_STATUS(given(prompt, "prompt"));
  TRY(const auto wanted, read_options(options));
  const Turn turn = session->turn();
  TRY(auto begun, session->session().begin(std::span(prompt, n_prompt), wanted));
  return std::make_unique<tern_generation>(session->shared, std::move(begun));
}

// Runs one step under the engine's lock. Its text is in `generation.text`.
Result<tern_step> next(tern_generation& generation) {
  const Turn turn = generation.turn();
  if (generation.cancelled) generation.generation->cancel();
  TRY(const auto step, generation.generation->next());
  generation.text = step.text;
  return tern_step{.size = sizeof(tern_step),
                   .text = generation.text.c_str(),
                   .n_bytes = generation.text.size(),
                   .token = step.token.value_or(-1),
                   .finish = step.finish ? finish_of(*step.finish) : static_cast<int32_t>(TERN_FINISH_NONE)};
}

Result<void> fill_stats(const tern_generation& generation, tern_stats* stats) {
  const Turn turn = generation.turn();
  const GenerateResult& result = generation.generation->result();
  const bool done = generation.generation->done();
  return fill_struct(stats,
                     {.size = sizeof(tern_stats),
                      .finish = done ? finish_of(result.reason) : static_cast<int32_t>(TERN_FINISH_NONE),
                      .n_prompt = result.stats.n_prompt,
                      .n_reused = result.stats.n_reused,
                      .n_generated = result.stats.n_generated,
                      .prompt_seconds = result.stats.prompt_seconds,
                      .decode_seconds = result.stats.decode_seconds,
                      .load_seconds = result.stats.load_seconds,
                      .n_guessed = result.stats.n_guessed,
                      .n_guessed_right = result.stats.n_guessed_right},
                     kStatsSize, "tern_stats");
}

}  // namespace

tern_code tern_generate(tern_session* session, const int32_t* prompt, size_t n_prompt,
                        const tern_generate_options* options, tern_on_text on_text, void* user, tern_stats* stats,
                        tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    if (stats && stats->size < kStatsSize) return fill_struct(stats, {}, kStatsSize, "tern_stats");
    TRY(const auto generation, begin(session, prompt, n_prompt, options));
    for (bool done = false; !done;) {
      TRY(const auto step, next(*generation));
      done = step.finish != TERN_FINISH_NONE;
      if (on_text && !on_text(user, step.text, step.n_bytes)) tern_generation_cancel(generation.get());
    }
    return stats ? fill_stats(*generation, stats) : Result<void>();
  });
}

tern_code tern_generation_begin(tern_session* session, const int32_t* prompt, size_t n_prompt,
                                const tern_generate_options* options, tern_generation** generation,
                                tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(generation, "generation"));
    TRY(auto begun, begin(session, prompt, n_prompt, options));
    *generation = begun.release();
    return {};
  });
}

tern_code tern_generation_next(tern_generation* generation, tern_step* step, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(generation, "generation"));
    TRY_STATUS(given(step, "step"));
    if (step->size < kStepSize) return fill_struct(step, {}, kStepSize, "tern_step");
    TRY(const auto made, next(*generation));
    return fill_struct(step, made, kStepSize, "tern_step");
  });
}

void tern_generation_cancel(tern_generation* generation) {
  if (generation) generation->cancelled = true;
}

tern_code tern_generation_stats(const tern_generation* generation, tern_stats* stats, tern_error** error) {
  return guarded(error, [&] -> Result<void> {
    TRY_STATUS(given(generation, "generation"));
    TRY_STATUS(given(stats, "stats"));
    return fill_stats(*generation, stats);
  });
}

void tern_generation_free(tern_generation* generation) { delete generation; }
