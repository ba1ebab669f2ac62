#include "sample/dry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tern {

SequenceBreakers::SequenceBreakers(std::vector<std::string> texts, PieceOf piece_of)
    : texts_(std::move(texts)), piece_of_(std::move(piece_of)) {
  if (!piece_of_) texts_.clear();
  for (const std::string& text : texts_) longest_ = std::max(longest_, text.size());
}

bool SequenceBreakers::add(TokenId token) {
  if (texts_.empty()) return false;
  const size_t n_before = tail_.size();
  tail_ += piece_of_(token);
  const bool has_new = std::ranges::any_of(texts_, [&](const std::string& text) {
    const size_t at = tail_.rfind(text);
    return at != tail_.npos && at + text.size() > n_before;
  });
  if (tail_.size() >= longest_) tail_.erase(0, tail_.size() - (longest_ - 1));
  return has_new;
}

bool SequenceBreakers::are_in(TokenId token) const {
  if (texts_.empty()) return false;
  const std::string_view piece = piece_of_(token);
  return std::ranges::any_of(texts_, [piece](const std::string& text) { return piece.contains(text); });
}

DryPenalty::DryPenalty(const Sampling& sampling, int n_vocab, PieceOf piece_of)
    : multiplier_(sampling.dry_multiplier),
      base_(sampling.dry_base),
      allowed_length_(sampling.dry_allowed_length),
      last_n_(sampling.dry_penalty_last_n),
      breakers_(sampling.dry_sequence_breakers, std::move(piece_of)),
      lengths_(static_cast<size_t>(n_vocab), -1) {}

void DryPenalty::add(TokenId token) {
  is_current_ = false;
  tokens_.push_back(token);
  n_unbroken_ = breakers_.add(token) ? 0 : n_unbroken_ + 1;
}

void DryPenalty::forget() {
  tokens_.clear();
  breakers_.forget();
  n_unbroken_ = 0;
  is_current_ = false;
  update();
}

void DryPenalty::update() {
  if (std::exchange(is_current_, true)) return;
  for (const TokenId token : penalized_) lengths_[token] = -1;
  penalized_.clear();
  const size_t n = last_n_ < 0 ? tokens_.size() : std::min(tokens_.size(), static_cast<size_t>(last_n_));
  const auto window = std::span(tokens_).last(n);
  const auto limit = static_cast<int32_t>(std::min(n, n_unbroken_));
  if (limit < allowed_length_) return;
  compare(window);
  for (size_t i = 1; i < n; ++i) {
    const int32_t length = std::min(matches_[i], limit);
    const TokenId next = window[n - i];
    if (length < allowed_length_ || length <= lengths_[next]) continue;
    if (lengths_[next] < 0) {
      if (breakers_.are_in(next)) continue;
      penalized_.push_back(next);
    }
    lengths_[next] = length;
  }
}

// matches_[i] becomes the number of tokens at the window's end that are the same i places earlier. This is the Z
// function of the reversed window: a match that was found, [begin, end), says how far places inside it match at least,
// so every token is compared only once or twice.
void DryPenalty::compare(std::span<const TokenId> window) {
  const size_t n = window.size();
  const auto from_end = [&](size_t i) { return window[n - 1 - i]; };
  matches_.assign(n, 0);
  size_t begin = 0, end = 0;
  for (size_t i = 1; i < n; ++i) {
    size_t length = i < end ? std::min(end - i, static_cast<size_t>(matches_[i - begin])) : 0;
    while (i + length < n && from_end(length) == from_end(i + length)) ++length;
    matches_[i] = static_cast<int32_t>(length);
    if (i + length > end) {
      begin = i;
      end = i + length;
    }
  }
}

float DryPenalty::penalty_of_length(int32_t length) const {
  const float penalty = multiplier_ * std::pow(base_, static_cast<float>(length - allowed_length_));
  return std::min(penalty, std::numeric_limits<float>::max());  // an infinite one would make an infinite logit NaN
}

}  // namespace tern
