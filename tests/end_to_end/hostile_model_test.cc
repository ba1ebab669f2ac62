// Malicious models, and models that are damaged while they run.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "end_to_end/corrupt_gguf.h"
#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

// The default model with one metadata value changed or added.
std::string model_with(const ScratchFolder& folder, const std::string& key, const std::string& value) {
  GgufImage model = GgufImage::parse(read_file(default_model()));
  model.remove_keys(key);
  model.add_string(key, value);
  return folder.write("model.gguf", model.bytes());
}

TEST(HostileModel, ATemplateIsOnlyRunForAConversation) {
  const ScratchFolder folder;
  const std::string model =
      model_with(folder, "tokenizer.chat_template",
                 "{% set r = range(9999) %}{% for a in r %}{% for b in r %}{% endfor %}{% endfor %}");
  EXPECT_EQ(run_tern({"inspect", model}).exit_code, 0);
  EXPECT_EQ(run_tern({"tokenize", "-m", model, "hello"}).exit_code, 0);
  const RunResult text = run_tern({"run", "-m", model, "-p", kPrompt, "-n", "5", "--temp", "0"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_TRUE(text.out.starts_with(kPrompt)) << text.out;
  const auto start = std::chrono::steady_clock::now();
  const RunResult chat = run_tern({"run", "-m", model, "--chat", "-p", "Hello"});
  EXPECT_TRUE(failed_with(chat, 1, {"chat template: ", "it runs for too long"}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(HostileModel, ATemplateOfTheUsersIsCheckedAtOnce) {
  const ScratchFolder folder;
  const std::string path = folder.write("wrong.jinja", "{% for m in messages %}");
  EXPECT_TRUE(failed_with(run_tern({"run", "--template", path, "--chat", "-p", "Hello"}), 1, {"'endfor' expected"}));
}

// C1 control characters begin escape sequences, and direction marks make one name look like another.
TEST(HostileModel, NothingReachesTheTerminalUnseen) {
  const ScratchFolder folder;
  const std::string model = model_with(folder, "general.description", "a\u009b31mb\u202egpj.\u2066c\x1b[2Jd");
  for (const auto& arguments : {std::vector<std::string>{"inspect", model}, {"inspect", "--json", model}}) {
    const RunResult result = run_tern(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    for (const char* hidden : {"\u009b", "\u202e", "\u2066", "\x1b"}) EXPECT_FALSE(result.out.contains(hidden));
    EXPECT_TRUE(result.out.contains("a\\u009b31mb\\u202egpj.\\u2066c\\")) << result.out;
  }
}

// The pages behind the new end of a mapped file are gone; reading them raises a signal.
TEST(HostileModel, AFileThatShrinksIsNamed) {
  const ScratchFolder folder;
  const std::string model = folder.write("model.gguf", read_file(default_model()));
  bool shrunk = false;
  const auto shrink = [&](pid_t, const std::string& out) {
    if (shrunk || out.size() <= std::string(kPrompt).size()) return;
    std::filesystem::resize_file(model, 100'000);
    shrunk = true;
  };
  // The reference backend is so slow that it is still running.
  const RunResult result =
      run_tern({"run", "-m", model, "-b", "ref", "-p", kPrompt, "--ignore-eos", "-n", "200"}, {.on_output = shrink});
  EXPECT_TRUE(shrunk);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_TRUE(result.err.contains("tern: " + model + ": the file became shorter")) << result.err;
}

}  // namespace
}  // namespace tern::test
