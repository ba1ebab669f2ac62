// Random replies: documents for the schemas on standard input (make_schemas.py), with each token chosen at random from
// the allowed ones.
//
//   walk DOCUMENTS SEED < SCHEMAS
//
// Prints a line for each schema: {"error": …}, or {"documents": […], "unfinished": N, "refused": [valid ones that are
// not possible], "wrong_masks": N}. Half of the documents consist of the default model's tokens, half of single bytes.
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "grammar/grammar_impl.h"
#include "grammar/matcher.h"
#include "sample/random.h"
#include "support/checkout.h"
#include "tern/engine.h"

namespace tern {
namespace {

using Json = nlohmann::ordered_json;

class ByteTokenizer final : public Tokenizer {
 public:
  ByteTokenizer() : bytes_(256, '\0') { std::iota(bytes_.begin(), bytes_.end(), '\0'); }
  int vocab_size() const override { return 256; }
  std::vector<TokenId> encode(std::string_view text, const TokenizeOptions&) const override {
    std::vector<TokenId> ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    return ids;
  }
  std::string_view piece(TokenId id, bool) const override {
    return std::string_view(bytes_).substr(static_cast<size_t>(id), 1);
  }
  std::optional<TokenId> bos() const override { return std::nullopt; }
  const std::vector<TokenId>& stop_tokens() const override { return none_; }
  std::optional<TokenId> find(std::string_view) const override { return std::nullopt; }

 private:
  std::string bytes_;
  std::vector<TokenId> none_;
};

class Walker {
 public:
  Walker(const Tokenizer& tokenizer, uint64_t seed) : tokenizer_(tokenizer), random_(seed) {}

  // Returns nullopt if the document had not ended after kMostTokens tokens.
  std::optional<std::string> walk(const std::shared_ptr<const Grammar>& grammar) {
    constexpr int kMostTokens = 3000;
    GrammarMatcher matcher = cache_.matcher(grammar, tokenizer_, tokenizer_.vocab_size(), false);
    std::string text;
    for (int n = 0; n < kMostTokens; ++n) {
      const auto allowed = matcher.allowed().value();
      if (n % 16 == 3) compare(matcher, allowed);
      if (allowed.end && (!allowed.any || below(4) == 0)) return text;
      const TokenId token = choose(*allowed.tokens, n);
      text += tokenizer_.piece(token);
      if (!matcher.accept(token)) ++n_wrong;
    }
    return std::nullopt;
  }

  // True if the grammar allows the document's tokens, and its end.
  bool takes(const std::shared_ptr<const Grammar>& grammar, const std::string& document) {
    GrammarMatcher matcher =
        cache_.matcher(grammar, tokenizer_, tokenizer_.vocab_size(), tokenizer_.strips_leading_space());
    for (const TokenId token : tokenizer_.encode(document, {.add_bos = false})) {
      const auto allowed = matcher.allowed().value();
      if (!grammar::is_in(*allowed.tokens, token) || !matcher.accept(token)) return false;
    }
    return matcher.allowed().value().end;
  }

  int n_wrong = 0;  // disagreements between masks and the matcher

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_.next() % n); }

  void compare(const GrammarMatcher& matcher, const GrammarMatcher::Allowed& allowed) {
    for (int i = 0; i < 200; ++i) {
      const auto token = static_cast<TokenId>(below(static_cast<size_t>(tokenizer_.vocab_size())));
      if (tokenizer_.piece(token).empty()) continue;
      GrammarMatcher copy = matcher;
      if (copy.accept(token) != grammar::is_in(*allowed.tokens, token)) ++n_wrong;
    }
  }

  // Tokens that close something become more likely as the text grows; otherwise few texts would end.
  TokenId choose(const grammar::TokenMask& mask, int n) {
    std::vector<TokenId> all, closing;
    for (TokenId id = 0; id < tokenizer_.vocab_size(); ++id) {
      if (!grammar::is_in(mask, id)) continue;
      all.push_back(id);
      if (std::string_view("\"]}").contains(tokenizer_.piece(id)[0])) closing.push_back(id);
    }
    const bool closes = !closing.empty() && below(100) < 15 + static_cast<size_t>(n < 40 ? n : n < 200 ? 60 : 84);
    const auto& among = closes ? closing : all;
    return among[below(among.size())];
  }

  const Tokenizer& tokenizer_;
  GrammarCache cache_;
  SplitMix64 random_;
};

Json walk(const Json& line, std::span<Walker* const> walkers, int n_documents) {
  const auto grammar = Grammar::json_schema(line["schema"].dump());
  if (!grammar) return {{"error", grammar.error().message}};
  Json out = {{"documents", Json::array()}, {"refused", Json::array()}};
  int n_unfinished = 0;
  for (int i = 0; i < n_documents; ++i) {
    const auto document = walkers[static_cast<size_t>(i) % walkers.size()]->walk(*grammar);
    n_unfinished += document ? 0 : 1;
    if (document) out["documents"].push_back(*document);
  }
  int n_wrong = 0;
  for (Walker* walker : walkers) {
    for (const Json& valid : line["valid"]) {
      for (const std::string& text : {valid.dump(), valid.dump(2)}) {
        if (!walker->takes(*grammar, text)) out["refused"].push_back(text);
      }
    }
    n_wrong += std::exchange(walker->n_wrong, 0);
  }
  out["unfinished"] = n_unfinished;
  out["wrong_masks"] = n_wrong;
  return out;
}

}  // namespace
}  // namespace tern

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto model = tern::load_tokenizer(tern::source_path("models/tern-stories.gguf")).value();
  const tern::ByteTokenizer bytes;
  const auto seed = static_cast<uint64_t>(std::atoll(argv[2]));
  tern::Walker first(*model, seed), second(bytes, seed + 1);
  tern::Walker* const walkers[] = {&first, &second};
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << tern::walk(tern::Json::parse(line), walkers, std::atoi(argv[1]))
                     .dump(-1, ' ', false, tern::Json::error_handler_t::replace)
              << "\n";
  }
}
