// Which of its tokens' vectors a model intends as a text's vector.
#pragma once

#include "base/result.h"
#include "model/model.h"
#include "tern/options.h"

namespace tern {

// kLast or kMean, from GGUF's pooling_type or from a directory's 1_Pooling/config.json (sentence-transformers' file).
// The default is kLast. It is also used for the BitNet embedding models: their files say mean, but they were trained to
// be read at the last token. kNotSupported, naming it: another kind of pooling.
Result<Pooling> read_pooling(const Model& model);

}  // namespace tern
