#include "text/chat/turn_tokenizer.h"

#include <gtest/gtest.h>

#include "text/tokenizer/vocab_test_support.h"

namespace tern {
namespace {

using Ids = std::vector<TokenId>;

// Tests the stop tokens after a conversation has been rendered: `end`, and the learned one.
class TurnTokenizerTest : public testing::Test {
 protected:
  Ids learned_from(std::string source) {
    vocab_.vocab.stop_tokens = {end_};
    TurnTokenizer tokenizer(vocab_.make(), vocab_.vocab);
    EXPECT_EQ(tokenizer.stop_tokens(), Ids{end_});
    tokenizer.learn(ChatTemplate(std::move(source), "<s>", "</s>"));
    tokenizer.learn(ChatTemplate("{% for m in messages %}{{ m.content }}<s>{% endfor %}", "", ""));  // too late
    EXPECT_EQ(tokenizer.find("</s>"), eos_);
    EXPECT_EQ(tokenizer.piece(eos_, true), "</s>");
    return tokenizer.stop_tokens();
  }

  TestVocab vocab_;
  TokenId bos_ = vocab_.add("<s>", TokenType::kControl);
  TokenId eos_ = vocab_.add("</s>", TokenType::kUserDefined);
  TokenId end_ = vocab_.add("<|end|>", TokenType::kControl);
  TokenId ends_ = vocab_.add("<|end|>s", TokenType::kControl);
  TokenId word_ = vocab_.add("word");
};

TEST_F(TurnTokenizerTest, LearnsWhatTheTemplatePutsAfterAReply) {
  EXPECT_EQ(learned_from("{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{{ eos_token }}\n{% endfor %}"),
            (Ids{eos_, end_}));
  EXPECT_EQ(learned_from("{% for m in messages %}{{ m.content }}\n<|end|>s{% endfor %}"), (Ids{end_, ends_}));
}

TEST_F(TurnTokenizerTest, LearnsNothingWhereNothingIsToBeSeen) {
  EXPECT_EQ(learned_from("{% for m in messages %}{{ m.content }}<|end|>{% endfor %}"), Ids{end_});  // already known
  EXPECT_EQ(learned_from("{% for m in messages %}{{ m.content }}word{% endfor %}"), Ids{end_});
  EXPECT_EQ(learned_from("{% for m in messages %}{{ m.content }}\n{% endfor %}"), Ids{end_});
  EXPECT_EQ(learned_from("{{ raise_exception('no') }}"), Ids{end_});
  EXPECT_EQ(learned_from("{% if"), Ids{end_});
  EXPECT_EQ(learned_from("x"), Ids{end_});
}

// In gpt-oss's template, <|end|> ends each of a reply's messages.
TEST_F(TurnTokenizerTest, LearnsNothingFromMessagesOfAReply) {
  const std::string source = "{% for m in messages %}{{ m.content }}<|end|>s{% endfor %}";
  EXPECT_EQ(learned_from(source), (Ids{end_, ends_}));
  for (const char* spelling : {"<|channel|>", "<|message|>", "<|return|>"}) vocab_.add(spelling, TokenType::kControl);
  EXPECT_EQ(learned_from(source), Ids{end_});
}

}  // namespace
}  // namespace tern
