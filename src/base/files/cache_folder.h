// The folder for data that is kept between runs and can be regenerated.
#pragma once

#include <string>

namespace tern {

// $XDG_CACHE_HOME/tern, or ~/.cache/tern; empty if neither is set. Relative paths are ignored, as the XDG base
// directory specification says. The folder may not exist.
std::string user_cache_folder();

}  // namespace tern
