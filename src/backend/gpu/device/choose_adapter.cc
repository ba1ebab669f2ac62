#include "backend/gpu/device/choose_adapter.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

#include "base/text/format_text.h"

namespace fs = std::filesystem;

namespace tern::gpu {
namespace {

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  constexpr auto kSame = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return !std::ranges::search(text, part, kSame).empty();
}

bool matches(const AdapterInfo& info, std::string_view wanted) {
  int index = 0;
  const char* end = wanted.data() + wanted.size();
  if (const auto [at, error] = std::from_chars(wanted.data(), end, index); error == std::errc() && at == end)
    return info.index == index;
  return contains_ignoring_case(info.name, wanted);
}

bool is_hardware(const AdapterInfo& info) {
  return info.type == AdapterType::kDiscrete || info.type == AdapterType::kIntegrated;
}

std::string names_of(std::span<const AdapterInfo> adapters) {
  std::string names;
  for (const AdapterInfo& info : adapters)
    names += format_text("{}{} ({})", names.empty() ? "" : ", ", info.index, info.name);
  return names;
}

bool has_entry(const fs::path& folder, std::string_view prefix) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator(); it.increment(error)) {
    if (it->path().filename().string().starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

bool may_have_hardware([[maybe_unused]] const std::string& dev) {
#if defined(__linux__)
  return has_entry(fs::path(dev) / "dri", "renderD") || has_entry(dev, "nvidia") || has_entry(dev, "dxg");
#else
  return true;
#endif
}

Result<size_t> choose_adapter(std::span<const AdapterInfo> adapters, std::string_view wanted, bool only_hardware) {
  if (!wanted.empty()) {
    const auto found = std::ranges::find_if(adapters, [&](const AdapterInfo& info) { return matches(info, wanted); });
    if (found != adapters.end()) return static_cast<size_t>(found - adapters.begin());
    return fail(ErrorCode::kNotFound, "no GPU is called '{}'; there are: {}", wanted, names_of(adapters));
  }
  if (adapters.empty() || (only_hardware && !is_hardware(adapters.front()))) {
    return fail(ErrorCode::kNotFound, "no GPU of this machine computes; there are: {}",
                adapters.empty() ? "none" : names_of(adapters));
  }
  return size_t{0};
}

}  // namespace tern::gpu
