// tern devices: what each backend found.
#include <unistd.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/layout.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kFooter = R"(Examples
  tern devices
)";

Result<ExitCode> run() {
  const Style style = Style::of(STDOUT_FILENO);
  std::string page;
  for (const DeviceInfo& device : list_devices()) {
    if (!page.empty()) page += "\n";
    page += format_text("{}  {}\n", style.bold(one_line(device.backend)), one_line(device.name));
    size_t width = 0;
    for (const auto& [name, value] : device.facts) width = std::max(width, display_width(name));
    for (const auto& [name, value] : device.facts) {
      page += format_text("  {}  {}\n", style.dim(pad(name, width)), one_line(value));
    }
  }
  TERN_TRY_STATUS(print(page));
  return ExitCode::kDone;
}

}  // namespace

Command add_devices(CLI::App& tern) {
  CLI::App* app = add_command(tern, "devices", "Measure and check",
                              "List what each backend found, which features it will use, and why.", "", kFooter);
  return {.app = app, .run = run};
}

}  // namespace tern::cli
