// What an MLC directory's mlc-chat-config.json says, in GGUF's terms.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/source_values.h"

namespace tern {

struct MlcConfig {
  std::string architecture;  // GGUF's name of it
  std::optional<bool> tied;  // whether the head is the embedding
  // Rows of the parts of the matrix that holds q, k and v.
  int64_t q_rows = 0;
  int64_t kv_rows = 0;
  SourceValues values;
};

// kCorruption: no such file; kNotSupported: an architecture or a quantisation that Tern cannot read, by its name.
Result<MlcConfig> parse_mlc_config(std::string_view text, const std::string& path);

}  // namespace tern
