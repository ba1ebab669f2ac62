// Tests the tokenizer keys of published GGUF files (../shared/data/headers) with small stand-in vocabularies: each file
// is read, or refused for a reason.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/mapped_file.h"
#include "file/gguf/gguf_writer.h"
#include "model/families/family.h"
#include "model/gguf/vocab.h"
#include "support/checkout.h"
#include "text/tokenizer/byte_alphabet.h"

namespace tern {
namespace {

using Json = nlohmann::json;

const std::string kHeaders = source_path("../shared/data/headers/");

// The 256 bytes in the vocabulary's form, then unused tokens, including those that the file names.
class StandIn {
 public:
  explicit StandIn(const Json& header) {
    const Json& kv = header.at("kv");
    const bool byte_level = kv.at("tokenizer.ggml.model").at(1) == "gpt2";
    const auto n = header.at("tokens").at("n").get<size_t>();
    for (size_t i = 0; i < n; ++i) add("[PAD" + std::to_string(i) + "]", TokenType::kUnused);
    for (size_t i = 0; i < 256; ++i) {
      const size_t id = byte_level ? 3000 + i : 3 + i;  // SentencePiece's ids begin with <unk>, <s> and </s>
      if (byte_level) {
        set(id, spell_byte(static_cast<uint8_t>(i)), TokenType::kNormal);
      } else {
        char spelling[8];
        std::snprintf(spelling, sizeof spelling, "<0x%02X>", static_cast<unsigned>(i));
        set(id, spelling, TokenType::kByte);
      }
    }
    for (const auto& [key, value] : kv.items()) {
      if (!key.ends_with("_token_id")) continue;
      const auto id = value.at(1).get<size_t>();
      set(id, "<" + std::to_string(id) + ">", TokenType::kControl);
    }
    for (const auto& [id, spelling] : header.at("tokens").value("special", Json::object()).items())
      set(std::stoul(id), spelling.get<std::string>(), TokenType::kControl);
  }

  std::vector<std::string_view> tokens;
  std::vector<int32_t> types;

 private:
  void add(std::string spelling, TokenType type) {
    tokens.push_back(names_.emplace_back(std::move(spelling)));
    types.push_back(static_cast<int32_t>(type));
  }
  void set(size_t id, std::string spelling, TokenType type) {
    tokens.at(id) = names_.emplace_back(std::move(spelling));
    types.at(id) = static_cast<int32_t>(type);
  }

  std::deque<std::string> names_;
};

void add_key(GgufWriter& writer, const std::string& key, const Json& value, const StandIn& vocab) {
  const auto kind = value.at(0).get<std::string>();
  const Json& content = value.at(1);
  if (key == "tokenizer.ggml.tokens") {
    writer.add_strings(key, vocab.tokens);
  } else if (key == "tokenizer.ggml.token_type") {
    writer.add_i32s(key, vocab.types);
  } else if (key == "tokenizer.ggml.scores") {
    writer.add_f32s(key, std::vector<float>(vocab.tokens.size()));
  } else if (key == "tokenizer.ggml.merges") {
    writer.add_strings(key, {});
  } else if (kind == "str") {
    writer.add_string(key, content.get<std::string>());
  } else if (kind == "bool") {
    writer.add_bool(key, content.get<bool>());
  } else if (kind == "u32") {
    writer.add_u32(key, content.get<uint32_t>());
  } else {
    FAIL() << key << " is of type " << kind << ", which this test does not write";
  }
}

GgufFile written_header(const Json& header) {
  const std::string path = testing::TempDir() + "tern_published_vocab_" + std::to_string(getpid()) + ".gguf";
  const StandIn vocab(header);
  GgufWriter writer(path);
  for (const auto& [key, value] : header.at("kv").items()) {
    if (key.starts_with("tokenizer.") || key == "general.architecture") add_key(writer, key, value, vocab);
  }
  EXPECT_TRUE(writer.begin());
  EXPECT_TRUE(writer.finish());
  return GgufFile::open(path).value();
}

struct Expected {
  const char* prefix;  // of the header file's name
  VocabKind kind;
  PreTokenizer pre;
  bool ignore_merges, add_bos;
};
constexpr Expected kExpected[] = {
    {"bitcpm4", VocabKind::kSentencePiece, {}, false, true},
    {"bitnet-2b", VocabKind::kByteLevel, PreTokenizer::kLlamaBpe, true, true},
    {"bitnet-embedding", VocabKind::kByteLevel, PreTokenizer::kQwen2, false, false},
    {"bitnet_b1_58", VocabKind::kSentencePiece, {}, false, true},
    {"bonsai-27b", VocabKind::kByteLevel, PreTokenizer::kQwen35, false, false},
    {"bonsai", VocabKind::kByteLevel, PreTokenizer::kQwen2, false, false},
    {"falcon-e", VocabKind::kByteLevel, PreTokenizer::kLlamaBpe, true, true},
    {"falcon3", VocabKind::kByteLevel, PreTokenizer::kLlamaBpe, true, false},  // declares no BOS
    {"gemma-4", VocabKind::kSentencePiece, {}, false, true},
    {"hy-mt2", VocabKind::kByteLevel, PreTokenizer::kHunyuan, false, false},
    {"gpt-oss", VocabKind::kByteLevel, PreTokenizer::kGpt4o, false, false},
    {"llama-2", VocabKind::kSentencePiece, {}, false, true},
    {"llama-3.2", VocabKind::kByteLevel, PreTokenizer::kLlamaBpe, true, true},
    {"llama3-8b", VocabKind::kByteLevel, PreTokenizer::kLlamaBpe, true, true},
    {"maple", VocabKind::kByteLevel, PreTokenizer::kQwen2, false, false},
    {"phi-3-mini-4k-q4_0-new", VocabKind::kSentencePiece, {}, false, false},
    {"phi-3-mini", VocabKind::kSentencePiece, {}, false, true},
    {"phi-3.5", VocabKind::kSentencePiece, {}, false, false},
    {"qwen3.5", VocabKind::kByteLevel, PreTokenizer::kQwen35, false, false},
    {"qwen3", VocabKind::kByteLevel, PreTokenizer::kQwen2, false, false},
    {"smollm2", VocabKind::kByteLevel, PreTokenizer::kSmolLm, false, false},
    {"ternary-bonsai-2", VocabKind::kByteLevel, PreTokenizer::kQwen35, false, false},  // both 27B models
    {"ternary-bonsai", VocabKind::kByteLevel, PreTokenizer::kQwen2, false, false},
    {"tinyllama", VocabKind::kSentencePiece, {}, false, true},
};

TEST(PublishedHeaders, EveryTokenizerIsRead) {
  if (!std::filesystem::exists(kHeaders)) GTEST_SKIP() << "the published headers are not here: " << kHeaders;
  int n = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kHeaders)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".json")) continue;
    const Json header = Json::parse(read_text_file(entry.path().string()).value());
    if (!header.contains("kv")) continue;  // a Hugging Face or MLC directory
    // Families that are refused may have an unknown tokenizer.
    if (!find_family(header.at("kv").at("general.architecture").at(1).get<std::string>())) continue;
    ++n;
    const auto* row = std::ranges::find_if(kExpected, [&](const Expected& e) { return name.starts_with(e.prefix); });
    ASSERT_NE(row, std::end(kExpected)) << name << ": say here what its tokenizer is";
    const GgufFile file = written_header(header);
    const auto vocab = read_gguf_vocab(file);
    ASSERT_TRUE(vocab) << name << ": " << vocab.error().message;
    const Vocab& read = vocab->value();
    EXPECT_EQ(read.kind, row->kind) << name;
    EXPECT_EQ(read.pre, row->pre) << name;
    EXPECT_EQ(read.ignore_merges, row->ignore_merges) << name;
    EXPECT_EQ(read.add_bos, row->add_bos) << name;
    EXPECT_EQ(read.final_token.has_value(), name.starts_with("bitnet-embedding")) << name;
    EXPECT_TRUE(std::ranges::contains(read.stop_tokens, read.eos)) << name;
    if (name.starts_with("gpt-oss")) {
      EXPECT_EQ(read.stop_tokens, (std::vector<TokenId>{199999, 200002, 200012}));
    }
    if (name.starts_with("gemma-4")) continue;  // the stand-in lacks some of the byte tokens
    const auto tokenizer = make_tokenizer(read);
    ASSERT_TRUE(tokenizer) << name << ": " << tokenizer.error().message;
    EXPECT_EQ((*tokenizer)->decode((*tokenizer)->encode("It's 12 o'clock")), "It's 12 o'clock") << name;
  }
  EXPECT_GE(n, 30);
}

}  // namespace
}  // namespace tern
