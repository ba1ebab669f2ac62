#include "hub/store/settings.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace tern::hub {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultEndpoint = "https://huggingface.co";
constexpr size_t kMaxToken = 4096;

std::string value_of(const GetVariable& variable, const char* name) {
  const char* value = variable(name);
  return value ? value : "";
}

// The first of the variables that is set and not empty.
std::string first_of(const GetVariable& variable, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::string value = value_of(variable, name); !value.empty()) return value;
  }
  return "";
}

// The user's folder: $HOME, or what Windows has instead.
std::string home_of(const GetVariable& variable) { return first_of(variable, {"HOME", "USERPROFILE"}); }

std::string expand_home(const std::string& path, const std::string& home) {
  return path == "~" || path.starts_with("~/") ? home + path.substr(1) : path;
}

// The folder in which huggingface_hub keeps everything. Empty if HF_HOME, XDG_CACHE_HOME and home_of() are.
std::string hub_home(const GetVariable& variable) {
  const std::string home = home_of(variable);
  if (const std::string path = value_of(variable, "HF_HOME"); !path.empty()) return expand_home(path, home);
  if (const std::string path = value_of(variable, "XDG_CACHE_HOME"); !path.empty()) return path + "/huggingface";
  return home.empty() ? "" : home + "/.cache/huggingface";
}

bool is_true(std::string value) {
  for (char& c : value) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  constexpr std::array<std::string_view, 4> kTrue = {"1", "ON", "YES", "TRUE"};
  return std::ranges::contains(kTrue, value);
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

std::string read_token_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxToken, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return trimmed(text);
}

Result<std::string> find_token(const HubOptions& options, const GetVariable& variable) {
  std::string token = trimmed(options.token);
  if (token.empty()) token = trimmed(first_of(variable, {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}));
  if (token.empty()) {
    const std::string named = expand_home(value_of(variable, "HF_TOKEN_PATH"), home_of(variable));
    token = read_token_file(named.empty() ? hub_home(variable) + "/token" : named);
  }
  // The token becomes part of a request's header line, so it must not contain a line break.
  if (!std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7F; })) {
    return fail(ErrorCode::kInvalidArgument, "the token (HF_TOKEN) holds spaces or other odd characters; set it again");
  }
  return token;
}

Result<std::string> find_endpoint(const HubOptions& options, const GetVariable& variable) {
  std::string endpoint = options.endpoint.empty() ? value_of(variable, "HF_ENDPOINT") : options.endpoint;
  if (endpoint.empty()) endpoint = kDefaultEndpoint;
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const bool plain = std::ranges::all_of(endpoint, [](char c) { return c > ' ' && c < 0x7F; });
  if (!plain || (!endpoint.starts_with("https://") && !endpoint.starts_with("http://"))) {
    return fail(ErrorCode::kInvalidArgument, "HF_ENDPOINT '{}' is not an address; one looks like {}", endpoint,
                kDefaultEndpoint);
  }
  return endpoint;
}

Result<std::string> find_cache(const HubOptions& options, const GetVariable& variable) {
  std::string path = options.cache_dir;
  if (path.empty()) path = first_of(variable, {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"});
  path = expand_home(path, home_of(variable));
  if (path.empty()) {
    const std::string home = hub_home(variable);
    if (home.empty()) {
      return fail(ErrorCode::kInvalidArgument,
                  "there is no home directory to keep models in; set HF_HUB_CACHE to a directory");
    }
    path = home + "/hub";
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

}  // namespace

Result<Settings> settings_from(const HubOptions& options, const GetVariable& variable) {
  Settings settings;
  TRY(settings.endpoint, find_endpoint(options, variable));
  TRY(settings.token, find_token(options, variable));
  TRY(settings.cache_dir, find_cache(options, variable));
  while (settings.cache_dir.size() > 1 && settings.cache_dir.ends_with('/')) settings.cache_dir.pop_back();
  settings.offline = options.offline || is_true(first_of(variable, {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}));
  return settings;
}

}  // namespace tern::hub
