#include "grammar/schema/any_order.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace tern::grammar {

bool Unordered::may_be_empty() const { return least == 0 && std::ranges::none_of(members, &Member::is_required); }

StateId write_unordered(RuleWriter& rules, StateId from, const Unordered& all,
                        const std::function<StateId(StateId)>& between) {
  const size_t n = all.members.size();
  CHECK(n <= Unordered::kMost);
  uint32_t required = 0;
  for (size_t i = 0; i < n; ++i) required |= all.members[i].is_required ? uint32_t{1} << i : 0;
  // The states behind each set of members; sets that cannot become complete lead nowhere and are dropped later.
  std::vector<StateId> behind(size_t{1} << n);
  for (StateId& state : behind) state = rules.new_state();
  const StateId to = rules.new_state();
  const auto add_next = [&](StateId at, uint32_t set) {
    const bool is_full = all.most && static_cast<size_t>(std::popcount(set)) >= *all.most;
    for (size_t i = 0; i < n && !is_full; ++i) {
      if ((set >> i & 1) == 0) rules.add_call(at, all.members[i].rule, behind[set | uint32_t{1} << i]);
    }
    if (all.other) rules.add_call(at, *all.other, behind[set]);
  };
  add_next(from, 0);
  for (uint32_t set = 0; set < behind.size() && !rules.is_full(); ++set) {
    if ((set & required) == required && static_cast<size_t>(std::popcount(set)) >= all.least)
      rules.add_empty(behind[set], to);
    add_next(between(behind[set]), set);
  }
  return to;
}

}  // namespace tern::grammar
