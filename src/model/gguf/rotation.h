// Matrices that were rotated before they were quantized: keys prism.hadamard.* of the Prism fork. Their rows are Walsh-
// Hadamard transforms of the original ones, block by block, so their input has to be transformed too (step::Rotate).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "file/gguf/gguf.h"
#include "model/source/config.h"
#include "model/source/weights.h"

namespace tern {

struct Rotation {
  int block = 0;                            // a power of two
  std::map<int, std::vector<float>> signs;  // by width of the input; empty: all are +1
  std::vector<std::string> weights;         // whose input is rotated
  std::vector<std::string> tables;          // whose rows are rotated back
  bool groups_heads = false;  // the output of recurrent layers is rotated in the checkpoint's order of heads
};

// nullopt: the file has no such keys. kNotSupported, naming the key: an unknown key, or a value that Tern does not
// compute; kCorruption: keys that contradict each other.
Result<std::optional<Rotation>> read_rotation(const GgufFile& file);

// Marks the matrices. kCorruption: a name that is no matrix of the model, or a width that the rotation does not fit;
// kNotSupported: a matrix that is multiplied with int8 rows.
Result<void> apply_rotation(const Rotation& rotation, const std::string& path, Config& config, Weights& weights);

}  // namespace tern
