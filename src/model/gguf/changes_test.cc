// Tests overridden and ignored metadata, from the request to the model's values.
#include "model/gguf/changes.h"

#include <gtest/gtest.h>

#include "base/result_test_support.h"
#include "model/model.h"
#include "model/tiny_gguf_test_support.h"
#include "support/checkout.h"

namespace tern {
namespace {

const std::string kBitnet = "bitnet-b1.58.";

Result<Model> open_with(const std::string& path, const MetadataChanges& changes) {
  return open_model(path, {}, Access::kResident, changes);
}

// Expects that the model is refused with this code, and with `part` in the message.
void expect_changes_refused(const std::string& path, const MetadataChanges& changes, std::string_view part,
                            ErrorCode code = ErrorCode::kInvalidArgument) {
  expect_failure(open_with(path, changes), code, part, path);
}

TEST(MetadataChanges, OverridesAreWhatTheModelComputesWith) {
  TinyGguf file;
  const std::string path = file.write("model");
  const auto model =
      open_with(path, {.overrides = {kBitnet + "context_length=int:32", kBitnet + "rope.freq_base=float:500",
                                     kBitnet + "feed_forward.activation=str:silu", "general.name=str:Another"}});
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->config.n_ctx, 32);
  EXPECT_EQ(model->config.ropes[0].theta, 500);
  EXPECT_EQ(model->config.glu_act, GluAct::kSilu);
  EXPECT_EQ(model->name, "Another");
  EXPECT_EQ(model->source->changes().overrides.size(), 4u);
  EXPECT_EQ(open_model(path)->config.n_ctx, 64);
}

TEST(MetadataChanges, AnOverrideForcesAFileThatIsRefused) {
  TinyGguf file;
  file.integers["expert_count"] = 4;
  const std::string path = file.write("experts");
  EXPECT_FALSE(open_model(path));
  EXPECT_TRUE(open_with(path, {.overrides = {kBitnet + "expert_count=int:0"}}));
  expect_changes_refused(path, {.overrides = {kBitnet + "expert_count=int:2"}}, "'bitnet-b1.58.expert_count' is 2",
                         ErrorCode::kNotSupported);
}

TEST(MetadataChanges, OverridesThatCannotBeMeant) {
  const std::string path = TinyGguf().write("model");
  const std::string key = kBitnet + "context_length";
  expect_changes_refused(path, {.overrides = {key + "=str:32"}},
                         "the override of '" + key + "' is of type str, but an integer is needed; give the type int");
  expect_changes_refused(path, {.overrides = {"llama.context_length=int:32"}},
                         "the override of 'llama.context_length' would change nothing");
  expect_changes_refused(path, {.overrides = {"general.file_type=int:1"}}, "'general.file_type' would change nothing");
  expect_changes_refused(path, {.overrides = {"general.alignment=int:64"}}, "comes too late");
  expect_changes_refused(path, {.overrides = {key + "=int:32", key + "=int:16"}}, "twice");
  expect_changes_refused(path, {.overrides = {kBitnet + "context_lenght=int:32"}},
                         "'bitnet-b1.58.context_lenght' would change nothing");
  expect_changes_refused(path, {.overrides = {"tokenizer.ggml.adds_bos=bool:true"}},
                         "'tokenizer.ggml.adds_bos' would change nothing");
  const auto malformed = open_with(path, {.overrides = {"context_length"}});
  ASSERT_FALSE(malformed);
  EXPECT_NE(malformed.error().message.find("is not KEY=TYPE:VALUE"), std::string::npos);
}

TEST(MetadataChanges, OnlyUnknownKeysAreIgnored) {
  TinyGguf file;
  file.integers["key_of_tomorrow"] = 1;
  file.token_ids["tokenizer.ggml.key_of_tomorrow"] = 1;
  file.strings["prism.other"] = "x";
  const std::string path = file.write("model");
  const std::vector<std::string> keys = {kBitnet + "key_of_tomorrow", "tokenizer.ggml.key_of_tomorrow", "prism.other"};
  const auto model = open_with(path, {.ignored_keys = keys});
  ASSERT_TRUE(model) << model.error().message;
  testing::internal::CaptureStderr();
  warn_of_ignored_keys(*model);
  const std::string warnings = testing::internal::GetCapturedStderr();
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_NE(warnings.find("metadata key '" + keys[i] + "' is ignored as you asked"), std::string::npos) << warnings;
    MetadataChanges one_less{.ignored_keys = keys};
    one_less.ignored_keys.erase(one_less.ignored_keys.begin() + static_cast<ptrdiff_t>(i));
    const auto refused = open_with(path, one_less);
    ASSERT_FALSE(refused) << keys[i];
    EXPECT_NE(refused.error().message.find("'" + keys[i] + "'"), std::string::npos) << refused.error().message;
    EXPECT_NE(refused.error().message.find("ignore the key if you know that it changes nothing"), std::string::npos)
        << refused.error().message;
  }
}

TEST(MetadataChanges, WhatMattersOrIsNotThereIsNotIgnored) {
  TinyGguf file;
  file.integers["attention.sliding_window"] = 16;
  file.strings[kBitnet + "rope.scaling.type"] = "none";
  file.strings["prism.hadamard.size"] = "128";
  file.integers["vocab_size"] = 8;
  TinyGguf plain = file;
  plain.strings.erase("prism.hadamard.size");
  const std::string path = plain.write("model");
  const auto expect_read = [&](const std::string& key) {
    expect_changes_refused(path, {.ignored_keys = {key}}, "'" + key + "' cannot be ignored, because Tern reads it");
  };
  expect_read(kBitnet + "context_length");
  expect_read(kBitnet + "rope.scaling.type");
  expect_read("general.architecture");
  const std::string window = kBitnet + "attention.sliding_window";
  expect_changes_refused(
      path, {.ignored_keys = {window}},
      "'" + window + "' cannot be ignored, because it is known to change what is computed: it is 16");
  expect_changes_refused(path, {.ignored_keys = {kBitnet + "key_of_tomorrow"}},
                         "there is no metadata key 'bitnet-b1.58.key_of_tomorrow' to ignore");
  expect_changes_refused(path, {.overrides = {window + "=int:0"}, .ignored_keys = {window}},
                         "overridden or ignored twice");
  // Keys that have no effect may be named.
  EXPECT_TRUE(open_with(path, {.overrides = {window + "=int:0"}, .ignored_keys = {kBitnet + "vocab_size"}}));
  expect_changes_refused(file.write("hadamard"), {.ignored_keys = {"prism.hadamard.size"}},
                         "'prism.hadamard.size' cannot be ignored, because Tern reads it");
}

TEST(MetadataChanges, AreForGgufFiles) {
  const std::string folder = source_path("tests/golden/families/llama");
  ASSERT_TRUE(open_model(folder));
  expect_changes_refused(folder, {.overrides = {"llama.context_length=int:32"}}, "only in a GGUF file");
  expect_changes_refused(folder, {.ignored_keys = {"llama.context_length"}}, "only in a GGUF file");
}

}  // namespace
}  // namespace tern
