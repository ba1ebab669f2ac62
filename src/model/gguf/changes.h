// Changes to a GGUF file's metadata, applied before anything is read from it.
#pragma once

#include <string>

#include "file/gguf/gguf.h"
#include "tern/options.h"

namespace tern {

// Applies the overrides to the file. kInvalidArgument: not a valid override, a key named twice, a key that describes
// the file's layout, or a key to ignore that is not in the file.
Result<void> apply_changes(const MetadataChanges& changes, GgufFile& file);

// kInvalidArgument: there are changes, and the file is not GGUF, the only container that can have any.
Result<void> refuse_changes(const MetadataChanges& changes, const std::string& path);

}  // namespace tern
