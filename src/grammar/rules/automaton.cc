#include "grammar/rules/automaton.h"

#include <algorithm>
#include <functional>

#include "base/check.h"

namespace tern::grammar {
namespace {

constexpr StateId kEndOfText = UINT32_MAX;  // the state to continue at for return 0

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

template <class Items>
uint64_t hash_of(const Items& items, uint64_t hash) {
  for (const auto& item : items) hash = mixed(hash, (uint64_t{item.state} << 32) | item.to);
  return hash;
}

}  // namespace

uint32_t Automaton::Lists::find_or_add(std::span<const Item> list) {
  const uint64_t hash = hash_of(list, list.size());
  for (auto [at, end] = by_hash.equal_range(hash); at != end; ++at) {
    if (std::ranges::equal(of(at->second), list)) return at->second;
  }
  const auto id = static_cast<uint32_t>(lists.size());
  lists.push_back({static_cast<uint32_t>(values.size()), static_cast<uint32_t>(list.size())});
  values.insert(values.end(), list.begin(), list.end());
  by_hash.emplace(hash, id);
  return id;
}

Automaton::Automaton(const Rules& rules) : rules_(rules), n_classes_(static_cast<size_t>(rules.n_classes)) {
  closure_.returns_of.resize(rules.rules.size());
  forget();
}

// Resets everything to the start position.
void Automaton::forget() {
  returns_.clear();
  positions_.clear();
  items_.clear();
  positions_by_hash_.clear();
  next_.clear();
  const Item end = {kEndOfText, 0};
  returns_.find_or_add({&end, 1});
  CHECK(position_of({}, false) == kNowhere);
  // The root rule is called with nothing before it.
  closure_.ends = rules_.rules[rules_.root].may_be_empty;
  closure_.returns_of[rules_.root].push_back(end);
  closure_.called.push_back({rules_.rules[rules_.root].rank, rules_.root});
  start_ = close();
}

size_t Automaton::bytes() const {
  constexpr size_t kMapNode = 40;
  return next_.size() * sizeof(uint32_t) + items_.size() * sizeof(Item) + returns_.values.size() * sizeof(Item) +
         positions_.size() * (sizeof(Position) + kMapNode) + returns_.lists.size() * (sizeof(Lists::Range) + kMapNode);
}

PositionId Automaton::position_of(std::span<const Item> items, bool may_end) {
  const uint64_t hash = hash_of(items, (items.size() << 1) | static_cast<uint64_t>(may_end));
  for (auto [at, end] = positions_by_hash_.equal_range(hash); at != end; ++at) {
    const Position& known = positions_[at->second];
    if (known.may_end == may_end &&
        std::ranges::equal(std::span(items_).subspan(known.first_item, known.n_items), items))
      return at->second;
  }
  const auto id = static_cast<PositionId>(positions_.size());
  positions_.push_back({static_cast<uint32_t>(items_.size()), static_cast<uint32_t>(items.size()), may_end});
  items_.insert(items_.end(), items.begin(), items.end());
  next_.resize(next_.size() + n_classes_, items.empty() ? kNowhere : kUnknown);
  positions_by_hash_.emplace(hash, id);
  return id;
}

PositionId Automaton::make_step(PositionId from, uint8_t byte) {
  if (work_ > kMaxWork) {
    has_overflowed_ = true;
    return kNowhere;
  }
  closure_.ends = false;
  const Position& position = positions_[from];
  for (uint32_t i = 0; i < position.n_items; ++i) {
    const Item item = items_[position.first_item + i];
    for (const Edge& edge : rules_.edges_of(item.state)) {
      if (edge.kind == EdgeKind::kBytes && edge.low <= byte && byte <= edge.high) visit({edge.to, item.to});
    }
  }
  const bool had_overflowed = std::exchange(has_overflowed_, false);
  const PositionId to = close();
  if (has_overflowed_) return kNowhere;  // not cached: an overflow is not an answer
  has_overflowed_ = had_overflowed;
  next_[size_t{from} * n_classes_ + rules_.class_of[byte]] = to;
  return to;
}

void Automaton::visit(const Item& item) {
  if (closure_.seen.insert((uint64_t{item.state} << 32) | item.to).second) closure_.to_do.push_back(item);
}

// A tail call: if the call is the last thing in its rule, the called rule returns directly to where the caller would
// have returned. Otherwise a rule that repeats itself at its end would add a return for each repetition.
void Automaton::call(const Edge& edge, const Item& from) {
  std::vector<Item>& returns = closure_.returns_of[edge.rule];
  if (returns.empty()) {
    closure_.called.push_back({rules_.rules[edge.rule].rank, edge.rule});
    std::ranges::push_heap(closure_.called, std::greater<>());
  }
  if (rules_.is_tail[edge.to]) {
    const auto callers = returns_.of(from.to);
    returns.insert(returns.end(), callers.begin(), callers.end());
  } else {
    returns.push_back({edge.to, from.to});
  }
}

// Computes everything that can be reached from the visited states without taking a byte. The visited states come first:
// they have taken a byte in their rule, so a rule that may end continues where it was called. Then come the rules that
// are called here, callers before the rules they call, so that all of a rule's returns are known when it begins. If
// such a rule may be empty, its caller also continues behind the call.
PositionId Automaton::close() {
  closure_.found.clear();
  const auto go_on = [this](bool takes_returns) {
    while (!closure_.to_do.empty() && closure_.seen.size() <= kMaxItems) {
      const Item item = closure_.to_do.back();
      closure_.to_do.pop_back();
      bool takes_bytes = false;
      for (const Edge& edge : rules_.edges_of(item.state)) {
        takes_bytes |= edge.kind == EdgeKind::kBytes;
        if (edge.kind == EdgeKind::kCall) call(edge, item);
        const bool passes =
            edge.kind == EdgeKind::kEmpty || (edge.kind == EdgeKind::kCall && rules_.rules[edge.rule].may_be_empty);
        if (passes) visit({edge.to, item.to});
      }
      if (takes_bytes) closure_.found.push_back(item);
      if (!takes_returns || !rules_.is_end[item.state]) continue;
      for (size_t i = 0; i < returns_.of(item.to).size(); ++i) {
        const Item next = returns_.of(item.to)[i];
        if (next.state == kEndOfText) {
          closure_.ends = true;
        } else {
          visit(next);
        }
      }
    }
  };
  go_on(true);
  while (!closure_.called.empty() && closure_.seen.size() <= kMaxItems) {
    std::ranges::pop_heap(closure_.called, std::greater<>());
    const Called next = closure_.called.back();
    closure_.called.pop_back();
    std::vector<Item>& returns = closure_.returns_of[next.rule];
    std::ranges::sort(returns);
    const auto repeated = std::ranges::unique(returns);
    returns.erase(repeated.begin(), repeated.end());
    const ReturnId to = returns_.find_or_add(returns);
    returns.clear();
    visit({rules_.rules[next.rule].start, to});
    go_on(false);
  }
  const bool overflows = closure_.seen.size() > kMaxItems;
  has_overflowed_ = overflows;
  work_ += closure_.seen.size();
  for (const Called& left : closure_.called) closure_.returns_of[left.rule].clear();
  closure_.called.clear();
  closure_.to_do.clear();
  closure_.seen.clear();
  if (overflows) return kNowhere;
  std::ranges::sort(closure_.found);
  return position_of(closure_.found, closure_.ends);
}

void Automaton::forget_all_but(std::span<PositionId> kept) {
  // Rewrites the contents of the kept positions, as trees of items, from the old lists.
  const Lists old_returns = std::move(returns_);
  const std::vector<Position> old_positions = std::move(positions_);
  const std::vector<Item> old_items = std::move(items_);
  returns_ = {};
  positions_ = {};
  items_ = {};
  forget();
  std::vector<ReturnId> new_return(old_returns.lists.size(), kUnknown);
  new_return[0] = 0;
  // A return refers only to returns with lower numbers, so they can be rebuilt in ascending order.
  std::vector<uint8_t> is_wanted(old_returns.lists.size());
  for (const PositionId id : kept) {
    const Position& position = old_positions[id];
    for (uint32_t i = 0; i < position.n_items; ++i) is_wanted[old_items[position.first_item + i].to] = 1;
  }
  for (size_t id = is_wanted.size(); id-- > 1;) {
    if (is_wanted[id] == 0) continue;
    for (const Item& item : old_returns.of(static_cast<uint32_t>(id))) is_wanted[item.to] = 1;
  }
  const auto renumbered = [&](std::span<const Item> items) {
    std::vector<Item> out(items.begin(), items.end());
    for (Item& item : out) item.to = new_return[item.to];
    std::ranges::sort(out);
    return out;
  };
  for (size_t id = 1; id < is_wanted.size(); ++id) {
    if (is_wanted[id] != 0)
      new_return[id] = returns_.find_or_add(renumbered(old_returns.of(static_cast<uint32_t>(id))));
  }
  for (PositionId& id : kept) {
    const Position& position = old_positions[id];
    id = position_of(renumbered(std::span(old_items).subspan(position.first_item, position.n_items)), position.may_end);
  }
}

}  // namespace tern::grammar
