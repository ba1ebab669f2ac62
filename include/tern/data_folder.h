// Where the data files that come with Tern are.
#pragma once

#include <string>
#include <string_view>

namespace tern {

// The folder NAME under share/tern in the prefix of the shared library, of the program, or of Tern's installation: the
// first of these that exists, or empty.
std::string data_folder(std::string_view name);

}  // namespace tern
