// Changes to a GGUF file's metadata, made before anything is read from it.
#pragma once

#include <string>

#include "file/gguf.h"
#include "tern/options.h"

namespace tern {

// Gives the file the overridden values. kInvalidArgument: what is no override, a key named twice, a key that says how
// the file is laid out, a key to ignore that the file does not have.
Result<void> apply_changes(const MetadataChanges& changes, GgufFile& file);

// kInvalidArgument where there are changes: only GGUF files can be read otherwise than they say.
Result<void> refuse_changes(const MetadataChanges& changes, const std::string& path);

}  // namespace tern
