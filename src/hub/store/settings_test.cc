#include "hub/store/settings.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "hub/hub_test_support.h"

namespace tern::hub {
namespace {

using Variables = std::map<std::string, std::string>;

Result<Settings> with(const Variables& variables, const HubOptions& options = {}) {
  return settings_from(options, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

// The order and the defaults are those of huggingface_hub 1.23's constants.py.
TEST(Settings, FindTheCacheWhereHuggingFaceHubDoes) {
  EXPECT_EQ(with({{"HOME", "/h"}})->cache_dir, "/h/.cache/huggingface/hub");
  EXPECT_EQ(with({{"USERPROFILE", "/u"}})->cache_dir, "/u/.cache/huggingface/hub");
  EXPECT_EQ(with({{"HOME", "/h"}, {"USERPROFILE", "/u"}})->cache_dir, "/h/.cache/huggingface/hub");
  EXPECT_EQ(with({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}})->cache_dir, "/x/huggingface/hub");
  EXPECT_EQ(with({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}, {"HF_HOME", "/hf"}})->cache_dir, "/hf/hub");
  EXPECT_EQ(with({{"HOME", "/h"}, {"HF_HOME", "~/hf"}})->cache_dir, "/h/hf/hub");
  EXPECT_EQ(with({{"HF_HOME", "/hf"}, {"HUGGINGFACE_HUB_CACHE", "/old"}})->cache_dir, "/old");
  EXPECT_EQ(with({{"HF_HUB_CACHE", "/c/"}, {"HUGGINGFACE_HUB_CACHE", "/old"}})->cache_dir, "/c");
  EXPECT_EQ(with({{"HF_HUB_CACHE", "/c"}}, {.cache_dir = "/option"})->cache_dir, "/option");
  EXPECT_EQ(with({{"HF_HUB_CACHE", "there"}})->cache_dir, (std::filesystem::current_path() / "there").string());
  EXPECT_FALSE(with({}));
}

TEST(Settings, TakeTheTokenFromTheEnvironmentOrItsFile) {
  const TestFolder folder;
  folder.write("token", "hf_file\n");
  EXPECT_EQ(with({{"HF_HOME", folder.path()}})->token, "hf_file");
  EXPECT_EQ(with({{"HF_HOME", folder.path()}, {"HF_TOKEN", " hf_variable "}})->token, "hf_variable");
  EXPECT_EQ(with({{"HF_HOME", "/none"}, {"HF_TOKEN_PATH", folder.path("token")}})->token, "hf_file");
  EXPECT_EQ(with({{"HF_HOME", "/none"}})->token, "");
  // A line break in the token would begin another header.
  EXPECT_FALSE(with({{"HF_HOME", "/none"}, {"HF_TOKEN", "a\r\nX-Evil: 1"}}));
}

TEST(Settings, TakeOnlyAddressesAsEndpoints) {
  EXPECT_EQ(with({{"HOME", "/h"}})->endpoint, "https://huggingface.co");
  EXPECT_EQ(with({{"HOME", "/h"}, {"HF_ENDPOINT", "http://mirror:8080//"}})->endpoint, "http://mirror:8080");
  for (const char* bad : {"mirror", "file:///etc", "ftp://x", "http://a b"}) {
    EXPECT_FALSE(with({{"HOME", "/h"}, {"HF_ENDPOINT", bad}})) << bad;
  }
}

TEST(Settings, AreOfflineWhereTold) {
  EXPECT_FALSE(with({{"HOME", "/h"}})->offline);
  EXPECT_FALSE(with({{"HOME", "/h"}, {"HF_HUB_OFFLINE", "0"}})->offline);
  EXPECT_TRUE(with({{"HOME", "/h"}, {"HF_HUB_OFFLINE", "1"}})->offline);
  EXPECT_TRUE(with({{"HOME", "/h"}, {"TRANSFORMERS_OFFLINE", "yes"}})->offline);
}

}  // namespace
}  // namespace tern::hub
