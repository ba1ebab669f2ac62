#include "base/platform/processors.h"

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

}  // namespace tern::platform
