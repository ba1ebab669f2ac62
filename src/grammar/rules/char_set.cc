#include "grammar/rules/char_set.h"

#include <algorithm>

namespace tern::grammar {
namespace {

constexpr char32_t kFirstSurrogate = 0xD800, kLastSurrogate = 0xDFFF;

}  // namespace

CharSet::CharSet(std::initializer_list<Range> ranges) : ranges_(ranges) { tidy(); }
CharSet::CharSet(std::vector<Range> ranges) : ranges_(std::move(ranges)) { tidy(); }

void CharSet::add(char32_t low, char32_t high) {
  ranges_.emplace_back(low, high);
  tidy();
}

void CharSet::add(const CharSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
  tidy();
}

void CharSet::tidy() {
  std::vector<Range> cut;
  for (const auto& [low, high] : ranges_) {
    if (low <= high && low < kFirstSurrogate) cut.emplace_back(low, std::min(high, char32_t{kFirstSurrogate - 1}));
    if (low <= high && high > kLastSurrogate) cut.emplace_back(std::max(low, char32_t{kLastSurrogate + 1}), high);
  }
  std::ranges::sort(cut);
  ranges_.clear();
  for (const Range& range : cut) {
    if (!ranges_.empty() && range.first <= ranges_.back().second + 1) {
      ranges_.back().second = std::max(ranges_.back().second, range.second);
    } else {
      ranges_.push_back(range);
    }
  }
}

CharSet CharSet::inverted() const {
  CharSet out;
  char32_t next = 0;
  for (const auto& [low, high] : ranges_) {
    if (low > next) out.ranges_.emplace_back(next, low - 1);
    next = high + 1;
  }
  if (next <= kLastChar) out.ranges_.emplace_back(next, kLastChar);
  out.tidy();
  return out;
}

CharSet CharSet::common(const CharSet& other) const {
  CharSet out;
  for (size_t i = 0, j = 0; i < ranges_.size() && j < other.ranges_.size();) {
    const char32_t low = std::max(ranges_[i].first, other.ranges_[j].first);
    const char32_t high = std::min(ranges_[i].second, other.ranges_[j].second);
    if (low <= high) out.ranges_.emplace_back(low, high);
    ++(ranges_[i].second < other.ranges_[j].second ? i : j);
  }
  return out;
}

CharSet CharSet::in_any_case() const {
  std::vector<Range> ranges = ranges_;
  for (char32_t c = 'a'; c <= 'z'; ++c) {
    const char32_t capital = c - 'a' + 'A';
    if (contains(c)) ranges.emplace_back(capital, capital);
    if (contains(capital)) ranges.emplace_back(c, c);
  }
  return CharSet(std::move(ranges));
}

bool CharSet::contains(char32_t c) const {
  const auto after = std::ranges::upper_bound(ranges_, c, {}, &Range::first);
  return after != ranges_.begin() && std::prev(after)->second >= c;
}

}  // namespace tern::grammar
