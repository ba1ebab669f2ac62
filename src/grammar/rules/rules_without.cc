#include "grammar/rules/rules_without.h"

#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace tern::grammar {
namespace {

constexpr size_t kMostWork = 4'000'000;  // edges visited
constexpr uint32_t kComplete = UINT32_MAX;

// A text's progress is the number of the mark's bytes with which it ends. A rule is copied for each progress before
// and after it.
class Product {
 public:
  Product(const Rules& rules, std::string_view mark) : rules_(rules) {
    next_.resize(mark.size());
    for (size_t n = 0; n < mark.size(); ++n) {
      for (int c = 0; c < 256; ++c) {
        const std::string seen = std::string(mark.substr(0, n)) + static_cast<char>(c);
        size_t k = std::min(seen.size(), mark.size());
        while (!std::string_view(seen).ends_with(mark.substr(0, k))) --k;
        next_[n][static_cast<size_t>(c)] = k == mark.size() ? kComplete : static_cast<uint32_t>(k);
      }
    }
  }

  Result<Rules> write() {
    if (!find_ends()) return too_large();
    const RuleId root = out_.new_rule("the grammar");
    const StateId end = out_.new_state();
    out_.end(end);
    for (const uint32_t after : ends_[{rules_.root, 0}]) {
      out_.add_call(out_.start_of(root), copy_of(rules_.root, 0, after), end);
    }
    while (!to_do_.empty() && !out_.is_full()) {
      const auto [rule, before, after] = to_do_.back();
      to_do_.pop_back();
      write_copy(rule, before, after);
    }
    if (out_.is_full() || work_ > kMostWork) return too_large();
    return out_.finish(root);
  }

 private:
  using Entry = std::pair<RuleId, uint32_t>;  // a rule and the progress before it
  using Place = std::pair<StateId, uint32_t>;

  static std::unexpected<Error> too_large() {
    return fail(ErrorCode::kNotSupported, "the grammar takes too many states where its texts end with a mark");
  }

  // Calls use(state, progress) for where an edge leads.
  template <class Use>
  void follow(const Place& place, const Edge& edge, const Use& use) {
    if (edge.kind == EdgeKind::kEmpty) return use(edge.to, place.second);
    std::set<uint32_t> found;
    for (int c = edge.low; c <= edge.high; ++c) found.insert(next_[place.second][static_cast<size_t>(c)]);
    for (const uint32_t progress : found) {
      if (progress != kComplete) use(edge.to, progress);
    }
  }

  // The progress with which each rule may end. False: that takes too long.
  bool find_ends() {
    ends_[{rules_.root, 0}] = {};
    for (bool is_new = true; is_new;) {
      is_new = false;
      std::vector<Entry> entries;
      for (const auto& [entry, ends] : ends_) entries.push_back(entry);
      for (const Entry& entry : entries) {
        is_new |= visit(entry);
        if (work_ > kMostWork) return false;
      }
    }
    return true;
  }

  // True if something new was found.
  bool visit(const Entry& entry) {
    bool is_new = false;
    std::set<Place> seen;
    std::vector<Place> to_do;
    const auto add = [&](StateId state, uint32_t progress) {
      if (seen.emplace(state, progress).second) to_do.emplace_back(state, progress);
    };
    add(rules_.rules[entry.first].start, entry.second);
    while (!to_do.empty() && work_ <= kMostWork) {
      const Place place = to_do.back();
      to_do.pop_back();
      if (rules_.is_end[place.first]) is_new |= ends_[entry].insert(place.second).second;
      for (const Edge& edge : rules_.edges_of(place.first)) {
        ++work_;
        if (edge.kind != EdgeKind::kCall) {
          follow(place, edge, add);
          continue;
        }
        const auto [called, is_first] = ends_.try_emplace({edge.rule, place.second});
        is_new |= is_first;
        for (const uint32_t progress : called->second) add(edge.to, progress);
      }
    }
    return is_new;
  }

  RuleId copy_of(RuleId rule, uint32_t before, uint32_t after) {
    const auto [known, is_new] = copies_.try_emplace({rule, before, after}, 0);
    if (is_new) {
      known->second = out_.new_rule("a rule");
      to_do_.emplace_back(rule, before, after);
    }
    return known->second;
  }

  void write_copy(RuleId rule, uint32_t before, uint32_t after) {
    std::map<Place, StateId> states;
    std::vector<Place> to_do;
    const auto state_of = [&](StateId state, uint32_t progress) {
      const auto [known, is_new] = states.try_emplace({state, progress}, 0);
      if (is_new) {
        known->second = out_.new_state();
        to_do.emplace_back(state, progress);
        if (rules_.is_end[state] && progress == after) out_.end(known->second);
      }
      return known->second;
    };
    out_.add_empty(out_.start_of(copy_of(rule, before, after)), state_of(rules_.rules[rule].start, before));
    while (!to_do.empty() && !out_.is_full() && work_ <= kMostWork) {
      const Place place = to_do.back();
      to_do.pop_back();
      const StateId from = states[place];
      for (const Edge& edge : rules_.edges_of(place.first)) {
        ++work_;
        write_edge(from, place, edge, state_of);
      }
    }
  }

  template <class StateOf>
  void write_edge(StateId from, const Place& place, const Edge& edge, const StateOf& state_of) {
    if (edge.kind == EdgeKind::kEmpty) return out_.add_empty(from, state_of(edge.to, place.second));
    if (edge.kind == EdgeKind::kCall) {
      for (const uint32_t after : ends_[{edge.rule, place.second}]) {
        out_.add_call(from, copy_of(edge.rule, place.second, after), state_of(edge.to, after));
      }
      return;
    }
    const auto& next = next_[place.second];
    for (int low = edge.low; low <= edge.high;) {
      int high = low;
      while (high < edge.high && next[static_cast<size_t>(high) + 1] == next[static_cast<size_t>(low)]) ++high;
      const uint32_t progress = next[static_cast<size_t>(low)];
      if (progress != kComplete) {
        out_.add_bytes(from, static_cast<uint8_t>(low), static_cast<uint8_t>(high), state_of(edge.to, progress));
      }
      low = high + 1;
    }
  }

  const Rules& rules_;
  std::vector<std::array<uint32_t, 256>> next_;  // by the progress and a byte
  std::map<Entry, std::set<uint32_t>> ends_;
  std::map<std::tuple<RuleId, uint32_t, uint32_t>, RuleId> copies_;
  std::vector<std::tuple<RuleId, uint32_t, uint32_t>> to_do_;
  RuleWriter out_;
  size_t work_ = 0;
};

}  // namespace

Result<Rules> rules_without(const Rules& rules, std::string_view mark) {
  if (mark.empty()) return rules;
  return Product(rules, mark).write();
}

}  // namespace tern::grammar
