#include "base/platform/processors.h"

namespace tern::platform {

int fast_processors() { return 0; }  // a browser tells only how many there are

}  // namespace tern::platform
