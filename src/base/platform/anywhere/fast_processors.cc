// For systems that tell the speed of each processor, or nothing.
#include "base/platform/processors.h"

namespace tern::platform {

int fast_processors() { return count_fast(processor_speeds(allowed_processors())); }

}  // namespace tern::platform
