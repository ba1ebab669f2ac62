#include "grammar/rules/char_automaton.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/pauses.h"
#include "grammar/rules/utf8_chars.h"

namespace tern::grammar {
namespace {

constexpr size_t kMaxEdges = 400'000;

const CharSet& escaped_in_json() {
  static const CharSet kSet = {{0, 0x1F}, {'"', '"'}, {'\\', '\\'}};
  return kSet;
}

}  // namespace

std::string json_spelling(char32_t c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (c < 0x20) return std::string("\\u00") + kHex[c >> 4] + kHex[c & 15];
  std::string out;
  append_char(c, out);
  return out;
}

uint32_t CharAutomaton::add_state() {
  Pauses::check_point();
  if (states_.size() >= kMaxStates) {
    is_full_ = true;
    return 0;
  }
  states_.emplace_back();
  is_end_.push_back(0);
  return static_cast<uint32_t>(states_.size() - 1);
}

uint32_t CharAutomaton::number_of(const CharSet& set) {
  if (!sets_.empty() && sets_.back() == set) return static_cast<uint32_t>(sets_.size() - 1);
  const auto known = std::ranges::find(sets_, set);
  if (known == sets_.end()) {
    n_ranges_ += set.ranges().size();
    sets_.push_back(set);
    return static_cast<uint32_t>(sets_.size() - 1);
  }
  return static_cast<uint32_t>(known - sets_.begin());
}

void CharAutomaton::add_char(uint32_t from, const CharSet& set, uint32_t to) {
  if (set.empty() || is_full_) return;
  states_[from].push_back({Edge::kChar, number_of(set), to});
}

void CharAutomaton::add_nothing(uint32_t from, uint32_t to, Edge::Kind kind) {
  if (!is_full_) states_[from].push_back({kind, 0, to});
}

CharAutomaton CharAutomaton::repeated(const CharSet& set, int low, int high) {
  CharAutomaton out;
  uint32_t at = out.start_;
  for (int i = 0; i < std::max(low, high) && !out.is_full_; ++i) {
    if (i >= low) out.end(at);
    const uint32_t next = out.add_state();
    out.add_char(at, set, next);
    at = next;
  }
  out.end(at);
  if (high < 0) out.add_char(at, set, at);
  return out;
}

CharAutomaton CharAutomaton::all_but(std::span<const std::u32string> texts) {
  CharAutomaton out;
  const uint32_t free = out.add_state();
  out.end(free);
  out.add_char(free, CharSet::all(), free);
  // Builds a tree of the texts. Where a text leaves the tree, anything may follow.
  std::vector<std::map<char32_t, uint32_t>> children(1);
  std::vector<uint32_t> state_of = {out.start_};
  std::vector<bool> is_text(1);
  for (const std::u32string& text : texts) {
    size_t node = 0;
    for (const char32_t c : text) {
      const auto [child, is_new] = children[node].try_emplace(c, static_cast<uint32_t>(children.size()));
      node = child->second;
      if (!is_new) continue;
      children.emplace_back();
      state_of.push_back(out.add_state());
      is_text.push_back(false);
    }
    is_text[node] = true;
  }
  for (size_t node = 0; node < children.size() && !out.is_full_; ++node) {
    CharSet taken;
    for (const auto& [c, child] : children[node]) {
      taken.add(c, c);
      out.add_char(state_of[node], CharSet::one(c), state_of[child]);
    }
    out.add_char(state_of[node], taken.inverted(), free);
    if (!is_text[node]) out.end(state_of[node]);
  }
  return out;
}

bool CharAutomaton::has_anchors() const {
  return std::ranges::any_of(states_, [](const std::vector<Edge>& edges) {
    return std::ranges::any_of(edges, [](const Edge& e) { return e.kind == Edge::kAtStart || e.kind == Edge::kAtEnd; });
  });
}

// Makes up to four copies of each state: whether a character has been taken, and whether none may be taken any more.
CharAutomaton CharAutomaton::resolved() const {
  if (!has_anchors() || is_full_) return *this;
  CharAutomaton out;
  out.sets_ = sets_;
  std::unordered_map<uint64_t, uint32_t> known;
  std::vector<uint64_t> to_do;
  const auto state_of = [&](uint32_t state, bool taken, bool over) {
    const uint64_t key = (uint64_t{state} << 2) | (uint64_t{taken} << 1) | uint64_t{over};
    const auto [found, is_new] = known.try_emplace(key, 0);
    if (is_new) {
      found->second = known.size() == 1 ? out.start_ : out.add_state();
      to_do.push_back(key);
    }
    return found->second;
  };
  state_of(start_, false, false);
  while (!to_do.empty() && !out.is_full_) {
    const uint64_t key = to_do.back();
    to_do.pop_back();
    const auto state = static_cast<uint32_t>(key >> 2);
    const bool taken = (key & 2) != 0, over = (key & 1) != 0;
    const uint32_t from = known.at(key);
    if (is_end_[state]) out.end(from);
    for (const Edge& edge : states_[state]) {
      if (edge.kind == Edge::kChar) {
        if (!over) {
          const uint32_t to = state_of(edge.to, true, false);
          out.states_[from].push_back({Edge::kChar, edge.set, to});
        }
      } else if (edge.kind != Edge::kAtStart || !taken) {
        const uint32_t to = state_of(edge.to, taken, over || edge.kind == Edge::kAtEnd);
        out.add_nothing(from, to);
      }
    }
  }
  return out;
}

CharAutomaton CharAutomaton::common(const CharAutomaton& other) const {
  CharAutomaton out;
  out.is_full_ = is_full_ || other.is_full_;
  std::unordered_map<uint64_t, uint32_t> known;
  std::vector<uint64_t> to_do;
  std::vector<std::optional<CharSet>> common_sets(sets_.size() * other.sets_.size());
  size_t n_edges = 0;
  const auto state_of = [&](uint32_t a, uint32_t b) {
    const uint64_t key = (uint64_t{a} << 32) | b;
    const auto [found, is_new] = known.try_emplace(key, 0);
    if (is_new) {
      found->second = known.size() == 1 ? out.start_ : out.add_state();
      to_do.push_back(key);
    }
    return found->second;
  };
  state_of(start_, other.start_);
  while (!to_do.empty() && !out.is_full_) {
    const uint64_t key = to_do.back();
    to_do.pop_back();
    const auto a = static_cast<uint32_t>(key >> 32), b = static_cast<uint32_t>(key);
    const uint32_t from = known.at(key);
    if (is_end_[a] && other.is_end_[b]) out.end(from);
    out.states_[from].reserve(std::max(states_[a].size(), other.states_[b].size()));
    for (const Edge& mine : states_[a]) {
      if (mine.kind != Edge::kChar) out.add_nothing(from, state_of(mine.to, b));
    }
    for (const Edge& its : other.states_[b]) {
      if (its.kind != Edge::kChar) out.add_nothing(from, state_of(a, its.to));
    }
    for (const Edge& mine : states_[a]) {
      for (const Edge& its : other.states_[b]) {
        if (mine.kind != Edge::kChar || its.kind != Edge::kChar) continue;
        if (++n_edges > kMaxEdges) out.is_full_ = true;
        std::optional<CharSet>& both = common_sets[mine.set * other.sets_.size() + its.set];
        if (!both) both = sets_[mine.set].common(other.sets_[its.set]);
        if (!both->empty()) out.add_char(from, *both, state_of(mine.to, its.to));
      }
    }
  }
  return out.is_full_ ? out : std::move(out).trimmed();
}

CharAutomaton CharAutomaton::in_any_case() const {
  CharAutomaton out = *this;
  for (CharSet& set : out.sets_) set = set.in_any_case();
  return out;
}

bool CharAutomaton::takes(std::u32string_view text) const {
  std::vector<uint32_t> here, next, seen(states_.size());  // `seen`: the last step that visited the state
  uint32_t step = 0;
  const auto visit = [&](std::vector<uint32_t>& list, uint32_t state) {
    if (std::exchange(seen[state], step) == step) return;
    list.push_back(state);
    for (size_t i = list.size() - 1; i < list.size(); ++i) {
      for (const Edge& edge : states_[list[i]]) {
        if (edge.kind == Edge::kNothing && std::exchange(seen[edge.to], step) != step) list.push_back(edge.to);
      }
    }
  };
  ++step;
  visit(here, start_);
  for (const char32_t c : text) {
    ++step;
    next.clear();
    for (const uint32_t state : here) {
      for (const Edge& edge : states_[state]) {
        if (edge.kind == Edge::kChar && sets_[edge.set].contains(c)) visit(next, edge.to);
      }
    }
    here.swap(next);
  }
  return std::ranges::any_of(here, [&](uint32_t state) { return is_end_[state] != 0; });
}

RuleId chars_rule(RuleWriter& rules, const CharSet& set, CharAutomaton::Spelling spelling) {
  RuleId& known = rules.rule_of_chars(set, static_cast<int>(spelling));
  if (known != RuleWriter::kNoRule) return known;
  known = rules.new_rule("characters");
  const StateId start = rules.start_of(known), end = rules.new_state();
  rules.end(end);
  CharSet unescaped = set;
  if (spelling == CharAutomaton::Spelling::kJson) {
    unescaped = set.without(escaped_in_json());
    for (const auto& [low, high] : set.common(escaped_in_json()).ranges()) {
      for (char32_t c = low; c <= high; ++c) rules.add_empty(rules.add_text(start, json_spelling(c)), end);
    }
  }
  rules.add_chars(start, unescaped, end);
  return known;
}

// ASCII characters become edges. The other characters of a set take many edges, so they become a rule that is called.
StateId CharAutomaton::write(RuleWriter& rules, StateId from, Spelling spelling) const {
  const StateId to = rules.new_state();
  for (const CharSet& set : sets_) rules.count_ranges(set.ranges().size());
  if (is_full_ || rules.is_full()) return to;
  std::vector<StateId> state_of(states_.size());
  for (StateId& state : state_of) state = rules.new_state();
  std::vector<RuleId> rule_of(sets_.size(), RuleWriter::kNoRule);
  std::vector<CharSet> direct(sets_.size());
  CharSet simple = {{0, 0x7F}};
  if (spelling == Spelling::kJson) simple = simple.without(escaped_in_json());
  for (size_t i = 0; i < sets_.size() && !rules.is_full(); ++i) {
    direct[i] = sets_[i].common(simple);
    const CharSet rest = sets_[i].without(simple);
    if (!rest.empty()) rule_of[i] = chars_rule(rules, rest, spelling);
  }
  rules.add_empty(from, state_of[start_]);
  for (uint32_t state = 0; state < states_.size() && !rules.is_full(); ++state) {
    if (is_end_[state]) rules.add_empty(state_of[state], to);
    for (const Edge& edge : states_[state]) {
      const StateId next = state_of[edge.to];
      if (edge.kind != Edge::kChar) {
        rules.add_empty(state_of[state], next);
        continue;
      }
      rules.add_chars(state_of[state], direct[edge.set], next);
      if (rule_of[edge.set] != RuleWriter::kNoRule) rules.add_call(state_of[state], rule_of[edge.set], next);
    }
  }
  return to;
}

}  // namespace tern::grammar
