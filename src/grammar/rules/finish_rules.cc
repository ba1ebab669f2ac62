// RuleWriter::finish: removes states and rules that lead nowhere, and puts the rest in executable form.
#include <algorithm>
#include <ranges>

#include "base/pauses.h"
#include "grammar/rules/rules.h"

namespace tern::grammar {
namespace {

constexpr StateId kNoState = UINT32_MAX;
constexpr RuleId kNoRule = UINT32_MAX;

}  // namespace

class RuleFinisher {
 public:
  explicit RuleFinisher(const RuleWriter& in) : in_(in) {
    into_.resize(in.n_states() + 1);
    for (const auto& linked : in.edges_) ++into_[linked.edge.to + 1];
    for (size_t i = 1; i < into_.size(); ++i) into_[i] += into_[i - 1];
    std::vector<uint32_t> at(into_.begin(), into_.end() - 1);
    edges_into_.resize(in.edges_.size());
    from_.resize(in.edges_.size());
    calls_of_.resize(in.rules_.size());
    rule_of_start_.assign(in.n_states(), kNoRule);
    for (RuleId rule = 0; rule < in.rules_.size(); ++rule) rule_of_start_[in.rules_[rule].start] = rule;
    for (StateId state = 0; state < in.n_states(); ++state) {
      Pauses::check_point();
      for (uint32_t e = in.first_[state]; e != RuleWriter::kNoEdge; e = in.edges_[e].next) {
        from_[e] = state;
        edges_into_[at[in.edges_[e].edge.to]++] = e;
        if (in.edges_[e].edge.kind == EdgeKind::kCall) calls_of_[in.edges_[e].edge.rule].push_back(e);
      }
    }
  }

  Result<Rules> finish(RuleId root) {
    leads_to_end_ = states_before_ends(/*bytes=*/true);
    if (!leads_to_end_[in_.rules_[root].start]) {
      return fail(ErrorCode::kInvalidArgument, "no text of finite length is possible ({})", in_.rules_[root].name);
    }
    may_be_empty_ = states_before_ends(/*bytes=*/false);
    keep_reachable(root);
    TRY_STATUS(rank_rules());
    find_tails();
    return write(root);
  }

 private:
  const Edge& edge(uint32_t e) const { return in_.edges_[e].edge; }
  bool is_kept(uint32_t e) const {
    const Edge& one = edge(e);
    return leads_to_end_[one.to] && (one.kind != EdgeKind::kCall || leads_to_end_[in_.rules_[one.rule].start]);
  }
  template <class Use>
  void for_edges(StateId state, const Use& use) const {
    for (uint32_t e = in_.first_[state]; e != RuleWriter::kNoEdge; e = in_.edges_[e].next) {
      if (is_kept(e)) use(edge(e));
    }
  }

  // The states from which the end of their rule can be reached; `bytes`: also by taking bytes.
  std::vector<uint8_t> states_before_ends(bool bytes) const {
    std::vector<uint8_t> found(in_.n_states());
    std::vector<StateId> to_do;
    const auto add = [&](StateId state) {
      if (std::exchange(found[state], 1) == 0) to_do.push_back(state);
    };
    for (StateId state = 0; state < in_.n_states(); ++state) {
      if (in_.is_end_[state]) add(state);
    }
    while (!to_do.empty()) {
      Pauses::check_point();
      const StateId state = to_do.back();
      to_do.pop_back();
      for (uint32_t i = into_[state]; i < into_[state + 1]; ++i) {
        const Edge& one = edge(edges_into_[i]);
        const bool passes = one.kind == EdgeKind::kEmpty || (one.kind == EdgeKind::kBytes && bytes) ||
                            (one.kind == EdgeKind::kCall && found[in_.rules_[one.rule].start]);
        if (passes) add(from_[edges_into_[i]]);
      }
      if (rule_of_start_[state] == kNoRule) continue;
      for (const uint32_t e : calls_of_[rule_of_start_[state]]) {
        if (found[edge(e).to]) add(from_[e]);
      }
    }
    return found;
  }

  void keep_reachable(RuleId root) {
    is_reached_.assign(in_.n_states(), 0);
    is_used_.assign(in_.rules_.size(), 0);
    std::vector<StateId> to_do;
    const auto add = [&](StateId state) {
      if (std::exchange(is_reached_[state], 1) == 0) to_do.push_back(state);
    };
    const auto use = [&](RuleId rule) {
      is_used_[rule] = 1;
      add(in_.rules_[rule].start);
    };
    use(root);
    while (!to_do.empty()) {
      Pauses::check_point();
      const StateId state = to_do.back();
      to_do.pop_back();
      for_edges(state, [&](const Edge& one) {
        if (one.kind == EdgeKind::kCall) use(one.rule);
        add(one.to);
      });
    }
  }

  // The rules that `rule` may call before it has taken a byte.
  std::vector<RuleId> first_calls(RuleId rule) {
    std::vector<RuleId> calls;
    std::vector<StateId> to_do = {in_.rules_[rule].start};
    if (seen_.empty()) seen_.assign(in_.n_states(), kNoRule);
    seen_[to_do[0]] = rule;
    while (!to_do.empty()) {
      Pauses::check_point();
      const StateId state = to_do.back();
      to_do.pop_back();
      for_edges(state, [&](const Edge& one) {
        if (one.kind == EdgeKind::kCall) calls.push_back(one.rule);
        const bool passes =
            one.kind == EdgeKind::kEmpty || (one.kind == EdgeKind::kCall && may_be_empty_[in_.rules_[one.rule].start]);
        if (passes && std::exchange(seen_[one.to], rule) != rule) to_do.push_back(one.to);
      });
    }
    std::ranges::sort(calls);
    const auto repeated = std::ranges::unique(calls);
    calls.erase(repeated.begin(), repeated.end());
    return calls;
  }

  // Ranks rules so that callers come before the rules they call.
  Result<void> rank_rules() {
    const size_t n = in_.rules_.size();
    std::vector<std::vector<RuleId>> calls(n);
    std::vector<uint32_t> n_callers(n);
    std::vector<RuleId> caller(n, kNoRule), ready;
    for (RuleId rule = 0; rule < n; ++rule) {
      if (is_used_[rule]) calls[rule] = first_calls(rule);
      for (const RuleId called : calls[rule]) ++n_callers[called];
    }
    for (RuleId rule = 0; rule < n; ++rule) {
      if (is_used_[rule] && n_callers[rule] == 0) ready.push_back(rule);
    }
    rank_.assign(n, 0);
    for (size_t i = 0; i < ready.size(); ++i) {
      rank_[ready[i]] = static_cast<uint32_t>(i);
      for (const RuleId called : calls[ready[i]]) {
        if (--n_callers[called] == 0) ready.push_back(called);
      }
    }
    if (ready.size() == static_cast<size_t>(std::ranges::count(is_used_, 1))) return {};
    RuleId on_cycle = kNoRule;
    for (RuleId rule = 0; rule < n; ++rule) {
      if (n_callers[rule] == 0) continue;
      on_cycle = rule;
      for (const RuleId called : calls[rule]) caller[called] = rule;  // `rule` has unranked callers
    }
    for (size_t i = 0; i < n; ++i) on_cycle = caller[on_cycle];  // follows callers until it is on a cycle
    return fail(ErrorCode::kInvalidArgument,
                "rule '{}' calls itself before it has taken anything (left recursion): put what repeats behind, as in "
                "list ::= item list?",
                in_.rules_[on_cycle].name);
  }

  void find_tails() {
    is_tail_.assign(in_.n_states(), 0);
    std::vector<uint32_t> n_other(in_.n_states());  // edges other than empty ones to a tail
    std::vector<StateId> to_do;
    for (StateId state = 0; state < in_.n_states(); ++state) {
      Pauses::check_point();
      if (!is_reached_[state]) continue;
      for_edges(state, [&](const Edge&) { ++n_other[state]; });
      if (n_other[state] == 0) to_do.push_back(state);
    }
    while (!to_do.empty()) {
      Pauses::check_point();
      const StateId state = to_do.back();
      to_do.pop_back();
      is_tail_[state] = 1;
      for (uint32_t i = into_[state]; i < into_[state + 1]; ++i) {
        const uint32_t e = edges_into_[i];
        if (edge(e).kind != EdgeKind::kEmpty || !is_reached_[from_[e]]) continue;
        if (--n_other[from_[e]] == 0) to_do.push_back(from_[e]);
      }
    }
  }

  Rules write(RuleId root) const {
    Rules out;
    std::vector<StateId> new_state(in_.n_states(), kNoState);
    std::vector<RuleId> new_rule(in_.rules_.size(), kNoRule);
    StateId n_states = 0;
    for (StateId state = 0; state < in_.n_states(); ++state) {
      if (is_reached_[state]) new_state[state] = n_states++;
    }
    for (RuleId rule = 0; rule < in_.rules_.size(); ++rule) {
      if (!is_used_[rule]) continue;
      new_rule[rule] = static_cast<RuleId>(out.rules.size());
      const StateId start = in_.rules_[rule].start;
      out.rules.push_back({new_state[start], may_be_empty_[start] != 0, rank_[rule]});
    }
    out.root = new_rule[root];
    std::array<bool, 257> is_cut = {};
    for (StateId state = 0; state < in_.n_states(); ++state) {
      Pauses::check_point();
      if (!is_reached_[state]) continue;
      out.first_edge.push_back(static_cast<uint32_t>(out.edges.size()));
      out.is_end.push_back(in_.is_end_[state]);
      out.is_tail.push_back(is_tail_[state]);
      for_edges(state, [&](Edge one) {
        one.to = new_state[one.to];
        if (one.kind == EdgeKind::kCall) one.rule = new_rule[one.rule];
        if (one.kind == EdgeKind::kBytes) is_cut[one.low] = is_cut[size_t{one.high} + 1] = true;
        out.edges.push_back(one);
      });
    }
    out.first_edge.push_back(static_cast<uint32_t>(out.edges.size()));
    uint8_t number = 0;
    for (size_t byte = 0; byte < 256; ++byte) {
      if (byte > 0 && is_cut[byte]) ++number;
      out.class_of[byte] = number;
    }
    out.n_classes = number + 1;
    return out;
  }

  const RuleWriter& in_;
  std::vector<uint32_t> into_, edges_into_;  // by the state that they lead to
  std::vector<StateId> from_;                // [n_edges] where each edge begins
  std::vector<std::vector<uint32_t>> calls_of_;
  std::vector<RuleId> rule_of_start_;
  std::vector<uint8_t> leads_to_end_, may_be_empty_, is_reached_, is_used_, is_tail_;
  std::vector<RuleId> seen_;  // [n_states] the last rule that visited the state
  std::vector<uint32_t> rank_;
};

Result<Rules> RuleWriter::finish(RuleId root) const {
  if (is_full_) {
    return fail(
        ErrorCode::kNotSupported,
        "the grammar is too large: it takes more than {} states, {} edges, {} rules or {} ranges of characters; "
        "ask for fewer repetitions",
        kMaxStates, kMaxEdges, kMaxRules, kMaxRanges);
  }
  return RuleFinisher(*this).finish(root);
}

}  // namespace tern::grammar
