// Where this installation's data is. The shared library and the program look next to themselves. A static library
// becomes part of a program that may be anywhere, so find_package(Tern) defines TERN_DATA_DIR for every target that
// links it.
#pragma once

namespace tern::internal {

void set_data_dir(const char* path);  // `path` must live as long as the program

#ifdef TERN_DATA_DIR
inline const bool kDataDirIsSet = (set_data_dir(TERN_DATA_DIR), true);
#endif

}  // namespace tern::internal
