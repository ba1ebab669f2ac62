// A vocabulary written to a GGUF file and read back gives the same ids. tests/golden/compare_gguf_vocab.py, run by
// hand, compares them with llama.cpp's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <filesystem>

#include "base/files/mapped_file.h"
#include "model/gguf/vocab.h"
#include "support/checkout.h"
#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer_files/tokenizer_json.h"

namespace tern {
namespace {

GgufFile written(const Vocab& vocab, const std::string& path, size_t n_rows = 0) {
  GgufWriter writer(path);
  writer.add_string("general.architecture", "llama");
  EXPECT_TRUE(write_gguf_vocab(vocab, writer, n_rows));
  EXPECT_TRUE(writer.begin());
  EXPECT_TRUE(writer.finish());
  return GgufFile::open(path).value();
}

// Tests run in parallel, each in its own process.
std::string temporary_path() {
  return testing::TempDir() + "tern_vocab_round_trip_" + std::to_string(getpid()) + ".gguf";
}

void expect_same_settings(const Vocab& a, const Vocab& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.pre, b.pre);
  EXPECT_EQ(a.ignore_merges, b.ignore_merges);
  EXPECT_EQ(a.nfc, b.nfc);
  EXPECT_EQ(a.space_rule, b.space_rule);
  EXPECT_EQ(a.split_at_spaces, b.split_at_spaces);
  EXPECT_EQ(a.decode_strips_space, b.decode_strips_space);
  EXPECT_EQ(a.add_bos, b.add_bos);
  EXPECT_EQ(a.bos, b.bos);
  EXPECT_EQ(a.eos, b.eos);
  EXPECT_EQ(a.unk, b.unk);
  EXPECT_EQ(a.pad, b.pad);
  EXPECT_EQ(a.final_token, b.final_token);
  EXPECT_EQ(a.stop_tokens, b.stop_tokens);
  EXPECT_EQ(a.merges, b.merges);
}

// `names` owns spellings that must outlive the vocabulary's views.
Vocab small_vocab(VocabKind kind, std::deque<std::string>& names) {
  Vocab vocab;
  vocab.kind = kind;
  const auto add = [&](std::string token, TokenType type = TokenType::kNormal) {
    vocab.tokens.push_back(names.emplace_back(std::move(token)));
    vocab.types.push_back(type);
  };
  for (int byte = 0; byte < 256; ++byte) {
    char spelling[8];
    std::snprintf(spelling, sizeof spelling, "<0x%02X>", static_cast<unsigned>(byte));
    if (kind == VocabKind::kByteLevel) add(spell_byte(static_cast<uint8_t>(byte)));
    if (kind == VocabKind::kSentencePiece) add(spelling, TokenType::kByte);
  }
  if (kind == VocabKind::kSentencePiece) {
    for (const char* token : {"▁", "a", "b"}) add(token);
  }
  for (const char* token : {"ab", "ba", "aba"}) add(token);
  vocab.merges = {"b a", "a b", "a ba"};
  add("<s>", TokenType::kControl);
  add("<stop>", TokenType::kControl);
  add("<think>", TokenType::kUserDefined);
  add("", TokenType::kUnused);
  const auto id_of = [&](std::string_view token) {
    return static_cast<TokenId>(std::ranges::find(vocab.tokens, token) - vocab.tokens.begin());
  };
  vocab.bos = id_of("<s>");
  vocab.add_bos = true;
  vocab.eos = id_of("<stop>");
  vocab.stop_tokens = {*vocab.bos, *vocab.eos};
  return vocab;
}

TEST(GgufVocabRoundTrip, ByteLevel) {
  std::deque<std::string> names;
  Vocab vocab = small_vocab(VocabKind::kByteLevel, names);
  for (const auto pre : kPreTokenizers) {
    for (const bool flag : {false, true}) {
      vocab.pre = pre;
      vocab.nfc = flag;
      vocab.ignore_merges = !flag;
      vocab.add_bos = flag;
      vocab.final_token = flag ? vocab.eos : vocab.bos;
      const GgufFile file = written(vocab, temporary_path());
      const Vocab back = read_gguf_vocab(file).value().value();
      expect_same_settings(vocab, back);
      const auto ids = make_tokenizer(vocab).value()->encode("abab<think>ba");
      EXPECT_EQ(make_tokenizer(back).value()->encode("abab<think>ba"), ids);
    }
  }
}

TEST(GgufVocabRoundTrip, SentencePiece) {
  std::deque<std::string> names;
  Vocab vocab = small_vocab(VocabKind::kSentencePiece, names);
  vocab.flags.resize(vocab.tokens.size());
  vocab.flags[static_cast<size_t>(*vocab.eos)] = kTokenRstrip | kTokenSingleWord;
  for (const auto rule :
       {SpaceRule::kNone, SpaceRule::kEverywhere, SpaceRule::kWhereMissing, SpaceRule::kFirstIfMissing}) {
    for (const bool flag : {false, true}) {
      vocab.space_rule = rule;
      vocab.split_at_spaces = flag;
      vocab.decode_strips_space = flag;
      const GgufFile file = written(vocab, temporary_path());
      const Vocab back = read_gguf_vocab(file).value().value();
      expect_same_settings(vocab, back);
      EXPECT_EQ(vocab.flags, back.flags);
      const std::string text = "abab <stop>  ba<think>a";
      const auto ids = make_tokenizer(vocab).value()->encode(text, {.parse_special = true});
      EXPECT_EQ(make_tokenizer(back).value()->encode(text, {.parse_special = true}), ids);
    }
  }
}

// Scores made from the merges b+a, a+b, a+ba give the same order of merging.
TEST(GgufVocabRoundTrip, ScoresStandForMerges) {
  std::deque<std::string> names;
  const Vocab vocab = small_vocab(VocabKind::kSentencePiece, names);
  const GgufFile file = written(vocab, temporary_path());
  Vocab back = read_gguf_vocab(file).value().value();
  back.scores = file.get_floats("tokenizer.ggml.scores").value().value();
  back.merges.clear();
  for (const char* text : {"ab", "aba", "abab", "baab", "ababab"}) {
    EXPECT_EQ(make_tokenizer(back).value()->encode(text), make_tokenizer(vocab).value()->encode(text)) << text;
  }
}

TEST(GgufVocabRoundTrip, IsFilledUpToTheRowsOfTheEmbedding) {
  std::deque<std::string> names;
  const Vocab vocab = small_vocab(VocabKind::kSentencePiece, names);
  const GgufFile file = written(vocab, temporary_path(), vocab.tokens.size() + 10);
  const Vocab back = read_gguf_vocab(file).value().value();
  EXPECT_EQ(back.tokens.size(), vocab.tokens.size() + 10);
  EXPECT_EQ(back.types.back(), TokenType::kUnused);
  EXPECT_TRUE(make_tokenizer(back));
  GgufWriter writer(temporary_path());
  EXPECT_EQ(write_gguf_vocab(vocab, writer, 8).error().message,
            "the tokenizer has 266 tokens, but the model's embedding has 8 rows");
}

class PublishedVocab : public testing::TestWithParam<const char*> {};

TEST_P(PublishedVocab, GivesTheSameIds) {
  const std::string path = source_path("../shared/data/tokenizers/") + std::string(GetParam()) + "/tokenizer.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the published tokenizer is not here: " << path;
  const auto json = MappedFile::open(path).value();
  Vocab vocab = read_tokenizer_json(json.bytes(), path).value();
  if (vocab.kind == VocabKind::kSentencePiece) {  // from the files beside tokenizer.json; readers assume 1 and 2
    vocab.bos = 1;
    vocab.eos = 32000;
  }
  const GgufFile file = written(vocab, temporary_path());
  const Vocab back = read_gguf_vocab(file).value().value();
  expect_same_settings(vocab, back);
  const std::string text =
      "<|user|>\n  It's 12345 o'clock\tcafe\u0301 — <|im_end|>日本<|eot_id|> </s> <think>x\xFF" + std::string(300, 'a');
  for (const bool special : {false, true}) {
    EXPECT_EQ(make_tokenizer(back).value()->encode(text, {.parse_special = special}),
              make_tokenizer(vocab).value()->encode(text, {.parse_special = special}));
  }
}

INSTANTIATE_TEST_SUITE_P(GgufVocabRoundTrip, PublishedVocab, testing::Values("llama3", "qwen3", "phi3"),
                         [](const auto& parameter) { return std::string(parameter.param); });

// For manual comparisons; see tests/golden/compare_gguf_vocab.py.
TEST(GgufVocabRoundTrip, WritesAFileForComparison) {
  const char* json_path = std::getenv("TERN_TOKENIZER_JSON");
  const char* out = std::getenv("TERN_VOCAB_GGUF");
  if (!json_path || !out) GTEST_SKIP() << "TERN_TOKENIZER_JSON and TERN_VOCAB_GGUF name no files";
  const auto json = MappedFile::open(json_path).value();
  written(read_tokenizer_json(json.bytes(), json_path).value(), out);
}

}  // namespace
}  // namespace tern
