#include "grammar/schema/alternatives.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace tern::grammar {
namespace {

constexpr int kMaxDepth = 4;               // of properties that are compared
constexpr size_t kMaxAlternatives = 4000;  // of one place in a document
constexpr size_t kMaxSteps = 5'000;        // towards them
constexpr int kMaxLevels = 1000;           // of choices, each a call on the stack
constexpr size_t kMaxStepsToFind = 200;    // towards the first of them
constexpr uint8_t kGroups[] = {kNullType | kBooleanType, kNumberTypes, kStringType, kArrayType, kObjectType};
constexpr size_t kMaxClauseSteps = 400'000;  // clauses looked at

}  // namespace

Result<std::vector<Clauses>> Alternatives::of(const Clauses& clauses) {
  Open open;
  for (const ClauseId id : clauses) TRY_STATUS(add(id, open));
  if (open.is_dead) return std::vector<Clauses>();
  if (open.choices.empty() && open.some.empty()) return std::vector<Clauses>{std::move(open.own)};
  Search all = {.most = kMaxAlternatives, .budget = kMaxSteps, .depth = 0};
  TRY_STATUS(search(std::move(open), all));
  if (all.is_over) return reader_.refuse(clauses, "", "this has too many alternatives");
  return std::move(all.found);
}

Result<bool> Alternatives::possible(const Clauses& clauses, int depth) {
  if (depth > kMaxDepth) return true;
  const auto key = std::pair(clauses, depth);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  Open open;
  for (const ClauseId id : clauses) TRY_STATUS(add(id, open));
  TRY(const bool is_possible, possible(std::move(open), depth));
  known_.emplace(key, is_possible);
  return is_possible;
}

Result<bool> Alternatives::possible(Open open, int depth) {
  if (open.is_dead) return false;
  Search first = {.most = 1, .budget = kMaxStepsToFind, .depth = depth};
  TRY_STATUS(search(std::move(open), first));
  return first.is_over || !first.found.empty();
}

Result<void> Alternatives::add(ClauseId id, Open& open) {
  if (id == kAnything || open.is_dead || std::ranges::contains(open.own, id)) return {};
  TRY(const Clause* own, reader_.clause(id));
  if (++work_ > kMaxClauseSteps)
    return reader_.refuse(*own->schema, "", "the schema is too large, or has too many alternatives");
  if (id == kNothing) {
    open.is_dead = true;
    return {};
  }
  open.own.push_back(id);
  for (const ClauseId one : own->all) TRY_STATUS(add(one, open));
  for (size_t i = 0; i < own->choices.size(); ++i) open.choices.emplace_back(id, i);
  open.some.insert(open.some.end(), own->some.begin(), own->some.end());
  return {};
}

Result<void> Alternatives::search(Open open, Search& search) {
  if (search.is_over) return {};
  if (open.level > kMaxLevels) {
    search.is_over = true;
    return {};
  }
  if (search.budget == 0 || search.found.size() >= search.most) {
    search.is_over = search.found.empty() || search.most > 1;
    return {};
  }
  --search.budget;
  TRY_STATUS(settle(open, search.depth));
  if (open.is_dead) return {};
  if (open.choices.empty() && !open.some.empty()) {
    const Clause::OtherProperty some = open.some.back();
    open.some.pop_back();
    TRY(const ClauseId witness, witnesses(open, some));
    open.choices.emplace_back(witness, 0);
    return this->search(std::move(open), search);
  }
  if (open.choices.empty()) {
    search.found.push_back(std::move(open.own));
    return {};
  }
  const auto choice = open.choices.back();
  open.choices.pop_back();
  TRY(std::vector<Open> branches, options(open, choice, search.depth));
  for (Open& branch : branches) {
    branch.level = open.level + 1;
    if (search.most == 1 && !search.found.empty()) break;
    TRY_STATUS(this->search(std::move(branch), search));
  }
  return {};
}

// Drops choices that are made already, and takes those that leave only one option. What is left ends with the choice
// with the fewest options.
Result<void> Alternatives::settle(Open& open, int depth) {
  for (bool has_changed = true; has_changed && !open.is_dead;) {
    has_changed = false;
    TRY(open.is_dead, dead(open.own, depth));
    size_t fewest = SIZE_MAX, at = 0;
    for (size_t i = 0; i < open.choices.size() && !open.is_dead;) {
      const auto choice = open.choices[i];
      TRY(const bool is_implied, this->is_implied(open, choice, depth));
      if (is_implied) {
        open.choices.erase(open.choices.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      TRY(std::vector<Open> branches, options(open, choice, depth));
      if (branches.size() == 1) {
        open.choices.erase(open.choices.begin() + static_cast<std::ptrdiff_t>(i));
        Open next = std::move(branches[0]);
        next.choices.erase(std::ranges::find(next.choices, choice));
        open = std::move(next);
        has_changed = true;
        break;
      }
      open.is_dead = branches.empty();
      if (branches.size() < fewest) fewest = branches.size(), at = i;
      ++i;
    }
    if (!has_changed && !open.choices.empty()) std::swap(open.choices[at], open.choices.back());
  }
  return {};
}

// What `open` becomes with each option that is not certainly impossible.
Result<std::vector<Alternatives::Open>> Alternatives::options(const Open& open, std::pair<ClauseId, size_t> choice,
                                                              int depth) {
  std::vector<Open> out;
  for (const ClauseId option : reader_.at(choice.first).choices[choice.second]) {
    Open next = open;
    TRY_STATUS(add(option, next));
    if (!next.is_dead) {
      TRY(next.is_dead, dead(next.own, depth));
    }
    if (!next.is_dead) out.push_back(std::move(next));
  }
  return out;
}

// True if the choice is made: an option holds, or it is what makes a schema fail that is impossible anyway. The latter
// may depend on the types that are meant, which are then laid down.
Result<bool> Alternatives::is_implied(Open& open, std::pair<ClauseId, size_t> choice, int depth) {
  const Clause& own = reader_.at(choice.first);
  const auto holds = [&](ClauseId option) { return option == kAnything || std::ranges::contains(open.own, option); };
  if (std::ranges::any_of(own.choices[choice.second], holds)) return true;
  if (!own.opposite) return false;
  if (depth >= kMaxDepth) return false;
  const auto is_opposite = [&](ClauseId id) { return reader_.at(id).opposite.has_value(); };
  Open together;  // without other opposites, which would be compared with each other again and again
  std::ranges::copy_if(open.own, std::back_inserter(together.own), std::not_fn(is_opposite));
  for (const auto& other : open.choices) {
    if (!is_opposite(other.first)) together.choices.push_back(other);
  }
  const uint8_t meant = reader_.types(together.own, /*meant=*/true);
  const bool narrows = depth == 0 && meant != reader_.types(together.own, /*meant=*/false);
  if (narrows) TRY_STATUS(add(reader_.with_types(meant), together));
  TRY_STATUS(add(*own.opposite, together));
  TRY(const bool is_possible, possible(std::move(together), depth + 1));
  if (is_possible) return false;
  if (narrows) open.own.push_back(reader_.with_types(meant));
  return true;
}

// A choice of a declared property as the one that is asked for.
Result<ClauseId> Alternatives::witnesses(const Open& open, const Clause::OtherProperty& some) {
  Clauses options;
  for (const std::string_view name : reader_.declared_properties(open.own)) {
    Clauses unused;
    TRY(const bool is_named, reader_.add_named(some.names, some.patterns, {.name = name}, unused));
    if (is_named) continue;
    options.push_back(reader_.add(
        {.schema = reader_.at(open.own[0]).schema, .more_properties = {{name, some.value}}, .required = {name}}));
  }
  return reader_.add({.schema = reader_.at(open.own[0]).schema, .choices = {options}});
}

// True if it is certain that no document fits. At depth 0 only those of the types that are meant are written; a schema
// that another is compared with means all.
Result<bool> Alternatives::dead(const Clauses& own, int depth) {
  const uint8_t types = reader_.types(own, /*meant=*/depth == 0);
  work_ += own.size();
  if (types == 0) return true;
  const bool has_values = std::ranges::any_of(own, [&](ClauseId id) { return !reader_.at(id).one_of_values.empty(); });
  if (has_values) return dead_values(own);
  for (const uint8_t type : kGroups) {
    if ((types & type) == 0) continue;
    TRY(const bool is_dead, dead_type(own, type, depth));
    if (!is_dead) return false;
  }
  return true;
}

Result<bool> Alternatives::dead_values(const Clauses& own) {
  const std::vector<const JsonValue*>* fewest = nullptr;
  for (const ClauseId id : own) {
    for (const auto& list : reader_.at(id).one_of_values) {
      if (!fewest || list.size() < fewest->size()) fewest = &list;
    }
  }
  for (const JsonValue* value : *fewest) {
    TRY(const bool is_allowed, reader_.allows_alone(own, *value, {.is_wide = true}));
    if (is_allowed) return false;
  }
  return true;
}

Result<bool> Alternatives::dead_type(const Clauses& own, uint8_t type, int depth) {
  if (type == kNumberTypes) return reader_.bounds(own).is_empty();
  if (type == kArrayType) {
    const Lengths items = reader_.lengths(own, &Clause::n_items);
    for (size_t i = 0; i < std::min<size_t>(items.low, 4) && depth < kMaxDepth; ++i) {
      TRY(const bool is_possible, possible(reader_.item(own, i), depth + 1));
      if (!is_possible) return true;
    }
    return items.is_empty();
  }
  if (type == kObjectType) return dead_object(own, depth);
  if (type != kStringType) return false;
  if (reader_.lengths(own, &Clause::length).is_empty()) return true;
  return dead_texts(own);
}

Result<bool> Alternatives::dead_texts(const Clauses& own) {
  Clauses about;
  size_t n_texts = 0;
  for (const ClauseId id : own) {
    const Clause& clause = reader_.at(id);
    n_texts += clause.texts.size();
    if (!clause.texts.empty() || clause.length.low > 0 || clause.length.high) about.push_back(id);
  }
  if (n_texts < 2) return false;
  const auto [known, is_new] = dead_texts_.try_emplace(about, false);
  if (is_new) {
    TRY(const auto texts, reader_.texts(about, /*is_wide=*/true));
    known->second = texts && texts->is_empty();
  }
  return known->second;
}

Result<bool> Alternatives::dead_object(const Clauses& own, int depth) {
  const Lengths members = reader_.lengths(own, &Clause::n_properties);
  const auto required = reader_.required(own);
  if (members.is_empty() || (members.high && required.size() > *members.high)) return true;
  for (const std::string_view name : required) {
    TRY(const Clauses value, reader_.property(own, {.name = name}));
    if (value.empty()) continue;
    if (std::ranges::contains(value, kNothing)) return true;
    if (value.size() < 2) continue;  // an impossible schema is rare, and found later
    TRY(const bool is_possible, possible(value, depth + 1));
    if (!is_possible) return true;
  }
  return false;
}

}  // namespace tern::grammar
