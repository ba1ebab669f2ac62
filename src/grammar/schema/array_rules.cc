// Arrays: a state for each number of items, of items that `contains` counts, and of values that were used.
#include <algorithm>
#include <bit>

#include "grammar/schema/schema_writer.h"

namespace tern::grammar {
namespace {

constexpr size_t kMaxItems = 4096;  // a greater minItems is refused, a greater maxItems lowered
constexpr size_t kMaxArrayStates = 8000;
constexpr size_t kMaxUnique = 64;  // values of items that all differ
constexpr size_t kMaxContained = 3;

}  // namespace

class ArrayWriter {
 public:
  ArrayWriter(SchemaWriter& writer, const Clauses& clauses) : writer_(writer), clauses_(clauses) {}

  Result<void> write(StateId start, StateId end) {
    TRY_STATUS(read());
    if (lengths_.is_empty()) return {};
    RuleWriter& rules = writer_.rules_;
    JsonRules& json = writer_.json_;
    const StateId close = rules.new_state();  // after white space
    rules.add_empty(rules.add_text(close, "]"), end);
    State first = {.counts = std::vector<size_t>(contained_.size())};
    const StateId open = json.add_space(rules.add_text(start, "["));
    if (may_end(first)) rules.add_empty(open, close);
    state_after(first);
    while (!to_do_.empty() && !rules.is_full()) {
      const auto [state, after] = std::move(to_do_.back());
      to_do_.pop_back();
      const bool is_first = state.n == 0;
      if (!is_first && may_end(state)) rules.add_empty(json.add_space(after), close);
      if (lengths_.high && state.n >= *lengths_.high) continue;
      const StateId from = is_first ? open : json.add_space(rules.add_text(after, ","));
      TRY_STATUS(write_item(state, from));
      if (known_.size() > kMaxArrayStates) return refuse("", "this array takes too many states");
    }
    return {};
  }

 private:
  struct State {
    size_t n = 0;  // items, up to n_different_
    std::vector<size_t> counts = {};
    uint64_t used = 0;
    auto operator<=>(const State&) const = default;
  };

  std::unexpected<Error> refuse(std::string_view keyword, std::string_view why) const {
    return writer_.reader_.refuse(clauses_, keyword, why);
  }

  Result<void> read() {
    lengths_ = writer_.reader_.lengths(clauses_, &Clause::n_items);
    if (lengths_.low > kMaxItems)
      return refuse("minItems", format_text("a reply can be held to at least {} items, no more", kMaxItems));
    if (lengths_.high) lengths_.high = std::min(*lengths_.high, kMaxItems);
    size_t n_prefix = 0;
    bool is_unique = false;
    for (const ClauseId id : clauses_) {
      const Clause& own = writer_.reader_.at(id);
      n_prefix = std::max(n_prefix, own.prefix.size());
      is_unique |= own.is_unique;
      for (const Clause::Contained& one : own.contains) {
        n_prefix = std::max(n_prefix, one.from);
        if (one.times.low > 0 || one.times.high) contained_.push_back(one);
        if (one.times.is_empty()) lengths_ = {1, 0};
      }
    }
    if (contained_.size() > kMaxContained)
      return refuse("contains", format_text("more than {} of these in one array", kMaxContained));
    n_prefix_ = std::min(n_prefix, kMaxItems);
    n_different_ = std::max({n_prefix_, lengths_.low, lengths_.high.value_or(0), size_t{1}});
    if (is_unique && lengths_.high.value_or(2) > 1) TRY_STATUS(read_unique());
    return {};
  }

  // Items that all differ: only with few values, each of which is used once.
  Result<void> read_unique() {
    constexpr auto kWhy = "a reply can be held to different items only if their values are few (enum, const, boolean)";
    for (size_t i = 0; i <= n_prefix_; ++i) {
      TRY(const auto own, writer_.finite_values(writer_.reader_.item(clauses_, i), kMaxUnique));
      if (!own) return refuse("uniqueItems", kWhy);
      for (const JsonValue* value : *own) {
        if (!index_of_.try_emplace(canonical_text(*value), index_of_.size()).second) continue;
        const StateId last = writer_.rules_.new_state();
        rules_of_values_.push_back(writer_.rules_.new_rule("a value"));
        writer_.rules_.end(last);
        writer_.write_values({&value, 1}, writer_.rules_.start_of(rules_of_values_.back()), last);
      }
    }
    if (index_of_.size() > kMaxUnique) return refuse("uniqueItems", kWhy);
    is_unique_ = true;
    n_different_ = std::max(n_different_, index_of_.size());
    return {};
  }

  bool may_end(const State& state) const {
    if (state.n < lengths_.low) return false;
    for (size_t i = 0; i < contained_.size(); ++i) {
      if (!contained_[i].times.holds(state.counts[i])) return false;
    }
    return true;
  }

  StateId state_after(const State& state) {
    const auto [known, is_new] = known_.try_emplace(state, 0);
    if (is_new) {
      known->second = writer_.rules_.new_state();
      to_do_.emplace_back(state, known->second);
    }
    return known->second;
  }

  // Writes an item for each choice of the `contains` that count it.
  Result<void> write_item(const State& state, StateId from) {
    const Clauses item = writer_.reader_.item(clauses_, std::min(state.n, n_prefix_));
    for (size_t counted = 0; counted < size_t{1} << contained_.size(); ++counted) {
      State next = state;
      next.n = std::min(state.n + 1, n_different_);
      Clauses clauses = item;
      bool is_useful = true;
      for (size_t i = 0; i < contained_.size(); ++i) {
        const auto& [what, begin, times] = contained_[i];
        const bool is_counted = (counted >> i & 1) != 0;
        if (is_counted) {
          is_useful &= state.n >= begin && next.counts[i] < times.high.value_or(times.low);
          ++next.counts[i];
          clauses.push_back(what);
        } else if (times.high && state.n >= begin) {
          clauses.push_back(writer_.reader_.opposite_of(what));
        }
      }
      if (!is_useful) continue;
      if (is_unique_) {
        TRY_STATUS(write_unused(next, clauses, from));
      } else {
        writer_.rules_.add_call(from, writer_.rule_of(clauses), state_after(next));
      }
    }
    return {};
  }

  Result<void> write_unused(const State& state, const Clauses& clauses, StateId from) {
    const auto [known, is_new] = values_of_.try_emplace(clauses);
    if (is_new) {
      TRY(const auto own, writer_.finite_values(clauses, kMaxUnique));
      for (const JsonValue* value : *own) known->second.push_back(index_of_.at(canonical_text(*value)));
    }
    for (const size_t index : known->second) {
      if (state.used >> index & 1) continue;
      State next = state;
      next.used |= uint64_t{1} << index;
      writer_.rules_.add_call(from, rules_of_values_[index], state_after(next));
    }
    return {};
  }

  SchemaWriter& writer_;
  const Clauses& clauses_;
  Lengths lengths_;
  size_t n_prefix_ = 0, n_different_ = 0;
  std::vector<Clause::Contained> contained_;
  bool is_unique_ = false;
  std::map<std::string, size_t> index_of_;  // by canonical text, the values of items that all differ
  std::vector<RuleId> rules_of_values_;
  std::map<Clauses, std::vector<size_t>> values_of_;
  std::map<State, StateId> known_;
  std::vector<std::pair<State, StateId>> to_do_;
};

Result<void> SchemaWriter::write_array(const Clauses& clauses, StateId start, StateId end) {
  return ArrayWriter(*this, clauses).write(start, end);
}

}  // namespace tern::grammar
