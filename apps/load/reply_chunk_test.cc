#include "load/reply_chunk.h"

#include <gtest/gtest.h>

namespace tern::load {
namespace {

ReplyChunk parsed(Api api, std::string_view data) {
  Result<ReplyChunk> chunk = parse_chunk(api, data);
  EXPECT_TRUE(chunk) << data;
  return chunk.value_or(ReplyChunk{});
}

std::string chat_text(std::string_view delta) {
  return parsed(Api::kChat, R"({"choices": [{"delta": )" + std::string(delta) + "}]}").text;
}

TEST(ReplyChunk, TextOfAChat) {
  EXPECT_EQ(chat_text(R"({"content": "hi"})"), "hi");
  EXPECT_EQ(chat_text(R"({"role": "assistant", "content": ""})"), "");
  EXPECT_EQ(chat_text(R"({"role": "assistant", "content": null})"), "");
  EXPECT_EQ(chat_text(R"({"reasoning_content": "hm"})"), "hm");
  EXPECT_EQ(chat_text(R"({"reasoning": "hm"})"), "hm");
  EXPECT_EQ(chat_text(R"({"refusal": "no"})"), "no");
  EXPECT_EQ(chat_text(R"({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]})"), "f{}");
  EXPECT_EQ(chat_text(R"({"tool_calls": null, "content": 5})"), "");
  const ReplyChunk thought = parsed(Api::kChat, R"({"choices": [{"delta": {"reasoning": "a", "content": "b"}}]})");
  EXPECT_EQ(thought.text, "ba");
  EXPECT_EQ(thought.content, "b") << "what was thought does not go on in a conversation";
}

TEST(ReplyChunk, TextOfACompletion) {
  const ReplyChunk chunk = parsed(Api::kCompletions, R"({"choices": [{"text": "hi", "finish_reason": "stop"}]})");
  EXPECT_EQ(chunk.text, "hi");
  EXPECT_EQ(chunk.content, "hi");
  EXPECT_EQ(chunk.finish_reason, "stop");
  EXPECT_EQ(parsed(Api::kCompletions, R"({"choices": [{"delta": {"content": "hi"}}]})").text, "");
  EXPECT_EQ(parsed(Api::kChat, R"({"choices": [{"text": "hi"}]})").text, "");
}

TEST(ReplyChunk, Usage) {
  const ReplyChunk chunk = parsed(
      Api::kChat,
      R"({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 8}}})");
  ASSERT_TRUE(chunk.usage);
  EXPECT_EQ(chunk.usage->output_tokens, 4);
  EXPECT_EQ(chunk.usage->prompt_tokens, 9);
  EXPECT_EQ(chunk.usage->cached_tokens, 8);
  EXPECT_FALSE(parsed(Api::kChat, R"({"usage": null})").usage);
  EXPECT_FALSE(parsed(Api::kChat, R"({"usage": {"completion_tokens": "4"}})").usage);
  EXPECT_FALSE(parsed(Api::kChat, R"({"usage": {"completion_tokens": 4}})").usage->cached_tokens);
}

TEST(ReplyChunk, Errors) {
  EXPECT_EQ(parsed(Api::kChat, R"({"error": {"message": "out of memory", "code": 500}})").error, "out of memory");
  EXPECT_EQ(parsed(Api::kChat, R"({"error": "broken"})").error, "broken");
  EXPECT_EQ(parsed(Api::kChat, R"({"error": 5})").error, R"({"error": 5})");
  EXPECT_FALSE(parsed(Api::kChat, R"({"error": null})").error);
  for (const char* bad : {"", "x", "[1]", "5", "{\"a\":", "{} {}"}) {
    const Result<ReplyChunk> chunk = parse_chunk(Api::kChat, bad);
    ASSERT_FALSE(chunk) << bad;
    EXPECT_EQ(chunk.error().code, ErrorCode::kCorruption);
  }
}

TEST(ReplyChunk, MessagesOfBodies) {
  EXPECT_EQ(error_message(R"({"error": {"message": "a\nb"}})"), "a b");
  EXPECT_EQ(error_message(R"({"detail": "Not Found"})"), "Not Found");
  EXPECT_EQ(error_message(R"({"error": {"type": "x"}})"), R"({"error": {"type": "x"}})");
  EXPECT_EQ(error_message("<html>\r\n"), "<html>  ");
  EXPECT_EQ(error_message(""), "");
  const std::string cut = error_message(std::string(199, 'a') + "\xC3\xA4" + "b");
  EXPECT_EQ(cut, std::string(199, 'a') + "…") << "no half characters";
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += R"({"error":)";
  deep += "1" + std::string(100'000, '}');
  EXPECT_TRUE(error_message(deep).starts_with(R"({"error":{"error":)"));
}

TEST(ReplyChunk, FirstModel) {
  EXPECT_EQ(first_model(R"({"data": [{"id": "a"}, {"id": "b"}]})"), "a");
  for (const char* none : {"", "{}", R"({"data": []})", R"({"data": [{}]})", R"({"data": {"id": "a"}})"}) {
    EXPECT_EQ(first_model(none), std::nullopt) << none;
  }
}

}  // namespace
}  // namespace tern::load
