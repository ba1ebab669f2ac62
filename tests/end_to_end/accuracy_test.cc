// The accuracy cost of a format or a KV cache, as the commands report it: --kv, eval --against, and the losses of
// convert.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

std::string golden(const std::string& name) {
  return (std::filesystem::path(default_model()).parent_path().parent_path() / "tests" / "golden" / name).string();
}

const std::string kStory = "Once upon a time, there was a little girl named Lily. She loved to play in the park.";

TEST(Kv, EveryCommandThatRunsAModelTakesIt) {
  const ScratchFolder folder;
  const std::string story = folder.write("story.txt", kStory);
  const std::string npy = folder.path("logits.npy");
  const std::vector<std::vector<std::string>> commands = {
      {"run", "-n", "2", "Once"},
      {"chat", "-n", "2"},
      {"logits", "-p", "Once upon", "-o", npy},
      {"eval", "-f", story, "--ctx", "16"},
      {"bench", "-p", "4", "-n", "2", "-r", "1"},
      {"validate", "--tokens", "0,1,2", "-n", "1"},
      {"inspect"},
      {"devices"},
  };
  for (std::vector<std::string> command : commands) {
    command.insert(command.end(), {"-m", default_model(), "--kv", "f32"});
    const RunResult result = run_tern(command, {.input = "Once\n"});
    EXPECT_EQ(result.exit_code, 0) << command[0] << ": " << result.err;
    command.back() = "q4";
    EXPECT_TRUE(failed_with(run_tern(command), 2, {"--kv", "f16", "f32"})) << command[0];
  }
  EXPECT_TRUE(failed_with(run_tern({"devices", "--kv", "f32"}), 2, {"--kv", "-m FILE"}));
  EXPECT_TRUE(failed_with(run_tern({"bench", "kernels", "--kv", "f32"}), 2, {"--kv", "loads no model"}));
}

// The option has an effect: other logits, and other memory estimates.
TEST(Kv, ChangesWhatIsComputedAndWhatItTakes) {
  const ScratchFolder folder;
  const auto logits = [&](const std::string& kv) {
    const std::string path = folder.path(kv + ".npy");
    EXPECT_EQ(run_tern({"logits", "-m", default_model(), "-b", "cpu", "-p", kStory, "-o", path, "--kv", kv}).err, "");
    return read_file(path);
  };
  const std::string f16 = logits("f16"), f32 = logits("f32");
  EXPECT_EQ(f16.size(), f32.size());
  EXPECT_NE(f16, f32);
  const auto stats = [](const std::string& kv) {
    return run_tern({"run", "-m", default_model(), "-b", "cpu", "-n", "1", "--stats", "--kv", kv, "--ctx", "100", "On"})
        .err;
  };
  EXPECT_NE(stats("f16").find("KV cache     512 kB in f16"), std::string::npos) << stats("f16");
  EXPECT_NE(stats("f32").find("KV cache     1.02 MB in f32"), std::string::npos) << stats("f32");
  const RunResult page = run_tern({"inspect", default_model(), "--kv", "f32"});
  EXPECT_NE(page.out.find("10.2 kB per token of context (f32)"), std::string::npos) << page.out;
  const RunResult devices = run_tern({"devices", "-m", default_model(), "--kv", "f32"});
  EXPECT_NE(devices.out.find("10 MiB for 1024 tokens of context, in f32"), std::string::npos) << devices.out;
}

TEST(EvalAgainst, TableAndJson) {
  const ScratchFolder folder;
  const std::string story = folder.write("story.txt", kStory);
  const std::vector<std::string> arguments = {"eval", "-m",     default_model(), "-b",        "cpu",          "-f",
                                              story,  "--head", "q6_k",          "--against", default_model()};
  const RunResult table = run_tern(arguments);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  double mean = 0, median = 0, most = 0, greatest = 0, same = 0;
  const size_t at = table.out.find("divergence ");
  ASSERT_NE(at, std::string::npos) << table.out;
  ASSERT_EQ(std::sscanf(table.out.c_str() + at,
                        "divergence mean %lf, median %lf, 99 %% up to %lf, greatest %lf nats same token %lf", &mean,
                        &median, &most, &greatest, &same),
            5)
      << table.out;
  EXPECT_GT(mean, 0);
  EXPECT_LE(median, most);
  EXPECT_LE(most, greatest);
  std::vector<std::string> json_arguments = arguments;
  json_arguments.insert(json_arguments.end(), {"-o", "json"});
  const nlohmann::json json = nlohmann::json::parse(run_tern(json_arguments).out);
  const nlohmann::json& against = json.at("against");
  EXPECT_EQ(json.at("head"), "Q6_K (file: F16)");
  EXPECT_EQ(against.at("head"), "F16");
  EXPECT_EQ(against.at("model"), default_model());
  EXPECT_NEAR(against.at("kl_mean"), mean, 0.01 * mean);
  EXPECT_NEAR(against.at("kl_max"), greatest, 0.01 * greatest);
  EXPECT_NEAR(100 * against.at("same_top1").get<double>(), same, 0.01);
  EXPECT_TRUE(failed_with(
      run_tern({"eval", "-m", default_model(), "-f", story, "--against", golden("bitnet/a_v2_tokenizer.gguf")}), 2,
      {"same vocabulary", "8192 tokens", "a_v2_tokenizer.gguf"}));
  EXPECT_TRUE(
      failed_with(run_tern({"eval", "-m", default_model(), "-f", story, "--against", golden("packed/qwen3_q8_0.gguf")}),
                  1, {"qwen3_q8_0.gguf", "no tokenizer"}));
}

TEST(EvalAgainstKv, TableAndJson) {
  const ScratchFolder folder;
  std::string text;
  for (int i = 0; i < 60; ++i) text += kStory + " ";  // more than 1,024 tokens
  const std::string story = folder.write("story.txt", text);
  const std::vector<std::string> arguments = {"eval", "-m",   default_model(), "-b",           "cpu", "-f",
                                              story,  "--kv", "q8_0",          "--against-kv", "f16"};
  const RunResult table = run_tern(arguments);
  EXPECT_EQ(table.exit_code, 0) << table.err;
  double packed = 0, halves = 0, change = 0, mean = 0, median = 0, most = 0, greatest = 0, same = 0;
  int n_tokens = 0;
  const size_t at = table.out.find("      512 ");
  ASSERT_NE(at, std::string::npos) << table.out;
  ASSERT_EQ(std::sscanf(table.out.c_str() + at, " 512 %d %lf %lf %lf %% %lf %lf %lf %lf %lf %%", &n_tokens, &packed,
                        &halves, &change, &mean, &median, &most, &greatest, &same),
            9)
      << table.out;
  EXPECT_NE(table.out.find("left out: 4096, as the model was trained for 1024 tokens\n"), std::string::npos)
      << table.out;
  EXPECT_NEAR(change, 100 * (packed / halves - 1), 0.01);
  EXPECT_GT(mean, 0);
  EXPECT_LE(median, most);
  EXPECT_LE(most, greatest);
  std::vector<std::string> json_arguments = arguments;
  json_arguments.insert(json_arguments.end(), {"-o", "json"});
  const nlohmann::json json = nlohmann::json::parse(run_tern(json_arguments).out);
  EXPECT_EQ(json.at("kv"), "q8_0");
  EXPECT_EQ(json.at("against_kv"), "f16");
  ASSERT_EQ(json.at("contexts").size(), 2u);  // the second: the context that the model was trained for
  const nlohmann::json& context = json.at("contexts").at(0);
  EXPECT_EQ(context.at("ctx"), 512);
  EXPECT_EQ(context.at("tokens"), n_tokens);
  EXPECT_NEAR(context.at("perplexity"), packed, 1e-4);
  EXPECT_NEAR(context.at("against").at("perplexity"), halves, 1e-4);
  EXPECT_NEAR(context.at("against").at("kl_mean"), mean, 0.01 * mean);
  EXPECT_NEAR(100 * context.at("against").at("same_top1").get<double>(), same, 0.01);
  EXPECT_EQ(json.at("left_out").at(0).at("ctx"), 4096);
}

TEST(EvalAgainstKv, Refusals) {
  const ScratchFolder folder;
  const std::string story = folder.write("story.txt", kStory);
  const auto run_eval = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"eval", "-m", default_model(), "-b", "cpu", "-f", story});
    return run_tern(more);
  };
  EXPECT_TRUE(failed_with(run_eval({"--against-kv", "f16"}), 2, {"--kv", "--against-kv", "both f16"}));
  EXPECT_TRUE(failed_with(run_eval({"--against-kv", "q4"}), 2, {"--against-kv", "f16", "f32", "q8_0"}));
  EXPECT_TRUE(failed_with(run_eval({"--kv", "q8_0", "--against-kv", "f16"}), 2, {"no window of 512 tokens"}));
  EXPECT_TRUE(failed_with(run_eval({"--against-kv", "f16", "--against", default_model()}), 2, {"--against-kv"}));
}

TEST(Convert, PrintsWhatIsLost) {
  const ScratchFolder folder;
  const std::string from = golden("packed/qwen3_q8_0.gguf"), to = folder.path("out.gguf");
  const RunResult page = run_tern({"convert", from, to, "--type", "q4_0"});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_NE(page.out.find("… and 3 more with smaller losses (--all prints them)"), std::string::npos) << page.out;
  EXPECT_NE(page.out.find("8 matrices packed, NMSE "), std::string::npos) << page.out;
  EXPECT_NE(run_tern({"convert", from, to, "--type", "q4_0", "--all"}).out.find("blk.0.attn_v.weight"),
            std::string::npos);
  EXPECT_EQ(run_tern({"convert", from, to, "--type", "q4_0", "--quiet"}).out, "");
  EXPECT_EQ(run_tern({"convert", from, to}).out, "nothing is lost: every tensor has the same values\n");
  const nlohmann::json json = nlohmann::json::parse(run_tern({"convert", from, to, "--type", "q4_0", "--json"}).out);
  ASSERT_EQ(json.at("matrices").size(), 8u);
  EXPECT_EQ(json.at("matrices").at(0).at("to"), "Q4_0");
  EXPECT_GE(json.at("matrices").at(0).at("nmse"), json.at("matrices").at(7).at("nmse"));
  EXPECT_GT(json.at("matrices").at(7).at("nmse"), 1e-3);
}

// A model written to standard output contains nothing else.
TEST(Convert, KeepsItsReportApartFromTheModel) {
  const ScratchFolder folder;
  const std::string from = golden("packed/qwen3_q8_0.gguf"), to = folder.path("out.gguf");
  EXPECT_EQ(run_tern({"convert", from, to, "--type", "q4_0"}).exit_code, 0);
  const RunResult piped = run_tern({"convert", from, "-", "--type", "q4_0"});
  EXPECT_EQ(piped.out, read_file(to));
  EXPECT_NE(piped.err.find("8 matrices packed"), std::string::npos) << piped.err;
  EXPECT_TRUE(failed_with(run_tern({"convert", from, "-", "--json"}), 2, {"--json"}));
}

TEST(Convert, RefusesToDestroy) {
  const ScratchFolder folder;
  const std::string from = golden("packed/qwen3_q8_0.gguf"), to = folder.path("out.gguf");
  for (const char* type : {"tq2_0", "tq1_0", "q1_0", "q2_0", "pq2_0"}) {
    EXPECT_TRUE(failed_with(run_tern({"convert", from, to, "--type", type}), 1,
                            {"token_embd.weight is not ", "choose another head (--head): q8_0 or q6_k"}));
    EXPECT_TRUE(failed_with(run_tern({"convert", from, to, "--type", type, "--head", "f16"}), 1,
                            {"blk.0.attn_q.weight is not ", "choose another type (--type): q8_0 or q6_k"}));
    EXPECT_FALSE(std::filesystem::exists(to));
  }
}

// The imatrix of one matrix in the format of llama.cpp's older programs.
std::string imatrix_of(const std::string& name, int32_t width) {
  std::string bytes;
  const auto put = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  put(int32_t{1});
  put(static_cast<int32_t>(name.size()));
  bytes += name;
  put(int32_t{2});
  put(width);
  for (int32_t i = 0; i < width; ++i) put(i % 7 == 0 ? 50.0f : 0.1f);
  return bytes;
}

TEST(Convert, UsesAnImatrix) {
  const ScratchFolder folder;
  const std::string from = golden("packed/qwen3_q8_0.gguf"), to = folder.path("out.gguf");
  const std::string imatrix = folder.write("i.dat", imatrix_of("blk.0.ffn_up.weight", 256));
  const RunResult page = run_tern({"convert", from, to, "--type", "q6_k", "--all", "--imatrix", imatrix});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_NE(page.out.find("weighted"), std::string::npos) << page.out;
  EXPECT_NE(page.err.find("not in the imatrix, so packed without it: token_embd.weight, blk.0.attn_q.weight, "),
            std::string::npos)
      << page.err;
  const std::string other = folder.write("other.dat", imatrix_of("blk.0.ffn_up.weight", 128));
  EXPECT_TRUE(failed_with(run_tern({"convert", from, to, "--type", "q6_k", "--imatrix", other}), 2,
                          {"other.dat", "128 values for blk.0.ffn_up.weight", "another model"}));
  EXPECT_TRUE(failed_with(run_tern({"convert", from, to, "--type", "q6_k", "--imatrix", from}), 1, {"no imatrix"}));
  const std::string text = folder.write("text.dat", "this is a text and no imatrix");
  EXPECT_TRUE(
      failed_with(run_tern({"convert", from, to, "--type", "q6_k", "--imatrix", text}), 1, {"no imatrix file"}));
}

}  // namespace
}  // namespace tern::test
