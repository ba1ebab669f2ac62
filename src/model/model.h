// A model file, opened: its shape, its weights (still in the file) and what its tokenizer is made from.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/folder.h"
#include "base/result.h"
#include "model/config.h"
#include "model/source.h"
#include "model/weights.h"
#include "tern/options.h"
#include "tern/tokenizer.h"
#include "text/vocab.h"

namespace tern {

struct Model {
  std::string path;
  std::string name;
  Config config;
  Weights weights;
  std::unique_ptr<ModelSource> source;  // keeps what the weights point into
};

// The model in any container that Tern reads, not yet checked to be one that it runs: a GGUF file, any part of a split
// one, a Hugging Face directory or an MLC directory. The shards of an MLC directory are checked when it is first
// opened, which takes seconds. With Access::kPieces no tensor need lie in memory: they are read, or made, piece by
// piece. Errors of `changes`: apply_changes()'.
Result<std::unique_ptr<ModelSource>> open_source(const std::string& path, const OnProgress& on_progress = {},
                                                 Access access = Access::kResident,
                                                 const MetadataChanges& changes = {});

// The same for the files of a directory, wherever they are.
Result<std::unique_ptr<ModelSource>> open_source(std::shared_ptr<const Folder> folder,
                                                 const OnProgress& on_progress = {}, Access access = Access::kResident);

// The model that a source holds, with everything checked but the values of its weights. `path` is for messages.
Result<Model> read_model(const std::string& path, std::unique_ptr<ModelSource> source);

// Opens and checks a model. Errors name the file, the tensor or key, and the remedy.
Result<Model> open_model(const std::string& path, const OnProgress& on_progress = {}, Access access = Access::kResident,
                         const MetadataChanges& changes = {});

// A line for each key that was ignored.
void warn_of_ignored_keys(const Model& model);

// The architectures that open_model takes, for messages: "bitnet-b1.58, bitnet-25, bitnet".
std::string supported_architectures();

}  // namespace tern
