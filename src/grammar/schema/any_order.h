// The members of an object in any order, each at most once.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "grammar/rules/rules.h"

namespace tern::grammar {

struct Unordered {
  static constexpr size_t kMost = 12;  // members; a state is needed for every set of them
  struct Member {
    RuleId rule;
    bool is_required;
  };
  std::vector<Member> members = {};
  std::optional<RuleId> other = {};  // as often as one likes
  size_t least = 0;                  // how many of the members there are
  std::optional<size_t> most = {};

  bool may_be_empty() const;
};

// Writes one or more of them behind `from`. `between` writes what separates two and returns the state after it. Returns
// the state after the last.
StateId write_unordered(RuleWriter& rules, StateId from, const Unordered& all,
                        const std::function<StateId(StateId)>& between);

}  // namespace tern::grammar
