#include "grammar/rules/free_text.h"

#include <optional>
#include <vector>

namespace tern::grammar {
namespace {

constexpr size_t kMostMarkChars = 4000;  // of all marks; every state has an edge for every character that they have

// What the text's last characters begin (the automaton of Aho and Corasick).
struct MarkNode {
  std::map<char32_t, size_t> next;
  size_t shorter = 0;  // the longest other node with which the text ends
  bool is_excluded = false;
  std::optional<StateId> then;
};

void add_mark_to(std::vector<MarkNode>& nodes, std::u32string_view mark, std::optional<StateId> then) {
  size_t at = 0;
  for (const char32_t c : mark) {
    const auto [known, is_new] = nodes[at].next.try_emplace(c, nodes.size());
    at = known->second;
    if (is_new) nodes.emplace_back();
  }
  if (then) nodes[at].then = then;
  if (!then) nodes[at].is_excluded = true;
}

size_t node_after(const std::vector<MarkNode>& nodes, size_t at, char32_t c) {
  for (;; at = nodes[at].shorter) {
    const auto next = nodes[at].next.find(c);
    if (next != nodes[at].next.end()) return next->second;
    if (at == 0) return 0;
  }
}

// Nodes in the order of their length, as each depends on shorter ones.
void link_nodes(std::vector<MarkNode>& nodes) {
  std::vector<size_t> order = {0};
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t at = order[i];
    for (const auto& [c, next] : std::map(nodes[at].next)) {
      nodes[next].shorter = at == 0 ? 0 : node_after(nodes, nodes[at].shorter, c);
      const MarkNode& shorter = nodes[nodes[next].shorter];
      nodes[next].is_excluded |= shorter.is_excluded;
      if (!nodes[next].then) nodes[next].then = shorter.then;
      order.push_back(next);
    }
  }
}

}  // namespace

Result<StateId> add_free_text(RuleWriter& rules, StateId from, std::span<const std::u32string> excluded,
                              const std::map<std::u32string, StateId>& marks) {
  std::vector<MarkNode> nodes(1);
  for (const std::u32string& mark : excluded) add_mark_to(nodes, mark, std::nullopt);
  for (const auto& [mark, then] : marks) add_mark_to(nodes, mark, then);
  if (nodes.size() > kMostMarkChars)
    return fail(ErrorCode::kNotSupported, "marks of more than {} characters together", kMostMarkChars);
  link_nodes(nodes);
  CharSet in_marks;
  for (const MarkNode& node : nodes) {
    for (const auto& [c, _] : node.next) in_marks.add(c, c);
  }
  // All other characters lead back to the start, through one rule.
  const RuleId other = rules.new_rule("a character of no mark");
  const StateId other_end = rules.new_state(), end = rules.new_state();
  rules.end(other_end);
  rules.add_chars(rules.start_of(other), in_marks.inverted(), other_end);
  std::vector<StateId> states(nodes.size());
  for (StateId& state : states) state = rules.new_state();
  rules.add_empty(from, states[0]);
  for (size_t at = 0; at < nodes.size() && !rules.is_full(); ++at) {
    if (nodes[at].is_excluded || nodes[at].then) continue;
    rules.add_empty(states[at], end);
    rules.add_call(states[at], other, states[0]);
    std::map<size_t, CharSet> leading_to;
    for (const CharSet::Range& range : in_marks.ranges()) {
      for (char32_t c = range.first; c <= range.second; ++c) leading_to[node_after(nodes, at, c)].add(c, c);
    }
    for (const auto& [to, chars] : leading_to) {
      if (!nodes[to].is_excluded) rules.add_chars(states[at], chars, nodes[to].then.value_or(states[to]));
    }
  }
  return end;
}

}  // namespace tern::grammar
