// Checks the files of a directory before they are downloaded.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>

#include "base/files/read_file_test_support.h"
#include "support/checkout.h"
#include "tern/file_preview.h"

namespace tern {
namespace {

namespace fs = std::filesystem;

// The files of a model on a host; records how many bytes of each were requested.
struct Remote {
  std::map<std::string, std::string> files;
  std::map<std::string, size_t> read = {};
  std::map<std::string, uint64_t> sizes = {};  // sizes reported by the host, if they are wrong

  explicit Remote(const std::string& golden) {
    for (const auto& entry : fs::directory_iterator(source_path("tests/golden/") + golden)) {
      files[entry.path().filename()] = file_bytes(entry.path());
    }
  }

  void replace(const std::string& name, std::string_view from, std::string_view to) {
    const size_t at = files.at(name).find(from);
    ASSERT_NE(at, std::string::npos) << name << " lacks " << from;
    files[name].replace(at, from.size(), to);
  }

  Result<void> check() {
    std::vector<FilePreview> previews;
    for (const auto& [name, bytes] : files) {
      const uint64_t size = sizes.contains(name) ? sizes[name] : bytes.size();
      previews.push_back({.path = "o/m/" + name, .bytes = size, .read_beginning = [&](auto into) {
                            EXPECT_LE(into.size(), bytes.size());
                            std::memcpy(into.data(), bytes.data(), into.size());
                            read[name] = std::max(read[name], into.size());
                            return Result<void>();
                          }});
    }
    return check_model_header(previews);
  }
  void expect_refused(std::string_view part) {
    const Result<void> checked = check();
    ASSERT_FALSE(checked) << "accepted, though it should fail with: " << part;
    EXPECT_TRUE(checked.error().message.starts_with("o/m")) << checked.error().message;
    EXPECT_NE(checked.error().message.find(part), std::string::npos) << checked.error().message;
  }
};

size_t header_bytes(const std::string& safetensors) {
  uint64_t length = 0;
  std::memcpy(&length, safetensors.data(), sizeof length);
  return sizeof length + length;
}

// Packed, latent, BF16 and F16 weights: values computed from tensors are not a reason to reject a model.
TEST(CheckDirectory, AcceptsSafetensorsByTheirHeaders) {
  for (const auto& entry : fs::directory_iterator(source_path("tests/golden/families"))) {
    if (!entry.is_directory()) continue;
    Remote remote("families/" + entry.path().filename().string());
    const Result<void> checked = remote.check();
    EXPECT_TRUE(checked) << entry.path() << ": " << checked.error().message;
    EXPECT_EQ(remote.read["model.safetensors"], header_bytes(remote.files["model.safetensors"])) << entry.path();
  }
}

TEST(CheckDirectory, AcceptsMlcByItsIndex) {
  for (const char* name : {"phi3_q4f16_1", "qwen3_q4f16_1", "llama_q4f32_1"}) {
    Remote remote("containers/" + std::string(name));
    const Result<void> checked = remote.check();
    EXPECT_TRUE(checked) << checked.error().message;
    EXPECT_EQ(remote.read["params_shard_0.bin"], 0u);
  }
}

TEST(CheckDirectory, RefusesASmallFileThatIsLarge) {
  Remote remote("families/llama3");
  remote.sizes["config.json"] = uint64_t{1} << 60;
  remote.expect_refused("1152921504606846976 bytes are too many for a file of this name");
  EXPECT_EQ(remote.read.count("config.json"), 0u);
}

TEST(CheckDirectory, RefusesBySmallFilesAlone) {
  Remote model_type("families/llama3");
  model_type.replace("config.json", "\"model_type\": \"llama\"", "\"model_type\": \"mamba\"");
  model_type.expect_refused("mamba");
  EXPECT_EQ(model_type.read.size(), 1u);  // only config.json

  Remote quantized("families/llama3");
  quantized.replace("config.json", "{", R"({"quantization_config": {"quant_method": "gptq"},)");
  quantized.expect_refused("gptq");

  Remote mlc("containers/qwen3_q4f16_1");
  mlc.replace("mlc-chat-config.json", "q4f16_1", "q4f16_0");
  mlc.expect_refused("q4f16_0");
  EXPECT_EQ(mlc.read.size(), 1u);
}

TEST(CheckDirectory, RefusesByTheHeadersOfTheWeights) {
  Remote renamed("families/llama3");
  renamed.replace("model.safetensors", "self_attn.q_proj.weight", "self_attn.q_proj.wEIGHT");
  renamed.expect_refused("q_proj.wEIGHT");

  Remote cut("families/llama3");
  cut.files["model.safetensors"].resize(cut.files["model.safetensors"].size() - 4);
  cut.expect_refused("4 are missing");

  Remote none("families/llama3");
  none.files.erase("model.safetensors");
  none.expect_refused("neither model.safetensors nor");

  Remote shard("containers/qwen3_q4f16_1");
  shard.files["params_shard_1.bin"] += "x";
  shard.expect_refused("params_shard_1.bin");
  shard.files.erase("params_shard_1.bin");
  shard.expect_refused("file 'params_shard_1.bin' is missing");
}

TEST(CheckDirectory, RefusesATokenizerThatTernDoesNotHave) {
  Remote remote("families/llama3");
  remote.files["tokenizer.json"] = R"({"model": {"type": "WordPiece", "vocab": {"a": 0}}})";
  remote.expect_refused("WordPiece");
  EXPECT_EQ(remote.read["tokenizer.json"], remote.files["tokenizer.json"].size());
  remote.files["tokenizer.json"].clear();
  remote.expect_refused("tokenizer.json: the file is empty");
}

TEST(CheckDirectory, SaysWhyAFileCannotBeRead) {
  const auto fails = [](std::span<std::byte>) { return Result<void>(std::unexpected(Error{ErrorCode::kIo, "gone"})); };
  const FilePreview files[] = {{.path = "o/m/config.json", .bytes = 10, .read_beginning = fails},
                               {.path = "o/m/model.safetensors", .bytes = 10, .read_beginning = fails}};
  const Result<void> checked = check_model_header(files);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "gone");
}

}  // namespace
}  // namespace tern
