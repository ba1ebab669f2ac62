#include "base/platform/processors.h"

#include <algorithm>
#include <functional>
#include <ranges>
#include <tuple>

namespace tern::platform {

std::vector<int> allowed_processors() {
  const std::optional<ProcessorMask> mask = thread_processors();
  if (!mask) return {};
  std::vector<int> numbers;
  for (size_t i = 0; i < mask->size() * 64; ++i) {
    if (((*mask)[i / 64] >> (i % 64) & 1) != 0) numbers.push_back(static_cast<int>(i));
  }
  return numbers;
}

std::vector<int> fast_processors_first() {
  std::vector<int> numbers = allowed_processors();
  if (std::vector<int> speeds = processor_speeds(numbers); speeds.size() == numbers.size()) {
    std::ranges::stable_sort(std::views::zip(speeds, numbers), std::greater(),
                             [](const auto& both) { return std::get<0>(both); });
  }
  return numbers;
}

int count_fast(std::span<const int> speeds) {
  const int most = speeds.empty() ? 0 : std::ranges::max(speeds);
  return static_cast<int>(std::ranges::count_if(speeds, [most](int speed) { return 5 * speed >= 3 * most; }));
}

}  // namespace tern::platform
