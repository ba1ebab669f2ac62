// A module in a web page is not a file of the system.
#include "engine/load/own_file.h"

namespace tern {

std::string own_file() { return {}; }

}  // namespace tern
