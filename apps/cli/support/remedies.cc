#include "cli/support/remedies.h"

#include <utility>

namespace tern::cli {

std::string with_flags(std::string_view message) {
  static constexpr std::pair<std::string_view, std::string_view> kRemedies[] = {
      {"use the cpu backend", "-b cpu"},
      {"use the webgpu backend", "-b webgpu"},
      {"measure the costs first", "tern devices --calibrate"},
      {"use the file's head", "--head f16"},
      {"another head", "--head"},
      {"choose another type", "--type"},
      {"give a smaller matrix", "--shape"},
      {"name a model", "-m FILE"},
      {"name another model", "-m FILE"},
      {"is named by its path", "-m FILE"},
      {"the given chat template", "--template"},
      {"give it text to continue", "tern run"},
      {"ignore the key", "--ignore KEY"},
      {"cannot be ignored", "--ignore"},
      {"to ignore", "--ignore"},
      {"the override", "--override"},
  };
  std::string text(message);
  for (const auto& [words, flag] : kRemedies) {
    const size_t at = text.find(words);
    if (at == std::string::npos || text.contains(flag)) continue;
    text.insert(at + words.size(), " (" + std::string(flag) + ")");
  }
  return text;
}

}  // namespace tern::cli
