// Detects from the weights which models have BitLinear layers.
#pragma once

#include "base/result.h"
#include "model/families/family.h"
#include "model/source/source.h"

namespace tern {

Result<bool> has_bitlinear_layers(ModelSource& source, BitLinear which);

}  // namespace tern
