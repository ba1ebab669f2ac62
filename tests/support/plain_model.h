// The default model without its chat template, for tests of models that only continue text.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/checkout.h"

namespace tern::test {

// Path of a copy whose template has another key of the same length. It is removed at the end of the program.
inline const std::string& plain_model() {
  struct Copy {
    std::string path = (std::filesystem::temp_directory_path() / ("tern-plain-" + std::to_string(::getpid()))).string();

    Copy() {
      constexpr std::string_view kKey = "tokenizer.chat_template", kOther = "general.source.repo_url";
      static_assert(kKey.size() == kOther.size());
      std::ostringstream text;
      text << std::ifstream(source_path("models/tern-stories.gguf"), std::ios::binary).rdbuf();
      std::string bytes = std::move(text).str();
      const size_t at = bytes.find(kKey);
      if (at == bytes.npos) std::abort();  // the default model has no template
      std::ofstream(path, std::ios::binary) << bytes.replace(at, kKey.size(), kOther);
    }
    ~Copy() {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
    }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;
  };
  static const Copy copy;
  return copy.path;
}

}  // namespace tern::test
