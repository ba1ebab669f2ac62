#include "server/static_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "base/platform/process.h"
#include "base/text/format_text.h"

namespace fs = std::filesystem;

namespace tern::server {
namespace {

constexpr std::string_view kUnknownType = "application/octet-stream";
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kMediaTypes = {{
    {".css", "text/css; charset=utf-8"},
    {".gguf", kUnknownType},
    {".gif", "image/gif"},
    {".htm", "text/html; charset=utf-8"},
    {".html", "text/html; charset=utf-8"},
    {".ico", "image/x-icon"},
    {".jpg", "image/jpeg"},
    {".js", "text/javascript; charset=utf-8"},
    {".json", "application/json"},
    {".map", "application/json"},
    {".md", "text/markdown; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".png", "image/png"},
    {".svg", "image/svg+xml"},
    {".txt", "text/plain; charset=utf-8"},
    {".wasm", "application/wasm"},  // only with this type do browsers compile it while it arrives
    {".webmanifest", "application/manifest+json"},
    {".wgsl", "text/plain; charset=utf-8"},
}};

// Where Windows has other names for a file, these lead to hidden ones and to parts of files, too.
constexpr std::string_view kOtherNames = fs::path::preferred_separator == '/' ? "" : "\\:~";

// "a//b/./c" as {a, b, c}; empty if a name is hidden or would lead elsewhere.
std::optional<std::vector<std::string>> split_path(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (name.empty() || name == ".") continue;
    if (name.starts_with('.') || name.contains('\0') || name.find_first_of(kOtherNames) != name.npos)
      return std::nullopt;
    names.emplace_back(name);
  }
  return names;
}

std::string encoded(const std::vector<std::string>& names) {
  std::string text = "/";
  for (const std::string& name : names) {
    for (const char c : name) {
      const auto byte = static_cast<unsigned char>(c);
      const bool plain = std::isalnum(byte) || std::string_view("-_.~").contains(c);
      text += plain ? std::string(1, c) : format_text("%{:02X}", byte);
    }
    text += '/';
  }
  return text;
}

bool is_within(const std::string& path, const std::string& folder) {
  return folder == "/" || path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// Calls `use` with every part of a comma-separated header.
template <class Use>
void for_each_part(std::string_view header, Use use) {
  while (!header.empty()) {
    const size_t end = std::min(header.find(','), header.size());
    use(trimmed(header.substr(0, end)));
    header.remove_prefix(std::min(end + 1, header.size()));
  }
}

}  // namespace

std::optional<OpenFile> OpenFile::open(const std::string& path) {
  auto file = platform::DiskFile::open(path, platform::DiskFile::Mode::kReadNoLink);
  if (!file) return std::nullopt;
  const auto info = file->info();
  if (!info || info->kind != platform::FileKind::kRegular) return std::nullopt;
  return OpenFile(std::move(*file), *info);
}

std::string OpenFile::etag() const { return format_text("\"{:x}-{:x}-{:x}\"", info_.id, info_.size, info_.written_ns); }

size_t OpenFile::read_at(uint64_t offset, std::span<char> into) const {
  return file_.read_some_at(offset, std::as_writable_bytes(into)).value_or(0);
}

Result<StaticFiles> StaticFiles::open(const std::string& folder) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (!error && !fs::is_directory(root, error) && !error) error = std::make_error_code(std::errc::not_a_directory);
  if (error) {
    return std::unexpected(
        Error{ErrorCode::kNotFound, format_text("{}: cannot serve this folder: {}", folder, error.message())});
  }
  return StaticFiles(root.generic_string());
}

std::expected<FoundFile, NotFound> StaticFiles::find(std::string_view path, bool gzip) const {
  std::optional<std::vector<std::string>> names = split_path(path);
  if (!names) return std::unexpected(NotFound{});
  fs::path wanted = root_;
  for (const std::string& name : *names) wanted /= name;
  std::error_code error;
  fs::path real = fs::canonical(wanted, error);  // follows links, so that the checked file is the one opened
  if (error || !is_within(real.generic_string(), root_)) return std::unexpected(NotFound{});
  const bool named_as_folder = path.empty() || path.ends_with('/');
  if (fs::is_directory(real, error)) {
    wanted /= "index.html";
    real = fs::canonical(wanted, error);
    if (error || !is_within(real.generic_string(), root_)) return std::unexpected(NotFound{});
    if (!named_as_folder) return std::unexpected(NotFound{.status = 301, .location = encoded(*names)});
  } else if (named_as_folder) {
    return std::unexpected(NotFound{});
  }
  std::optional<OpenFile> file = OpenFile::open(real.string());
  if (!file) return std::unexpected(NotFound{});
  FoundFile found = {.file = *std::move(file), .media_type = std::string(media_type(wanted.string()))};
  std::optional<OpenFile> compressed = OpenFile::open(real.string() + ".gz");
  if (!compressed || compressed->modified_ns() < found.file.modified_ns()) return found;
  found.has_gzip = true;
  if (gzip) {
    found.is_gzip = true;
    found.file = *std::move(compressed);
  }
  return found;
}

std::string_view media_type(std::string_view path) {
  std::string extension = fs::path(path).extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto* found =
      std::ranges::find(kMediaTypes, std::string_view(extension), [](const auto& row) { return row.first; });
  return found == kMediaTypes.end() ? kUnknownType : found->second;
}

bool accepts_gzip(std::string_view header) {
  bool accepted = false;
  for_each_part(header, [&](std::string_view part) {
    const size_t end = std::min(part.find(';'), part.size());
    if (trimmed(part.substr(0, end)) != "gzip") return;
    const std::string_view weight = trimmed(part.substr(std::min(end + 1, part.size())));
    // "q=0", "q=0.0": not accepted
    accepted = !weight.starts_with("q=0") || weight.substr(2).find_first_not_of("0.") != std::string_view::npos;
  });
  return accepted;
}

bool names_tag(std::string_view header, std::string_view etag) {
  bool named = false;
  for_each_part(header, [&](std::string_view part) {
    if (part.starts_with("W/")) part.remove_prefix(2);
    named = named || part == etag || part == "*";
  });
  return named;
}

std::string http_date(int64_t seconds) {
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto time = static_cast<time_t>(seconds);
  const std::tm utc = platform::utc_time(time);
  return format_text("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[utc.tm_wday], utc.tm_mday, kMonths[utc.tm_mon],
                     utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::optional<WantedRange> read_range(std::string_view header) {
  constexpr std::string_view kUnit = "bytes=";
  const auto is_same = [](char a, char lower) { return std::tolower(static_cast<unsigned char>(a)) == lower; };
  if (!std::ranges::equal(header.substr(0, kUnit.size()), kUnit, is_same)) return std::nullopt;
  header.remove_prefix(kUnit.size());
  const size_t dash = header.find('-');
  if (dash == std::string_view::npos || header == "-") return std::nullopt;
  const auto number = [](std::string_view text) -> std::optional<int64_t> {
    if (text.empty()) return -1;
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
    return static_cast<int64_t>(error == std::errc() ? std::min(value, kMost) : kMost);
  };
  const auto first = number(header.substr(0, dash)), last = number(header.substr(dash + 1));
  if (!first || !last || (*first >= 0 && *last >= 0 && *last < *first)) return std::nullopt;
  return WantedRange{*first, *last};
}

std::optional<ByteRange> clip_range(int64_t first, int64_t last, uint64_t bytes) {
  const auto size = static_cast<int64_t>(bytes);
  if (first < 0) {  // the last `last` bytes
    if (last <= 0 || size == 0) return std::nullopt;
    first = std::max<int64_t>(size - last, 0);
    last = size - 1;
  }
  if (last < 0 || last >= size) last = size - 1;
  if (first >= size || first > last) return std::nullopt;
  return ByteRange{static_cast<uint64_t>(first), static_cast<uint64_t>(last - first + 1)};
}

}  // namespace tern::server
