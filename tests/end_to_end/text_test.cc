// `tern run` and the tokenizer commands with the default model.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "end_to_end/run_program.h"
#include "support/checkout.h"

namespace tern::test {
namespace {

RunResult run_default(std::vector<std::string> arguments, const RunOptions& options = {}) {
  arguments.insert(arguments.begin(), {"run", "-m", default_model()});
  return run_tern(arguments, options);
}

std::string greedy(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"-p", kPrompt, "-n", "60", "--temp", "0"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const RunResult result = run_default(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  return result.out;
}

TEST(Run, GreedyTextIsTheSameEveryTimeAndWithAnyNumberOfThreads) {
  const std::string text = greedy();
  EXPECT_TRUE(text.starts_with(kPrompt)) << text;
  EXPECT_GT(text.size(), 100u);
  EXPECT_TRUE(text.ends_with('\n'));
  EXPECT_EQ(greedy(), text);
  EXPECT_EQ(greedy({"-t", "1"}), text);
  EXPECT_EQ(greedy({"-t", "2"}), text);
  EXPECT_EQ(greedy({"-t", "3"}), text);
  EXPECT_EQ(greedy({"--no-fuse"}), text);
}

TEST(Run, APromptMayEndInsideAWord) {
  const auto text = [](const std::string& prompt, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"-p", prompt, "-n", "6", "--temp", "0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_default(arguments).out;
  };
  EXPECT_TRUE(text("The cat was very hap").starts_with("The cat was very happy")) << text("The cat was very hap");
  EXPECT_FALSE(text("The cat was very hap", {"--no-heal"}).starts_with("The cat was very happy"));
  EXPECT_EQ(text("Once upon a "), text("Once upon a time").substr(0, text("Once upon a ").size() - 1) + "\n");
  EXPECT_EQ(greedy({"--no-heal"}), greedy());
}

TEST(Run, BiasesPenaltiesAndLogProbabilities) {
  const std::vector<std::string> asked = {"-p", kPrompt, "-n", "4", "--temp", "0", "--json", "--logprobs", "3"};
  const auto json = nlohmann::json::parse(run_default(asked).out);
  ASSERT_EQ(json["logprobs"].size(), 4u);
  for (const auto& one : json["logprobs"]) {
    EXPECT_EQ(one["top"].size(), 3u);
    EXPECT_EQ(one["top"][0]["token"], one["token"]);
    EXPECT_LE(one["logprob"].get<double>(), 0);
  }
  const std::string first = json["logprobs"][0]["token"].dump(), second = json["logprobs"][0]["top"][1]["text"];
  const RunResult forbidden = run_default({"-p", kPrompt, "-n", "1", "--temp", "0", "--logit-bias", first + "-inf"});
  EXPECT_EQ(forbidden.out, kPrompt + second + "\n");
  EXPECT_NE(greedy({"--frequency-penalty", "3"}), greedy());
  EXPECT_NE(greedy({"--presence-penalty", "20"}), greedy());
}

TEST(Run, SamplersAndTheirOrder) {
  const std::vector<std::string> asked = {"-p", kPrompt, "-n", "40", "--temp", "1", "--seed", "7"};
  const auto text = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = asked;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const RunResult result = run_default(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  const std::string plain = text({});
  EXPECT_EQ(
      text({"--samplers", "penalties,top_k,top_p,min_p,temperature", "--dry-base", "3", "--xtc-threshold", "0.2"}),
      plain);
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--xtc-probability", "1", "--xtc-threshold", "0.02"},
           {"--typical", "0.2"},
           {"--top-nsigma", "0.5"},
           {"--mirostat", "1", "--mirostat-ent", "1"},
           {"--mirostat", "2", "--mirostat-lr", "0.5", "--mirostat-tau", "1"},
           {"--dry-multiplier", "9", "--dry-allowed-length", "0", "--dry-sequence-breaker", "none"},
           {"--top-k", "1", "--samplers", "top_k"}}) {
    EXPECT_NE(text(more), plain) << more.front();
    EXPECT_EQ(text(more), text(more)) << more.front();
  }
  for (const auto& [name, value, words] :
       std::vector<std::array<std::string, 3>>{{"--samplers", "top_q", "none of penalties, dry"},
                                               {"--mirostat", "3", "from 0 to 2"},
                                               {"--xtc-threshold", "2", "from 0 to 1"},
                                               {"--min-tokens", "-1", "from 0"}}) {
    const RunResult wrong = run_default({"-p", kPrompt, name, value});
    EXPECT_EQ(wrong.exit_code, 2) << wrong.err;
    EXPECT_TRUE(wrong.err.contains(name) && wrong.err.contains(words)) << wrong.err;
  }
  EXPECT_EQ(text({"--stop", " ", "--min-tokens", "40"}), plain);
}

// The exact head reads half the bytes of the head and gives the same text. Packed heads give other texts.
TEST(Run, ExactHeadWritesTheSame) {
  const std::string text = greedy({"--head", "f16"});
  EXPECT_EQ(greedy({"-b", "cpu", "--head", "exact"}), text);
  EXPECT_EQ(greedy({"-b", "cpu", "--head", "exact", "-t", "1"}), text);
  EXPECT_EQ(greedy({"-b", "cpu", "--head", "exact", "--no-fuse"}), text);
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--top-k", "40"},
                                               {"--top-k", "0"},
                                               {"--top-k", "20", "--repeat-penalty", "1.3"},
                                               {"--repeat-penalty", "0.9"}}) {
    const auto sampled = [&](const std::string& head) {
      std::vector<std::string> arguments = {"-p", kPrompt, "-n", "50", "--seed", "5", "-b", "cpu", "--head", head};
      arguments.insert(arguments.end(), more.begin(), more.end());
      return run_default(arguments).out;
    };
    EXPECT_EQ(sampled("exact"), sampled("f16")) << more[0] << " " << more[1];
  }
  for (const char* head : {"q8_0", "q6_k"}) EXPECT_TRUE(greedy({"--head", head}).starts_with(kPrompt)) << head;
}

TEST(Run, SeedRepeatsASampledText) {
  const std::vector<std::string> seven = {"-p", kPrompt, "-n", "40", "--seed", "7"};
  const std::string text = run_default(seven).out;
  EXPECT_EQ(run_default(seven).out, text);
  EXPECT_NE(run_default({"-p", kPrompt, "-n", "40", "--seed", "8"}).out, text);
  // Warm enough that two texts are not alike by chance: the model knows some stories by heart.
  const std::vector<std::string> unseeded = {"-p", kPrompt, "-n", "60", "--temp", "2", "--min-p", "0"};
  EXPECT_NE(run_default(unseeded).out, run_default(unseeded).out);
}

TEST(Run, PromptComesFromFileOrStandardInputWithoutItsLineBreak) {
  const ScratchFolder folder;
  const std::string text = greedy();
  const std::string file = folder.write("prompt.txt", std::string(kPrompt) + "\n");
  EXPECT_EQ(run_default({"-f", file, "-n", "60", "--temp", "0"}).out, text);
  EXPECT_EQ(run_default({"-n", "60", "--temp", "0"}, {.input = std::string(kPrompt) + "\n"}).out, text);
  EXPECT_EQ(run_default({"-f", "-", "-n", "60", "--temp", "0"}, {.input = kPrompt}).out, text);
}

TEST(Run, NoEchoLeavesOnlyTheContinuation) { EXPECT_EQ(kPrompt + greedy({"--no-echo"}), greedy()); }

TEST(Run, PrintPromptShowsTheTokensAndGeneratesNothing) {
  const std::string text = "Once\tupon \\ a\ntime";
  const RunResult shown = run_default({"-p", text, "--print-prompt"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(shown.err, "");
  EXPECT_TRUE(shown.out.starts_with("Once\\tupon \\\\ a\\n\ntime\n\n")) << shown.out;
  EXPECT_NE(shown.out.find("  \"\\n\"\n"), std::string::npos) << shown.out;

  const nlohmann::json tokens =
      nlohmann::json::parse(run_tern({"tokenize", "-m", default_model(), "--json", text}).out);
  const auto json = nlohmann::json::parse(run_default({"-p", text, "--print-prompt", "--json"}).out);
  EXPECT_EQ(json.at("prompt"), text);
  EXPECT_EQ(json.at("tokens"), tokens);
  EXPECT_EQ(json.at("pieces").size(), tokens.size());
  EXPECT_NE(shown.out.find(std::to_string(tokens.size()) + " tokens:\n"), std::string::npos) << shown.out;
  EXPECT_TRUE(failed_with(run_default({"-p", text, "--print-prompt", "--stats"}), 2, {"--print-prompt", "--stats"}));
}

TEST(Run, StopTextEndsAndIsNotPrinted) {
  const std::string text = greedy({"--no-echo"});
  const std::string stop = text.substr(30, 6);
  EXPECT_EQ(greedy({"--no-echo", "--stop", stop}), text.substr(0, text.find(stop)) + "\n");
  // Several stop texts, one with brackets; the one that is given later comes first in the text.
  EXPECT_EQ(greedy({"--no-echo", "--stop", "[a,b]", "--stop", "never said", "--stop", stop}),
            text.substr(0, text.find(stop)) + "\n");
}

TEST(Run, WithoutALimitItEndsByItselfOrWithTheContext) {
  const RunResult result = run_default({"-p", kPrompt, "--temp", "0", "--ctx", "64", "--stats"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const bool ended = result.err.find("the model ended its text") != std::string::npos;
  const bool full = result.err.find("the context is full") != std::string::npos;
  EXPECT_TRUE(ended || full) << result.err;
}

TEST(Run, StatisticsGoToStandardError) {
  const RunResult result = run_default({"-p", kPrompt, "-n", "10", "--seed", "42", "--stats"});
  for (const char* word :
       {"load", "prompt", "first token", "generated", "10 tokens", "tokens/s", "seed", "42", "memory"}) {
    EXPECT_NE(result.err.find(word), std::string::npos) << word << " is missing from " << result.err;
  }
}

TEST(Run, SamplesAsTheModelRecommendsAndSaysSo) {
  const RunResult own = run_default({"-p", kPrompt, "-n", "40", "--seed", "7", "--stats"});
  EXPECT_NE(own.err.find("temp 0.6, min-p 0.1 (general.sampling), top-k 40, "), std::string::npos) << own.err;
  const std::vector<std::string> same = {"-p", kPrompt, "-n", "40", "--seed", "7", "--temp", "0.6", "--min-p", "0.1"};
  EXPECT_EQ(run_default(same).out, own.out);
  const RunResult other = run_default({"-p", kPrompt, "-n", "40", "--seed", "7", "--temp", "1.5", "--stats"});
  EXPECT_NE(other.out, own.out);
  EXPECT_NE(other.err.find("temp 1.5 (asked for), min-p 0.1 (general.sampling)"), std::string::npos) << other.err;
  const RunResult json = run_default({"-p", kPrompt, "-n", "2", "--json", "--top-p", "0.9"});
  EXPECT_NE(json.out.find("\"temp\": 0.6"), std::string::npos) << json.out;
  EXPECT_NE(json.out.find("\"top-p\": 0.9"), std::string::npos) << json.out;
}

TEST(Run, AnyBytesAreAPrompt) {
  const std::string bytes = "caf\xC3\xA9 \xFF\xFE\xC3 end";
  const RunResult result = run_default({"-p", bytes, "-n", "5", "--temp", "0"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with(bytes));
}

TEST(Run, ModelFromTheEnvironment) {
  const RunResult result =
      run_tern({"run", "-p", kPrompt, "-n", "60", "--temp", "0"}, {.variables = {{"TERN_MODEL", default_model()}}});
  EXPECT_EQ(result.out, greedy()) << result.err;
}

// The reply of an independent implementation to a prompt for which rounding does not matter.
TEST(Run, AnswersWhatTheReferenceAnswers) {
  std::ifstream file(source_path("tests/golden/bitnet/tern_stories_greedy.json"));
  const nlohmann::json golden = nlohmann::json::parse(file).at("surest_answer");
  const std::string text = golden.at("text");
  const std::string asked = golden.at("messages").at(0).at("content");
  const RunResult answer = run_default({"--chat", "-p", asked, "--temp", "0"});
  EXPECT_EQ(answer.out, text.substr(0, text.rfind("<|end")) + "\n") << asked;
  const RunResult shown = run_default({"--chat", "-p", asked, "--print-prompt", "--json"});
  EXPECT_EQ(nlohmann::json::parse(shown.out).at("tokens"), golden.at("prompt_ids"));
}

TEST(Tokenize, ThereAndBack) {
  for (const std::string text :
       {"Once upon a time", "  two spaces\n\n\ttab ", "na\xC3\xAFve \xF0\x9F\x90\xA6", "\xFF\xC0", "\n"}) {
    const RunResult ids = run_tern({"tokenize", "-m", default_model()}, {.input = text});
    EXPECT_EQ(ids.exit_code, 0) << ids.err;
    EXPECT_EQ(ids.out.find('\n'), ids.out.size() - 1);
    const RunResult back = run_tern({"detokenize", "-m", default_model()}, {.input = ids.out});
    EXPECT_EQ(back.out, text) << ids.out;
  }
}

TEST(Tokenize, FormsOfOutput) {
  const std::string plain = run_tern({"tokenize", "-m", default_model(), kPrompt}).out;
  const std::string bare = run_tern({"tokenize", "-m", default_model(), "--no-bos", kPrompt}).out;
  EXPECT_EQ(plain, "0 " + bare);
  std::vector<int> ids = nlohmann::json::parse(run_tern({"tokenize", "-m", default_model(), "--json", kPrompt}).out);
  std::string joined;
  for (const int id : ids) joined += (joined.empty() ? "" : " ") + std::to_string(id);
  EXPECT_EQ(joined + "\n", plain);
}

TEST(Tokenize, ControlTokensOnlyWhereAskedFor) {
  const std::string end = "<|endoftext|>";
  EXPECT_EQ(run_tern({"tokenize", "-m", default_model(), "--no-bos", "--special", end}).out, "0\n");
  EXPECT_NE(run_tern({"tokenize", "-m", default_model(), "--no-bos", end}).out, "0\n");
  EXPECT_EQ(run_tern({"detokenize", "-m", default_model(), "0"}).out, "");
  EXPECT_EQ(run_tern({"detokenize", "-m", default_model(), "--special", "0"}).out, end);
}

}  // namespace
}  // namespace tern::test
