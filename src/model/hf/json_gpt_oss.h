// What only config.json of gpt-oss says.
#pragma once

#include "model/hf/json_config.h"

namespace tern {

// kNotSupported, naming the key: the configuration asks for something that Tern does not compute, or has a key that
// Tern does not know.
Result<void> check_gpt_oss_config(const JsonConfig& config);

}  // namespace tern
