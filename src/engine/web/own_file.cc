// A module in a page is no file of a system's.
#include "engine/own_file.h"

namespace tern {

std::string own_file() { return {}; }

}  // namespace tern
