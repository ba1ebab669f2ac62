// Paths of the checkout that a test was built from, and of its build folder.
#pragma once

#include <string>
#include <string_view>

namespace tern {

/// The path of a file or folder of the checkout, such as "models/tern-stories.gguf".
std::string source_path(std::string_view below_root);

/// The path of a file or folder of the build, such as "bin/tern".
std::string build_path(std::string_view below_root);

}  // namespace tern
