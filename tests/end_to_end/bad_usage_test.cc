// Mistakes on the command line: exit code 2, and one line that says how to correct them.
#include <gtest/gtest.h>

#include <filesystem>

#include "end_to_end/corrupt_gguf.h"
#include "end_to_end/run_program.h"
#include "support/plain_model.h"

namespace tern::test {
namespace {

std::vector<std::string> with_model(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"-m", default_model()});
  return arguments;
}

TEST(BadUsage, UnknownCommandOrOption) {
  EXPECT_TRUE(failed_with(run_tern({"rnu"}), 2, {"rnu", "did you mean 'run'?", "tern --help"}));
  EXPECT_TRUE(failed_with(run_tern({"rnu", "--help"}), 2, {"rnu", "did you mean 'run'?"}));
  EXPECT_TRUE(
      failed_with(run_tern({"run", "--tmep", "1"}), 2, {"--tmep", "did you mean '--temp'?", "tern run --help"}));
  EXPECT_TRUE(failed_with(run_tern({"--verbose"}), 2, {"--verbose"}));
  EXPECT_TRUE(failed_with(run_tern({"run", "-p", "x", "stray"}), 2, {"give either TEXT or --prompt, not both"}));
}

// Names and options that users know from other programs work, or the message gives Tern's name for them.
TEST(BadUsage, KnownNames) {
  EXPECT_TRUE(failed_with(run_tern({"ls"}), 2, {"did you mean 'list'?"}));
  EXPECT_TRUE(failed_with(run_tern({"help", "rnu"}), 2, {"did you mean 'run'?"}));
  EXPECT_EQ(run_tern({"help", "run"}).out, run_tern({"run", "--help"}).out);
  const RunResult own =
      run_tern(with_model({"run", "--temp", "0", "-n", "5", "--ctx", "64", "-p", "Once upon a time"}));
  EXPECT_EQ(own.exit_code, 0) << own.err;
  for (const std::vector<std::string>& known : std::vector<std::vector<std::string>>{
           {"run", "-temp", "0", "--n-predict", "5", "-c", "64", "Once", "upon", "a", "time"},
           {"run", "--temperature=0", "-n", "5", "--ctx-size", "64", "-no-cnv", "-p", "Once upon a time"},
           {"run", "--temp", "0", "-n", "5", "--seed", "-1", "-ngl", "0", "Once upon a time"}}) {
    const RunResult result = run_tern(with_model(known));
    EXPECT_EQ(result.out, own.out) << testing::PrintToString(known) << result.err;
  }
}

TEST(BadUsage, CpuTargetsThatAreNone) {
  const std::vector<std::string> command = with_model({"run", "-p", "Once", "-n", "1"});
  EXPECT_TRUE(failed_with(run_tern(command, {.variables = {{"TERN_CPU_TARGET", "avx9"}}}), 2,
                          {"TERN_CPU_TARGET=avx9", "there is no such target", "this machine runs"}));
}

TEST(BadUsage, ValuesThatAreNoValues) {
  const std::vector<std::vector<std::string>> commands = {
      {"run", "-p", "x", "-n", "many"},
      {"run", "-p", "x", "-n", "-2"},
      {"run", "-p", "x", "-n", "99999999999"},
      {"run", "-p", "x", "-n", "1.5"},
      {"run", "-p", "x", "--temp", "-1"},
      {"run", "-p", "x", "--temp", "nan"},
      {"run", "-p", "x", "--temp", "inf"},
      {"run", "-p", "x", "--top-p", "1.5"},
      {"run", "-p", "x", "--logit-bias", "5"},
      {"run", "-p", "x", "--logit-bias", "+5"},
      {"run", "-p", "x", "--logit-bias", "5+x"},
      {"run", "-p", "x", "--logprobs", "5"},
      {"run", "-p", "x", "--top-k", "-1"},
      {"run", "-p", "x", "--min-p", "2"},
      {"run", "-p", "x", "--seed", "-2"},
      {"run", "-p", "x", "--seed", "1.5"},
      {"run", "-p", "x", "-ngl", "x"},
      {"run", "-p", "x", "-ngl", "3", "-b", "cpu"},
      {"run", "--chat", "--no-chat", "x"},
      {"chat", "-no-cnv"},
      {"inspect", "--arrays"},
      {"eval", "-f", "x", "-o", "xml"},
      {"rm"},
      {"run", "-p", "x", "--repeat-penalty", "0"},
      {"run", "-p", "x", "-t", "-1"},
      {"run", "-p", "x", "-t", "1025"},
      {"run", "-p", "x", "-b", "quantum"},
      {"run", "-p", "x", "--kv", "q4"},
      {"run", "-p", "x", "--ctx", "0"},
      {"run", "-p", "x", "--stop", ""},
      {"run", "-p", "x", "-f", "y"},
      {"run", "-p", "x", "-p", "y"},
      {"run", "-p"},
      {"bench", "-r", "0"},
      {"bench", "-o", "xml"},
      {"logits", "-o", "x.npy"},
      {"logits", "--tokens", "1"},
      {"eval"},
      {"synth"},
      {"convert", "a", "b", "c"},
  };
  for (const std::vector<std::string>& command : commands) {
    EXPECT_TRUE(failed_with(run_tern(command), 2, {})) << testing::PrintToString(command);
  }
}

TEST(BadUsage, GpuOptionsOnOtherBackends) {
  const std::vector<std::vector<std::string>> options = {
      {"--gpu", "nvidia"}, {"--wgsl-dir", "x"}, {"--gpu-without", "f16,dot4"}, {"--gpu-validate"}};
  for (const std::vector<std::string>& option : options) {
    for (const char* backend : {"cpu", "ref"}) {
      std::vector<std::string> command = {"run", "-p", "x", "-b", backend};
      command.insert(command.begin() + 1, option.begin(), option.end());  // the order must not matter
      EXPECT_TRUE(failed_with(run_tern(with_model(command)), 2, {option[0], "-b webgpu"})) << backend;
    }
  }
  EXPECT_TRUE(failed_with(run_tern({"run", "-p", "x", "--gpu-without", "f16,f64"}), 2, {"f64", "subgroup-matrix"}));
  EXPECT_TRUE(failed_with(run_tern({"run", "-p", "x", "--gpu", ""}), 2, {"--gpu", "empty"}));
  // -b auto is the default, and a comma-separated list is one argument.
  EXPECT_TRUE(run_tern(with_model({"run", "--gpu-without", "f16,dot4", "-n", "1", "Once"})).exit_code == 0);
}

TEST(BadUsage, KernelsOfImpossibleMatrices) {
  const auto kernels = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"bench", "kernels"});
    return run_tern(options);
  };
  for (const char* shape :
       {"", "4096", "4096x", "x4096", "4096x4096x1", "4096×4096", "axb", "99999999999999999999x1"}) {
    EXPECT_TRUE(failed_with(kernels({"--shape", shape}), 2, {"--shape", "4096x4096"})) << shape;
  }
  for (const char* shape : {"0x128", "128x0", "-1x128", "9999999x128"}) {
    EXPECT_TRUE(failed_with(kernels({"--shape", shape}), 2, {"rows", "columns", "give 1 to"})) << shape;
  }
  EXPECT_TRUE(failed_with(kernels({"--shape", "1000000x1000000"}), 1, {"1000000x1000000", "memory", "smaller"}));
  EXPECT_TRUE(failed_with(kernels({"-t", "-1"}), 2, {"--threads"}));
  EXPECT_TRUE(failed_with(kernels({"-t", "5000"}), 2, {"--threads"}));
  EXPECT_TRUE(failed_with(kernels({"-r", "0"}), 2, {"--repeats"}));
  EXPECT_TRUE(failed_with(kernels({"-m", "/nowhere.gguf"}), 2, {"no model", "--model"}));
  EXPECT_TRUE(failed_with(kernels({"-b", "webgpu"}), 2, {"--backend"}));
  EXPECT_TRUE(failed_with(run_tern({"bench", "--cached"}), 2, {"--cached", "bench kernels"}));
  EXPECT_TRUE(failed_with(run_tern({"bench", "kernel"}), 2, {"kernel", "ops, kernels"}));
}

TEST(BadUsage, HeadsThatCannotBe) {
  EXPECT_TRUE(failed_with(run_tern(with_model({"run", "-p", "x", "--head", "q4_0"})), 2, {"--head", "q6_k", "exact"}));
  EXPECT_TRUE(failed_with(run_tern(with_model({"run", "-p", "x", "-b", "ref", "--head", "exact"})), 1,
                          {default_model(), "exact head", "-b cpu"}));
}

TEST(BadUsage, EmptyPrompt) {
  const ScratchFolder folder;
  EXPECT_TRUE(failed_with(run_tern(with_model({"run", "-p", ""})), 2, {"prompt is empty", "-f FILE"}));
  EXPECT_TRUE(failed_with(run_tern(with_model({"run"})), 2, {"prompt is empty"}));
  EXPECT_TRUE(failed_with(run_tern(with_model({"run", "-f", folder.write("empty", "")})), 2, {"prompt is empty"}));
  EXPECT_TRUE(failed_with(run_tern(with_model({"run"}), {.input = "\n"}), 2, {"prompt is empty"}));
}

TEST(BadUsage, EmptyNamesAreNotTheDefault) {
  EXPECT_TRUE(failed_with(run_tern({"run", "-m", "", "-p", "x"}), 2, {"--model", "empty"}));
  EXPECT_TRUE(failed_with(run_tern({"inspect", ""}), 2, {"empty"}));
  EXPECT_TRUE(failed_with(run_tern({"logits", "--tokens", "1", "-o", ""}), 2, {"--output", "empty"}));
  EXPECT_TRUE(failed_with(run_tern({"validate", "--tokens", ""}), 2, {"--tokens", "empty"}));
}

TEST(BadUsage, TextAndFileTogether) {
  EXPECT_TRUE(failed_with(run_tern({"tokenize", "x", "-f", "y"}), 2, {"give either TEXT or --file, not both"}));
  EXPECT_TRUE(failed_with(run_tern({"tokenize", "-p", "x", "-f", "y"}), 2, {"give either --prompt or --file"}));
  EXPECT_TRUE(failed_with(run_tern({"run", "x", "-f", "y"}), 2, {"give either TEXT or --file, not both"}));
  EXPECT_TRUE(failed_with(run_tern({"detokenize", "1", "-f", "y"}), 2, {"give either ID... or --file, not both"}));
}

TEST(BadUsage, PromptFileIsNotThere) {
  EXPECT_TRUE(failed_with(run_tern(with_model({"run", "-f", "/nowhere/prompt.txt"})), 1, {"/nowhere/prompt.txt"}));
}

TEST(BadUsage, PromptLongerThanTheContext) {
  std::string prompt;
  for (int i = 0; i < 1200; ++i) prompt += "cat and ";
  EXPECT_TRUE(failed_with(run_tern(with_model({"run", "-p", prompt})), 2, {"the context holds 1024", "shorten"}));
  EXPECT_TRUE(failed_with(run_tern(with_model({"run", "-p", "one two three", "--ctx", "2"})), 2,
                          {"context holds 2", "raise --ctx"}));
}

TEST(BadUsage, TokenOutsideTheVocabulary) {
  const ScratchFolder folder;
  const std::string out = folder.path("logits.npy");
  for (const char* ids : {"1,8192", "-1", "1,99999999999", "4294967296"}) {
    EXPECT_TRUE(failed_with(run_tern(with_model({"logits", "--tokens", ids, "-o", out})), 2, {"vocabulary", "8192"}))
        << ids;
  }
  EXPECT_TRUE(failed_with(run_tern(with_model({"logits", "--tokens", "1,two", "-o", out})), 2, {"two"}));
  EXPECT_TRUE(failed_with(run_tern(with_model({"logits", "--tokens", ",", "-o", out})), 2, {"no tokens"}));
  EXPECT_TRUE(failed_with(run_tern(with_model({"detokenize", "8192"})), 2, {"8192", "vocabulary"}));
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(BadUsage, ChatWithoutATemplate) {
  const std::string plain = plain_model();
  EXPECT_TRUE(failed_with(run_tern({"run", "-m", plain, "--chat", "-p", "Hi"}), 1, {plain, "template", "--chat"}));
  EXPECT_TRUE(failed_with(run_tern(with_model({"run", "--system", "x", "-p", "Hi"})), 2, {"--chat"}));
}

TEST(BadUsage, UnknownPreset) {
  const ScratchFolder folder;
  EXPECT_TRUE(failed_with(run_tern({"synth", "--preset", "gpt-5", "-o", folder.path("x.gguf")}), 2, {"gpt-5"}));
  EXPECT_TRUE(failed_with(run_tern({"synth", "--type", "q9", "-o", folder.path("x.gguf")}), 2, {"q9"}));
  EXPECT_FALSE(std::filesystem::exists(folder.path("x.gguf")));
}

}  // namespace
}  // namespace tern::test
