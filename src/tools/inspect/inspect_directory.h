// inspect() for a model that is a directory.
#pragma once

#include <nlohmann/json.hpp>

#include "tern/tools.h"

namespace tern {

// Reads a Hugging Face or MLC directory: its configuration as metadata, and its tensors with their original names.
// Facts that require a model Tern can run stay empty. Errors: kNotFound: not such a directory; those of the readers.
Result<FileInfo> inspect_directory(const std::string& path);

// Returns the configuration for inspect_metadata_json().
Result<nlohmann::ordered_json> directory_metadata(const std::string& path, bool whole_arrays);

}  // namespace tern
