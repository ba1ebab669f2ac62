// For systems that bind no thread to a processor: macOS, browsers.
#include "base/platform/processors.h"

namespace tern::platform {

std::optional<ProcessorMask> thread_processors() { return std::nullopt; }
void set_thread_processors(const ProcessorMask& /*mask*/) {}

void give_way(int /*nice*/) {}

std::vector<int> processor_speeds(const std::vector<int>& /*processors*/) { return {}; }

}  // namespace tern::platform
