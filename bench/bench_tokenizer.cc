// How fast is text converted to tokens? The default model generates the text, so that it has English words in English
// proportions.
#include <benchmark/benchmark.h>

#include "support/checkout.h"
#include "tern/engine.h"

namespace tern {
namespace {

const std::string& story() {
  static const std::string text = [] {
    const Engine engine = Engine::load({.model_path = source_path("models/tern-stories.gguf")}).value();
    std::string all;
    for (uint64_t seed = 0; all.size() < 40'000; ++seed) {
      Session session = engine.new_session().value();
      const auto prompt = engine.tokenizer().encode("Once upon a time");
      all += session
                 .generate(prompt,
                           {.max_tokens = 400, .sample = {.temperature = 1.0f, .top_k = 0, .seed = seed}, .stop = {}})
                 .value()
                 .text;
    }
    return all;
  }();
  return text;
}

void BM_Encode(benchmark::State& state, const std::string& path) {
  const auto tokenizer = load_tokenizer(path);
  if (!tokenizer) return state.SkipWithError(tokenizer.error().message.c_str());
  story();  // generate it before the clock starts
  for (auto _ : state) benchmark::DoNotOptimize((*tokenizer)->encode(story()));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(story().size()));
}
BENCHMARK_CAPTURE(BM_Encode, default_model, source_path("models/tern-stories.gguf"));

void BM_LoadTokenizer(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(load_tokenizer(source_path("models/tern-stories.gguf")));
}
BENCHMARK(BM_LoadTokenizer);

}  // namespace
}  // namespace tern
