// The values of config.json that only Gemma 4 has.
#pragma once

#include "model/hf/json_config.h"

namespace tern {

// Sets the keys of gemma4.*. They must be set before those of RoPE, which needs the width of a head.
Result<void> set_gemma4_values(const JsonConfig& config, SourceValues& values);

}  // namespace tern
