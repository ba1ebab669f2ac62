// An importance matrix, as llama.cpp's `llama-imatrix` writes it: how large the inputs of each weight matrix were while
// a text was read. An error in a weight's column is then known to matter as much as its inputs are large.
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

// Two containers hold the same: for each matrix the mean of x² over the tokens, for every input x. (For the matrices of
// n experts one after another, so n times as many values.)
//
// The old one, FILE.dat, is little-endian and has no magic number:
//
//   i32 entries
//   entries times: i32 length, the name of the weight; i32 calls; i32 values; f32[values] sums over the calls
//   and then, in most files: i32 calls in all; i32 length, the name of the text
//
// A mean is a sum divided by the calls (where calls are 0, the sum itself). The new one is a GGUF file with
// general.type = "imatrix" and two F32 tensors for each matrix: NAME.in_sum2 [experts, values], the sums, and
// NAME.counts [experts, 1], the tokens. A mean is a sum divided by its count; an expert whose count is 0 has seen
// nothing, and all its inputs count alike. Other tensors (NAME.in_sum) are not needed.
//
// Source: ggml-org/llama.cpp, tools/imatrix/imatrix.cpp (save_imatrix, save_imatrix_legacy).
class Imatrix {
 public:
  // Errors: those of opening the file; kCorruption, naming the entry, where it is neither of the two, ends early, or
  // holds a negative value or one that is not finite; kNotSupported for a GGUF file that is no imatrix.
  static Result<Imatrix> open(const std::string& path);
  // A file of the old kind. `name` stands for the path in messages.
  static Result<Imatrix> parse_dat(Bytes bytes, const std::string& name);

  const std::string& path() const { return path_; }
  // The means for the weight of this name, "blk.0.attn_q.weight"; empty where there are none.
  std::span<const float> find(std::string_view weight) const;
  // By name.
  const std::map<std::string, std::vector<float>, std::less<>>& entries() const { return entries_; }

 private:
  static Result<Imatrix> read_gguf(const GgufFile& file);
  Result<void> add(const std::string& weight, std::vector<float> means);

  std::string path_;
  std::map<std::string, std::vector<float>, std::less<>> entries_;
};

}  // namespace tern
