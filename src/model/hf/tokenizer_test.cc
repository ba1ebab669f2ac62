#include "model/hf/tokenizer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files/mapped_file.h"
#include "support/checkout.h"

namespace tern {
namespace {

using Ids = std::vector<TokenId>;
namespace fs = std::filesystem;

// A temporary directory, with the files that a test puts there.
class Directory {
 public:
  Directory() { fs::create_directories(path); }
  ~Directory() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path + "/" + name) << text; }

  const std::string path =
      testing::TempDir() + "tern_hf_" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

constexpr const char* kTokenizer = R"({
  "added_tokens": [{"id": 0, "content": "<unk>", "special": true}, {"id": 1, "content": "<s>", "special": true},
                   {"id": 5, "content": "<|end|>", "special": true}, {"id": 6, "content": "<|stop|>", "special": true},
                   {"id": 7, "content": "<|turn|>", "special": false}],
  "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
  "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "vocab": {"<unk>": 0, "<s>": 1, "\u2581": 2, "a": 3, "\u2581a": 4},
            "merges": [["\u2581", "a"]]}})";

TEST(HfTokenizer, AllThatLiesInTheDirectory) {
  const Directory directory;
  directory.write("tokenizer.json", kTokenizer);
  directory.write("tokenizer_config.json",
                  R"({"bos_token": "<s>", "eos_token": {"content": "<|stop|>"}, "add_bos_token": true,
                      "chat_template": [{"name": "default", "template": "old"}]})");
  directory.write("generation_config.json", R"({"eos_token_id": [6, 3]})");
  directory.write("config.json", R"({"eos_token_id": 2})");
  directory.write("chat_template.jinja", "{{ bos_token }}{% for m in messages %}{{ m.content }}<|turn|>\n{% endfor %}");
  const HfTokenizer tokenizer = read_hf_tokenizer(directory.path).value();
  EXPECT_EQ(tokenizer.bos, "<s>");
  EXPECT_EQ(tokenizer.eos, "<|stop|>");
  EXPECT_TRUE(tokenizer.chat_template->starts_with("{{ bos_token }}"));
  EXPECT_EQ(tokenizer.vocab.bos, 1);
  EXPECT_TRUE(tokenizer.vocab.add_bos);
  EXPECT_EQ(tokenizer.vocab.eos, 6);
  EXPECT_EQ(tokenizer.vocab.stop_tokens, (Ids{3, 5, 6}));  // the declared one; <|end|>; EOS
  EXPECT_EQ(make_tokenizer(tokenizer.vocab).value()->encode("a a"), (Ids{1, 3, 4}));
}

TEST(HfTokenizer, ATokenizerAloneIsEnough) {
  const Directory directory;
  directory.write("tokenizer.json", kTokenizer);
  directory.write("config.json", R"({"eos_token_id": 6})");
  const HfTokenizer tokenizer = read_hf_tokenizer(directory.path).value();
  EXPECT_FALSE(tokenizer.chat_template);
  EXPECT_EQ(tokenizer.bos, "");
  EXPECT_EQ(tokenizer.eos, "<|stop|>");
  EXPECT_EQ(tokenizer.vocab.stop_tokens, (Ids{5, 6}));
}

// Like Gemma 3's files: BOS from the post-processor, EOS and the end of a turn from three files.
TEST(HfTokenizer, Gemma) {
  const auto goldens = nlohmann::json::parse(read_text_file(source_path("tests/golden/tokenizer/gemma.json")).value());
  const Directory directory;
  directory.write("tokenizer.json", goldens.at("tokenizer").dump());
  directory.write("tokenizer_config.json",
                  R"({"add_bos_token": true, "add_eos_token": false, "bos_token": "<bos>", "eos_token": "<eos>",
                      "pad_token": "<pad>", "unk_token": "<unk>", "boi_token": "<start_of_image>",
                      "sp_model_kwargs": null, "spaces_between_special_tokens": false,
                      "tokenizer_class": "GemmaTokenizer", "use_default_system_prompt": false,
                      "chat_template": "{{ bos_token }}<start_of_turn>user\n{{ messages[0].content }}<end_of_turn>\n"})");
  directory.write("generation_config.json", R"({"eos_token_id": [1, 6], "top_k": 64})");
  const HfTokenizer tokenizer = read_hf_tokenizer(directory.path).value();
  EXPECT_EQ(tokenizer.bos, "<bos>");
  EXPECT_EQ(tokenizer.eos, "<eos>");
  EXPECT_EQ(tokenizer.vocab.bos, 2);
  EXPECT_EQ(tokenizer.vocab.eos, 1);
  EXPECT_EQ(tokenizer.vocab.pad, 0);
  EXPECT_EQ(tokenizer.vocab.unk, 3);
  EXPECT_TRUE(tokenizer.vocab.add_bos);
  EXPECT_EQ(tokenizer.vocab.final_token, std::nullopt);
  EXPECT_EQ(tokenizer.vocab.stop_tokens, (Ids{1, 6}));
  EXPECT_EQ(make_tokenizer(tokenizer.vocab).value()->encode("", {}), Ids{2});
}

TEST(HfTokenizer, ErrorsNameTheFile) {
  const Directory directory;
  EXPECT_EQ(read_hf_tokenizer(directory.path).error().message,
            directory.path + ": neither a tokenizer.json nor a tokenizer.model; download one of them");
  directory.write("tokenizer.json", kTokenizer);
  directory.write("tokenizer_config.json", "[");
  EXPECT_TRUE(
      read_hf_tokenizer(directory.path).error().message.starts_with(directory.path + "/tokenizer_config.json: "));
}

TEST(HfTokenizer, Published) {
  const std::string root = source_path("../shared/data/tokenizers/");
  if (!fs::exists(root)) GTEST_SKIP() << "the published tokenizers are not here: " << root;
  const HfTokenizer phi3 = read_hf_tokenizer(root + "phi3").value();
  EXPECT_EQ(phi3.vocab.stop_tokens, (Ids{32000, 32001, 32007}));
  EXPECT_EQ(phi3.vocab.eos, 32000);
  EXPECT_FALSE(phi3.vocab.add_bos);
  const HfTokenizer qwen3 = read_hf_tokenizer(root + "qwen3").value();
  EXPECT_EQ(qwen3.vocab.stop_tokens, (Ids{151643, 151645}));
  EXPECT_EQ(qwen3.bos, "");
  EXPECT_EQ(qwen3.eos, "<|im_end|>");
  const HfTokenizer llama3 = read_hf_tokenizer(root + "llama3").value();
  EXPECT_EQ(llama3.vocab.stop_tokens, (Ids{128001, 128009}));
  EXPECT_EQ(llama3.bos, "<|begin_of_text|>");
}

// A tokenizer.model plus the tokens of tokenizer_config.json gives the same ids as the tokenizer.json.
TEST(HfTokenizer, PublishedModelFileWithItsConfig) {
  const std::string phi3 = source_path("../shared/data/tokenizers/phi3/");
  if (!fs::exists(phi3)) GTEST_SKIP() << "the published tokenizer is not here: " << phi3;
  const Directory directory;
  fs::copy_file(phi3 + "tokenizer.model", directory.path + "/tokenizer.model");
  fs::copy_file(phi3 + "tokenizer_config.json", directory.path + "/tokenizer_config.json");
  const auto from_model = make_tokenizer(read_hf_tokenizer(directory.path).value().vocab).value();
  const auto from_json = make_tokenizer(read_hf_tokenizer(phi3).value().vocab).value();
  for (const char* text : {"<|user|>\n  Hi there<|end|>\n<|assistant|>\n", "a</s>  b<s> c", "日本 \t1234"}) {
    for (const bool special : {false, true}) {
      EXPECT_EQ(from_model->encode(text, {.parse_special = special}),
                from_json->encode(text, {.parse_special = special}));
    }
  }
}

}  // namespace
}  // namespace tern
