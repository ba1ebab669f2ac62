#include "quant/weighted.h"

#include "quant/q6_k.h"

namespace tern {

EncodeWeighted weighted_encoder(Format format) { return format == Format::kQ6_K ? encode_q6_k_weighted : nullptr; }

}  // namespace tern
