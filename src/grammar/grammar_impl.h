// The contents of a Grammar.
#pragma once

#include <memory>

#include "grammar/rules/rules.h"
#include "tern/grammar.h"

namespace tern {

struct Grammar::Impl {
  std::shared_ptr<const grammar::Rules> rules;
};

}  // namespace tern
