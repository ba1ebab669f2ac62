// CharAutomaton: the texts that an automaton does not take, and how long those are that it takes.
#include <algorithm>
#include <deque>
#include <numeric>

#include "grammar/rules/char_automaton.h"

namespace tern::grammar {
namespace {

constexpr size_t kMaxSets = 4000;           // sets of states
constexpr size_t kMaxSetSteps = 3'000'000;  // states in them, times kinds of characters

// Kinds of characters: those of one kind are in the same sets.
struct Kinds {
  std::vector<CharSet> chars;
  std::vector<std::vector<uint32_t>> of_set;  // by the number of the set

  explicit Kinds(std::span<const CharSet> sets) : of_set(sets.size()) {
    std::vector<char32_t> cuts = {0, kLastChar + 1};
    for (const CharSet& set : sets) {
      for (const auto& [low, high] : set.ranges()) cuts.insert(cuts.end(), {low, high + 1});
    }
    std::ranges::sort(cuts);
    const auto repeated = std::ranges::unique(cuts);
    cuts.erase(repeated.begin(), repeated.end());
    std::map<std::vector<uint32_t>, uint32_t> known;
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      std::vector<uint32_t> in;
      for (uint32_t s = 0; s < sets.size(); ++s) {
        if (sets[s].contains(cuts[i])) in.push_back(s);
      }
      const auto [kind, is_new] = known.try_emplace(in, static_cast<uint32_t>(chars.size()));
      if (is_new) {
        chars.emplace_back();
        for (const uint32_t s : in) of_set[s].push_back(kind->second);
      }
      chars[kind->second].add(cuts[i], cuts[i + 1] - 1);
    }
  }
};

}  // namespace

// Follows the sets of states that a text can lead to. The empty set stands for texts that are taken no more.
CharAutomaton CharAutomaton::inverted() const {
  CharAutomaton out;
  out.is_full_ = is_full_;
  const Kinds kinds(sets_);
  std::vector<uint32_t> seen(states_.size());  // the last set that a state was added to
  uint32_t n_seen = 0;
  const auto with_empty_steps = [&](std::vector<uint32_t> set) {
    ++n_seen;
    for (const uint32_t state : set) seen[state] = n_seen;
    for (size_t i = 0; i < set.size(); ++i) {
      for (const Edge& edge : states_[set[i]]) {
        if (edge.kind != Edge::kChar && std::exchange(seen[edge.to], n_seen) != n_seen) set.push_back(edge.to);
      }
    }
    std::ranges::sort(set);
    return set;
  };
  std::map<std::vector<uint32_t>, uint32_t> known;
  std::vector<const std::vector<uint32_t>*> to_do;
  const auto state_of = [&](std::vector<uint32_t> set) {
    const auto [found, is_new] = known.try_emplace(std::move(set), 0);
    if (is_new) {
      found->second = known.size() == 1 ? out.start_ : out.add_state();
      to_do.push_back(&found->first);
    }
    return found->second;
  };
  state_of(with_empty_steps({start_}));
  size_t n_steps = 0;
  std::vector<std::vector<uint32_t>> next(kinds.chars.size());  // by kind of character
  std::map<std::vector<uint32_t>, uint32_t> state_after;        // of the states in `next`
  while (!to_do.empty() && !out.is_full_) {
    const std::vector<uint32_t>& set = *to_do.back();
    to_do.pop_back();
    const uint32_t from = known.at(set);
    if (std::ranges::none_of(set, [&](uint32_t state) { return is_end_[state] != 0; })) out.end(from);
    for (auto& states : next) states.clear();
    for (const uint32_t state : set) {
      for (const Edge& edge : states_[state]) {
        if (edge.kind != Edge::kChar) continue;
        for (const uint32_t kind : kinds.of_set[edge.set]) next[kind].push_back(edge.to);
      }
    }
    std::map<uint32_t, CharSet> edges;
    for (size_t kind = 0; kind < next.size(); ++kind) {
      std::ranges::sort(next[kind]);
      const auto repeated = std::ranges::unique(next[kind]);
      next[kind].erase(repeated.begin(), repeated.end());
      n_steps += next[kind].size() + 1;
      const auto [to, is_new] = state_after.try_emplace(next[kind], 0);
      if (is_new) to->second = state_of(with_empty_steps(next[kind]));
      edges[to->second].add(kinds.chars[kind]);
    }
    for (const auto& [to, chars] : edges) out.add_char(from, chars, to);
    if (known.size() > kMaxSets || n_steps > kMaxSetSteps) out.is_full_ = true;
  }
  return out;
}

// The states that the start leads to and that lead to an end.
std::vector<uint8_t> CharAutomaton::useful_states() const {
  constexpr uint8_t kReached = 1, kUseful = 3;
  std::vector<uint8_t> marks(states_.size());
  std::vector<uint32_t> begin(states_.size() + 1);  // of the edges into each state, in `into`
  std::vector<uint32_t> to_do = {start_}, reached;
  marks[start_] = kReached;
  std::vector<uint32_t> ends;
  while (!to_do.empty()) {
    const uint32_t at = to_do.back();
    to_do.pop_back();
    reached.push_back(at);
    if (is_end_[at]) ends.push_back(at);
    for (const Edge& edge : states_[at]) {
      ++begin[edge.to];
      if (std::exchange(marks[edge.to], kReached) == 0) to_do.push_back(edge.to);
    }
  }
  if (ends.size() == states_.size()) return std::vector<uint8_t>(states_.size(), 1);
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<uint32_t> into(begin.back());
  for (const uint32_t at : reached) {
    for (const Edge& edge : states_[at]) into[--begin[edge.to]] = at;
  }
  for (const uint32_t end : ends) marks[end] = kUseful;
  to_do = std::move(ends);
  while (!to_do.empty()) {
    const uint32_t at = to_do.back();
    to_do.pop_back();
    for (uint32_t i = begin[at]; i < begin[at + 1]; ++i) {
      if (std::exchange(marks[into[i]], kUseful) != kUseful) to_do.push_back(into[i]);
    }
  }
  for (uint8_t& mark : marks) mark = mark == kUseful ? 1 : 0;
  return marks;
}

CharAutomaton CharAutomaton::trimmed() && {
  std::vector<uint8_t> is_kept = useful_states();
  is_kept[start_] = 1;
  if (!std::ranges::contains(is_kept, uint8_t{0})) return std::move(*this);
  CharAutomaton out;
  out.sets_ = sets_;
  std::vector<uint32_t> number(states_.size());
  for (uint32_t state = 0; state < states_.size(); ++state) {
    if (is_kept[state]) number[state] = state == start_ ? out.start_ : out.add_state();
  }
  for (uint32_t state = 0; state < states_.size(); ++state) {
    if (!is_kept[state]) continue;
    out.is_end_[number[state]] = is_end_[state];
    std::vector<Edge>& edges = states_[state];
    std::erase_if(edges, [&](const Edge& edge) { return !is_kept[edge.to]; });
    for (Edge& edge : edges) edge.to = number[edge.to];
    out.states_[number[state]] = std::move(edges);
  }
  return out;
}

std::pair<size_t, std::optional<size_t>> CharAutomaton::lengths() const {
  const std::vector<uint8_t> is_useful = useful_states();
  if (!is_useful[start_]) return {kNoText, 0};
  std::vector<size_t> shortest(states_.size(), kNoText), longest(states_.size());
  std::deque<uint32_t> nearest = {start_};
  shortest[start_] = 0;
  size_t least = kNoText;
  while (!nearest.empty()) {  // characters are one step, empty ones none
    const uint32_t at = nearest.front();
    nearest.pop_front();
    if (is_end_[at]) least = std::min(least, shortest[at]);
    for (const Edge& edge : states_[at]) {
      const size_t length = shortest[at] + (edge.kind == Edge::kChar ? 1 : 0);
      if (!is_useful[edge.to] || length >= shortest[edge.to]) continue;
      shortest[edge.to] = length;
      edge.kind == Edge::kChar ? nearest.push_back(edge.to) : nearest.push_front(edge.to);
    }
  }
  // States in the order of their edges; one that a cycle leads back to never gets its turn.
  std::vector<uint32_t> n_into(states_.size()), ready;
  size_t n_useful = 0, n_done = 0, most = 0;
  for (uint32_t state = 0; state < states_.size(); ++state) {
    if (!is_useful[state]) continue;
    ++n_useful;
    for (const Edge& edge : states_[state]) ++n_into[edge.to];
  }
  if (n_into[start_] == 0) ready.push_back(start_);
  while (!ready.empty()) {
    const uint32_t at = ready.back();
    ready.pop_back();
    ++n_done;
    if (is_end_[at]) most = std::max(most, longest[at]);
    for (const Edge& edge : states_[at]) {
      if (!is_useful[edge.to]) continue;
      longest[edge.to] = std::max(longest[edge.to], longest[at] + (edge.kind == Edge::kChar ? 1 : 0));
      if (--n_into[edge.to] == 0) ready.push_back(edge.to);
    }
  }
  return {least, n_done == n_useful ? std::optional(most) : std::nullopt};
}

}  // namespace tern::grammar
