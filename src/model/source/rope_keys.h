// RoPE in GGUF's terms: `ARCH.rope.*` keys, and the tensors rope_freqs and rope_factors_*.
#pragma once

#include <string>

#include "base/result.h"
#include "file/gguf/gguf_writer.h"
#include "model/source/config.h"
#include "model/source/source.h"

namespace tern {

inline constexpr std::string_view kRopeFreqs = "rope_freqs.weight";
inline constexpr std::string_view kRopeFactorsShort = "rope_factors_short.weight";
inline constexpr std::string_view kRopeFactorsLong = "rope_factors_long.weight";

// Reads the RoPE of a model whose heads have `c.head_dim` dimensions, all rotated. kNotSupported, naming the key: a
// scaling that Tern does not compute; kCorruption: an invalid value or tensor.
Result<RopeParams> read_rope(ModelSource& source, const Config& c);

// Writes what read_rope reads, except for the tensors.
void write_rope(const RopeParams& rope, const std::string& architecture, GgufWriter& writer);

}  // namespace tern
