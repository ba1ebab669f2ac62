// The file that holds this library's code.
#pragma once

#include <string>

namespace tern {

// The shared library, or the program that the static library is a part of. Empty where the system does not say.
std::string own_file();

}  // namespace tern
