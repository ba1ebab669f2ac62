#include "base/files/folder.h"

#include <filesystem>

namespace tern {

std::string Folder::path_of(std::string_view name) const { return (std::filesystem::path(path()) / name).string(); }

}  // namespace tern
