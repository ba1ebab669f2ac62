#include "base/platform/linux/speeds.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

namespace tern::platform {
namespace {

std::optional<int> number_in(const std::string& path) {
  std::ifstream file(path);
  int number = 0;
  if (!(file >> number) || number <= 0) return std::nullopt;
  return number;
}

// True if a list such as "0-7,16" has the number.
bool lists(const std::string& list, int number) {
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream ends(part);
    int first = 0;
    if (!(ends >> first)) continue;
    int last = first;
    if (ends.peek() == '-' && ends.ignore() && !(ends >> last)) continue;
    if (first <= number && number <= last) return true;
  }
  return false;
}

}  // namespace

std::vector<int> speeds_in(const std::string& folder, const std::vector<int>& processors) {
  std::vector<int> speeds;
  for (const int processor : processors) {
    const auto speed = number_in(folder + "/system/cpu/cpu" + std::to_string(processor) + "/cpu_capacity");
    if (!speed) break;
    speeds.push_back(*speed);
  }
  if (speeds.size() != processors.size()) {
    speeds.clear();
    std::string fast;
    if (std::ifstream file(folder + "/cpu_core/cpus"); !std::getline(file, fast)) return {};
    for (const int processor : processors) speeds.push_back(lists(fast, processor) ? 2 : 1);
  }
  if (std::ranges::adjacent_find(speeds, std::ranges::not_equal_to()) == speeds.end()) return {};
  return speeds;
}

}  // namespace tern::platform
