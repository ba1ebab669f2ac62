// Encoders for values that matter unequally.
#pragma once

#include <span>

#include "base/bytes.h"
#include "quant/format.h"

namespace tern {

// Encodes whole blocks so that Σ importance[i]·error² over a block is small. importance.size() == values.size(); none
// is negative or NaN.
using EncodeWeighted = void (*)(std::span<const float> values, std::span<const float> importance, MutableBytes blocks);

// nullptr for a format whose encoder has no use for weights.
EncodeWeighted weighted_encoder(Format format);

}  // namespace tern
