#include "base/platform/apple/system_number.h"
#include "base/platform/processors.h"

namespace tern::platform {

int fast_processors() { return system_number("hw.nperflevels") > 1 ? system_number("hw.perflevel0.logicalcpu") : 0; }

}  // namespace tern::platform
