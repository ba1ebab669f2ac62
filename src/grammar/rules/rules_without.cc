#include "grammar/rules/rules_without.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tern::grammar {
namespace {

constexpr size_t kMostPlaces = 8'000'000;  // of a state and a progress; each takes 8 bytes
constexpr size_t kWorkOfCall = 20;
constexpr uint32_t kComplete = UINT32_MAX;

// A text's progress is the number of the mark's bytes with which it ends. A rule is copied for each progress before
// and after it.
class Product {
 public:
  Product(const Rules& rules, std::string_view mark, size_t& work_left)
      : rules_(rules), n_progress_(static_cast<uint32_t>(mark.size())), work_left_(work_left) {
    for (size_t n = 0; n < mark.size(); ++n) {
      std::vector<Run>& runs = runs_.emplace_back();
      for (int c = 0; c < 256; ++c) {
        const uint32_t to = after(mark, n, static_cast<char>(c));
        if (runs.empty() || runs.back().progress != to) runs.push_back({.last = c, .progress = to});
        runs.back().last = c;
      }
    }
  }

  Result<Rules> write() {
    const size_t n_places = rules_.is_end.size() * n_progress_;
    if (n_places > std::min(kMostPlaces, work_left_)) return too_large();
    work_left_ -= n_places;
    seen_.resize(n_places);
    new_state_.resize(n_places);
    entries_.resize(rules_.rules.size() * n_progress_);
    if (!find_ends()) return too_large();
    const RuleId root = out_.new_rule("the grammar");
    const StateId end = out_.new_state();
    out_.end(end);
    for (const uint32_t after : entries_[rules_.root * size_t{n_progress_}].ends) {
      out_.add_call(out_.start_of(root), copy_of(rules_.root, 0, after), end);
    }
    while (!copies_to_write_.empty() && !is_over()) {
      const auto [rule, before, after] = copies_to_write_.back();
      copies_to_write_.pop_back();
      write_copy(rule, before, after);
    }
    if (is_over()) return too_large();
    return out_.finish(root);
  }

 private:
  // Bytes after which a text has this progress, up to `last`, behind those of the run before.
  struct Run {
    int last;
    uint32_t progress;
  };
  struct Place {
    StateId state;
    uint32_t progress;
  };
  // A rule with the progress before it.
  struct Entry {
    std::vector<uint32_t> ends = {};     // the progress after it
    std::vector<uint32_t> callers = {};  // entries whose ends depend on it
    bool is_known = false, is_waiting = false;
  };

  static uint32_t after(std::string_view mark, size_t n, char c) {
    if (!mark.contains(c)) return 0;
    const std::string seen = std::string(mark.substr(0, n)) + c;
    size_t k = seen.size();
    while (!std::string_view(seen).ends_with(mark.substr(0, k))) --k;
    return k == mark.size() ? kComplete : static_cast<uint32_t>(k);
  }

  static std::unexpected<Error> too_large() {
    return fail(ErrorCode::kNotSupported, "the grammar takes too many states where its texts end with a mark");
  }
  bool is_over() const { return work_left_ == 0 || out_.is_full(); }
  void take_work(size_t n) { work_left_ -= std::min(n, work_left_); }

  size_t index_of(const Place& place) const { return place.state * size_t{n_progress_} + place.progress; }
  // True if the place was not there since the last call of forget_places().
  bool is_new(const Place& place) { return std::exchange(seen_[index_of(place)], round_) != round_; }
  void forget_places() { ++round_; }

  // Calls use(low, high, progress) for where the bytes of an edge lead.
  template <class Use>
  void follow(uint32_t progress, const Edge& edge, const Use& use) {
    const auto& runs = runs_[progress];
    auto run = std::ranges::lower_bound(runs, int{edge.low}, {}, &Run::last);
    for (int low = edge.low; low <= edge.high; low = (run++)->last + 1) {
      take_work(1);
      if (run->progress == kComplete) continue;
      use(static_cast<uint8_t>(low), static_cast<uint8_t>(std::min<int>(run->last, edge.high)), run->progress);
    }
  }

  // Finds the progress with which each rule may end. False: that takes too long.
  bool find_ends() {
    std::vector<uint32_t> waiting;
    const auto wait = [&](uint32_t entry) {
      if (!std::exchange(entries_[entry].is_waiting, true)) waiting.push_back(entry);
    };
    const auto first = static_cast<uint32_t>(rules_.root * n_progress_);
    entries_[first].is_known = true;
    wait(first);
    while (!waiting.empty() && work_left_ > 0) {
      const uint32_t entry = waiting.back();
      waiting.pop_back();
      entries_[entry].is_waiting = false;
      if (!visit(entry, wait)) continue;
      for (const uint32_t caller : entries_[entry].callers) wait(caller);
    }
    return work_left_ > 0;
  }

  // True if the rule has another end than before.
  template <class Wait>
  bool visit(uint32_t number, const Wait& wait) {
    bool has_more = false;
    forget_places();
    std::vector<Place> to_do;
    const auto add = [&](StateId state, uint32_t progress) {
      if (is_new({state, progress})) to_do.push_back({state, progress});
    };
    add(rules_.rules[number / n_progress_].start, number % n_progress_);
    while (!to_do.empty() && work_left_ > 0) {
      const Place place = to_do.back();
      to_do.pop_back();
      take_work(1);
      if (rules_.is_end[place.state]) has_more |= insert(entries_[number].ends, place.progress);
      for (const Edge& edge : rules_.edges_of(place.state)) {
        take_work(1);
        if (edge.kind == EdgeKind::kEmpty) add(edge.to, place.progress);
        if (edge.kind == EdgeKind::kBytes) {
          follow(place.progress, edge, [&](uint8_t, uint8_t, uint32_t progress) { add(edge.to, progress); });
        }
        if (edge.kind != EdgeKind::kCall) continue;
        const auto called = static_cast<uint32_t>(edge.rule * n_progress_ + place.progress);
        take_work(entries_[called].ends.size());
        if (calls_.insert((uint64_t{called} << 32) | number).second) {
          take_work(kWorkOfCall);
          entries_[called].callers.push_back(number);
        }
        if (!std::exchange(entries_[called].is_known, true)) wait(called);
        for (const uint32_t progress : entries_[called].ends) add(edge.to, progress);
      }
    }
    return has_more;
  }

  // Adds what is not there yet. True: it was not.
  static bool insert(std::vector<uint32_t>& list, uint32_t one) {
    if (std::ranges::contains(list, one)) return false;
    list.push_back(one);
    return true;
  }

  RuleId copy_of(RuleId rule, uint32_t before, uint32_t after) {
    const auto [known, is_new] = copies_.try_emplace({rule, before, after}, 0);
    if (is_new) {
      known->second = out_.new_rule("a rule");
      copies_to_write_.emplace_back(rule, before, after);
    }
    return known->second;
  }

  void write_copy(RuleId rule, uint32_t before, uint32_t after) {
    forget_places();
    std::vector<Place> to_do;
    const auto state_of = [&](StateId state, uint32_t progress) {
      const Place place = {state, progress};
      StateId& known = new_state_[index_of(place)];
      if (is_new(place)) {
        known = out_.new_state();
        to_do.push_back(place);
        if (rules_.is_end[state] && progress == after) out_.end(known);
      }
      return known;
    };
    out_.add_empty(out_.start_of(copy_of(rule, before, after)), state_of(rules_.rules[rule].start, before));
    while (!to_do.empty() && !is_over()) {
      const Place place = to_do.back();
      to_do.pop_back();
      const StateId from = new_state_[index_of(place)];
      for (const Edge& edge : rules_.edges_of(place.state)) {
        take_work(1);
        if (edge.kind == EdgeKind::kEmpty) out_.add_empty(from, state_of(edge.to, place.progress));
        if (edge.kind == EdgeKind::kBytes) {
          follow(place.progress, edge, [&](uint8_t low, uint8_t high, uint32_t progress) {
            out_.add_bytes(from, low, high, state_of(edge.to, progress));
          });
        }
        if (edge.kind != EdgeKind::kCall) continue;
        for (const uint32_t then : entries_[edge.rule * size_t{n_progress_} + place.progress].ends) {
          out_.add_call(from, copy_of(edge.rule, place.progress, then), state_of(edge.to, then));
        }
      }
    }
  }

  const Rules& rules_;
  const uint32_t n_progress_;
  size_t& work_left_;
  std::vector<std::vector<Run>> runs_;  // by the progress before a byte
  std::vector<Entry> entries_;          // by rule and progress
  std::unordered_set<uint64_t> calls_;  // of entries: called and caller
  std::map<std::tuple<RuleId, uint32_t, uint32_t>, RuleId> copies_;
  std::vector<std::tuple<RuleId, uint32_t, uint32_t>> copies_to_write_;
  std::vector<uint32_t> seen_;  // by state and progress: the round that was there last
  std::vector<StateId> new_state_;
  uint32_t round_ = 0;
  RuleWriter out_;
};

}  // namespace

Result<Rules> rules_without(const Rules& rules, std::string_view mark, size_t& work_left) {
  if (mark.empty()) return rules;
  return Product(rules, mark, work_left).write();
}

}  // namespace tern::grammar
