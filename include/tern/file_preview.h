// A file that is elsewhere, as far as it can be looked at before it is fetched.
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
  std::string path;    // for messages
  uint64_t bytes = 0;  // of the whole file
  // Fills `into` with the first bytes of the file, which has at least so many.
  std::function<Result<void>(std::span<std::byte> into)> read_beginning;
};

// Whether Tern would refuse a model, by what comes before the weights in its files: the error that loading it would
// give. What the weights hold is not looked at. For HubOptions::check. `files` are
//   a GGUF file, or all parts of a split one;
//   the files of a directory, of which those beside the weights are read to their end: a Hugging Face one (with a
//   config.json), or an MLC one (with a tensor-cache.json or ndarray-cache.json).
Result<void> check_model_header(std::span<const FilePreview> files);

// The same for a model that will be loaded with these changes.
Result<void> check_model_header_with(std::span<const FilePreview> files, const MetadataChanges& changes);

}  // namespace tern
