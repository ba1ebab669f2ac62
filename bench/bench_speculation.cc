// The benefit of speculative decoding: tokens per second with and without it, in turns, on texts that repeat themselves
// and on texts that do not.
//
//   bench_speculation [MODEL] [--prompts FILE] [--rounds N] [--threads N] [--most N] [--processor-time]
//
// With prompts of make_copying_prompts.py, each is answered greedily with as many tokens as its expected answer has. A
// model without a tokenizer (`tern synth --preset copier-2b`, which copies earlier text) gets a token for each word. It
// must write one name instead of another, like a model that has understood the request. The share of the answer that
// was as expected is printed too.
//
// Without prompts, the texts are free. The default model writes stories, greedily and with its recommended sampling. A
// model with random weights is sampled at a high temperature, where its text is as free as possible.
//
// With --processor-time, tokens are counted per second of processor time, prompts included. With one thread, other work
// on the machine then hardly matters.
//
// Ratios compare two consecutive replies, in alternating order. The median is over all pairs of a text.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tern/engine.h"

namespace tern {
namespace {

struct Options {
  std::string model, prompts;
  int rounds = 5, threads = 0, most = 15;
  bool by_processor_time = false;
};

struct Case {
  std::string name;
  std::vector<TokenId> prompt;
  std::vector<TokenId> expected;  // empty: unknown
  GenerateOptions options;
};

// Tokens for words, spaces and signs, for a model without a tokenizer: up to six letters, up to three digits, a run of
// white space, or any other character. Ids are assigned in order of appearance.
class WordTokens {
 public:
  std::vector<TokenId> encode(std::string_view text) {
    std::vector<TokenId> tokens;
    for (size_t at = 0, end = 0; at < text.size(); at = end) {
      const Kind kind = kind_of(text[at]);
      const size_t most = kind == Kind::kLetter ? 6 : kind == Kind::kDigit ? 3 : kind == Kind::kSpace ? 64 : 1;
      for (end = at + 1; end < text.size() && end - at < most && kind_of(text[end]) == kind; ++end) {
      }
      const auto next = static_cast<TokenId>(ids_.size() + 1);
      tokens.push_back(ids_.emplace(text.substr(at, end - at), next).first->second);
    }
    return tokens;
  }

 private:
  enum class Kind { kLetter, kDigit, kSpace, kOther };
  static Kind kind_of(char c) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return Kind::kLetter;
    if (c >= '0' && c <= '9') return Kind::kDigit;
    return c == ' ' || c == '\n' ? Kind::kSpace : Kind::kOther;
  }
  std::map<std::string, TokenId, std::less<>> ids_;
};

std::vector<Case> copying_cases(const Engine& engine, const std::string& path) {
  std::ifstream file(path);
  std::stringstream read;
  read << file.rdbuf();
  const std::string all = read.str();
  constexpr std::string_view kHead = "=== ", kAnswer = "\n---\n";
  std::vector<Case> cases;
  for (size_t at = all.find(kHead); at != std::string::npos;) {
    const size_t line = all.find('\n', at), answer = all.find(kAnswer, line), next = all.find("\n=== ", line);
    const std::string_view head = std::string_view(all).substr(at + kHead.size(), line - at - kHead.size());
    const size_t bar = head.find(" | "), second = head.find(" | ", bar + 3);
    const std::string_view prompt = std::string_view(all).substr(line + 1, answer - line - 1);
    const std::string_view rest = std::string_view(all).substr(answer + kAnswer.size(), next - answer - kAnswer.size());
    Case c{.name = std::string(head.substr(0, bar)), .prompt = {}, .expected = {}, .options = {}};
    if (engine.has_tokenizer()) {
      c.prompt = engine.tokenizer().encode(prompt);
      c.expected = engine.tokenizer().encode(rest, {.add_bos = false});
    } else {
      WordTokens words;
      c.prompt = words.encode(prompt);
      c.expected = words.encode(rest);
      const TokenId name = words.encode(head.substr(bar + 3, second - bar - 3)).front();
      const TokenId by = words.encode(head.substr(second + 3)).front();
      // The bias puts `by` below copied tokens and above all others.
      c.options.logit_bias = {{.token = name, .bias = -INFINITY}, {.token = by, .bias = 12}};
    }
    c.options.sample.temperature = 0;
    c.options.max_tokens = static_cast<int>(c.expected.size());
    cases.push_back(std::move(c));
    at = next == std::string::npos ? next : next + 1;
  }
  return cases;
}

std::vector<Case> free_cases(const Engine& engine) {
  std::vector<Case> cases;
  const auto add = [&](std::string name, std::vector<TokenId> prompt, std::optional<float> temperature) {
    cases.push_back({.name = std::move(name), .prompt = std::move(prompt), .expected = {}, .options = {}});
    cases.back().options = {.max_tokens = 256, .ignore_eos = true};
    cases.back().options.sample = {.temperature = temperature, .seed = 5};
  };
  if (!engine.has_tokenizer()) {
    std::vector<TokenId> prompt(32);
    for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<TokenId>(i * 7919 % 9973);
    add("temperature 5", prompt, 5.0f);
    return cases;
  }
  for (const char* text : {"Once upon a time, there was a little bird.", "The old man looked at the sea and",
                           "Lily and Ben found a box in the garden.", "\"Where is my hat?\" asked the king."}) {
    add(std::string(text).substr(0, 16) + "…", engine.tokenizer().encode(text), std::nullopt);
    add(cases.back().name + " greedy", cases.back().prompt, 0.0f);
  }
  return cases;
}

double tokens_per_second(const Engine& engine, const Case& c, int speculate, bool by_processor_time,
                         GenerateResult& result) {
  GenerateOptions options = c.options;
  options.speculate = speculate;
  const int n_ctx = static_cast<int>(c.prompt.size()) + options.max_tokens;
  Session session =
      engine.new_session({.n_ctx = std::min(n_ctx, engine.info().n_ctx), .share_prefixes = false}).value();
  const std::clock_t start = std::clock();
  result = session.generate(c.prompt, options).value();
  if (by_processor_time) {
    return result.stats.n_generated * static_cast<double>(CLOCKS_PER_SEC) / static_cast<double>(std::clock() - start);
  }
  return (result.stats.n_generated - 1) / result.stats.decode_seconds;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void print(const std::string& name, const std::vector<double>& plain, const std::vector<double>& guessed,
           const std::vector<double>& ratios, const std::string& note) {
  std::printf("%-28s %8.1f tokens/s, guessed %8.1f, x%.2f (%.2f to %.2f)%s\n", name.c_str(), median(plain),
              median(guessed), median(ratios), *std::ranges::min_element(ratios), *std::ranges::max_element(ratios),
              note.c_str());
  std::fflush(stdout);
}

void measure(const Engine& engine, const std::vector<Case>& cases, const Options& options) {
  std::vector<double> all_plain, all_guessed, all_ratios, medians;
  for (const Case& c : cases) {
    std::vector<double> plain, guessed, ratios;
    GenerateResult plain_reply, reply;
    for (int round = 0; round < options.rounds; ++round) {
      if (round % 2 == 0) plain.push_back(tokens_per_second(engine, c, 0, options.by_processor_time, plain_reply));
      guessed.push_back(tokens_per_second(engine, c, options.most, options.by_processor_time, reply));
      if (round % 2 == 1) plain.push_back(tokens_per_second(engine, c, 0, options.by_processor_time, plain_reply));
      ratios.push_back(guessed.back() / plain.back());
    }
    const std::vector<TokenId>&a = plain_reply.tokens, &b = reply.tokens;
    size_t n_same = 0;
    for (size_t i = 0; i < std::min(a.size(), c.expected.size()); ++i) n_same += a[i] == c.expected[i];
    const GenerateStats& stats = reply.stats;
    std::string note = ", " + std::to_string(stats.n_guessed_right) + " of " + std::to_string(stats.n_guessed) +
                       " guesses right in " + std::to_string(stats.n_generated) + " tokens";
    if (a != b) note += ", THE TEXTS DIFFER";
    if (!c.expected.empty()) note += ", " + std::to_string(100 * n_same / c.expected.size()) + " % as expected";
    print(c.name, plain, guessed, ratios, note);
    all_plain.insert(all_plain.end(), plain.begin(), plain.end());
    all_guessed.insert(all_guessed.end(), guessed.begin(), guessed.end());
    all_ratios.insert(all_ratios.end(), ratios.begin(), ratios.end());
    medians.push_back(median(ratios));
  }
  print("all", all_plain, all_guessed, all_ratios, "");
  std::printf("median of the medians: x%.2f\n", median(medians));
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (name == "--prompts") {
      options.prompts = value();
    } else if (name == "--rounds") {
      options.rounds = std::atoi(value().c_str());
    } else if (name == "--threads") {
      options.threads = std::atoi(value().c_str());
    } else if (name == "--most") {
      options.most = std::atoi(value().c_str());
    } else if (name == "--processor-time") {
      options.by_processor_time = true;
    } else {
      options.model = name;
    }
  }
  return options;
}

int run(const Options& options) {
  const std::string path = options.model.empty() ? default_model_path().value() : options.model;
  const Engine engine =
      Engine::load({.model_path = path, .backend = BackendKind::kCpu, .n_threads = options.threads}).value();
  const auto cases = options.prompts.empty() ? free_cases(engine) : copying_cases(engine, options.prompts);
  measure(engine, cases, options);
  return 0;
}

}  // namespace
}  // namespace tern

int main(int argc, char** argv) { return tern::run(tern::read_options(argc, argv)); }
