// Which tokens may come next in a text of a grammar.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "grammar/automaton.h"
#include "grammar/vocabulary.h"
#include "tern/grammar.h"

namespace tern::grammar {

// A grammar over a vocabulary, and what has been found out about it so far, which all replies share. Functions may be
// called from any threads.
class TokenAutomaton {
 public:
  TokenAutomaton(std::shared_ptr<const Rules> rules, std::shared_ptr<const Vocabulary> vocabulary);

  // Memory for positions, and the number of masks, above which all but the places of replies is forgotten.
  static constexpr size_t kMaxBytes = size_t{64} << 20;
  static constexpr size_t kMaxMaskBytes = size_t{64} << 20;

  // A place in a text, kept for a reply.
  using Place = size_t;
  Place add_place();
  Place copy_place(Place of);
  void remove_place(Place place);

  // Takes bytes; false, without taking anything, where they are not allowed.
  bool accept(Place place, std::string_view bytes);
  bool may_end(Place place) const;
  bool may_go_on(Place place) const;

  // The tokens that may come next; null where that would take too long, because the text can be read in too many ways.
  // `strips_space`: a first space of the token is not of the text.
  std::shared_ptr<const TokenMask> mask(Place place, bool strips_space);

  const Vocabulary& vocabulary() const { return *vocabulary_; }

 private:
  struct PlainStep {
    enum Kind : uint8_t { kUnknown, kNone, kSame, kMixed } kind = kUnknown;
    PositionId to = kNowhere;
  };
  TokenMask make_mask(PositionId at, bool strips_space);
  void walk(const TokenTree& tree, PositionId at, bool strips_space, TokenMask& mask);
  PlainStep plain_step(PositionId at);
  PlainStep find_plain_step(PositionId at);
  bool meet(PlainStep& step, PositionId to) const;
  bool meet_sequences(PlainStep& step, PositionId at, std::span<const std::pair<uint8_t, uint8_t>> bytes);
  void keep_small();

  std::shared_ptr<const Rules> rules_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  mutable std::mutex mutex_;
  Automaton automaton_;
  std::vector<PositionId> places_;
  std::vector<Place> free_places_;
  std::unordered_map<uint64_t, std::shared_ptr<const TokenMask>> masks_;
  std::vector<PlainStep> plain_steps_;  // by position
  std::vector<PositionId> path_;        // of a walk, by depth
};

}  // namespace tern::grammar
