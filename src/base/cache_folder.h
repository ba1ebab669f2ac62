// Where things are kept between runs that can be made again.
#pragma once

#include <string>

namespace tern {

// $XDG_CACHE_HOME/tern, or ~/.cache/tern; empty (nowhere) without either. As the XDG base directory specification has
// it, a relative path counts as none. The folder need not exist.
std::string user_cache_folder();

}  // namespace tern
