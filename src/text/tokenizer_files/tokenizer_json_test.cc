#include "text/tokenizer_files/tokenizer_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "text/tokenizer/byte_alphabet.h"

namespace tern {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<TokenId>;

// 256 bytes, "ab" (256), " ab" (257); <|begin_of_text|> (258, control), <think> (259, user-defined).
Json small_tokenizer() {
  Json vocab;
  for (int byte = 0; byte < 256; ++byte) vocab[spell_byte(static_cast<uint8_t>(byte))] = byte;
  vocab["ab"] = 256;
  vocab["Ġab"] = 257;
  return Json::parse(R"({
    "added_tokens": [{"id": 258, "content": "<|begin_of_text|>", "special": true},
                     {"id": 259, "content": "<think>", "special": false}],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
    "post_processor": null,
    "model": {"type": "BPE", "dropout": null, "continuing_subword_prefix": "", "ignore_merges": false,
              "merges": ["a b", "Ġ ab"]}})")
      .patch(Json::array({{{"op", "add"}, {"path", "/model/vocab"}, {"value", vocab}}}));
}

Result<std::unique_ptr<Tokenizer>> parse(const Json& json) {
  const std::string text = json.dump();
  return parse_tokenizer_json(as_bytes(text), "t.json");
}

std::string error(const Json& json) {
  const auto result = parse(json);
  return result ? "no error" : result.error().message;
}

// The small tokenizer with the value at a JSON pointer replaced.
Json with(const char* pointer, const Json& value) {
  Json json = small_tokenizer();
  json[Json::json_pointer(pointer)] = value;
  return json;
}

TEST(TokenizerJson, ReadsBothFormsOfMerges) {
  for (const Json& merges : {Json::array({"a b", "Ġ ab"}), Json::parse(R"([["a", "b"], ["Ġ", "ab"]])")}) {
    const auto tokenizer = parse(with("/model/merges", merges)).value();
    EXPECT_EQ(tokenizer->vocab_size(), 260);
    EXPECT_EQ(tokenizer->encode("ab ab abc"), (Ids{256, 257, 257, 'c'}));
    EXPECT_EQ(tokenizer->bos(), std::nullopt);
  }
}

TEST(TokenizerJson, AddedTokensAreControlOrUserDefined) {
  const auto tokenizer = parse(small_tokenizer()).value();
  EXPECT_EQ(tokenizer->encode("<think>"), (Ids{259}));
  EXPECT_GT(tokenizer->encode("<|begin_of_text|>").size(), 1u);
  EXPECT_EQ(tokenizer->encode("<|begin_of_text|>", {.parse_special = true}), (Ids{258}));
}

TEST(TokenizerJson, BosFromTheTemplate) {
  const Json bos = Json::parse(R"({"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "special_tokens": {"<|begin_of_text|>": {"id": "<|begin_of_text|>", "ids": [258], "tokens": ["<|begin_of_text|>"]}}})");
  const Json sequence = {{"type", "Sequence"}, {"processors", {{{"type", "ByteLevel"}}, bos}}};
  for (const Json& processor : {bos, sequence}) {
    const auto tokenizer = parse(with("/post_processor", processor)).value();
    EXPECT_EQ(tokenizer->encode("ab"), (Ids{258, 256}));
    EXPECT_EQ(tokenizer->encode("ab", {.add_bos = false}), (Ids{256}));
    EXPECT_EQ(tokenizer->bos(), 258);
  }

  Json twice = bos;
  twice["single"].insert(twice["single"].begin(), twice["single"][0]);
  EXPECT_EQ(error(with("/post_processor", twice)),
            "t.json: post_processor adds '<|begin_of_text|>', a second token before the text");
  Json unknown = bos;
  unknown["special_tokens"] = Json::object();
  EXPECT_EQ(error(with("/post_processor", unknown)),
            "t.json: post_processor.special_tokens gives no id for '<|begin_of_text|>'");
}

// Like Qwen3's embedding models. The token is stored but not appended, because it would end a prompt.
TEST(TokenizerJson, FinalTokenFromTheTemplate) {
  const Json last = Json::parse(R"({"type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 0}}],
    "special_tokens": {"<|begin_of_text|>": {"id": "<|begin_of_text|>", "ids": [258], "tokens": ["<|begin_of_text|>"]}}})");
  const auto tokenizer = parse(with("/post_processor", last)).value();
  EXPECT_EQ(tokenizer->encode("ab"), (Ids{256}));
  EXPECT_EQ(tokenizer->final_token(), 258);
  EXPECT_EQ(tokenizer->bos(), std::nullopt);
  EXPECT_EQ(parse(small_tokenizer()).value()->final_token(), std::nullopt);
}

TEST(TokenizerJson, PreTokenizerIsKnownByItsExpression) {
  const auto split = [](const char* regex) {
    return Json{{"type", "Sequence"},
                {"pretokenizers",
                 {{{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}},
                  {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  };
  const char* llama =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  EXPECT_TRUE(parse(with("/pre_tokenizer", split(llama))));
  EXPECT_EQ(error(with("/pre_tokenizer", split(R"(\p{Han}+|x)"))),
            R"(t.json: pre_tokenizer Split (Isolated) by an expression that Tern does not know: \p{Han}+|x)");
  EXPECT_EQ(error(with("/pre_tokenizer", nullptr)),
            "t.json: pre_tokenizer is not a Split by a known expression followed by ByteLevel");
  EXPECT_EQ(error(with("/pre_tokenizer/add_prefix_space", true)),
            "t.json: pre_tokenizer ByteLevel with add_prefix_space, which Tern does not know");
}

TEST(TokenizerJson, DigitsAreTakenOneByOneOrNotAtAll) {
  const auto digits = [](bool individual, bool use_regex) {
    return Json{{"type", "Sequence"},
                {"pretokenizers",
                 {{{"type", "Digits"}, {"individual_digits", individual}},
                  {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", use_regex}}}}};
  };
  EXPECT_TRUE(parse(with("/pre_tokenizer", digits(true, true))));
  EXPECT_EQ(error(with("/pre_tokenizer", digits(false, true))),
            "t.json: pre_tokenizer Digits without individual_digits, which Tern does not know");
  EXPECT_EQ(error(with("/pre_tokenizer", digits(true, false))),
            "t.json: pre_tokenizer ByteLevel with Digits and no expression, which Tern does not know");
}

TEST(TokenizerJson, NfcNormalizer) {
  const auto tokenizer = parse(with("/normalizer", {{"type", "NFC"}})).value();
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("e\u0301\xFF")), "\u00E9\xFF");
  EXPECT_EQ(error(with("/normalizer", {{"type", "Lowercase"}})),
            "t.json: normalizer of type \"Lowercase\", which Tern does not know");
}

TEST(TokenizerJson, HolesAmongTheIdsAreUnusedTokens) {
  const auto tokenizer = parse(with("/added_tokens/1/id", 300)).value();
  EXPECT_EQ(tokenizer->vocab_size(), 301);
  EXPECT_EQ(tokenizer->piece(299), "");
  EXPECT_EQ(tokenizer->encode("<think>"), (Ids{300}));
}

TEST(TokenizerJson, KnowsTheTokensThatEndAReply) {
  EXPECT_EQ(parse(with("/added_tokens/0/content", "<|eot_id|>")).value()->stop_tokens(), (Ids{258}));
  EXPECT_EQ(parse(small_tokenizer()).value()->stop_tokens(), Ids{});
  EXPECT_EQ(parse(with("/added_tokens/1/content", "<|im_end|>")).value()->stop_tokens(), Ids{});  // not a control token
}

TEST(TokenizerJsonErrors, WrongTypesAndValues) {
  EXPECT_EQ(error(with("/model/type", "Unigram")), "t.json: a \"Unigram\" tokenizer; Tern reads BPE");
  EXPECT_EQ(error(with("/model/type", 3)), "t.json: \"type\" is of type number, not string");
  EXPECT_EQ(error(with("/model/vocab", Json::array())), "t.json: \"vocab\" is of type array, not object");
  EXPECT_EQ(error(with("/model/merges", nullptr)), "t.json: model.merges is missing");
  EXPECT_EQ(error(with("/model/merges/1", 5)),
            "t.json: model.merges[1] is neither \"left right\" nor [\"left\", \"right\"]");
  EXPECT_EQ(error(with("/model/merges/1", "a zz")),
            "t.json: tokenizer: merge 1 'a zz' names the token 'zz', which is not in the vocabulary");
  EXPECT_EQ(error(with("/model/vocab/ab", 1e3)), "t.json: the id of token 'ab' is not an integer from 0 to 4194303");
  EXPECT_EQ(error(with("/model/vocab/ab", -1)), "t.json: the id of token 'ab' is not an integer from 0 to 4194303");
  EXPECT_EQ(error(with("/model/vocab/ab", 4'000'000'000)),
            "t.json: the id of token 'ab' is not an integer from 0 to 4194303");
  EXPECT_EQ(error(with("/model/vocab/ab", 97)), "t.json: the tokens 'a' and 'ab' have the same id, 97");
  EXPECT_EQ(error(with("/model/dropout", 0.1)), "t.json: model.dropout makes the ids random");
  EXPECT_EQ(error(with("/added_tokens/0", 7)), "t.json: added_tokens holds something without \"content\" and \"id\"");
  EXPECT_EQ(error(Json::array()), "t.json: a tokenizer.json is a JSON object, this is not");
  EXPECT_EQ(error(Json::object()), "t.json: no \"model\", so this is not a tokenizer.json");
}

std::string error_of_text(const std::string& text) {
  return parse_tokenizer_json(as_bytes(text), "t.json").error().message;
}

TEST(TokenizerJsonErrors, BrokenOrHostileJson) {
  EXPECT_EQ(error_of_text(""), "t.json: not valid JSON, at byte 1");
  EXPECT_EQ(error_of_text("{\"model\": \n}"), "t.json: not valid JSON, at byte 12");
  EXPECT_EQ(error_of_text("{\"a\": \"\xFF\"}"), "t.json: not valid JSON, at byte 8");
  EXPECT_EQ(error_of_text("{\"a\": 1e999}"), "t.json: JSON with a number that is out of range");
  EXPECT_EQ(error_of_text(std::string(10'000, '[')), "t.json: JSON nested more than 64 deep");
  EXPECT_EQ(error_of_text(std::string(100 << 20, '[')),
            "t.json: 104857600 bytes of JSON, more than the 67108864 that Tern reads");
}

TEST(TokenizerJsonErrors, EveryTruncationIsRefused) {
  const std::string text = small_tokenizer().dump();
  for (size_t n = 0; n < text.size(); n += 7) {
    const std::string message = error_of_text(text.substr(0, n));
    ASSERT_FALSE(message.contains('\n'));
    ASSERT_TRUE(message.starts_with("t.json: not valid JSON")) << message;
  }
}

}  // namespace
}  // namespace tern
