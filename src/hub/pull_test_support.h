// For tests: a hub with one model, and a cache in the test's own folder to pull it into.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "hub/hub_test_support.h"
#include "hub/net/fake_hub_test_support.h"
#include "hub/store/cache.h"
#include "tern/hub.h"

namespace tern::hub {

inline std::string warned;  // the last warning

class PullTest : public testing::Test {
 protected:
  PullTest() {
    // Removes settings in the environment of the user.
    for (const char* name :
         {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_ENDPOINT"}) {
      ::unsetenv(name);
    }
    ::setenv("HF_HOME", folder_.path("home").c_str(), 1);
    ::setenv("no_proxy", "*", 1);
    set_warning_sink([](std::string_view line) { warned = line; });
    warned.clear();
    hub_.files["model-i2_s.gguf"].bytes = test_bytes(300'000);
    hub_.files["README.md"] = {.bytes = "# A model\n", .is_large = false};
    options_ = {.endpoint = hub_.url(), .cache_dir = folder_.path("hub")};
  }
  ~PullTest() override { set_warning_sink(nullptr); }

  Result<std::string> pull(const std::string& model = "owner/model") { return hub_pull(model, options_); }
  std::string failure(const std::string& model = "owner/model") {
    const auto path = pull(model);
    return path ? "no error" : path.error().message;
  }
  std::string repo(const std::string& name) const { return folder_.path("hub/models--owner--model/" + name); }
  size_t requests() { return hub_.server().requests().size(); }
  size_t partial_files() const {
    size_t n = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      n += entry.path().extension() == ".incomplete" || entry.path().extension() == ".state" ? 1u : 0u;
    }
    return n;
  }

  TestFolder folder_;
  FakeHub hub_;
  HubOptions options_;
};

}  // namespace tern::hub
