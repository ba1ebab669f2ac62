#include "grammar/matcher.h"

#include <algorithm>

#include "grammar/grammar_impl.h"

namespace tern {

Result<GrammarMatcher::Allowed> GrammarMatcher::allowed() const {
  auto tokens = automaton_->mask(place_, strips_space_);
  if (!tokens) {
    return fail(ErrorCode::kNotSupported,
                "the grammar can read the reply so far in too many ways at once; make it less ambiguous");
  }
  const bool any = std::ranges::any_of(*tokens, [](uint64_t word) { return word != 0; });
  return Allowed{.tokens = std::move(tokens), .end = automaton_->may_end(place_), .any = any};
}

bool GrammarMatcher::accept(TokenId token) {
  std::string_view bytes = automaton_->vocabulary().bytes(token);
  if (bytes.empty()) return true;
  if (strips_space_ && bytes.starts_with(' ')) bytes.remove_prefix(1);
  if (!automaton_->accept(place_, bytes)) return false;
  strips_space_ = false;
  return true;
}

// The marks of a model's tool calls are always the same, so only the last `shown` vocabulary is kept.
GrammarCache::VocabularyPtr GrammarCache::vocabulary(const Tokenizer& tokenizer, int n_vocab,
                                                     std::span<const TokenId> shown) {
  VocabularyPtr& known = shown.empty() ? vocabulary_ : vocabulary_with_;
  if (known && (shown.empty() || std::ranges::equal(shown, shown_))) return known;
  if (!shown.empty()) shown_.assign(shown.begin(), shown.end());
  return known = std::make_shared<const grammar::Vocabulary>(tokenizer, n_vocab, shown);
}

GrammarMatcher GrammarCache::matcher(const std::shared_ptr<const Grammar>& grammar, const Tokenizer& tokenizer,
                                     int n_vocab, bool strips_space, std::span<const TokenId> shown) {
  const std::scoped_lock lock(mutex_);
  const VocabularyPtr words = vocabulary(tokenizer, n_vocab, shown);
  std::erase_if(known_, [](const Known& known) { return known.grammar.expired(); });
  const auto is_this = [&](const Known& known) {
    return known.grammar.lock() == grammar && &known.automaton->vocabulary() == words.get();
  };
  auto known = std::ranges::find_if(known_, is_this);
  if (known == known_.end()) {
    known_.push_back({grammar, std::make_shared<grammar::TokenAutomaton>(grammar->impl().rules, words)});
    known = known_.end() - 1;
  }
  return GrammarMatcher(known->automaton, strips_space);
}

}  // namespace tern
