// Where what comes with Tern lies.
#pragma once

#include <string>
#include <string_view>

namespace tern {

// The folder NAME under share/tern in the prefix of the shared library, of the program, or that Tern was installed to:
// the first of these that has it. Empty where none has.
std::string data_folder(std::string_view name);

}  // namespace tern
