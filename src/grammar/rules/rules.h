// The common form of all grammar notations: each rule is an automaton over bytes whose edges may also call other rules
// (a recursive transition network). Text is UTF-8, spelled out in bytes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "grammar/rules/char_set.h"

namespace tern::grammar {

using StateId = uint32_t;
using RuleId = uint32_t;

enum class EdgeKind : uint8_t {
  kBytes,  // takes one byte of [low, high]
  kEmpty,  // takes nothing
  kCall,   // takes a text of `rule`
};

struct Edge {
  EdgeKind kind;
  uint8_t low, high;
  RuleId rule;
  StateId to;
};

// Finished rules. Every state is reachable and leads to the end of its rule. Every rule allows at least one text. No
// rule calls itself before it has taken a byte.
struct Rules {
  struct Rule {
    StateId start;
    bool may_be_empty;
    uint32_t rank;  // greater than the rank of any rule that may begin by calling this one
  };
  std::vector<Rule> rules;
  RuleId root = 0;
  std::vector<uint32_t> first_edge;  // [n_states + 1] index in `edges`
  std::vector<Edge> edges;
  std::vector<uint8_t> is_end;             // [n_states] the rule may end there
  std::vector<uint8_t> is_tail;            // [n_states] … and must end there
  std::array<uint8_t, 256> class_of = {};  // no edge separates bytes of one class
  int n_classes = 0;

  std::span<const Edge> edges_of(StateId state) const {
    return std::span(edges).subspan(first_edge[state], first_edge[state + 1] - first_edge[state]);
  }
};

// Writes rules. A state belongs to the rule whose start reaches it. Anything beyond the limits is dropped, and then
// finish() returns an error.
class RuleWriter {
 public:
  static constexpr size_t kMaxStates = 400'000;
  static constexpr size_t kMaxEdges = 1'200'000;
  static constexpr size_t kMaxRules = 20'000;
  static constexpr size_t kMaxRanges = 4'000'000;

  // `name` is used in messages.
  RuleId new_rule(std::string name);
  StateId start_of(RuleId rule) const { return rules_[rule].start; }
  StateId new_state();
  void end(StateId state) { is_end_[state] = 1; }

  void add_empty(StateId from, StateId to) {
    add(from, {.kind = EdgeKind::kEmpty, .low = 0, .high = 0, .rule = 0, .to = to});
  }
  void add_call(StateId from, RuleId rule, StateId to) {
    add(from, {.kind = EdgeKind::kCall, .low = 0, .high = 0, .rule = rule, .to = to});
  }
  void add_bytes(StateId from, uint8_t low, uint8_t high, StateId to) {
    add(from, {.kind = EdgeKind::kBytes, .low = low, .high = high, .rule = 0, .to = to});
  }
  // Adds `low` to `high` texts of the rule; without `high`, any number. Returns the state after them.
  StateId add_calls(StateId from, RuleId rule, size_t low, std::optional<size_t> high);
  // One character of the set, in UTF-8.
  void add_chars(StateId from, const CharSet& set, StateId to);
  // Adds the bytes of `text`. Returns the state after them.
  StateId add_text(StateId from, std::string_view text);

  // The rule that a caller wrote for these characters in one of its spellings; a new call adds an entry of kNoRule.
  RuleId& rule_of_chars(const CharSet& set, int spelling) {
    return rules_of_chars_.try_emplace({set, spelling}, kNoRule).first->second;
  }
  static constexpr RuleId kNoRule = UINT32_MAX;

  // Sets of characters take time, even where their rule is known: expressions are limited by the ranges of theirs.
  void count_ranges(size_t n) {
    n_ranges_ += n;
    if (n_ranges_ > kMaxRanges) is_full_ = true;
  }
  size_t n_ranges() const { return n_ranges_; }

  // Adds finished rules. Returns the number of their root here.
  RuleId add_rules(const Rules& rules);

  bool is_full() const { return is_full_; }
  size_t n_states() const { return first_.size(); }

  // kInvalidArgument: left recursion, or a rule that allows no finite text (naming the rule); kNotSupported: too large.
  Result<Rules> finish(RuleId root) const;

 private:
  static constexpr uint32_t kNoEdge = UINT32_MAX;
  struct Rule {
    std::string name;
    StateId start;
  };
  struct Linked {
    Edge edge;
    uint32_t next;
  };
  friend class RuleFinisher;
  void add(StateId from, const Edge& edge);
  void add_sequence(StateId from, std::span<const std::pair<uint8_t, uint8_t>> bytes, StateId to);

  std::vector<Rule> rules_;
  std::vector<uint32_t> first_;  // [n_states] the head of the state's list in edges_
  std::vector<Linked> edges_;
  std::vector<uint8_t> is_end_;
  std::map<std::pair<CharSet, int>, RuleId> rules_of_chars_;
  size_t n_ranges_ = 0;
  bool is_full_ = false;
};

}  // namespace tern::grammar
