// A remote file, of which parts can be read before it is downloaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tern/error.h"
#include "tern/options.h"

namespace tern {

struct FilePreview {
  std::string path;    // for error messages
  uint64_t bytes = 0;  // size of the whole file
  // Reads the first into.size() bytes of the file, which is at least that long.
  std::function<Result<void>(std::span<std::byte> into)> read_beginning;
};

// Checks what precedes the weights in a model's files, and returns the error that loading the model would give. Does
// not check the weights themselves. For HubOptions::check. `files` are
//   a GGUF file, or all parts of a split one;
//   the files of a directory, either a Hugging Face one (with a config.json) or an MLC one (with a
//   tensor-cache.json or ndarray-cache.json). Files other than the weights are read completely.
Result<void> check_model_header(std::span<const FilePreview> files);

// The same for a model that will be loaded with these metadata changes.
Result<void> check_model_header_with(std::span<const FilePreview> files, const MetadataChanges& changes);

}  // namespace tern
