// The heads of recurrent layers: checkpoints have those that share a key one after another, GGUF files take turns.
#pragma once

#include "model/source/config.h"
#include "tools/convert/convert_job.h"

namespace tern {

// Gives a tensor of a checkpoint's recurrent layer, by its name, the order of GGUF files. Others stay as they are.
void put_heads_in_turns(const DeltaConfig& delta, ConvertJob& job);

}  // namespace tern
