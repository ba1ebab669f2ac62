// The names that are none of a list, as JSON spells them.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/rules/rules.h"

namespace tern::grammar {

class NameTree {
 public:
  explicit NameTree(std::span<const std::string_view> names);

  // Writes the other names, without quotation marks, from `start` to `end`.
  void write(RuleWriter& rules, StateId start, StateId end) const;

 private:
  struct Node {
    std::vector<std::pair<char32_t, uint32_t>> children = {};  // sorted by character when the tree is complete
    bool is_name = false;
  };
  std::vector<Node> nodes_ = {{}};
};

}  // namespace tern::grammar
