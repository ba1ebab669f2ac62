// `tern serve --models`: the allowed contents of the file, and the models that it serves.
#include <gtest/gtest.h>
#include <httplib.h>

#include <csignal>
#include <format>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

std::string section(const std::string& name, const std::string& more = "") {
  return std::format("[{}]\nmodel = \"{}\"\n{}", name, default_model(), more);
}

TEST(ServeModels, AFileOfThem) {
  const ScratchFolder folder;
  const std::string file = folder.write(
      "models.toml", section("stories-1.0", "alias = [\"a\", \"b\"]\n") +
                         section("small",
                                 "ctx = 64\nparallel = 3\ntemp = 0\nmax-tokens = 5\npinned = true\n"
                                 "override = [\"bitnet-b1.58.context_length=int:80\", \"general.name=str:X\"]\n") +
                         section("vectors", "embedding = true\n") + "[none]\nmodel = \"" + folder.path("none.gguf") +
                         "\"\n");
  bool is_told = false;
  const RunResult result = run_tern(
      {"serve", "--port", "0", "--models", file, "--models-max", "2", "--ctx", "100"},
      {.on_errors = [&](pid_t process, const std::string& err) {
        constexpr std::string_view kUrl = "http://127.0.0.1:";
        const size_t at = err.find(kUrl);
        if (is_told || at == err.npos || !err.contains("(the chat page") || !err.ends_with('\n')) return;
        is_told = true;
        httplib::Client http("127.0.0.1", std::stoi(err.substr(at + kUrl.size())));
        const auto post = [&](const char* route, const std::string& body) {
          const auto got = http.Post(route, body, "application/json");
          return got ? std::format("{} {}", got->status, got->body) : "nothing";
        };
        EXPECT_TRUE(post("/v1/completions", R"({"model": "b", "prompt": "Once", "max_tokens": 1})")
                        .contains("\"model\":\"stories-1.0\""));
        EXPECT_TRUE(post("/v1/completions", R"({"model": "small", "prompt": "Once"})").contains("tokens\":5"));
        EXPECT_TRUE(post("/v1/embeddings", R"({"model": "vectors", "input": "Once"})").starts_with("200"));
        EXPECT_TRUE(post("/v1/completions", R"({"model": "none", "prompt": "Once"})").contains("none.gguf"));
        EXPECT_TRUE(post("/v1/completions", R"({"model": "c", "prompt": "Once"})").starts_with("404"));
        const auto list = http.Get("/v1/models");
        EXPECT_TRUE(list && list->body.contains("\"n_ctx\":64") && list->body.contains("\"n_ctx\":100")) << list->body;
        EXPECT_TRUE(list && list->body.contains("\"n_ctx_train\":80")) << list->body;
        EXPECT_TRUE(http.Get("/")->body.contains("data-engine=\"server\""));
        ::kill(process, SIGTERM);
      }});
  EXPECT_TRUE(is_told) << result.err;
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.err.contains("(stories-1.0, small, vectors, none at http://")) << result.err;
  EXPECT_TRUE(result.err.contains("(small was loaded in ")) << result.err;
  EXPECT_TRUE(result.err.contains("(stories-1.0 was unloaded)")) << result.err;
}

TEST(ServeModels, WhatIsWrongIsRefusedByName) {
  const ScratchFolder folder;
  struct Case {
    std::string text;
    std::vector<std::string> words;
  };
  for (const auto& [text, words] :
       {Case{"", {"models.toml", "no model", "[NAME]"}}, Case{"ctx = 1\n", {"models.toml", "'ctx'", "[NAME]"}},
        Case{"[a]\n", {"[a]", "names no model"}}, Case{section("a", "ctx = abc\n"), {"[a]", "ctx", "'abc'"}},
        Case{section("a", "ctxx = 1\n"), {"[a]", "'ctxx'", "'ctx'"}},
        Case{section("a", "port = 1\n"), {"[a]", "'port'"}}, Case{section("a", "pinned = 3\n"), {"[a]", "pinned"}},
        Case{section("a") + section("a"), {"[a]", "twice"}},
        Case{section("a") + section("b", "alias = \"a\"\n"), {"two models", "'a'"}},
        Case{section("a", "hf = \"a/b\"\n"), {"[a]", "either"}},
        Case{section("a", "backend = \"cpu\"\ngpu-layers = 1\n"), {"[a]", "--gpu-layers", "backend"}},
        Case{section("a", "pinned = true\n") + section("b"), {"pinned", "1"}}}) {
    const std::string file = folder.write("models.toml", text);
    EXPECT_TRUE(failed_with(run_tern({"serve", "--models", file, "--models-max", "1"}), 2, words)) << text;
  }
  const std::string file = folder.write("models.toml", section("a"));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--models", file, "-m", default_model()}), 2, {"--models"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--models-max", "1"}), 2, {"--models"}));
  EXPECT_TRUE(failed_with(run_tern({"serve", "--models", folder.path("none")}), 1, {"none"}));
}

}  // namespace
}  // namespace tern::test
