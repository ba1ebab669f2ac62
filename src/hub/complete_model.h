// Checks that a folder in the cache has everything that a model needs.
#pragma once

#include <string>

#include "hub/choose.h"

namespace tern::hub {

// A snapshot holds the files fetched so far: perhaps the model, perhaps only one file of it. True if `choice`, made
// from the existing files, has all files that an index of shards (safetensors, MLC) among them names. A single file is
// always complete. `folder` is the snapshot's.
bool is_complete(const Choice& choice, const std::string& folder);

}  // namespace tern::hub
