// Times grammar masks: which tokens may come next, for the documents of tests/grammar/make_schemas.py over a
// vocabulary.
//
//   tests/grammar/make_schemas.py | bench_grammar TOKENIZER
//
// "first": positions that no earlier document of the schema has visited. "again": the same documents once more.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "grammar/grammar_impl.h"
#include "grammar/matcher.h"
#include "print_times.h"
#include "tern/engine.h"

namespace tern {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

struct Times {
  std::vector<double> compile, first, again, accept;
};

// Returns false if the grammar refuses the document.
bool follow(GrammarMatcher matcher, std::span<const TokenId> tokens, std::vector<double>& masks,
            std::vector<double>& accepts) {
  for (const TokenId token : tokens) {
    auto start = Clock::now();
    const auto allowed = matcher.allowed();
    masks.push_back(microseconds_since(start));
    if (!allowed || !grammar::is_in(*allowed->tokens, token)) return false;
    start = Clock::now();
    matcher.accept(token);
    accepts.push_back(microseconds_since(start));
  }
  return true;
}

int run(const char* path) {
  const auto tokenizer = load_tokenizer(path);
  if (!tokenizer) return std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str()), 1;
  const int n_vocab = (*tokenizer)->vocab_size();
  GrammarCache cache;
  auto start = Clock::now();
  cache.matcher(Grammar::json_object().value(), **tokenizer, n_vocab, false);
  std::printf("vocabulary of %d tokens: %.1f ms, once\n", n_vocab, microseconds_since(start) / 1000);
  Times times;
  int n_failed = 0;
  for (std::string line; std::getline(std::cin, line);) {
    const Json test = Json::parse(line);
    const std::string schema = test["schema"].dump();
    start = Clock::now();
    const auto grammar = Grammar::json_schema(schema);
    times.compile.push_back(microseconds_since(start));
    if (!grammar) {
      ++n_failed;
      continue;
    }
    for (const bool is_first : {true, false}) {
      for (const Json& valid : test["valid"]) {
        const auto tokens = (*tokenizer)->encode(valid.dump(), {.add_bos = false});
        const bool done = follow(cache.matcher(*grammar, **tokenizer, n_vocab, (*tokenizer)->strips_leading_space()),
                                 tokens, is_first ? times.first : times.again, times.accept);
        n_failed += done ? 0 : 1;
      }
    }
  }
  print_times("compile", times.compile);
  print_times("first", times.first);
  print_times("again", times.again);
  print_times("accept", times.accept);
  if (n_failed > 0) std::printf("%d schemas or documents were refused\n", n_failed);
  return n_failed > 0 ? 1 : 0;
}

}  // namespace
}  // namespace tern

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: make_schemas.py | bench_grammar TOKENIZER\n", stderr), 2;
  return tern::run(argv[1]);
}
