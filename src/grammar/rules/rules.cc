#include "grammar/rules/rules.h"

#include <algorithm>

#include "base/check.h"
#include "base/pauses.h"

namespace tern::grammar {
namespace {

using ByteRange = std::pair<uint8_t, uint8_t>;

// Returns the number of bytes.
size_t encode(char32_t code, uint8_t* out) {
  const auto tail = [&](int shift) { return static_cast<uint8_t>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return out[0] = static_cast<uint8_t>(code), 1;
  if (code < 0x800) return out[0] = static_cast<uint8_t>(0xC0 | (code >> 6)), out[1] = tail(0), 2;
  if (code < 0x10000) {
    return out[0] = static_cast<uint8_t>(0xE0 | (code >> 12)), out[1] = tail(6), out[2] = tail(0), 3;
  }
  return out[0] = static_cast<uint8_t>(0xF0 | (code >> 18)), out[1] = tail(12), out[2] = tail(6), out[3] = tail(0), 4;
}

// Calls use(bytes) for sequences of byte ranges that together cover [low, high], characters of the same UTF-8 length.
template <class Use>
void split_utf8(char32_t low, char32_t high, const Use& use) {
  for (int shift = 6; shift <= 18; shift += 6) {  // split where trailing bytes do not span their whole range
    const char32_t mask = (char32_t{1} << shift) - 1;
    if ((low & ~mask) == (high & ~mask)) break;
    if (low > 0x7F && (low & mask) != 0) {
      split_utf8(low, low | mask, use);
      return split_utf8((low | mask) + 1, high, use);
    }
    if (low > 0x7F && (high & mask) != mask) {
      split_utf8(low, (high & ~mask) - 1, use);
      return split_utf8(high & ~mask, high, use);
    }
  }
  uint8_t first[4], last[4];
  const size_t n = encode(low, first);
  CHECK(encode(high, last) == n);
  ByteRange bytes[4];
  for (size_t i = 0; i < n; ++i) bytes[i] = {first[i], last[i]};
  use(std::span(bytes, n));
}

}  // namespace

RuleId RuleWriter::new_rule(std::string name) {
  if (rules_.size() >= kMaxRules) {
    is_full_ = true;
    return 0;
  }
  rules_.push_back({std::move(name), new_state()});
  return static_cast<RuleId>(rules_.size() - 1);
}

StateId RuleWriter::new_state() {
  Pauses::check_point();
  if (first_.size() >= kMaxStates) {
    is_full_ = true;
    return 0;
  }
  first_.push_back(kNoEdge);
  is_end_.push_back(0);
  return static_cast<StateId>(first_.size() - 1);
}

void RuleWriter::add(StateId from, const Edge& edge) {
  Pauses::check_point();
  if (is_full_ || edges_.size() >= kMaxEdges) {
    is_full_ = true;
    return;
  }
  edges_.push_back({edge, first_[from]});
  first_[from] = static_cast<uint32_t>(edges_.size() - 1);
}

void RuleWriter::add_sequence(StateId from, std::span<const ByteRange> bytes, StateId to) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const StateId next = i + 1 == bytes.size() ? to : new_state();
    add_bytes(from, bytes[i].first, bytes[i].second, next);
    from = next;
  }
}

void RuleWriter::add_chars(StateId from, const CharSet& set, StateId to) {
  constexpr char32_t kEnds[] = {0x7F, 0x7FF, 0xFFFF, kLastChar};  // the last character of each UTF-8 length
  for (auto [low, high] : set.ranges()) {
    for (const char32_t end : kEnds) {
      if (low > end || low > high) continue;
      split_utf8(low, std::min(high, end), [&](std::span<const ByteRange> bytes) { add_sequence(from, bytes, to); });
      low = end + 1;
    }
  }
}

StateId RuleWriter::add_calls(StateId from, RuleId rule, size_t low, std::optional<size_t> high) {
  const auto next = [&](StateId at) {
    const StateId to = new_state();
    add_call(at, rule, to);
    return to;
  };
  for (size_t i = 0; i < low && !is_full_; ++i) from = next(from);
  const StateId to = new_state();
  if (!high) {
    add_empty(from, to);
    add_call(to, rule, to);
    return to;
  }
  for (size_t i = low; i < *high && !is_full_; ++i) {
    add_empty(from, to);
    from = next(from);
  }
  add_empty(from, to);
  return to;
}

StateId RuleWriter::add_text(StateId from, std::string_view text) {
  for (const char c : text) {
    const StateId next = new_state();
    add_bytes(from, static_cast<uint8_t>(c), static_cast<uint8_t>(c), next);
    from = next;
  }
  return from;
}

RuleId RuleWriter::add_rules(const Rules& rules) {
  constexpr StateId kNone = UINT32_MAX;
  std::vector<StateId> state_of(rules.is_end.size(), kNone);
  const auto first = static_cast<RuleId>(rules_.size());
  for (const Rules::Rule& rule : rules.rules) state_of[rule.start] = start_of(new_rule("a rule"));
  for (StateId& state : state_of) {
    if (state == kNone) state = new_state();
  }
  for (StateId from = 0; from < state_of.size() && !is_full_; ++from) {
    if (rules.is_end[from]) end(state_of[from]);
    for (Edge edge : rules.edges_of(from)) {
      edge.to = state_of[edge.to];
      edge.rule += edge.kind == EdgeKind::kCall ? first : 0;
      add(state_of[from], edge);
    }
  }
  return first + rules.root;
}

}  // namespace tern::grammar
