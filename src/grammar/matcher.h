// Matches a reply against a grammar, token by token.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/result.h"
#include "grammar/token_automaton.h"
#include "tern/grammar.h"

namespace tern {

class GrammarMatcher {
 public:
  // `strips_space`: a space at the start of the reply's first token with text is not part of the text.
  GrammarMatcher(std::shared_ptr<grammar::TokenAutomaton> automaton, bool strips_space)
      : automaton_(std::move(automaton)), place_(automaton_->add_place()), strips_space_(strips_space) {}
  GrammarMatcher(const GrammarMatcher& other)
      : automaton_(other.automaton_),
        place_(automaton_->copy_place(other.place_)),
        strips_space_(other.strips_space_) {}
  GrammarMatcher& operator=(const GrammarMatcher&) = delete;
  ~GrammarMatcher() { automaton_->remove_place(place_); }

  struct Allowed {
    std::shared_ptr<const grammar::TokenMask> tokens;  // the allowed tokens with text
    bool end;
    bool any;  // true if `tokens` is not empty
  };
  // The allowed next tokens. kNotSupported: the text so far can be read in too many ways.
  Result<Allowed> allowed() const;

  // Takes a token. False: it is not allowed and was not taken. A token without text changes nothing.
  bool accept(TokenId token);
  // Takes text. False: it is not allowed and nothing was taken.
  bool accept(std::string_view bytes) { return automaton_->accept(place_, bytes); }

  // True if only the end is possible.
  bool is_complete() const { return automaton_->may_end(place_) && !automaton_->may_go_on(place_); }

 private:
  std::shared_ptr<grammar::TokenAutomaton> automaton_;
  size_t place_;
  bool strips_space_;
};

// Caches a model's vocabulary and the grammars of its replies. Thread-safe.
class GrammarCache {
 public:
  // Returns the matcher of a new reply. The first call takes some milliseconds for the vocabulary. `shown`: control
  // tokens that count as text.
  GrammarMatcher matcher(const std::shared_ptr<const Grammar>& grammar, const Tokenizer& tokenizer, int n_vocab,
                         bool strips_space, std::span<const TokenId> shown = {});

 private:
  using VocabularyPtr = std::shared_ptr<const grammar::Vocabulary>;
  VocabularyPtr vocabulary(const Tokenizer& tokenizer, int n_vocab, std::span<const TokenId> shown);

  struct Known {
    std::weak_ptr<const Grammar> grammar;
    std::shared_ptr<grammar::TokenAutomaton> automaton;
  };
  std::mutex mutex_;
  VocabularyPtr vocabulary_, vocabulary_with_;  // the latter includes shown_
  std::vector<TokenId> shown_;
  std::vector<Known> known_;
};

}  // namespace tern
