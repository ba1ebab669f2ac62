#include "backend/gpu/device/dawn/driver_files.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

namespace tern::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSoftware = "lvp_icd";

// Both radeon_icd.json and radeon_icd.x86_64.json give "radeon_icd".
std::string driver_name(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.substr(0, name.find('.'));
}

std::vector<fs::path> json_files(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::string drivers_to_add(const std::string& own, std::span<const std::string> system) {
  std::set<std::string> present;
  for (const std::string& folder : system) {
    for (const fs::path& file : json_files(folder)) present.insert(driver_name(file));
  }
  std::string list;
  for (const fs::path& file : json_files(own)) {
    const std::string name = driver_name(file);
    if (name != kSoftware && present.contains(name)) continue;
    if (!list.empty()) list += ':';
    list += file.string();
  }
  return list;
}

void add_own_drivers() {
#ifdef TERN_VULKAN_DRIVERS
  for (const char* named : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"}) {
    if (std::getenv(named) != nullptr) return;
  }
  const std::array<std::string, 3> system = {"/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d",
                                             "/usr/share/vulkan/icd.d"};
  const std::string list = drivers_to_add(TERN_VULKAN_DRIVERS, system);
  if (!list.empty()) setenv("VK_ADD_DRIVER_FILES", list.c_str(), /*overwrite=*/0);
#endif
}

}  // namespace tern::gpu
