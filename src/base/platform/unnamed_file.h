// Files without a name, which are gone when the process ends in whatever way, unless they get a name before.
#pragma once

#include <string>

#include "base/platform/disk_file.h"

namespace tern::platform {

// A new file on the disk of `folder`, to be written. Not every system and file system can make one.
SystemResult<DiskFile> make_unnamed_file(const std::string& folder, DiskFile::Readers readers);

// Fails with std::errc::file_exists if there is a file of that name.
SystemResult<void> name_file(const DiskFile& file, const std::string& path);

}  // namespace tern::platform
