// tern devices: what each backend found.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/layout.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kDevicesFooter = R"(Examples
  tern devices
  tern devices -m model.gguf                      also what the model needs on each, and whether it fits
)";

struct DevicesCommand {
  std::string path;
  HubModelOption hub;
  KvType kv_type = KvType::kF16;
  CLI::Option* kv = nullptr;
};

Result<ExitCode> run(const DevicesCommand& command) {
  TERN_TRY(const std::string model_path, command.hub.resolve(command.path));
  std::vector<DeviceInfo> devices;
  if (model_path.empty()) {
    if (command.kv->count() > 0) return fail(ErrorCode::kInvalidArgument, "devices: --kv needs a model, with -m FILE");
    devices = list_devices();
  } else {
    TERN_TRY(devices, list_devices_for(model_path, command.kv_type));
  }
  const Style style = Style::of(STDOUT_FILENO);
  std::string page;
  for (const DeviceInfo& device : devices) {
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
  auto command = std::make_shared<DevicesCommand>();
  CLI::App* app = add_command(tern, "devices", "Measure and check",
                              "List what each backend found, which features it will use, and why.",
                              "[-m FILE [--kv TYPE]]", kDevicesFooter);
  CLI::Option* path = app->add_option("-m,--model", command->path,
                                      "Also show what this model (GGUF) needs on each, and whether it fits")
                          ->type_name("FILE")
                          ->check(not_empty())
                          ->group("Model");
  command->hub.add(*app, path);
  command->kv = add_kv(*app, command->kv_type);
  return {.app = app, .run = [command] { return run(*command); }};
}

}  // namespace tern::cli
