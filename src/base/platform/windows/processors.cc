#include "base/platform/processors.h"

#include <windows.h>

#include <algorithm>
#include <cstddef>

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

// An efficiency class is higher for faster cores, and 0 for all where they are alike.
std::vector<int> processor_speeds(const std::vector<int>& processors) {
  DWORD bytes = 0;
  ::GetLogicalProcessorInformationEx(RelationProcessorCore, nullptr, &bytes);
  std::vector<std::byte> answer(bytes);
  auto* const first = reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(answer.data());
  if (bytes == 0 || !::GetLogicalProcessorInformationEx(RelationProcessorCore, first, &bytes)) return {};
  std::vector<int> speeds(processors.size(), 1);
  bool is_any_faster = false;
  for (DWORD at = 0; at < bytes;) {
    const auto& core = *reinterpret_cast<const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(answer.data() + at);
    for (size_t i = 0; i < processors.size(); ++i) {
      const GROUP_AFFINITY& group = core.Processor.GroupMask[0];
      const auto number = static_cast<size_t>(processors[i]);
      if (group.Group != number / 64 || (group.Mask >> (number % 64) & 1) == 0) continue;
      speeds[i] = 1 << std::min<int>(core.Processor.EfficiencyClass, 20);  // each class is slow beside the next
      is_any_faster = is_any_faster || core.Processor.EfficiencyClass > 0;
    }
    at += core.Size;
  }
  return is_any_faster ? speeds : std::vector<int>();
}

void give_way(int nice) {
  if (nice > 0)
    ::SetThreadPriority(::GetCurrentThread(), nice < 10 ? THREAD_PRIORITY_BELOW_NORMAL : THREAD_PRIORITY_LOWEST);
}

}  // namespace tern::platform
