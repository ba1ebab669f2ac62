// A reply under a grammar, token by token.
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
  // `strips_space`: the first space of the reply's first token with text is not part of the text.
  GrammarMatcher(std::shared_ptr<grammar::TokenAutomaton> automaton, bool strips_space)
      : automaton_(std::move(automaton)), place_(automaton_->add_place()), strips_space_(strips_space) {}
  GrammarMatcher(const GrammarMatcher& other)
      : automaton_(other.automaton_),
        place_(automaton_->copy_place(other.place_)),
        strips_space_(other.strips_space_) {}
  GrammarMatcher& operator=(const GrammarMatcher&) = delete;
  ~GrammarMatcher() { automaton_->remove_place(place_); }

  struct Allowed {
    std::shared_ptr<const grammar::TokenMask> tokens;  // with text
    bool end;
    bool any;  // whether there is such a token
  };
  // kNotSupported: the text so far can be read in too many ways.
  Result<Allowed> allowed() const;

  // Takes a token; false, without taking it, where it is not allowed. A token without text changes nothing.
  bool accept(TokenId token);
  // The same of text. False: nothing has been taken.
  bool accept(std::string_view bytes) { return automaton_->accept(place_, bytes); }

  // Whether nothing but the end is possible.
  bool is_complete() const { return automaton_->may_end(place_) && !automaton_->may_go_on(place_); }

 private:
  std::shared_ptr<grammar::TokenAutomaton> automaton_;
  size_t place_;
  bool strips_space_;
};

// What is known about a model's vocabulary and the grammars that its replies have had. May be used from any threads.
class GrammarCache {
 public:
  // The matcher of a new reply. The first takes some milliseconds for the vocabulary. `shown`: control tokens that are
  // text as well.
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
  VocabularyPtr vocabulary_, vocabulary_with_;  // the latter with shown_
  std::vector<TokenId> shown_;
  std::vector<Known> known_;
};

}  // namespace tern
