// Computes which tokens may come next in a text of a grammar.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "grammar/rules/automaton.h"
#include "grammar/vocabulary.h"
#include "tern/grammar.h"

namespace tern::grammar {

// A grammar over a vocabulary, with cached results that all replies share. Thread-safe.
class TokenAutomaton {
 public:
  TokenAutomaton(std::shared_ptr<const Rules> rules, std::shared_ptr<const Vocabulary> vocabulary);

  // Memory limits of positions and of masks. Beyond them all masks are dropped and, for kMaxBytes, all positions but
  // the replies' places.
  static constexpr size_t kMaxBytes = size_t{64} << 20;
  static constexpr size_t kMaxMaskBytes = size_t{64} << 20;

  // A reply's place in its text.
  using Place = size_t;
  Place add_place();
  Place copy_place(Place of);
  void remove_place(Place place);

  // Takes bytes. False: they are not allowed and nothing was taken.
  bool accept(Place place, std::string_view bytes);
  bool may_end(Place place) const;
  bool may_go_on(Place place) const;

  // The tokens that may come next; null: the text can be read in too many ways to compute that in time. `strips_space`:
  // a space at the start of the token is not part of the text.
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
  bool loops(PositionId at);
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
  std::vector<PositionId> path_;        // positions of the current walk, by depth
};

}  // namespace tern::grammar
