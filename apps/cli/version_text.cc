#include "cli/version_text.h"

#include "cli/terminal/layout.h"
#include "tern/build_info.h"
#include "tern/engine.h"

namespace tern::cli {
namespace {

std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::string version_text() {
  const BuildInfo info = build_info();
  std::string text = format_text("tern {}\n", version());
  text += format_text("  commit            {}\n", built_commit());
  text += format_text("  compiler          {}\n", info.compiler);
  text += format_text("  instruction sets  {}\n", list(info.targets));
  if (!info.runnable.empty()) text += format_text("  on this machine   {}; it runs {}\n", info.runnable, info.chosen);
  if (!info.not_chosen.empty()) text += format_text("  not used          {}\n", info.not_chosen);
  text += format_text("  backends          {}\n", list(info.backends));
  return text;
}

}  // namespace tern::cli
