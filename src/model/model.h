// A model file, opened: its shape, its weights (still in the mapped file) and what its tokenizer is made from.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "file/gguf.h"
#include "model/config.h"
#include "model/weights.h"
#include "tern/tokenizer.h"
#include "text/vocab.h"

namespace tern {

struct Model {
  std::string path;
  std::string name;
  Config config;
  Weights weights;
  std::unique_ptr<GgufFile> file;  // keeps the mapping that the weights point into
};

// Opens and checks a model file. Errors name the file, the tensor or key, and the remedy.
Result<Model> open_model(const std::string& path);

// The architectures that open_model takes, for messages: "bitnet-b1.58, bitnet-25, bitnet".
std::string supported_architectures();

}  // namespace tern
