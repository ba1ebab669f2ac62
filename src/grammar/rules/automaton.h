// Follows rules byte by byte: a deterministic automaton that is built as it is needed.
//
// A position is a set of states that the rules can be in, each with the places to continue at when its rule ends. These
// places form a graph: a Return is a set of (state, Return) pairs, shared by all callers of a rule at the same
// position, so an ambiguous grammar takes polynomial and not exponential memory. Returns and sets of states are stored
// once each, by their contents. A position is then one number, a step is a table look-up, and going back means
// remembering a number.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "grammar/rules/rules.h"

namespace tern::grammar {

using PositionId = uint32_t;
inline constexpr PositionId kNowhere = 0;  // the bytes so far do not begin any text

class Automaton {
 public:
  // `rules` must outlive this object.
  explicit Automaton(const Rules& rules);

  PositionId start() const { return start_; }
  // The position after one more byte.
  PositionId step(PositionId from, uint8_t byte) {
    const uint32_t next = next_[size_t{from} * n_classes_ + rules_.class_of[byte]];
    return next != kUnknown ? next : make_step(from, byte);
  }
  bool may_end(PositionId at) const { return positions_[at].may_end; }
  // True if another byte may follow.
  bool may_go_on(PositionId at) const { return positions_[at].n_items > 0; }

  // Limits for ambiguous grammars. A step leads to kNowhere if it would visit more than kMaxItems states, or if steps
  // since begin_work() have visited more than kMaxWork.
  static constexpr size_t kMaxItems = 20'000;
  static constexpr size_t kMaxWork = 30'000'000;
  void begin_work() {
    work_ = 0;
    has_overflowed_ = false;
  }
  bool has_overflowed() const { return has_overflowed_; }

  size_t n_positions() const { return positions_.size(); }
  size_t bytes() const;  // memory in use, approximately
  // Forgets all positions except these, which get new numbers.
  void forget_all_but(std::span<PositionId> kept);

 private:
  using ReturnId = uint32_t;
  static constexpr uint32_t kUnknown = UINT32_MAX;

  // A state of a rule, and where to continue after the rule.
  struct Item {
    StateId state;
    ReturnId to;
    auto operator<=>(const Item&) const = default;
  };
  struct Position {
    uint32_t first_item, n_items;  // in items_, sorted; only states that take bytes
    bool may_end;
  };
  // Lists of items; equal lists are stored once.
  struct Lists {
    struct Range {
      uint32_t first, n;
    };
    std::vector<Item> values;
    std::vector<Range> lists;
    std::unordered_multimap<uint64_t, uint32_t> by_hash;
    std::span<const Item> of(uint32_t id) const { return std::span(values).subspan(lists[id].first, lists[id].n); }
    uint32_t find_or_add(std::span<const Item> list);
    void clear() { *this = {}; }
  };

  // A rule that is called at the position that close() makes.
  struct Called {
    uint32_t rank;
    RuleId rule;
    auto operator<=>(const Called&) const = default;
  };
  // The buffers of close(), kept to reuse their memory.
  struct Closure {
    std::vector<Item> to_do, found;
    std::unordered_set<uint64_t> seen;
    std::vector<Called> called;                 // a heap, the lowest rank in front
    std::vector<std::vector<Item>> returns_of;  // [n_rules] where a called rule returns to
    bool ends = false;
  };

  PositionId make_step(PositionId from, uint8_t byte);
  PositionId close();
  void visit(const Item& item);
  void call(const Edge& edge, const Item& from);
  void forget();
  PositionId position_of(std::span<const Item> items, bool may_end);

  const Rules& rules_;
  size_t n_classes_;
  Lists returns_;  // 0: the end of the text
  std::vector<Position> positions_;
  std::vector<Item> items_;
  std::unordered_multimap<uint64_t, PositionId> positions_by_hash_;
  std::vector<uint32_t> next_;  // [n_positions, n_classes]
  PositionId start_ = kNowhere;
  size_t work_ = 0;
  bool has_overflowed_ = false;
  Closure closure_;
};

}  // namespace tern::grammar
