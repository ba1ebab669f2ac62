// Any bytes as a schema, a grammar or a regular expression, selected by the first byte. No allowed text may lead to a
// position without a continuation, and no input may take long.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "grammar/grammar_impl.h"
#include "grammar/rules/automaton.h"
#include "tern/grammar.h"

namespace {

using tern::grammar::Automaton;
using tern::grammar::PositionId;

// Walks through the grammar as the bytes of `choices` select, for at most kMostSteps steps.
void walk(const tern::Grammar& grammar, std::string_view choices) {
  constexpr size_t kMostSteps = 64;
  Automaton automaton(*grammar.impl().rules);
  PositionId at = automaton.start();
  for (const char choice : choices.substr(0, kMostSteps)) {
    PositionId next = tern::grammar::kNowhere;
    for (unsigned i = 0; i < 256 && next == tern::grammar::kNowhere; ++i) {
      next = automaton.step(at, static_cast<uint8_t>(static_cast<unsigned char>(choice) + i));
    }
    if (automaton.has_overflowed()) return;
    if ((next != tern::grammar::kNowhere) != automaton.may_go_on(at)) std::abort();
    if (next == tern::grammar::kNowhere) {
      if (!automaton.may_end(at)) std::abort();
      return;
    }
    at = next;
  }
  automaton.forget_all_but({&at, 1});
  if (!automaton.may_end(at) && !automaton.may_go_on(at)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto made = data[0] == '3'     ? tern::Grammar::lark(text)
                    : data[0] % 3 == 0 ? tern::Grammar::json_schema(text)
                    : data[0] % 3 == 1 ? tern::Grammar::gbnf(text)
                                       : tern::Grammar::regex(text);
  if (made) walk(**made, text);
  return 0;
}
