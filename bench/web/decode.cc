// How fast one WebAssembly flavor's CPU backend reads a prompt and writes tokens, without a browser: run it with Node.
//   node build/web-relaxed/bin/bench_web_decode.js MODEL [THREADS [TOKENS [PROMPT_TOKENS]]]
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tern/engine.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_web_decode MODEL [THREADS [TOKENS [PROMPT_TOKENS]]]\n");
    return 2;
  }
  const auto argument = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  const int n_tokens = argument(3, 64), n_prompt = argument(4, 64);
  auto engine =
      tern::Engine::load({.model_path = argv[1], .backend = tern::BackendKind::kCpu, .n_threads = argument(2, 1)});
  if (!engine) {
    std::fprintf(stderr, "%s\n", engine.error().message.c_str());
    return 1;
  }
  auto session = engine->new_session({.n_ctx = n_prompt + n_tokens});
  if (!session) {
    std::fprintf(stderr, "%s\n", session.error().message.c_str());
    return 1;
  }
  std::vector<tern::TokenId> prompt;
  if (engine->has_tokenizer()) prompt = engine->tokenizer().encode("Once upon a time there was a little dog");
  while (prompt.size() < static_cast<size_t>(n_prompt)) prompt.push_back(static_cast<int>(prompt.size()) % 97 + 3);
  prompt.resize(static_cast<size_t>(n_prompt));
  double best_prompt = 0, best_decode = 0;
  std::string text;
  for (int round = 0; round < 3; ++round) {  // the first round compiles
    session->reset();
    const auto result =
        session->generate(prompt, {.max_tokens = n_tokens, .sample = {.temperature = 0.0f}, .ignore_eos = true});
    if (!result) {
      std::fprintf(stderr, "%s\n", result.error().message.c_str());
      return 1;
    }
    text = result->text;
    best_prompt = std::max(best_prompt, n_prompt / result->stats.prompt_seconds);
    best_decode = std::max(best_decode, (result->stats.n_generated - 1) / result->stats.decode_seconds);
  }
  const double gigabytes = static_cast<double>(engine->info().bytes_per_token) / 1e9;
  std::printf("%s: prompt %.1f tokens/s, decode %.1f tokens/s, %.2f GB/s\n", engine->info().backend.c_str(),
              best_prompt, best_decode, gigabytes * best_decode);
  if (engine->has_tokenizer()) std::printf("%.200s\n", text.c_str());
}
