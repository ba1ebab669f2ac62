// An MLC directory's mlc-chat-config.json in GGUF's terms.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/source/source_values.h"

namespace tern {

struct MlcConfig {
  std::string architecture;  // GGUF's name
  std::optional<bool> tied;  // true if the output head is the embedding
  // Row counts of q and of k (or v) in the matrix that joins q, k and v.
  int64_t q_rows = 0;
  int64_t kv_rows = 0;
  SourceValues values;
};

// kCorruption: no such file; kNotSupported, naming it: an architecture or a quantization that Tern cannot read.
Result<MlcConfig> parse_mlc_config(std::string_view text, const std::string& path);

}  // namespace tern
