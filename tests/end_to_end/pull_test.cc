// `tern pull` and -hf, with a hub on this machine.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "end_to_end/run_program.h"
#include "hub/net/fake_hub_test_support.h"
#include "support/checkout.h"

namespace tern::test {
namespace {

namespace fs = std::filesystem;

class Pull : public testing::Test {
 protected:
  Pull() {
    hub_.repo = "tern/stories";
    hub_.files["stories-i2_s.gguf"].bytes = read_file(default_model());
    hub_.files["stories-f16.gguf"].bytes = "GGUF, but not really";
  }

  RunOptions environment(const std::string& endpoint = "") const {
    return {.variables = {{"HF_ENDPOINT", endpoint.empty() ? hub_.url() : endpoint},
                          {"HF_HOME", folder_.path("home")},
                          {"HF_HUB_CACHE", folder_.path("cache")},
                          {"HF_TOKEN", ""},
                          {"HF_HUB_OFFLINE", ""},
                          {"no_proxy", "*"}}};
  }
  RunResult tern(const std::vector<std::string>& arguments) const { return run_tern(arguments, environment()); }
  std::string snapshot(const std::string& file) const {
    return folder_.path("cache/models--tern--stories/snapshots/" + hub_.commit + "/" + file);
  }
  std::vector<std::string> blobs() const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder_.path("cache/models--tern--stories/blobs"), none)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  // Starts to pull from a slow hub, sends the signal once some data has arrived, and returns the program's wait status.
  int pull_and_send(int signal) {
    hub_.after = [](const hub::TestRequest&, hub::TestReply& reply) { reply.pause_ms = 10; };
    const std::string state =
        folder_.path("cache/models--tern--stories/blobs/") + hub_.digest("stories-i2_s.gguf") + ".tern.state";
    const size_t size_before = read_file(state).size();
    const RunOptions options = environment();
    const std::string program = program_path();
    const pid_t child = ::fork();
    if (child == 0) {
      for (const auto& [name, value] : options.variables) ::setenv(name.c_str(), value.c_str(), 1);
      ::signal(SIGINT, SIG_DFL);
      ::execl(program.c_str(), program.c_str(), "pull", "--quiet", "--unchecked", "tern/stories", nullptr);
      ::_exit(127);
    }
    for (int i = 0; i < 1000 && read_file(state).size() < std::max<size_t>(size_before + 10, 60); ++i) ::usleep(5000);
    ::kill(child, signal);
    int status = 0;
    ::waitpid(child, &status, 0);
    hub_.after = [](const hub::TestRequest&, hub::TestReply&) {};
    return status;
  }

  ScratchFolder folder_;
  hub::FakeHub hub_;
};

TEST_F(Pull, PrintsThePathAndNothingElse) {
  const RunResult result = tern({"pull", "tern/stories"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, snapshot("stories-i2_s.gguf") + "\n");
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(read_file(snapshot("stories-i2_s.gguf")) == read_file(default_model()));
}

TEST_F(Pull, RunsAModelByItsNameAndNeedsTheHubOnlyOnce) {
  const std::vector<std::string> arguments = {"-p", "Once upon a time", "-n", "8", "--temp", "0"};
  const auto with = [&](std::vector<std::string> first) {
    first.insert(first.end(), arguments.begin(), arguments.end());
    return first;
  };
  const RunResult expected = run_tern(with({"run", "-m", default_model()}));
  EXPECT_EQ(tern(with({"run", "-hf", "tern/stories"})).out, expected.out);
  const size_t requests = hub_.server().requests().size();
  EXPECT_EQ(tern(with({"run", "-hf=tern/stories:i2_s"})).out, expected.out);
  EXPECT_EQ(tern(with({"run", "--hf", "tern/stories:stories-i2_s.gguf"})).out, expected.out);
  EXPECT_EQ(tern({"tokenize", "-hf", "tern/stories", "Once"}).out,
            run_tern({"tokenize", "-m", default_model(), "Once"}).out);
  EXPECT_EQ(tern({"inspect", "-hf", "tern/stories", "--json"}).exit_code, 0);
  EXPECT_EQ(tern({"devices", "-hf", "tern/stories"}).exit_code, 0);
  EXPECT_EQ(hub_.server().requests().size(), requests);
}

TEST_F(Pull, WarnsAndUsesTheCacheWithoutANetwork) {
  ASSERT_EQ(tern({"pull", "tern/stories"}).exit_code, 0);
  const RunResult result = run_tern({"pull", "tern/stories"}, environment("http://127.0.0.1:1"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, snapshot("stories-i2_s.gguf") + "\n");
  EXPECT_NE(result.err.find("using what the cache has"), std::string::npos) << result.err;
}

TEST_F(Pull, ContinuesAfterBeingKilled) {
  hub_.files["stories-i2_s.gguf"].bytes = hub::test_bytes(20'000'000);
  for (const int signal : {SIGKILL, SIGINT}) {
    const int status = pull_and_send(signal);
    EXPECT_TRUE(signal == SIGKILL ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
    EXPECT_FALSE(fs::exists(snapshot("stories-i2_s.gguf")));
  }
  const RunResult result = tern({"pull", "--unchecked", "tern/stories"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("of 20.0 MB are here already"), std::string::npos) << result.err;
  EXPECT_TRUE(read_file(snapshot("stories-i2_s.gguf")) == hub_.files["stories-i2_s.gguf"].bytes);
  EXPECT_EQ(blobs(), std::vector{hub_.digest("stories-i2_s.gguf")});
}

TEST_F(Pull, RefusesWhatItCannotRunBeforeItIsDownloaded) {
  EXPECT_TRUE(failed_with(tern({"pull", "tern/stories:F16"}), 1,
                          {"tern/stories/stories-f16.gguf", "GGUF version", "not downloaded", "--unchecked"}));
  EXPECT_TRUE(failed_with(tern({"run", "-hf", "tern/stories:F16", "-p", "x"}), 1, {"GGUF version"}));
  EXPECT_TRUE(blobs().empty());
  const RunResult all_the_same = tern({"pull", "--unchecked", "tern/stories:F16"});
  EXPECT_EQ(all_the_same.exit_code, 0) << all_the_same.err;
  EXPECT_EQ(read_file(snapshot("stories-f16.gguf")), "GGUF, but not really");
}

TEST_F(Pull, RefusesADirectoryBeforeItIsDownloaded) {
  hub_.files.clear();
  const std::string folder = source_path("tests/golden/families/llama3/");
  for (const char* name : {"config.json", "model.safetensors"}) hub_.files[name].bytes = read_file(folder + name);
  std::string& config = hub_.files["config.json"].bytes;
  const std::string good = config;
  config.replace(config.find("\"llama\""), 7, "\"mamba\"");
  EXPECT_TRUE(failed_with(tern({"pull", "tern/stories"}), 1,
                          {"tern/stories/config.json", "mamba", "not downloaded", "--unchecked"}));
  EXPECT_TRUE(blobs().empty());
  config = good;
  const RunResult result = tern({"pull", "tern/stories"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_file(snapshot("config.json")), good);
}

TEST_F(Pull, ComparesWithAModelByItsName) {
  const std::string story = folder_.write("story.txt", "Once upon a time there was a cat. It sat on a mat all day.");
  const auto against = [&](const std::string& name) {
    return tern(
        {"eval", "-m", default_model(), "-b", "cpu", "-f", story, "--ctx", "16", "-o", "json", "--against", name});
  };
  const RunResult by_hub_name = against("tern/stories:i2_s");
  ASSERT_EQ(by_hub_name.exit_code, 0) << by_hub_name.err;
  EXPECT_NE(by_hub_name.out.find(snapshot("stories-i2_s.gguf")), std::string::npos) << by_hub_name.out;
  EXPECT_NE(by_hub_name.out.find("\"same_top1\": 1.0"), std::string::npos) << by_hub_name.out;
  const size_t requests = hub_.server().requests().size();
  EXPECT_EQ(against("tern/stories").out, by_hub_name.out);  // from the cache
  EXPECT_EQ(hub_.server().requests().size(), requests);

  EXPECT_TRUE(failed_with(against("tern/nothing"), 1, {"tern/nothing"}));
  EXPECT_TRUE(failed_with(against("bonsai-1.7"), 1, {"no such file", "did you mean bonsai-1.7b"}));
  EXPECT_TRUE(failed_with(against("./tern/stories"), 1, {"./tern/stories"}));
  EXPECT_TRUE(failed_with(against("folder/missing.gguf"), 1, {"folder/missing.gguf", "No such file"}));
  hub_.repo = "prism-ml/Bonsai-1.7B-gguf";
  hub_.files["Bonsai-1.7B-Q1_0.gguf"].bytes = read_file(default_model());
  EXPECT_NE(against("bonsai-1.7b").out.find("Bonsai-1.7B-Q1_0.gguf"), std::string::npos);
}

TEST_F(Pull, TakesPublishedModelsByTheirShortNames) {
  hub_.repo = "prism-ml/Bonsai-1.7B-gguf";
  hub_.files["Bonsai-1.7B-Q1_0.gguf"].bytes = read_file(default_model());
  const std::vector<std::string> rest = {"-p", "Once upon a time", "-n", "8", "--temp", "0"};
  const auto run = [&](const char* option, const char* name) {
    std::vector<std::string> arguments = {"run", option, name};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    return tern(arguments);
  };
  const std::string expected = run("-m", default_model().c_str()).out;
  EXPECT_EQ(run("-m", "Bonsai-1.7B").out, expected);
  EXPECT_EQ(run("-hf", "bonsai-1.7b").out, expected);
  EXPECT_TRUE(tern({"pull", "bonsai-1.7b"}).out.ends_with("/Bonsai-1.7B-Q1_0.gguf\n"));
  EXPECT_NE(tern({"pull", "bonsai-1.7b", "--list"}).out.find("Bonsai-1.7B-Q1_0.gguf"), std::string::npos);
  EXPECT_EQ(tern({"inspect", "bonsai-1.7b"}).exit_code, 0);
  EXPECT_TRUE(failed_with(run("-m", "bonsai-1.8b"), 1,
                          {"bonsai-1.8b", "no such file", "did you mean bonsai-1.7b?", "tern models"}));
  EXPECT_TRUE(failed_with(run("-m", "nothing"), 1, {"nothing: there is no such file", "tern models"}));
}

TEST_F(Pull, AFileOfThatNameComesFirst) {
  fs::copy(default_model(), folder_.path("bonsai-1.7b"));
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path(""));
  const RunResult result = tern({"inspect", "-m", "bonsai-1.7b"});
  fs::current_path(before);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(hub_.server().requests().size(), 0u);
}

TEST_F(Pull, ListsThePublishedModels) {
  const RunResult page = tern({"models"});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_NE(page.out.find("bonsai-1.7b           Q1_0      248 MB    712 MB  Apache-2.0"), std::string::npos)
      << page.out;
  const RunResult json = tern({"models", "--json"});
  EXPECT_NE(json.out.find("\"hub\": \"prism-ml/Bonsai-1.7B-gguf:Bonsai-1.7B-Q1_0.gguf\""), std::string::npos)
      << json.out;
  EXPECT_NE(json.out.find("\"memory_tokens\": 4096"), std::string::npos);
  EXPECT_EQ(hub_.server().requests().size(), 0u);
}

TEST_F(Pull, ExplainsFailuresInOneLine) {
  EXPECT_TRUE(
      failed_with(tern({"pull", "model.gguf"}), 2, {"'model.gguf' is not the name of a repository", "OWNER/NAME"}));
  EXPECT_TRUE(failed_with(tern({"pull", "tern/none"}), 1, {"tern/none", "no such repository"}));
  EXPECT_TRUE(
      failed_with(tern({"pull", "tern/stories:Q7"}), 1, {"'Q7'", "stories-f16.gguf", "stories-i2_s.gguf (16.3 MB)"}));
  EXPECT_TRUE(failed_with(tern({"run", "-hf", "tern/stories:Q7", "-p", "x"}), 1, {"'Q7'"}));
  EXPECT_TRUE(failed_with(tern({"run", "-hf", "tern/stories", "-m", "x", "-p", "x"}), 2, {"--hf"}));
  EXPECT_TRUE(failed_with(run_tern({"pull", "tern/stories"}, environment("ftp://x")), 2, {"HF_ENDPOINT"}));
  EXPECT_TRUE(failed_with(run_tern({"pull", "tern/stories"}, environment("http://127.0.0.1:1")), 1, {"127.0.0.1:1"}));
  hub_.files["stories-i2_s.gguf"].announced_digest = std::string(64, '0');
  EXPECT_TRUE(failed_with(tern({"pull", "tern/stories"}), 1, {"stories-i2_s.gguf", "checksum", "deleted"}));
  EXPECT_TRUE(blobs().empty());
}

TEST_F(Pull, ListsARepository) {
  EXPECT_EQ(tern({"pull", "tern/stories", "--list"}).out,
            "     20 B  stories-f16.gguf\n  16.3 MB  stories-i2_s.gguf\n");
}

TEST_F(Pull, StaysQuietAboutADropWhereTold) {
  hub_.files["stories-i2_s.gguf"].bytes = hub::test_bytes(100'000);
  hub_.after = [first = std::make_shared<std::atomic<bool>>(true)](const hub::TestRequest& request,
                                                                   hub::TestReply& reply) {
    if (request.path.contains("/resolve/") && first->exchange(false)) reply.cut_after = 50'000;
  };
  const RunResult result = tern({"pull", "-q", "tern/stories"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
}

}  // namespace
}  // namespace tern::test
