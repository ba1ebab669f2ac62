#include "c_api_test_support.h"

namespace tern::c_api {
namespace {

class CApiGrammar : public CApi {
 protected:
  static Outcome make(int32_t kind, std::string_view text, tern_grammar** grammar) {
    return outcome_of(
        [&](tern_error** error) { return tern_grammar_new(kind, text.data(), text.size(), grammar, error); });
  }

  // The model's reply under a grammar. The grammar is freed before the first step.
  static std::string reply(int32_t kind, std::string_view text, int32_t* finish) {
    tern_grammar* grammar = nullptr;
    EXPECT_EQ(make(kind, text, &grammar).message, "");
    tern_generate_options options;
    tern_generate_options_init(&options, sizeof(options));
    EXPECT_EQ(options.grammar, nullptr);
    options.grammar = grammar;
    options.max_tokens = 60;
    const auto session = new_session();
    const auto prompt = tokens_of("Once upon a time");
    tern_generation* begun = nullptr;
    EXPECT_EQ(tern_generation_begin(session.get(), prompt.data(), prompt.size(), &options, &begun, nullptr), TERN_OK);
    const GenerationHandle generation(begun, tern_generation_free);
    tern_grammar_free(grammar);
    std::string all;
    tern_step step = {};
    for (step.size = sizeof(step); step.finish == TERN_FINISH_NONE;) {
      if (tern_generation_next(generation.get(), &step, nullptr) != TERN_OK) return "failed";
      all += step.text;
    }
    *finish = step.finish;
    return all;
  }
};

TEST_F(CApiGrammar, SaysWhatAReplyMayBe) {
  int32_t finish = 0;
  EXPECT_EQ(reply(TERN_GRAMMAR_REGEX, "(?:abc){2}", &finish), "abcabc");
  EXPECT_EQ(finish, TERN_FINISH_STOP_TOKEN);
  EXPECT_EQ(reply(TERN_GRAMMAR_GBNF, "root ::= \"x\"{3}", &finish), "xxx");
  EXPECT_EQ(reply(TERN_GRAMMAR_JSON_SCHEMA, R"({"const": [1, "a"]})", &finish).substr(0, 1), "[");
  EXPECT_EQ(reply(TERN_GRAMMAR_JSON_OBJECT, "", &finish).substr(0, 1), "{");
}

TEST_F(CApiGrammar, RefusesWithThePlace) {
  tern_grammar* grammar = nullptr;
  EXPECT_EQ(make(TERN_GRAMMAR_JSON_SCHEMA, R"({"uniqueItems": true})", &grammar).message,
            "the JSON schema: at '/uniqueItems': a reply can be held to different items only if their values are few "
            "(enum, const, boolean)");
  EXPECT_EQ(make(TERN_GRAMMAR_GBNF, "root ::= x", &grammar).code, TERN_INVALID_ARGUMENT);
  EXPECT_EQ(make(TERN_GRAMMAR_JSON_OBJECT, "x", &grammar).message, "a grammar of any JSON object has no text");
  EXPECT_EQ(make(4, "", &grammar).message, "kind is 4, but can be 0 to 3");
  EXPECT_EQ(make(TERN_GRAMMAR_REGEX, "", nullptr).message, "grammar is NULL");
  EXPECT_EQ(grammar, nullptr);
  tern_grammar_free(nullptr);
}

}  // namespace
}  // namespace tern::c_api
