#include "text/tokenizer_files/tokenizer_model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files/mapped_file.h"
#include "support/checkout.h"
#include "text/tokenizer/byte_alphabet.h"
#include "text/tokenizer_files/tokenizer_json.h"

namespace tern {
namespace {

using Ids = std::vector<TokenId>;

std::string model_error(std::string_view file) {
  const auto vocab = read_tokenizer_model(as_bytes(file), "t.model");
  return vocab ? "no error" : vocab.error().message;
}

std::string base64(std::string_view bytes) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) bits = bits << 8 | (i + j < bytes.size() ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j) out += i + j > bytes.size() ? '=' : kDigits[bits >> (18 - 6 * j) & 63];
  }
  return out;
}

// The 256 bytes and some more tokens.
std::string tiktoken_file(const std::vector<std::string>& more) {
  std::string out;
  int rank = 0;
  const auto add = [&](std::string_view bytes) { out += base64(bytes) + " " + std::to_string(rank++) + "\n"; };
  for (int byte = 0; byte < 256; ++byte) add(std::string(1, static_cast<char>(byte)));
  for (const std::string& token : more) add(token);
  return out;
}

TEST(Tiktoken, MergesByRank) {
  const std::string file = tiktoken_file({"bc", "ab", "abc", " a"});
  const Vocab vocab = read_tokenizer_model(as_bytes(file), "t.model").value();
  EXPECT_EQ(vocab.merges, (std::vector<std::string_view>{"b c", "a b", "a bc", "ab c", "Ġ a"}));
  EXPECT_EQ(vocab.tokens.size(), 260u + 256u);
  EXPECT_EQ(vocab.bos, 260);
  EXPECT_EQ(vocab.tokens[269], "<|eot_id|>");
  EXPECT_EQ(vocab.tokens[515], "<|reserved_special_token_250|>");
  EXPECT_EQ(vocab.stop_tokens, (Ids{261, 269}));
  const auto tokenizer = make_tokenizer(vocab).value();
  EXPECT_EQ(tokenizer->encode("abc"), (Ids{260, 258}));  // a whole word that is a token
  EXPECT_EQ(tokenizer->encode("abcd", {.add_bos = false}), (Ids{258, 'd'}));
  EXPECT_EQ(tokenizer->encode("abbc a", {.add_bos = false}), (Ids{257, 256, 259}));
}

TEST(Tiktoken, NamesTheBadLine) {
  EXPECT_EQ(model_error("IQ== 0\nIg= 1\n"), "t.model: line 2 'Ig= 1' is not a token in base64 and its rank");
  EXPECT_EQ(model_error("IQ== 0\nIg== 1x\n"), "t.model: line 2 'Ig== 1x' is not a token in base64 and its rank");
  EXPECT_EQ(model_error("IQ== 0\nIg== 2\n"), "t.model: line 2 has the rank 2, where 1 comes next");
  EXPECT_EQ(model_error("IQ== 0\r\nIQ== 1\r\n"), "t.model: ranks 0 and 1 are both '!'");
  EXPECT_EQ(model_error("IQ== 0\n" + base64(std::string(5000, 'a')) + " 1\n").substr(0, 23), "t.model: line 2 'YWFhYW");
  const std::string only_one = "IQ== 0\n";
  EXPECT_TRUE(make_tokenizer(read_tokenizer_model(as_bytes(only_one), "t").value())
                  .error()
                  .message.starts_with("tokenizer: no token for the byte 0x00"));
}

// Builds a protobuf field by field.
struct Proto {
  std::string bytes;

  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
    bytes += static_cast<char>(value);
  }
  Proto& number(uint64_t field, uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Proto& text(uint64_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes += value;
    return *this;
  }
  Proto& f32(uint64_t field, float value) {
    varint(field << 3 | 5);
    bytes.append(reinterpret_cast<const char*>(&value), 4);
    return *this;
  }
};

std::string piece(std::string_view spelling, float score, uint64_t type = 1) {
  return Proto().text(1, spelling).f32(2, score).number(3, type).bytes;
}

Proto small_pieces() {
  Proto model;
  model.text(1, piece("<unk>", 0, 2)).text(1, piece("<s>", 0, 3)).text(1, piece("</s>", 0, 3));
  for (const char* token : {"▁", "a", "b"}) model.text(1, piece(token, -9));
  return model.text(1, piece("▁a", -1)).text(1, piece("ab", -2));
}

std::string small_sentence_piece(const Proto& trainer, const Proto& normalizer) {
  return small_pieces().text(2, trainer.bytes).text(3, normalizer.bytes).bytes;
}

TEST(SentencePieceModel, PiecesScoresAndSettings) {
  const std::string file =
      small_sentence_piece(Proto().number(3, 2).number(43, ~uint64_t{0}), Proto().text(1, "identity").number(4, 0));
  ASSERT_TRUE(looks_like_tokenizer_model(as_bytes(file)));
  const Vocab vocab = read_tokenizer_model(as_bytes(file), "t.model").value();
  EXPECT_EQ(vocab.pad, std::nullopt);
  EXPECT_EQ(vocab.eos, 2);
  EXPECT_EQ(vocab.stop_tokens, (Ids{2}));
  const auto tokenizer = make_tokenizer(vocab).value();
  EXPECT_EQ(tokenizer->encode("ab"), (Ids{1, 6, 5}));
  EXPECT_EQ(tokenizer->encode("xb", {.add_bos = false}), (Ids{3, 0, 5}));
}

TEST(SentencePieceModel, RefusesWhatWouldGiveOtherIds) {
  const Proto bpe = Proto().number(3, 2);
  EXPECT_EQ(model_error(small_sentence_piece(Proto(), Proto().number(4, 0))),
            "t.model: a SentencePiece model of type 1; Tern reads BPE (2)");
  EXPECT_EQ(model_error(small_sentence_piece(bpe, Proto())),
            "t.model: normalizer_spec that removes extra white space, which Tern does not know");
  EXPECT_EQ(model_error(small_sentence_piece(bpe, Proto().number(4, 0).text(2, "x"))),
            "t.model: normalizer_spec with a precompiled_charsmap, which Tern does not know");
  EXPECT_EQ(model_error(small_sentence_piece(Proto().number(3, 2).number(41, 99), Proto().number(4, 0))),
            "tokenizer: the BOS token is 99, but there are only 8 tokens");
  EXPECT_EQ(model_error(small_pieces().text(1, piece("c", 0, 7)).bytes),
            "t.model: piece 8 has the type 7, which does not exist");
}

TEST(SentencePieceModel, EveryTruncationIsRefusedOrRead) {
  const std::string file = small_sentence_piece(Proto().number(3, 2), Proto().number(4, 0));
  for (size_t n = 0; n < file.size(); ++n) {
    const std::string message = model_error(file.substr(0, n));
    ASSERT_TRUE(message.starts_with("t.model: ")) << n << message;
    ASSERT_FALSE(message.contains('\n'));
  }
  EXPECT_EQ(model_error(""), "t.model: no pieces, so this is not a tokenizer.model");
  EXPECT_EQ(model_error(std::string(20, '\xFF')),
            "t.model: byte 0 begins no field of a SentencePiece model; the file is damaged");
}

const std::string kPublished = source_path("../shared/data/tokenizers/");

// tokenizer.model as first published with Llama 3, made from its tokenizer.json: everything derived must be the same.
TEST(PublishedTokenizerModel, Llama3) {
  const std::string path = kPublished + "llama3/tokenizer.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the published tokenizer is not here: " << path;
  const auto json = MappedFile::open(path).value();
  const Vocab published = read_tokenizer_json(json.bytes(), path).value();
  std::string file;
  for (size_t i = 0; i < 128'000; ++i) {
    std::string bytes;
    ASSERT_TRUE(append_bytes_of(published.tokens[i], bytes));
    file += base64(bytes) + " " + std::to_string(i) + "\n";
  }
  const Vocab vocab = read_tokenizer_model(as_bytes(file), "t.model").value();
  EXPECT_TRUE(vocab.tokens == published.tokens);
  EXPECT_TRUE(vocab.types == published.types);
  EXPECT_TRUE(vocab.merges == published.merges);
  EXPECT_EQ(vocab.pre, published.pre);
  EXPECT_EQ(vocab.ignore_merges, published.ignore_merges);
  EXPECT_EQ(vocab.stop_tokens, published.stop_tokens);
}

// Compares pieces and scores with the ids of the tokenizer.json, which has a list of merges.
TEST(PublishedTokenizerModel, Phi3) {
  const std::string path = kPublished + "phi3/tokenizer.model";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the published tokenizer is not here: " << path;
  const auto file = MappedFile::open(path).value();
  const auto tokenizer = make_tokenizer(read_tokenizer_model(file.bytes(), path).value()).value();
  const std::string goldens = source_path("tests/golden/tokenizer/");
  const auto corpus = nlohmann::json::parse(read_text_file(goldens + "corpus.json").value());
  const auto rows = nlohmann::json::parse(read_text_file(goldens + "phi3.json").value());
  for (size_t i = 0; i < corpus.size(); ++i) {
    const auto text = corpus[i].get<std::string>();
    if (text.contains("</s>")) continue;  // tokenizer.json recognizes it in any text
    EXPECT_EQ(tokenizer->encode(text, {.add_bos = false}), rows[i].front().get<Ids>()) << text;
  }
}

}  // namespace
}  // namespace tern
