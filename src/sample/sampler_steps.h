// The steps between logits and a choice, by the names that llama.cpp has for them.
#pragma once

#include <string_view>
#include <vector>

#include "tern/error.h"

namespace tern {

// In the order in which they run if no other is asked for.
enum class SamplerStep { kPenalties, kDry, kTopNSigma, kTopK, kTypicalP, kTopP, kMinP, kXtc, kTemperature };

// Reads "top_k;top_p;temperature". Commas separate names too. kInvalidArgument: an unknown name, or one that is there
// twice; the message names it.
Result<std::vector<SamplerStep>> parse_samplers(std::string_view text);

}  // namespace tern
