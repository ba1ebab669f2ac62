#include "engine/reply/thoughts.h"

#include <gtest/gtest.h>

#include "engine/session_core_test_support.h"
#include "tern/grammar.h"

namespace tern {
namespace {

using namespace engine_test;

constexpr std::string_view kScript = "<abcdefgh>xyz";

GenerateOptions limited(int tokens, bool in_thought = false) {
  return {.thoughts = {.tokens = tokens, .begin = "<", .end = ">", .in_thought = in_thought}};
}

TEST(Thoughts, EndWhereTheirTokensAreSpent) {
  for (const bool on_device : {false, true}) {
    for (const int ahead : {0, 5}) {
      const auto reply = [&](const GenerateOptions& options) {
        Fixture f(kScript, 64, {.decodes = on_device, .runs_ahead = ahead});
        return f.generate("ab", options).value();
      };
      const GenerateResult free = reply(limited(-1));
      EXPECT_EQ(free.text, kScript);
      EXPECT_EQ(free.stats.n_thought, 10);
      EXPECT_EQ(reply(limited(100)).text, kScript);
      const GenerateResult cut = reply(limited(4));
      EXPECT_EQ(cut.text, "<abc>efgh>xyz") << "the model goes on as it would";
      EXPECT_EQ(cut.stats.n_thought, 5);
      EXPECT_EQ(reply(limited(1)).text, "<>bcdefgh>xyz");
      EXPECT_EQ(reply(limited(0)).text, "<>bcdefgh>xyz");
      EXPECT_EQ(reply(limited(0, /*in_thought=*/true)).text, ">abcdefgh>xyz");
      EXPECT_EQ(reply(limited(2, /*in_thought=*/true)).text, "<a>cdefgh>xyz");
    }
  }
}

TEST(Thoughts, AllOfAReplyCount) {
  Fixture f("<ab>c<def>g");
  const auto result = f.generate("ab", limited(6)).value();
  EXPECT_EQ(result.text, "<ab>c<d>f>g");
  EXPECT_EQ(result.stats.n_thought, 7);
}

TEST(Thoughts, WhatIsForcedMayBeMoreThanTheMark) {
  Fixture f(kScript);
  GenerateOptions options = limited(3);
  options.thoughts.forced = ">!?";
  EXPECT_EQ(f.generate("ab", options).value().text, "<ab>!?fgh>xyz");
}

TEST(Thoughts, AGrammarIsStillKept) {
  // The mark waits until the grammar allows it.
  Fixture f(kScript);
  GenerateOptions options = limited(2);
  options.grammar = Grammar::gbnf("root ::= \"<abc\" [a-z]* \">\" [0-9]").value();
  EXPECT_EQ(f.generate("ab", options).value().text, "<abc>0");
}

// What a request forces must never be a token that its own grammar forbids.
TEST(Thoughts, AGrammarMayAllowTheMarksBeginningOnly) {
  Fixture f(kScript);
  GenerateOptions options = limited(3);
  options.thoughts.forced = ">!?";
  options.grammar = Grammar::gbnf("root ::= \"<\" [a-z>!]*").value();
  EXPECT_EQ(f.generate("ab", options).value().text, "<ab>!efgh>xyz");
}

TEST(Thoughts, AGrammarIsAboutTheTextBehindAThought) {
  for (const int tokens : {-1, 3}) {
    Fixture f("abcd>xyz");
    GenerateOptions options = limited(tokens, /*in_thought=*/true);
    options.grammar = Grammar::gbnf("root ::= [0-9] [0-9]").value();
    EXPECT_EQ(f.generate("ab", options).value().text, tokens < 0 ? "abcd>00" : "abc>00");
  }
}

TEST(Thoughts, AReplyGoesOnWhereItStopped) {
  Fixture f(kScript);
  GenerateOptions options = limited(4);
  options.reply_so_far = ids("<abc");
  EXPECT_EQ(f.generate("ab", options).value().text, "<abc>efgh>xyz");
}

TEST(ThoughtTracker, FindsMarksInPieces) {
  ThoughtTracker tracker({.begin = "<think>", .end = "</think>"});
  for (const std::string_view piece : {"a", "<th", "in"}) EXPECT_FALSE(tracker.feed(piece)) << piece;
  for (const std::string_view piece : {"k>b", "</t", "hink", ">c"}) EXPECT_TRUE(tracker.feed(piece)) << piece;
  EXPECT_FALSE(tracker.feed("d"));
  EXPECT_TRUE(tracker.feed("<think></think>")) << "both in one";
  EXPECT_FALSE(tracker.is_inside());
  EXPECT_TRUE(tracker.feed("<think>\xc3"));
  EXPECT_FALSE(tracker.is_between_characters());
  tracker.feed("\xa4");
  EXPECT_TRUE(tracker.is_between_characters());
}

}  // namespace
}  // namespace tern
