// A file that is elsewhere, as far as it can be looked at before it is fetched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tern/error.h"

namespace tern {

struct FilePreview {
  std::string path;    // for messages
  uint64_t bytes = 0;  // of the whole file
  // Fills `into` with the first bytes of the file, which has at least so many.
  std::function<Result<void>(std::span<std::byte> into)> read_beginning;
};

// Whether Tern would refuse a GGUF model, by what comes before the weights in its file, or in all parts of a split one:
// the error that loading it would give. What the weights hold is not looked at. For HubOptions::check.
Result<void> check_model_header(std::span<const FilePreview> parts);

}  // namespace tern
