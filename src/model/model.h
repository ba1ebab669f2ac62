// An opened model file: its shape, its weights (still in the file) and the data for its tokenizer.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/result.h"
#include "model/source/config.h"
#include "model/source/source.h"
#include "model/source/weights.h"
#include "tern/options.h"
#include "tern/tokenizer.h"
#include "text/tokenizer/vocab.h"

namespace tern {

struct Model {
  std::string path;
  std::string name;
  Config config;
  Weights weights;
  std::unique_ptr<PredictionBlock> prediction;  // null: there is none, or it is not read
  std::unique_ptr<ModelSource> source;          // owns the data that the weights point to
};

// Opens a model in any container that Tern reads: a GGUF file, any part of a split one, a Hugging Face directory or an
// MLC directory. Whether Tern can run it is not checked yet. The first time an MLC directory is opened, its shards are
// checked, which takes seconds. With Access::kPieces tensors need not be in memory: they are read or made piece by
// piece. Errors of `changes`: those of apply_changes().
Result<std::unique_ptr<ModelSource>> open_source(const std::string& path, const OnProgress& on_progress = {},
                                                 Access access = Access::kResident,
                                                 const MetadataChanges& changes = {});

// The same for a directory's files in any kind of folder.
Result<std::unique_ptr<ModelSource>> open_source(std::shared_ptr<const Folder> folder,
                                                 const OnProgress& on_progress = {}, Access access = Access::kResident);

// Reads a source's model and checks everything except the values of its weights. `path` is for messages.
Result<Model> read_model(const std::string& path, std::unique_ptr<ModelSource> source);

// Opens and checks a model. Errors name the file, the tensor or key, and the remedy.
Result<Model> open_model(const std::string& path, const OnProgress& on_progress = {}, Access access = Access::kResident,
                         const MetadataChanges& changes = {});

// Prints a warning for each ignored key.
void warn_of_ignored_keys(const Model& model);

// The architectures that open_model accepts, for messages: "bitnet-b1.58, bitnet-25, bitnet".
std::string supported_architectures();

}  // namespace tern
