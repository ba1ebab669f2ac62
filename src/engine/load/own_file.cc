#include "engine/load/own_file.h"

#include "base/platform/process.h"

namespace tern {

std::string own_file() { return platform::module_file(reinterpret_cast<const void*>(&own_file)); }

}  // namespace tern
