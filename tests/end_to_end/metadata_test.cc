// A GGUF file with metadata that Tern does not accept as it is: the effect of --override and --ignore, and what they
// refuse.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "end_to_end/run_program.h"
#include "support/checkout.h"

namespace tern::test {
namespace {

const std::string kUnknown = "bitnet-b1.58.key_of_tomorrow", kWindow = "bitnet-b1.58.attention.sliding_window",
                  kContext = "bitnet-b1.58.context_length";

template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

std::string with_length(const std::string& text) { return bytes_of<uint64_t>(text.size()) + text; }

// The default model with one more key. A filler key makes the addition a multiple of the alignment, so that tensors
// stay aligned.
std::string model_with(const ScratchFolder& folder, const std::string& key, uint32_t value) {
  constexpr uint32_t kU32 = 4, kString = 8;
  constexpr size_t kCountAt = 16, kEntriesAt = 24, kAlignment = 32;
  std::string added = with_length(key) + bytes_of(kU32) + bytes_of(value);
  const std::string filler_key = with_length("general.filler") + bytes_of(kString);
  const size_t without = added.size() + filler_key.size() + sizeof(uint64_t);
  added += filler_key + with_length(std::string((kAlignment - without % kAlignment) % kAlignment, 'x'));
  std::string bytes = read_file(default_model());
  uint64_t n_entries = 0;
  std::memcpy(&n_entries, bytes.data() + kCountAt, sizeof(n_entries));
  n_entries += 2;
  std::memcpy(bytes.data() + kCountAt, &n_entries, sizeof(n_entries));
  bytes.insert(kEntriesAt, added);
  return folder.write("model.gguf", bytes);
}

std::vector<std::string> story(const std::string& model, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"run", "-m", model, "-b", "cpu", "-n", "8", "--temp", "0", "-p", "Once upon a"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Metadata, AnUnknownKeyIsRefusedAndTheRefusalSaysWhatHelps) {
  const ScratchFolder folder;
  const std::string model = model_with(folder, kUnknown, 7);
  EXPECT_TRUE(failed_with(run_tern(story(model)), 1, {kUnknown, "(--ignore KEY) if you know that it changes nothing"}));

  const RunResult ignored = run_tern(story(model, {"--ignore", kUnknown}));
  EXPECT_EQ(ignored.exit_code, 0) << ignored.err;
  EXPECT_EQ(ignored.out, run_tern(story(default_model())).out);
  EXPECT_TRUE(ignored.err.contains("warning: " + model + ": metadata key '" + kUnknown + "' is ignored"))
      << ignored.err;

  const RunResult page = run_tern({"inspect", model, "--ignore", kUnknown});
  EXPECT_TRUE(page.out.contains("ignored         " + kUnknown)) << page.out;
  EXPECT_TRUE(page.out.contains("runs on Tern    yes")) << page.out;
  EXPECT_TRUE(page.err.contains("is ignored")) << page.err;
  EXPECT_TRUE(run_tern({"inspect", model}).out.contains("(--ignore KEY)"));
  const auto json = nlohmann::json::parse(run_tern({"inspect", model, "--json", "--ignore", kUnknown}).out);
  EXPECT_EQ(json.at("ignored_keys"), nlohmann::json{kUnknown});
  EXPECT_EQ(json.at("supported"), true);
}

TEST(Metadata, WhatMattersIsNotIgnored) {
  const ScratchFolder folder;
  const std::string model = model_with(folder, kWindow, 16);
  EXPECT_TRUE(failed_with(run_tern(story(model)), 1, {kWindow, "is 16"}));
  EXPECT_TRUE(failed_with(run_tern(story(model, {"--ignore", kWindow})), 2,
                          {kWindow, "--ignore", "known to change what is computed", "16"}));
  EXPECT_TRUE(failed_with(run_tern(story(model, {"--ignore", kContext})), 2, {kContext, "--ignore", "Tern reads it"}));
  EXPECT_TRUE(failed_with(run_tern(story(model, {"--ignore", kUnknown})), 2, {kUnknown, "there is no", "--ignore"}));
  EXPECT_TRUE(failed_with(run_tern(story(model, {"--ignore", ""})), 2, {"--ignore", "empty"}));
  EXPECT_EQ(run_tern(story(model, {"--override", kWindow + "=int:0"})).exit_code, 0);
}

TEST(Metadata, AnOverrideIsReadInPlaceOfTheFiles) {
  const auto looked_at = [](const std::string& option) {
    const RunResult result = run_tern({"inspect", default_model(), "--json", option, kContext + "=int:64"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  };
  for (const char* option : {"--override", "--override-kv"}) {
    const nlohmann::json json = looked_at(option);
    EXPECT_EQ(json.at("metadata").at(kContext), 64) << option;
    EXPECT_EQ(json.at("overrides"), nlohmann::json{kContext + "=int:64"}) << option;
  }
  const RunResult short_context = run_tern(story(default_model(), {"--override", kContext + "=int:8", "--stats"}));
  EXPECT_EQ(short_context.exit_code, 0) << short_context.err;
  EXPECT_TRUE(short_context.err.contains("8 of 8 tokens")) << short_context.err;
}

TEST(Metadata, WrongOverridesAreNamed) {
  const auto refused = [](const std::string& text, const std::vector<std::string>& words) {
    return failed_with(run_tern(story(default_model(), {"--override", text})), 2, words);
  };
  EXPECT_TRUE(refused(kContext + "=str:64", {"--override", kContext, "is of type str", "give the type int"}));
  EXPECT_TRUE(refused(kContext + "=int:many", {"--override", kContext, "'many'", "an integer"}));
  EXPECT_TRUE(refused(kContext + "=u32:64", {"--override", kContext, "'u32'", "int, float, bool or str"}));
  EXPECT_TRUE(refused(kContext, {"--override", kContext, "KEY=TYPE:VALUE"}));
  EXPECT_TRUE(refused("general.file_type=int:1", {"--override", "general.file_type", "would change nothing"}));
  EXPECT_TRUE(refused(kUnknown + "=int:1", {"--override", kUnknown, "would change nothing"}));
  const std::string folder = source_path("tests/golden/families/llama");
  EXPECT_TRUE(failed_with(run_tern({"inspect", folder, "--override", "llama.context_length=int:8"}), 2,
                          {"only in a GGUF file", "JSON files"}));
}

TEST(Metadata, APromptCacheIsOfOneSetOfOverrides) {
  const ScratchFolder folder;
  const std::string cache = folder.path("cache.kv");
  const std::vector<std::string> with_cache = {"--prompt-cache", cache};
  EXPECT_EQ(run_tern(story(default_model(), with_cache)).exit_code, 0);
  EXPECT_EQ(run_tern(story(default_model(), with_cache)).exit_code, 0);
  EXPECT_TRUE(failed_with(run_tern(story(default_model(), {"--prompt-cache", cache, "--override",
                                                           "bitnet-b1.58.rope.freq_base=float:500"})),
                          2, {cache}));
}

TEST(Metadata, EveryCommandThatOpensAModelHasBoth) {
  for (const char* command : {"run", "chat", "serve", "batch", "bench", "eval", "embed", "inspect", "validate",
                              "logits", "devices", "tokenize", "detokenize", "convert", "tune"}) {
    const RunResult help = run_tern({command, "--help"});
    EXPECT_TRUE(help.out.contains("--override KEY=TYPE:VALUE") && help.out.contains("--ignore KEY")) << command;
  }
  const ScratchFolder folder;
  const std::string model = model_with(folder, kUnknown, 7);
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"devices", "-m", model},
           {"tokenize", "-m", model, "Once"},
           {"convert", model, folder.path("out.gguf")},
           {"logits", "-m", model, "-b", "cpu", "--tokens", "1,2", "-o", folder.path("out.npy")}}) {
    std::vector<std::string> with_ignore = arguments;
    with_ignore.insert(with_ignore.end(), {"--ignore", kUnknown});
    const RunResult result = run_tern(with_ignore);
    EXPECT_EQ(result.exit_code, 0) << arguments.front() << ": " << result.err;
  }
  EXPECT_TRUE(failed_with(run_tern({"devices", "--ignore", kUnknown}), 2, {"need a model"}));
}

}  // namespace
}  // namespace tern::test
