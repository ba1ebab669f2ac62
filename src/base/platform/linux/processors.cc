#include "base/platform/processors.h"

#include <sched.h>
#include <sys/resource.h>

#include <cstring>

#include "base/platform/linux/speeds.h"

namespace tern::platform {

static_assert(sizeof(cpu_set_t) == sizeof(ProcessorMask));

std::optional<ProcessorMask> thread_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return std::nullopt;
  ProcessorMask mask;
  std::memcpy(&mask, &set, sizeof(mask));
  return mask;
}

void set_thread_processors(const ProcessorMask& mask) {
  cpu_set_t set;
  std::memcpy(&set, &mask, sizeof(set));
  sched_setaffinity(0, sizeof(set), &set);
}

void give_way(int nice) { ::setpriority(PRIO_PROCESS, 0, nice); }  // of the thread, on Linux alone

std::vector<int> processor_speeds(const std::vector<int>& processors) { return speeds_in("/sys/devices", processors); }

}  // namespace tern::platform
