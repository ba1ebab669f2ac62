// The only file that is compiled with absolute paths. So ccache can share all other files between checkouts.
#include "support/checkout.h"

namespace tern {

std::string source_path(std::string_view below_root) { return TERN_SOURCE_DIR "/" + std::string(below_root); }

std::string build_path(std::string_view below_root) { return TERN_BINARY_DIR "/" + std::string(below_root); }

}  // namespace tern
