// inspect() of a model that is a directory.
#pragma once

#include <nlohmann/json.hpp>

#include "tern/tools.h"

namespace tern {

// A Hugging Face or MLC directory: its configuration as metadata, and its tensors with the names that they have there.
// What depends on Tern running the model is left empty. Errors: kNotFound where it is no such directory; those of the
// readers.
Result<FileInfo> inspect_directory(const std::string& path);

// The configuration, for inspect_metadata_json().
Result<nlohmann::ordered_json> directory_metadata(const std::string& path, bool whole_arrays);

}  // namespace tern
