// An importance matrix from llama.cpp's `llama-imatrix`: how large the inputs of each weight matrix were while a text
// was read. An error in a column's weights matters in proportion to the size of that input.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace tern {

class GgufFile;

// Two file formats contain the same: for each matrix and every input x, the mean of x² over the tokens. (Matrices of n
// experts have n times as many values, one expert after another.)
//
// The old format, FILE.dat, is little-endian and has no magic number:
//
//   i32 entries
//   entries times: i32 length, the name of the weight; i32 calls; i32 values; f32[values] sums over the calls
//   and then, in most files: i32 calls in all; i32 length, the name of the text
//
// A mean is a sum divided by the calls (if calls are 0, the sum itself). The new format is a GGUF file with
// general.type = "imatrix" and two F32 tensors for each matrix: NAME.in_sum2 [experts, values], the sums, and
// NAME.counts [experts, 1], the tokens. A mean is a sum divided by its count. An expert whose count is 0 saw no tokens,
// and all its inputs count equally. Other tensors (NAME.in_sum) are not needed.
//
// Source: ggml-org/llama.cpp, tools/imatrix/imatrix.cpp (save_imatrix, save_imatrix_legacy).
class Imatrix {
 public:
  // Errors: those of opening the file; kCorruption: it has neither format, ends early, or has a value that is negative
  // or not finite; the message names the entry. kNotSupported: a GGUF file that is not an imatrix.
  static Result<Imatrix> open(const std::string& path);
  // Parses a file of the old format. `name`: the path in messages.
  static Result<Imatrix> parse_dat(Bytes bytes, const std::string& name);

  const std::string& path() const { return path_; }
  // The means for the weight of this name, "blk.0.attn_q.weight"; empty if there are none.
  std::span<const float> find(std::string_view weight) const;
  // All means by weight name.
  const std::map<std::string, std::vector<float>, std::less<>>& entries() const { return entries_; }

 private:
  static Result<Imatrix> read_gguf(const GgufFile& file);
  Result<void> add(const std::string& weight, std::vector<float> means);

  std::string path_;
  std::map<std::string, std::vector<float>, std::less<>> entries_;
};

}  // namespace tern
