// The file that holds this library's code.
#pragma once

#include <string>

namespace tern {

// The path of the shared library, or of the program that contains the static library. Empty if the system does not
// report it.
std::string own_file();

}  // namespace tern
