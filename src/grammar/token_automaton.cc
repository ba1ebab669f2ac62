#include "grammar/token_automaton.h"

#include <algorithm>
#include <array>

namespace tern::grammar {
namespace {

using ByteRange = std::pair<uint8_t, uint8_t>;

// UTF-8 characters of more than one byte.
constexpr ByteRange kTail = {0x80, 0xBF};
constexpr std::array<std::array<ByteRange, 4>, 7> kLong = {{
    {{{0xC2, 0xDF}, kTail, {}, {}}},
    {{{0xE0, 0xE0}, {0xA0, 0xBF}, kTail, {}}},
    {{{0xE1, 0xEC}, kTail, kTail, {}}},
    {{{0xED, 0xED}, {0x80, 0x9F}, kTail, {}}},
    {{{0xEE, 0xEF}, kTail, kTail, {}}},
    {{{0xF0, 0xF0}, {0x90, 0xBF}, kTail, kTail}},
    {{{0xF1, 0xF3}, kTail, kTail, kTail}},
}};
constexpr uint32_t kFewNodes = 8;  // which are visited faster than anything is found out about them
constexpr std::array<ByteRange, 4> kLongest = {{{0xF4, 0xF4}, {0x80, 0x8F}, kTail, kTail}};

size_t length_of(const std::array<ByteRange, 4>& bytes) {
  return static_cast<size_t>(std::ranges::find(bytes, uint8_t{0}, &ByteRange::first) - bytes.begin());
}

}  // namespace

TokenAutomaton::TokenAutomaton(std::shared_ptr<const Rules> rules, std::shared_ptr<const Vocabulary> vocabulary)
    : rules_(std::move(rules)), vocabulary_(std::move(vocabulary)), automaton_(*rules_) {
  path_.resize(vocabulary_->all().max_depth + 1);
}

TokenAutomaton::Place TokenAutomaton::add_place() {
  const std::scoped_lock lock(mutex_);
  if (free_places_.empty()) {
    places_.push_back(automaton_.start());
    return places_.size() - 1;
  }
  const Place place = free_places_.back();
  free_places_.pop_back();
  places_[place] = automaton_.start();
  return place;
}

TokenAutomaton::Place TokenAutomaton::copy_place(Place of) {
  const Place place = add_place();
  const std::scoped_lock lock(mutex_);
  places_[place] = places_[of];
  return place;
}

void TokenAutomaton::remove_place(Place place) {
  const std::scoped_lock lock(mutex_);
  places_[place] = kNowhere;
  free_places_.push_back(place);
}

bool TokenAutomaton::accept(Place place, std::string_view bytes) {
  const std::scoped_lock lock(mutex_);
  keep_small();
  automaton_.begin_work();
  PositionId at = places_[place];
  for (const char c : bytes) at = automaton_.step(at, static_cast<uint8_t>(c));
  if (at == kNowhere) return false;
  places_[place] = at;
  return true;
}

bool TokenAutomaton::may_end(Place place) const {
  const std::scoped_lock lock(mutex_);
  return automaton_.may_end(places_[place]);
}

bool TokenAutomaton::may_go_on(Place place) const {
  const std::scoped_lock lock(mutex_);
  return automaton_.may_go_on(places_[place]);
}

std::shared_ptr<const TokenMask> TokenAutomaton::mask(Place place, bool strips_space) {
  const std::scoped_lock lock(mutex_);
  keep_small();
  const PositionId at = places_[place];
  const uint64_t key = (uint64_t{at} << 1) | static_cast<uint64_t>(strips_space);
  if (const auto known = masks_.find(key); known != masks_.end()) return known->second;
  automaton_.begin_work();
  auto mask = std::make_shared<const TokenMask>(make_mask(at, strips_space));
  if (automaton_.has_overflowed()) return nullptr;
  masks_.emplace(key, mask);
  return mask;
}

TokenMask TokenAutomaton::make_mask(PositionId at, bool strips_space) {
  TokenMask mask(vocabulary_->n_words());
  if (!automaton_.may_go_on(at)) return mask;
  size_t n_plain = 0;
  PlainStep step = plain_step(at);
  for (PositionId from = at; n_plain < Vocabulary::kMaxPlain && step.kind == PlainStep::kSame; ++n_plain) {
    if (step.to == from) {
      n_plain = Vocabulary::kMaxPlain;
      break;
    }
    from = step.to;
    step = plain_step(from);
  }
  const bool plain_is_known = n_plain == Vocabulary::kMaxPlain || step.kind == PlainStep::kNone;
  if (strips_space || n_plain == 0 || !plain_is_known) {
    walk(vocabulary_->all(), at, strips_space, mask);
  } else {
    mask = vocabulary_->plain(n_plain);
    walk(vocabulary_->special(), at, false, mask);
  }
  return mask;
}

void TokenAutomaton::walk(const TokenTree& tree, PositionId at, bool strips_space, TokenMask& mask) {
  path_[0] = at;
  for (size_t i = 0; i < tree.size();) {
    const TokenTree::Node& node = tree.nodes[i];
    const bool is_stripped = strips_space && node.depth == 1 && node.byte == ' ';
    const PositionId to = is_stripped ? at : automaton_.step(path_[node.depth - 1u], node.byte);
    if (to == kNowhere) {
      i = node.after;
      continue;
    }
    path_[node.depth] = to;
    if (node.is_plain && node.after - i > kFewNodes && !is_stripped && loops(to)) {
      // Any plain characters may follow, so all tokens from here are allowed.
      for (uint32_t t = node.first_token; t < tree.nodes[node.after].first_token; ++t) put_in(mask, tree.tokens[t]);
      i = node.after;
      continue;
    }
    ++i;
    if (is_stripped) continue;  // a token of only this space would add nothing
    for (uint32_t t = node.first_token; t < tree.nodes[i].first_token; ++t) put_in(mask, tree.tokens[t]);
  }
}

// True if plain characters lead back to where they began.
bool TokenAutomaton::loops(PositionId at) {
  const PlainStep step = plain_step(at);
  return step.kind == PlainStep::kSame && step.to == at;
}

TokenAutomaton::PlainStep TokenAutomaton::plain_step(PositionId at) {
  if (plain_steps_.size() <= at) plain_steps_.resize(automaton_.n_positions());
  if (plain_steps_[at].kind == PlainStep::kUnknown) {
    const PlainStep step = find_plain_step(at);
    if (automaton_.has_overflowed()) return step;  // not cached: an overflow is not an answer
    if (plain_steps_.size() < automaton_.n_positions()) plain_steps_.resize(automaton_.n_positions());
    plain_steps_[at] = step;
  }
  return plain_steps_[at];
}

// Adds a result. True: all so far lead to the same place.
bool TokenAutomaton::meet(PlainStep& step, PositionId to) const {
  const auto kind = to == kNowhere ? PlainStep::kNone : PlainStep::kSame;
  if (step.kind == PlainStep::kUnknown) {
    step = {.kind = kind, .to = to};
  } else if (step.to != to) {
    step.kind = PlainStep::kMixed;
  }
  return step.kind != PlainStep::kMixed;
}

bool TokenAutomaton::meet_sequences(PlainStep& step, PositionId at, std::span<const ByteRange> bytes) {
  std::vector<PositionId> here = {at};
  for (const auto& [low, high] : bytes) {
    std::vector<PositionId> next;
    for (const PositionId from : here) {
      for (unsigned byte = low; byte <= high; ++byte) {
        const bool is_new = byte == low || rules_->class_of[byte] != rules_->class_of[byte - 1];
        if (is_new) next.push_back(automaton_.step(from, static_cast<uint8_t>(byte)));
      }
    }
    std::ranges::sort(next);
    const auto repeated = std::ranges::unique(next);
    next.erase(repeated.begin(), repeated.end());
    here = std::move(next);
  }
  return std::ranges::all_of(here, [&](PositionId to) { return meet(step, to); });
}

TokenAutomaton::PlainStep TokenAutomaton::find_plain_step(PositionId at) {
  PlainStep step;
  for (unsigned byte = 0x20; byte < 0x7F; ++byte) {
    const bool is_new = byte == 0x20 || rules_->class_of[byte] != rules_->class_of[byte - 1];
    const bool follows_special = byte == '"' + 1 || byte == '\\' + 1;
    if (!is_plain(byte) || (!is_new && !follows_special)) continue;
    if (!meet(step, automaton_.step(at, static_cast<uint8_t>(byte)))) return step;
  }
  for (const auto& bytes : kLong) {
    if (!meet_sequences(step, at, std::span(bytes).first(length_of(bytes)))) return step;
  }
  meet_sequences(step, at, kLongest);
  return step;
}

void TokenAutomaton::keep_small() {
  if (masks_.size() * vocabulary_->n_words() * sizeof(uint64_t) > kMaxMaskBytes) masks_.clear();
  if (automaton_.bytes() <= kMaxBytes) return;
  automaton_.forget_all_but(places_);
  masks_.clear();
  plain_steps_.clear();
}

}  // namespace tern::grammar
