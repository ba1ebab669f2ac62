// Rules being followed, byte by byte: a deterministic automaton that is made as it is needed.
//
// What may come next depends on the states that the rules can be in, and for each on where it goes on when its rule
// ends. The latter is a graph: a Return is a set of (state, Return) to go on at, the same for all who called a rule at
// the same place, so that an ambiguous grammar takes polynomial and not exponential memory. Returns and sets of states
// are kept once each, by their contents. A whole position is then one number, a step is a look-up in a table, and
// going back is remembering a number.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "grammar/rules.h"

namespace tern::grammar {

using PositionId = uint32_t;
inline constexpr PositionId kNowhere = 0;  // what has been taken is not the beginning of any text

class Automaton {
 public:
  // `rules` must outlive it.
  explicit Automaton(const Rules& rules);

  PositionId start() const { return start_; }
  // After one byte more.
  PositionId step(PositionId from, uint8_t byte) {
    const uint32_t next = next_[size_t{from} * n_classes_ + rules_.class_of[byte]];
    return next != kUnknown ? next : make_step(from, byte);
  }
  bool may_end(PositionId at) const { return positions_[at].may_end; }
  // Whether a byte may follow.
  bool may_go_on(PositionId at) const { return positions_[at].n_items > 0; }

  // What is too ambiguous counts as kNowhere: a position with more states than kMaxItems on the way to it, and what
  // takes more than kMaxWork states since begin_work().
  static constexpr size_t kMaxItems = 20'000;
  static constexpr size_t kMaxWork = 30'000'000;
  void begin_work() {
    work_ = 0;
    has_overflowed_ = false;
  }
  bool has_overflowed() const { return has_overflowed_; }

  size_t n_positions() const { return positions_.size(); }
  size_t bytes() const;  // of memory, about
  // Forgets all positions but these, which get new numbers.
  void forget_all_but(std::span<PositionId> kept);

 private:
  using ReturnId = uint32_t;
  static constexpr uint32_t kUnknown = UINT32_MAX;

  // A state of a rule, and what follows the rule.
  struct Item {
    StateId state;
    ReturnId to;
    auto operator<=>(const Item&) const = default;
  };
  struct Position {
    uint32_t first_item, n_items;  // sorted, in items_; of states that take bytes
    bool may_end;
  };
  // A list of numbers of which there is one each.
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

  // Of close(), kept for their memory.
  struct Called {
    uint32_t rank;
    RuleId rule;
    auto operator<=>(const Called&) const = default;
  };
  std::vector<Item> to_do_, found_;
  std::unordered_set<uint64_t> seen_;
  std::vector<Called> called_;                 // a heap, the least rank in front
  std::vector<std::vector<Item>> returns_of_;  // [n_rules] of a called rule
  bool ends_ = false;
};

}  // namespace tern::grammar
