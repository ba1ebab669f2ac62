#include "base/files/system_info.h"

#include <algorithm>
#include <charconv>

namespace tern {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// The value of the first line "key : value"; empty if there is none.
std::string_view value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key)
      return trimmed(line.substr(colon + 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

// Converts "16384 kB" to bytes.
uint64_t kilobytes(std::string_view text) {
  uint64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n * 1024;
}

}  // namespace

bool CpuInfo::has(std::string_view feature) const { return std::ranges::find(features, feature) != features.end(); }

CpuInfo parse_cpu_info(std::string_view text) {
  CpuInfo info;
  info.name = value_of(text, "model name");
  if (info.name.empty()) info.name = value_of(text, "Model");  // some ARM systems
  std::string_view rest = value_of(text, "flags");
  if (rest.empty()) rest = value_of(text, "Features");  // ARM
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (end > 0) info.features.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return info;
}

MemoryInfo parse_memory_info(std::string_view text) {
  return {.total_bytes = kilobytes(value_of(text, "MemTotal")),
          .available_bytes = kilobytes(value_of(text, "MemAvailable"))};
}

}  // namespace tern
