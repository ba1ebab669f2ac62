#include "cli/support/sandbox.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "base/files/cache_folder.h"
#include "base/platform/process.h"
#include "base/platform/sandbox.h"
#include "base/result.h"
#include "cli/support/common.h"
#include "cli/support/settings.h"
#include "server/http_listener.h"
#include "tern/engine.h"
#include "tern/hub.h"

namespace tern::cli {
namespace {

namespace fs = std::filesystem;
using platform::SandboxRules;

constexpr const char* kFlag = "--sandbox";

// Options whose values are files or folders that the command writes; others that name a file are read.
const std::set<std::string> kWritten = {"output", "out",   "prompt-cache", "slot-save-path",
                                        "files",  "share", "svg",          "wgsl-dir"};
const std::set<std::string> kModels = {"model", "hf", "draft", "against", "models", "in", "file"};

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

// The folders of this program and of the libraries that it has loaded. Drivers that it loads later are beside them, or
// in the system's folders.
std::set<std::string> program_folders() {
  std::set<std::string> folders;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/');
    if (path == line.npos) continue;
    const fs::path folder = fs::path(line.substr(path)).parent_path();
    folders.insert(folder.string());
    // A private toolchain has its drivers' settings in .../usr/share.
    if (const size_t usr = folder.string().rfind("/usr/"); usr != std::string::npos)
      folders.insert(folder.string().substr(0, usr + 4));
  }
  return folders;
}

void add_path(SandboxRules& rules, const std::string& value, bool is_written) {
  std::error_code error;
  if (value.empty() || value == "-") return;
  const fs::path path = fs::absolute(value, error);
  if (is_written) {
    const fs::path folder = fs::is_directory(path, error) ? path : path.parent_path();
    fs::create_directories(folder, error);  // where the command would make it
    return rules.writes.push_back(folder.string());
  }
  // A split model has other files beside the one that is named; a link's target is elsewhere.
  const bool has_more = path.string().contains("-of-");
  rules.reads.push_back(has_more ? path.parent_path().string() : path.string());
  if (has_more && fs::is_symlink(path, error)) rules.reads.push_back(fs::canonical(path, error).parent_path().string());
}

void add_system(SandboxRules& rules) {
  for (const std::string& folder : program_folders()) rules.reads.push_back(folder);
  for (const char* path : {"/usr", "/lib", "/lib64", "/etc", "/run/systemd/resolve", "/proc", "/sys", "/opt/amdgpu",
                           "/run/nvidia-persistenced"}) {
    rules.reads.push_back(path);
  }
  for (const char* path : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts",
                           "/dev/dri", "/dev/kfd", "/dev/dxg"}) {
    rules.devices.push_back(path);
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev", error)) {
    if (entry.path().filename().string().starts_with("nvidia")) rules.devices.push_back(entry.path().string());
  }
  for (const char* variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "LD_LIBRARY_PATH", "SSL_CERT_FILE"}) {
    const std::string list = value_of(variable);
    for (size_t at = 0; at < list.size();) {
      const size_t end = std::min(list.find(':', at), list.size());
      rules.reads.push_back(list.substr(at, end - at));
      at = end + 1;
    }
  }
  if (const std::string own = tern::user_cache_folder(); !own.empty()) {
    fs::create_directories(own, error);
    rules.writes.push_back(own);
  }
  const std::string caches = platform::user_cache_folder();
  for (const char* name : {"/mesa_shader_cache", "/mesa_shader_cache_db", "/nvidia"})
    rules.writes.push_back(caches + name);
  rules.writes.push_back(platform::user_home_folder() + "/.nv");
}

bool has(const CLI::App& command, const char* name) {
  const CLI::Option* option = command.get_option_no_throw(name);
  return option && option->count() > 0;
}

// The files that a list of models names: whatever in it is a path here.
void add_listed(SandboxRules& rules, const std::string& list) {
  std::ifstream file(list);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::ranges::replace_if(text, [](char c) { return std::string_view("\"'=,[]{}:\n\r\t ").contains(c); }, '\n');
  std::istringstream words(text);
  std::error_code error;
  for (std::string word; std::getline(words, word);) {
    if (!word.empty() && fs::exists(word, error)) add_path(rules, word, /*is_written=*/false);
  }
}

// True if an option names a model that is none of the files here: it comes from the hub's cache, or the hub.
bool wants_hub(const CLI::App& command) {
  std::error_code error;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || !kModels.contains(option->get_single_name())) continue;
    if (option->get_single_name() == "hf" || option->get_single_name() == "models") return true;
    for (const std::string& value : option->results()) {
      if (!fs::exists(value, error)) return true;
    }
  }
  const std::string model = value_of("TERN_MODEL");
  return !model.empty() && !fs::exists(model, error);
}

Result<SandboxRules> rules_for(const CLI::App& command) {
  SandboxRules rules;
  add_system(rules);
  if (const Result<std::string> own = default_model_path()) rules.reads.push_back(*own);
  rules.reads.push_back(value_of("TERN_MODEL"));
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const std::string shown = option->get_option_text(), name = option->get_single_name();
    const bool is_path = shown.starts_with("FILE") || shown.starts_with("DIR") || shown.starts_with("MODEL") ||
                         kWritten.contains(name) || kModels.contains(name);
    if (!is_path) continue;
    if (name == "models") add_listed(rules, option->results().front());
    for (const std::string& value : option->results()) add_path(rules, value, kWritten.contains(name));
  }
  const bool serves = command.get_name() == "serve";
  rules.may_connect = has(command, "--url");
  if (wants_hub(command)) {
    TRY(const std::string cache, hub_cache_dir());
    std::error_code error;
    fs::create_directories(cache, error);
    rules.writes.push_back(cache);
    rules.may_connect = true;
  }
  rules.may_listen = serves;
  if (serves && has(command, "--port")) rules.port = command.get_option("--port")->as<uint16_t>();
  if (serves && !has(command, "--port")) rules.port = static_cast<uint16_t>(server::Address().port);
  return rules;
}

}  // namespace

void add_sandbox(CLI::App& command) {
  command
      .add_flag(kFlag,
                "Give up what the command does not need: other files, other programs, the network (Linux); also "
                "$TERN_SANDBOX")
      ->group("Other");
}

Result<void> enter_sandbox(CLI::App& command) {
  CLI::Option* flag = command.get_option_no_throw(kFlag);
  if (!flag) return {};
  TRY_STATUS(apply_variable(*flag));
  if (flag->count() == 0 || !flag->as<bool>()) return {};
  if (has(command, "--mcp")) {
    return fail(ErrorCode::kNotSupported,
                "--sandbox does not go with --mcp, whose servers are programs that would be "
                "inside, too; leave one out");
  }
  TRY(const SandboxRules rules, rules_for(command));
  const auto entered = platform::enter_sandbox(rules);
  if (!entered && entered.error() == std::errc::not_supported)
    return fail(ErrorCode::kNotSupported, "--sandbox: this system has no such thing that Tern knows; leave it out");
  if (!entered) return fail(ErrorCode::kIo, "--sandbox: {}", entered.error().message());
  std::string line = "sandbox: " + (entered->in_force.empty() ? "nothing in force" : entered->in_force);
  if (!entered->missing.empty()) line += "; not " + entered->missing;
  print_note(line);
  return {};
}

}  // namespace tern::cli
