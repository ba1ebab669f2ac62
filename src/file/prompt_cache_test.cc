#include "file/prompt_cache.h"

#include <gtest/gtest.h>

#include "file/md5.h"

namespace tern {
namespace {

const PromptCacheKey kKey{.model = std::string(32, 'a'), .kv_type = 1, .block_tokens = 4, .block_bytes = 6};

std::string file_of(const std::vector<int32_t>& tokens, const PromptCacheKey& key = kKey) {
  std::string bytes = prompt_cache_header(key, tokens);
  for (size_t i = 0; i < (tokens.size() + 3) / 4; ++i) bytes += std::string(6, static_cast<char>('0' + i));
  return bytes + md5(as_bytes(bytes));
}

Result<PromptCache> parse_cache(const std::string& bytes) {
  return parse_prompt_cache(as_bytes(bytes), kKey, 100, 8, "f");
}

TEST(PromptCacheFile, GivesBackWhatWasPut) {
  const std::string bytes = file_of({1, 2, 3, 4, 5});
  const PromptCache cache = parse_cache(bytes).value();
  EXPECT_EQ(cache.tokens, (std::vector<int32_t>{1, 2, 3, 4, 5}));
  ASSERT_EQ(cache.blocks.size(), 2u);
  EXPECT_EQ(as_text(cache.blocks[0]), "000000");
  EXPECT_EQ(as_text(cache.blocks[1]), "111111");
}

TEST(PromptCacheFile, EveryByteCounts) {
  const std::string whole = file_of({1, 2, 3, 4, 5});
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    EXPECT_FALSE(parse_cache(bytes)) << "byte " << i;
    EXPECT_FALSE(parse_cache(whole.substr(0, i))) << i << " bytes";
  }
  EXPECT_FALSE(parse_cache(whole + "x"));
}

// The file does not say whether there are states: its length must be right for the model.
TEST(PromptCacheFile, StatesFollowTheBlocks) {
  PromptCacheKey key = kKey;
  key.state_bytes = 6;
  const auto parse = [&](const std::string& bytes) { return parse_prompt_cache(as_bytes(bytes), key, 100, 8, "f"); };
  std::string bytes = prompt_cache_header(key, std::vector<int32_t>{1, 2, 3, 4, 5}) + "000000111111ssssss";
  bytes += md5(as_bytes(bytes));
  const PromptCache cache = parse(bytes).value();
  ASSERT_EQ(cache.blocks.size(), 2u);
  EXPECT_EQ(as_text(cache.blocks[1]), "111111");
  EXPECT_EQ(as_text(cache.state), "ssssss");
  EXPECT_FALSE(parse(file_of({1, 2, 3, 4, 5}))) << "no state";
  EXPECT_FALSE(parse(file_of({}))) << "nothing";
  EXPECT_FALSE(parse_cache(bytes)) << "a state of a model without recurrent layers";
}

TEST(PromptCacheFile, SaysWhatDoesNotFit) {
  const auto message = [](const std::string& bytes) { return parse_cache(bytes).error().message; };
  PromptCacheKey other = kKey;
  other.model[0] = 'b';
  EXPECT_NE(message(file_of({1}, other)).find("another model"), std::string::npos);
  other = kKey;
  other.kv_type = 0;
  EXPECT_NE(message(file_of({1}, other)).find("another type"), std::string::npos);
  EXPECT_NE(message(file_of({1, 2, 3, 4, 5, 6, 7, 8, 9})).find("9 tokens, but the context 8"), std::string::npos);
  EXPECT_NE(message(file_of({100})).find("damaged"), std::string::npos);
  EXPECT_NE(message(file_of({})).find("damaged"), std::string::npos);
  EXPECT_EQ(parse_cache("GGUF").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace tern
