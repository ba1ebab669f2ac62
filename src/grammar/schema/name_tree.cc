#include "grammar/schema/name_tree.h"

#include <algorithm>

#include "grammar/rules/char_automaton.h"
#include "grammar/rules/utf8_chars.h"

namespace tern::grammar {
namespace {

constexpr char32_t kFirstDirect = 0x20, kLastDirect = 0x7F;

bool is_direct(char32_t c) { return c >= kFirstDirect && c <= kLastDirect && c != '"' && c != '\\'; }

const CharSet& indirect() {
  static const CharSet kSet = {{0, kFirstDirect - 1}, {'"', '"'}, {'\\', '\\'}, {kLastDirect + 1, kLastChar}};
  return kSet;
}

}  // namespace

NameTree::NameTree(std::span<const std::string_view> names) {
  for (std::string_view rest : names) {
    uint32_t node = 0;
    while (const auto c = take_char(rest)) {
      auto& children = nodes_[node].children;
      const auto known = std::ranges::find(children, *c, [](const auto& child) { return child.first; });
      if (known != children.end()) {
        node = known->second;
        continue;
      }
      children.emplace_back(*c, static_cast<uint32_t>(nodes_.size()));
      node = children.back().second;
      nodes_.emplace_back();
    }
    nodes_[node].is_name = true;
  }
  for (Node& node : nodes_) std::ranges::sort(node.children);
}

// Where a name leaves the tree, anything may follow.
void NameTree::write(RuleWriter& rules, StateId start, StateId end) const {
  const StateId free = rules.new_state();
  rules.add_empty(free, end);
  std::vector<StateId> states(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) states[i] = i == 0 ? start : rules.new_state();
  const auto add_other = [&](StateId from, const Node& node) {
    CharSet rest = indirect();
    std::vector<char32_t> taken = {'"', '\\', kLastDirect + 1};
    for (const auto& [c, child] : node.children) {
      if (is_direct(c)) {
        taken.push_back(c);
      } else {
        rest = rest.without(CharSet::one(c));
      }
    }
    std::ranges::sort(taken);
    char32_t next = kFirstDirect;
    for (const char32_t c : taken) {
      if (next < c) rules.add_bytes(from, static_cast<uint8_t>(next), static_cast<uint8_t>(c - 1), free);
      next = c + 1;
    }
    rules.add_call(from, chars_rule(rules, rest, CharAutomaton::Spelling::kJson), free);
  };
  add_other(free, {});
  for (size_t i = 0; i < nodes_.size() && !rules.is_full(); ++i) {
    add_other(states[i], nodes_[i]);
    if (!nodes_[i].is_name) rules.add_empty(states[i], end);
    for (const auto& [c, child] : nodes_[i].children)
      rules.add_empty(rules.add_text(states[i], json_spelling(c)), states[child]);
  }
}

}  // namespace tern::grammar
