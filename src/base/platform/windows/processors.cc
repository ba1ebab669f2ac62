#include "base/platform/processors.h"

#include <windows.h>

namespace tern::platform {

// Windows has groups of up to 64 processors, and a thread runs in one of them. Group g has the numbers from 64 g on.
std::optional<ProcessorMask> thread_processors() {
  GROUP_AFFINITY here = {};
  ProcessorMask mask = {};
  if (!::GetThreadGroupAffinity(::GetCurrentThread(), &here) || here.Group >= mask.size()) return std::nullopt;
  mask[here.Group] = here.Mask;
  return mask;
}

void set_thread_processors(const ProcessorMask& mask) {
  for (WORD group = 0; group < mask.size(); ++group) {
    if (mask[group] == 0) continue;
    const GROUP_AFFINITY there = {.Mask = mask[group], .Group = group, .Reserved = {}};
    ::SetThreadGroupAffinity(::GetCurrentThread(), &there, nullptr);
    return;
  }
}

void give_way(int nice) {
  if (nice > 0)
    ::SetThreadPriority(::GetCurrentThread(), nice < 10 ? THREAD_PRIORITY_BELOW_NORMAL : THREAD_PRIORITY_LOWEST);
}

}  // namespace tern::platform
