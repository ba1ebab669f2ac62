// The commands that inspect and measure models.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "end_to_end/run_program.h"
#include "support/checkout.h"

namespace tern::test {
namespace {

TEST(Help, EveryCommandHasAPageWithExamples) {
  const RunResult all = run_tern({"--help"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_EQ(run_tern({}).out, all.out);
  for (const char* command : {"run", "chat", "inspect", "synth", "tokenize", "detokenize", "logits", "embed", "eval",
                              "bench", "validate", "devices", "route", "list", "rm", "pull", "convert"}) {
    EXPECT_NE(all.out.find(std::string("\n  ") + command + " "), std::string::npos) << command;
    const RunResult page = run_tern({command, "--help"});
    EXPECT_EQ(page.exit_code, 0);
    EXPECT_EQ(page.err, "");
    for (const std::string& part :
         {std::string("Usage  tern ") + command, std::string("Examples\n"), std::string("--help")}) {
      EXPECT_NE(page.out.find(part), std::string::npos) << part << " is missing from the page of " << command;
    }
    EXPECT_EQ(page.out.find('\x1b'), std::string::npos) << "colors in a pipe";
  }
}

TEST(Help, Version) { EXPECT_TRUE(run_tern({"--version"}).out.starts_with("tern 0.2.0\n  commit ")); }

TEST(Inspect, PageAndJsonAgree) {
  const RunResult page = run_tern({"inspect", default_model()});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  for (const char* part : {"bitnet-b1.58", "Tern Stories 34M", "GGUF v3", "I2_S", "Metadata (27)", "Tensors (112)",
                           "blk.9.ffn_down.weight", "512 × 1536"}) {
    EXPECT_NE(page.out.find(part), std::string::npos) << part << " is missing from\n" << page.out;
  }
  const RunResult result = run_tern({"inspect", default_model(), "--json"});
  const nlohmann::json json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("tensors").size(), 112u);
  EXPECT_EQ(json.at("metadata").at("general.architecture"), "bitnet-b1.58");
  EXPECT_EQ(json.at("file_bytes"), std::filesystem::file_size(default_model()));
  EXPECT_EQ(json.at("supported"), true);
  EXPECT_NE(page.out.find("temp 0.6, min-p 0.1 (general.sampling)"), std::string::npos) << page.out;
  EXPECT_EQ(json.at("sampling").at("source"), "general.sampling");
  EXPECT_EQ(json.at("sampling").at("values"), (nlohmann::json{{"temp", 0.6}, {"min-p", 0.1}}));
  EXPECT_EQ(json.at("tensors").at(0).at("name"), "token_embd.weight");
  EXPECT_EQ(json.at("tensors").at(0).at("shape"), (nlohmann::json{8192, 512}));
  // 10 layers of ternary matrices at a quarter byte per weight with 32 bytes after each, norms in F32, and the
  // embedding in F16: all of it for the logits, plus one row for the token.
  const uint64_t ternary = 10 * (2 * 512 * 512 + 2 * 512 * 128 + 3 * 512 * 1536) / 4 + 70 * 32;
  const uint64_t norms = (10 * (3 * 512 + 1536) + 512) * 4;
  const uint64_t embedding = (8192 + 1) * 512 * 2;
  EXPECT_EQ(json.at("bytes_per_token"), ternary + norms + embedding);
  EXPECT_EQ(json.at("kv_bytes_per_token"), 10 * 2 * 128 * 2);
}

TEST(Inspect, TellsHowLayersDiffer) {
  const std::string path = source_path("tests/golden/families/llama_layer_heads.gguf");
  const RunResult page = run_tern({"inspect", path});
  EXPECT_NE(
      page.out.find("2 to 6 heads, 1 to 2 KV heads, 32 to 96 values in the feed-forward layer, from layer to layer"),
      std::string::npos)
      << page.out;
  const nlohmann::json json = nlohmann::json::parse(run_tern({"inspect", path, "--json"}).out);
  EXPECT_EQ(json.at("metadata").at("llama.attention.head_count"), (nlohmann::json{4, 2, 6, 2}));
  ASSERT_EQ(json.at("layers").size(), 4u);
  EXPECT_EQ(json.at("layers").at(2), (nlohmann::json{{"heads", 6}, {"kv_heads", 2}, {"feed_forward", 32}}));
  EXPECT_FALSE(nlohmann::json::parse(run_tern({"inspect", default_model(), "--json"}).out).contains("layers"));
}

TEST(Inspect, MetadataIsDataAndArraysWholeOnRequest) {
  const nlohmann::json short_form = nlohmann::json::parse(run_tern({"inspect", default_model(), "--json"}).out);
  const nlohmann::json& metadata = short_form.at("metadata");
  EXPECT_EQ(metadata.at("bitnet-b1.58.block_count"), 10);
  EXPECT_TRUE(metadata.at("bitnet-b1.58.attention.layer_norm_rms_epsilon").is_number_float());
  EXPECT_EQ(metadata.at("tokenizer.ggml.tokens").at("count"), 8192);
  EXPECT_EQ(metadata.at("tokenizer.ggml.tokens").at("first").size(), 16u);
  const nlohmann::json whole = nlohmann::json::parse(run_tern({"inspect", default_model(), "--json", "--arrays"}).out);
  EXPECT_EQ(whole.at("metadata").at("tokenizer.ggml.tokens").size(), 8192u);
  EXPECT_TRUE(whole.at("metadata").at("tokenizer.ggml.tokens").at(100).is_string());
}

TEST(Run, JsonTellsTheTextAndWhatItTook) {
  const std::vector<std::string> arguments = {"run", "-m", default_model(), "-p", "Once upon a time", "--temp", "0",
                                              "-n",  "5"};
  std::vector<std::string> json_arguments = arguments;
  json_arguments.emplace_back("--json");
  const RunResult text = run_tern(arguments);
  const nlohmann::json json = nlohmann::json::parse(run_tern(json_arguments).out);
  EXPECT_EQ("Once upon a time" + json.at("text").get<std::string>() + "\n", text.out);
  EXPECT_EQ(json.at("generated_tokens"), 5);
  EXPECT_EQ(json.at("finish"), "length");
  EXPECT_GT(json.at("prompt_tokens"), 3);
}

TEST(Run, SaysThatTheContextIsFull) {
  const RunResult result =
      run_tern({"run", "-m", default_model(), "-p", "Once upon a time", "--ctx", "16", "--ignore-eos"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("the context of 16 tokens is full; --ctx can be up to 1024"), std::string::npos)
      << result.err;
}

TEST(Logits, WritesOneRowPerTokenAndOnesThatDoNotDependOnLaterTokens) {
  const ScratchFolder folder;
  const auto logits = [&](const std::string& tokens) {
    const std::string path = folder.path("logits.npy");
    const RunResult result = run_tern({"logits", "-m", default_model(), "--tokens", tokens, "-o", path});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out + result.err, "");
    return read_file(path);
  };
  const std::string three = logits("0,100,200");
  const std::string two = logits("0,100");
  EXPECT_NE(three.find("'shape': (3, 8192)"), std::string::npos);
  EXPECT_NE(three.find("'descr': '<f4'"), std::string::npos);
  constexpr size_t kRow = 8192 * sizeof(float);
  ASSERT_GT(two.size(), 2 * kRow);
  const size_t header = two.size() - 2 * kRow;
  ASSERT_EQ(three.size() - 3 * kRow, header);
  std::vector<float> a(2 * 8192), b(2 * 8192);
  std::memcpy(a.data(), three.data() + header, 2 * kRow);
  std::memcpy(b.data(), two.data() + header, 2 * kRow);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-3) << i;
}

TEST(Eval, PredictsStoriesBetterThanNoise) {
  const ScratchFolder folder;
  const std::string story =
      folder.write("story.txt",
                   "Once upon a time, there was a little girl named Lily. She loved to play in the "
                   "park with her mom. One day, she saw a big dog. The dog was very friendly.");
  const std::string noise = folder.write("noise.txt", "zq 83 kx!! vv qqj 0x7 [] ;; wpt bgh 991 ## lkj mnb vcx zaq");
  const auto perplexity = [](const std::string& path) {
    const RunResult result = run_tern({"eval", "-m", default_model(), "-f", path});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    double value = 0;
    EXPECT_EQ(std::sscanf(result.out.c_str(), "perplexity %lf", &value), 1) << result.out;
    return value;
  };
  EXPECT_LT(perplexity(story), 40);  // the model card states e^3.03 for such stories
  EXPECT_GT(perplexity(noise), 100);
}

TEST(Eval, Json) {
  const ScratchFolder folder;
  const std::string story = folder.write("story.txt", "Once upon a time, there was a little girl named Lily.");
  const RunResult table = run_tern({"eval", "-m", default_model(), "-f", story});
  const nlohmann::json json =
      nlohmann::json::parse(run_tern({"eval", "-m", default_model(), "-f", story, "-o", "json"}).out);
  double perplexity = 0;
  ASSERT_EQ(std::sscanf(table.out.c_str(), "perplexity %lf", &perplexity), 1) << table.out;
  EXPECT_NEAR(json.at("perplexity"), perplexity, 1e-4);
  EXPECT_GT(json.at("tokens"), 5);
  EXPECT_FALSE(json.contains("perplexity_with_own_head"));
}

TEST(Eval, ComparesAPackedHeadWithTheFilesOwn) {
  const ScratchFolder folder;
  const std::string story = folder.write("story.txt",
                                         "Once upon a time, there was a little girl named Lily. She loved to play in "
                                         "the park with her mom. One day, she saw a big dog.");
  const auto run_eval = [&](const std::string& head) {
    return run_tern({"eval", "-m", default_model(), "-f", story, "-b", "cpu", "--head", head});
  };
  double own = 0, packed = 0, own_again = 0, difference = 0;
  const RunResult file = run_eval("f16");
  ASSERT_EQ(std::sscanf(file.out.c_str(), "perplexity %lf", &own), 1) << file.err;
  EXPECT_EQ(file.out.find("head"), std::string::npos);
  EXPECT_EQ(run_eval("exact").out, file.out);
  for (const char* head : {"q8_0", "q6_k"}) {
    const RunResult result = run_eval(head);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    ASSERT_EQ(std::sscanf(result.out.c_str(), "perplexity %lf", &packed), 1) << result.out;
    const size_t second = result.out.find("the file's own head, F16");
    ASSERT_NE(second, std::string::npos) << result.out;
    ASSERT_EQ(std::sscanf(result.out.c_str() + second, "the file's own head, F16 perplexity %lf difference %lf",
                          &own_again, &difference),
              2)
        << result.out;
    EXPECT_EQ(own_again, own);
    EXPECT_NEAR(difference, packed - own, 1.1e-4);
    EXPECT_LT(std::abs(difference), 0.02 * own);
  }
}

TEST(Bench, TableAndJson) {
  const std::vector<std::string> arguments = {"bench", "-m", default_model(), "-p", "16", "-n", "4", "-r", "2"};
  const RunResult table = run_tern(arguments);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("prefill"), std::string::npos);
  EXPECT_NE(table.out.find("GB/s"), std::string::npos);
  std::vector<std::string> json_arguments = arguments;
  json_arguments.insert(json_arguments.end(), {"-o", "json"});
  const nlohmann::json json = nlohmann::json::parse(run_tern(json_arguments).out);
  for (const char* what : {"prefill_tokens_per_s", "decode_tokens_per_s"}) {
    const nlohmann::json& spread = json.at(what);
    EXPECT_GT(spread.at("min"), 0);
    EXPECT_LE(spread.at("min"), spread.at("median"));
    EXPECT_LE(spread.at("median"), spread.at("max"));
  }
  EXPECT_GT(json.at("machine_gb_per_s"), 0.1);
  EXPECT_EQ(json.at("head"), "F16");
}

TEST(Bench, Kernels) {
  const std::vector<std::string> arguments = {"bench", "kernels", "--shape", "200x640", "-t", "2", "-r", "3"};
  const RunResult table = run_tern(arguments);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  for (const char* part :
       {"bits/weight", "base3-int8", "2bit-lut", "tern I2_S", "tern TQ1_0", "200 × 640 weights, ", "GB/s"}) {
    EXPECT_NE(table.out.find(part), std::string::npos) << part << " is missing from\n" << table.out;
  }
  std::vector<std::string> json_arguments = arguments;
  json_arguments.insert(json_arguments.end(), {"--cached", "-o", "json"});
  const nlohmann::json json = nlohmann::json::parse(run_tern(json_arguments).out);
  EXPECT_EQ(json.at("rows"), 200);
  EXPECT_EQ(json.at("cols"), 640);
  EXPECT_GE(json.at("threads"), 1);
  ASSERT_GE(json.at("kernels").size(), 10u);
  for (const nlohmann::json& kernel : json.at("kernels")) {
    EXPECT_EQ(kernel.at("runs"), 3);
    EXPECT_EQ(kernel.at("copies"), 1);
    EXPECT_GT(kernel.at("ms").at("min"), 0);
    EXPECT_LE(kernel.at("ms").at("min"), kernel.at("ms").at("max"));
    EXPECT_GE(kernel.at("bits_per_weight"), 1.6);
  }
  const nlohmann::json& reference = json.at("kernels").at(0);
  EXPECT_EQ(reference.at("bytes"), 200 * 640 * 4);
  EXPECT_EQ(reference.at("activations"), "f32");
}

// Machines with energy counters print figures, others the reason. Both are successes.
TEST(Bench, EnergyOrWhyNot) {
  std::vector<std::string> arguments = {"bench", "-m", default_model(), "-b", "cpu", "-p", "16", "-n", "4",
                                        "-r",    "1",  "--energy"};
  const RunResult table = run_tern(arguments);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("energy"), std::string::npos) << table.out;
  arguments.insert(arguments.end(), {"-o", "json"});
  const RunResult result = run_tern(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json json = nlohmann::json::parse(result.out);
  ASSERT_TRUE(json.contains("energy"));
  if (json.at("energy").is_null()) {
    EXPECT_NE(table.out.find("not measured, because no counter can be read"), std::string::npos) << table.out;
    EXPECT_NE(json.at("energy_reason").get<std::string>().find("powercap"), std::string::npos) << json;
  } else {
    EXPECT_GT(json.at("energy").at("decode").at("watts"), 0);
  }
}

TEST(Bench, ThreadCounts) {
  for (const char* threads : {"0", "1", "1000"}) {
    const RunResult result = run_tern(
        {"bench", "-m", default_model(), "-b", "cpu", "-p", "4", "-n", "2", "-r", "1", "-t", threads, "--pin"});
    EXPECT_EQ(result.exit_code, 0) << threads << result.err;
    EXPECT_NE(result.out.find(" thread"), std::string::npos) << result.out;
  }
}

TEST(Validate, TheBackendAgreesWithTheReference) {
  const RunResult result = run_tern({"validate", "-m", default_model(), "--tokens", "0,100,200,300", "-n", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.err << result.out;
  EXPECT_NE(result.out.find("same likeliest token everywhere     yes"), std::string::npos) << result.out;
}

TEST(Devices, ListsTheCpu) { EXPECT_TRUE(run_tern({"devices"}).out.starts_with("cpu ")); }

TEST(Synth, EveryPresetIsListed) {
  const RunResult list = run_tern({"synth", "--list"});
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_NE(list.out.find("bitnet-2b-4t"), std::string::npos) << list.out;
}

}  // namespace
}  // namespace tern::test
