// Whether a folder in the cache has everything that a model needs.
#pragma once

#include <string>

#include "hub/choose.h"

namespace tern::hub {

// A snapshot holds what somebody fetched: maybe the model, maybe one file of it. True where `choice`, made from the
// files that are there, lacks nothing that the files themselves name: an index of shards (safetensors, MLC) says what
// there must be. For a single file there is nothing to lack. `folder` is the snapshot's.
bool is_complete(const Choice& choice, const std::string& folder);

}  // namespace tern::hub
