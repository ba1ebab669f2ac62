// For tests: a small, complete and valid BitNet GGUF (d_model 128) that a test then breaks in one place.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "file/gguf/gguf.h"

namespace tern {

struct TinyTensor {
  GgmlType type;
  std::vector<int64_t> shape;   // rows first
  std::vector<std::byte> data;  // empty: zeros (I2_S: weights of all three values, scale 1)
};

struct TinyGguf {
  TinyGguf();  // the valid file: 2 layers, 2 heads, 1 KV head, d_ff 256, 8 tokens

  // Writes the file to the test's temporary folder and returns its path.
  std::string write(const std::string& name) const;

  std::string architecture = "bitnet-b1.58";
  std::map<std::string, uint32_t> integers;  // without the architecture's prefix
  std::map<std::string, float> floats;
  std::map<std::string, bool> flags;
  std::map<std::string, std::string> strings;  // whole keys
  std::map<std::string, std::vector<std::string>> string_lists;
  std::map<std::string, std::vector<int32_t>> integer_lists;
  std::map<std::string, std::vector<float>> float_lists;
  std::map<std::string, uint32_t> token_ids;  // whole keys
  std::map<std::string, bool> bools;          // whole keys
  std::map<std::string, float> whole_floats;  // whole keys
  std::map<std::string, TinyTensor> tensors;
};

// The same of Qwen3.5. Layer 0 is recurrent, with 2 heads of keys and 4 of values of 16 dimensions; layer 1 has
// attention with 2 heads of 64.
TinyGguf tiny_qwen35();

// The same of Gemma 4, with 4 layers: all but the third have a window, and the last reads the second's keys
// and values.
TinyGguf tiny_gemma4();

// Replaces the feed-forward layers of `file` by mixtures of 4 experts of width 64, 2 of them for each token.
void put_experts(TinyGguf& file);

// Writes the file and expects that it is refused, with `part` in the message.
void expect_refused(const TinyGguf& file, ErrorCode code, std::string_view part);

}  // namespace tern
