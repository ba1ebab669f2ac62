// How the makers of a model want a text's vector to come from those of its tokens.
#pragma once

#include "base/result.h"
#include "model/model.h"
#include "tern/options.h"

namespace tern {

// kLast or kMean. From GGUF's pooling_type, or from 1_Pooling/config.json of a directory (sentence-transformers' file);
// kLast where nothing is said, and for the BitNet embedding models, whose files say mean although the models were
// trained to be read at the last token. kNotSupported: another way, by its name.
Result<Pooling> read_pooling(const Model& model);

}  // namespace tern
