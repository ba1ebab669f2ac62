#include "hub/store/model_name.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "tern/visible.h"

namespace tern::hub {
namespace {

constexpr size_t kMaxName = 96;  // of an owner or a repository on Hugging Face
constexpr size_t kMaxPath = 1024;
constexpr size_t kMaxComponent = 255;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Hugging Face's rules: letters, digits and "-._", beginning and ending with a letter or a digit (or '_'). "--"
// separates owner and name in the cache's folders, so a name may not contain it.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && is_word(name.front()) && is_word(name.back()) &&
         !name.contains("--") && !name.contains("..") &&
         std::ranges::all_of(name, [](char c) { return is_word(c) || c == '-' || c == '.'; });
}

bool is_revision(std::string_view revision) {
  return is_safe_path(revision) &&
         std::ranges::all_of(revision, [](char c) { return is_word(c) || c == '-' || c == '.' || c == '/'; });
}

std::string_view take_until(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// Removes the host from an address of Hugging Face; false if `text` is not one.
bool strip_host(std::string_view& text) {
  constexpr std::array<std::string_view, 5> kHosts = {"https://huggingface.co/", "http://huggingface.co/",
                                                      "huggingface.co/", "https://hf.co/", "hf.co/"};
  for (const std::string_view host : kHosts) {
    if (!text.starts_with(host)) continue;
    text.remove_prefix(host.size());
    return true;
  }
  return false;
}

// Parses OWNER/NAME, OWNER/NAME/tree/REVISION or OWNER/NAME/blob/REVISION/FILE, as in the address bar.
ModelName parse_address(std::string_view path) {
  path = path.substr(0, path.find_first_of("?#"));
  while (path.ends_with('/')) path.remove_suffix(1);
  ModelName name;
  const std::string_view owner = take_until(path, '/');
  const std::string_view repo = take_until(path, '/');
  name.repo = std::string(owner) + "/" + std::string(repo);
  const std::string_view view = take_until(path, '/');
  if (view == "tree" || view == "blob" || view == "resolve") name.revision = take_until(path, '/');
  name.file = path;
  return name;
}

ModelName parse_short(std::string_view text) {
  ModelName name;
  std::string_view repo = take_until(text, ':');
  name.file = text;
  const size_t at = repo.find('@');
  if (at != std::string_view::npos) {
    name.revision = repo.substr(at + 1);
    repo = repo.substr(0, at);
  }
  name.repo = repo;
  return name;
}

}  // namespace

Result<ModelName> parse_model_name(std::string_view text) {
  if (text.size() > 2 * kMaxPath) return fail(ErrorCode::kInvalidArgument, "the name of the model is too long");
  std::string_view rest = text;
  if (rest.starts_with("hf://")) rest.remove_prefix(5);
  // An address with ':' after the repository (hf.co/OWNER/NAME:FILE) is the short form with a host.
  const bool is_page = strip_host(rest) && std::ranges::count(rest, '/') > 1 && !rest.contains(':');
  ModelName name = is_page ? parse_address(rest) : parse_short(rest);
  while (name.repo.ends_with('/')) name.repo.pop_back();
  std::string_view repo = name.repo;
  const std::string_view owner = take_until(repo, '/');
  if (!is_name(owner) || !is_name(repo)) {
    return fail(ErrorCode::kInvalidArgument,
                "'{}' is not the name of a repository; give OWNER/NAME or OWNER/NAME:FILE, as in "
                "microsoft/bitnet-b1.58-2B-4T-gguf (a file on this machine is named by its path)",
                text);
  }
  if (!is_revision(name.revision)) {
    return fail(ErrorCode::kInvalidArgument, "'{}': '{}' is not a branch, tag or commit", text, name.revision);
  }
  if (!name.file.empty() && !is_safe_path(name.file)) {
    return fail(ErrorCode::kInvalidArgument, "'{}': '{}' is not a file of a repository", text, name.file);
  }
  return name;
}

bool is_safe_path(std::string_view path) {
  if (path.empty() || path.size() > kMaxPath || path.starts_with('/') || path.ends_with('/')) return false;
  if (path.find_first_of("\\\n\t") != path.npos || visible(path) != path) return false;
  while (!path.empty()) {
    const std::string_view component = take_until(path, '/');
    if (component.empty() || component == "." || component == ".." || component.size() > kMaxComponent) return false;
  }
  return true;
}

bool is_hex(std::string_view text, size_t digits) {
  return text.size() == digits &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string url_escape(std::string_view text, bool keep_slashes) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && (is_word(c) || c == '-' || c == '.' || c == '~' || (keep_slashes && c == '/'));
    escaped += plain ? std::string(1, c) : format_text("%{:02X}", byte);
  }
  return escaped;
}

}  // namespace tern::hub
