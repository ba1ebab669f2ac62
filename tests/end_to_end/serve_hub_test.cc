// `tern serve --models` with models of a hub on this machine.
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <csignal>
#include <format>

#include "end_to_end/run_program.h"
#include "hub/net/fake_hub_test_support.h"

namespace tern::test {
namespace {

class ServeHub : public testing::Test {
 protected:
  ServeHub() {
    hub_.repo = "tern/stories";
    hub_.files["stories-i2_s.gguf"].bytes = read_file(default_model());
    hub_.before = [this](const hub::TestRequest&) { return hub::TestReply{.status = is_gone_ ? 404 : 0}; };
  }
  RunOptions environment() const {
    return {.variables = {{"HF_ENDPOINT", hub_.url()},
                          {"HF_HOME", folder_.path("home")},
                          {"HF_HUB_CACHE", folder_.path("cache")},
                          {"HF_TOKEN", ""},
                          {"HF_HUB_OFFLINE", ""},
                          {"no_proxy", "*"}}};
  }

  ScratchFolder folder_;
  std::atomic<bool> is_gone_ = false;
  hub::FakeHub hub_;
};

TEST_F(ServeHub, AModelComesWithTheFirstRequestForIt) {
  const std::string file = folder_.write(
      "models.toml", std::format("[here]\nmodel = \"{}\"\n[far]\nhf = \"tern/stories\"\n", default_model()));
  RunOptions options = environment();
  bool is_told = false;
  options.on_errors = [&](pid_t process, const std::string& err) {
    constexpr std::string_view kUrl = "http://127.0.0.1:";
    const size_t at = err.find(kUrl);
    if (is_told || at == err.npos || !err.contains(" until Ctrl-C)")) return;
    is_told = true;
    httplib::Client http("127.0.0.1", std::stoi(err.substr(at + kUrl.size())));
    http.set_read_timeout(60);
    const auto ask = [&](const std::string& model) {
      const auto got =
          http.Post("/v1/completions", "{\"model\": \"" + model + "\", \"prompt\": \"A\", \"max_tokens\": 1}",
                    "application/json");
      return got ? std::format("{} {}", got->status, got->body) : "nothing";
    };
    EXPECT_TRUE(ask("here").starts_with("200"));
    EXPECT_TRUE(http.Get("/v1/models")->body.contains("\"id\":\"far\""));
    EXPECT_EQ(hub_.server().requests().size(), 0u);
    is_gone_ = true;
    const std::string refused = ask("far");
    EXPECT_TRUE(refused.starts_with("503") && refused.contains("far cannot be downloaded: ")) << refused;
    is_gone_ = false;
    EXPECT_TRUE(ask("far").starts_with("200"));
    const size_t n = hub_.server().requests().size();
    EXPECT_TRUE(ask("far").starts_with("200"));
    EXPECT_EQ(hub_.server().requests().size(), n);
    ::kill(process, SIGTERM);
  };
  const RunResult result = run_tern({"serve", "--port", "0", "--models", file}, options);
  EXPECT_TRUE(is_told) << result.err;
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.err.contains("(far cannot be downloaded: ")) << result.err;
  EXPECT_TRUE(result.err.contains("(tern/stories: ") && result.err.contains(" 100 % of ")) << result.err;
  EXPECT_TRUE(result.err.contains("(far was loaded in ")) << result.err;
}

TEST_F(ServeHub, APinnedOneIsThereAtTheStart) {
  const std::string file = folder_.write("models.toml", "[far]\nhf = \"tern/stories\"\npinned = true\n");
  is_gone_ = true;
  RunOptions options = environment();
  EXPECT_TRUE(failed_with(run_tern({"serve", "--port", "0", "--models", file}, options), 1, {"tern/stories"}));
  is_gone_ = false;
  size_t n_requests = 0;
  options.on_errors = [&](pid_t process, const std::string& err) {
    if (n_requests > 0 || !err.contains(" until Ctrl-C)")) return;
    n_requests = hub_.server().requests().size();
    ::kill(process, SIGTERM);
  };
  const RunResult result = run_tern({"serve", "--port", "0", "--models", file}, options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(hub_.server().count("GET", "stories-i2_s.gguf"), 0u);
}

}  // namespace
}  // namespace tern::test
