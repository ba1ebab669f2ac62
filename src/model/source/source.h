// A model file as the families see it: values by GGUF key and tensors by GGUF name, whatever the container.
//
// GGUF's names are the common language. An adapter translates each other container, so that a family is written only
// once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/byte_source.h"
#include "base/files/folder.h"
#include "base/result.h"
#include "file/gguf/gguf.h"
#include "model/source/config.h"
#include "quant/format.h"
#include "tern/options.h"
#include "text/tokenizer/vocab.h"

namespace tern {

struct SourceTensor {
  std::string name;              // GGUF's name: "blk.3.attn_q.weight"
  std::optional<Format> format;  // nullopt: a type that Tern does not compute with
  std::string type_name;         // the container's name of it: "I2_S", "uint8"
  std::vector<int64_t> shape;    // rows first: [n_out, n_in]
  StoredBytes data;              // tensor_bytes(format, …); lives as long as the source
  float scale = 1.0f;            // multiplies the values that the format decodes to (Tensor::scale); includes I2_S's
                                 // own
};

// A tensor of the file with its GGUF names; there are several if it joins several matrices.
struct NamedTensor {
  std::string in_file;
  std::vector<std::string> names;
};

// The data for a tokenizer and a chat template.
struct SourceText {
  Vocab vocab;
  std::optional<std::string> chat_template;  // Jinja
};

class ModelSource {
 public:
  virtual ~ModelSource() = default;

  virtual const std::string& path() const = 0;       // for messages
  virtual const std::string& container() const = 0;  // "GGUF v3"
  virtual uint64_t file_bytes() const = 0;           // total of all files
  // nullopt: the model has no tokenizer.
  virtual Result<std::optional<SourceText>> read_text() const = 0;
  // The model's folder, for files beside the weights; null for a GGUF file.
  virtual const Folder* folder() const { return nullptr; }
  // The underlying GGUF file, for data that only GGUF has; null for other containers.
  virtual const GgufFile* gguf() const { return nullptr; }
  // The changes made to the metadata; only GGUF files can have any.
  virtual const MetadataChanges& changes() const {
    static const MetadataChanges kNone;
    return kNone;
  }
  // The row order of attn_q and attn_k: for interleaved pairs in GGUF files of architecture "llama".
  virtual RopePairs rope_pairs(std::string_view architecture) const = 0;

  // Typed look-ups. std::nullopt: absent; kCorruption, naming the key: another type, or out of range.
  virtual Result<std::optional<std::string>> get_string(std::string_view key) const = 0;
  virtual Result<std::optional<int64_t>> get_int(std::string_view key) const = 0;
  virtual Result<std::optional<double>> get_float(std::string_view key) const = 0;
  virtual Result<std::optional<bool>> get_bool(std::string_view key) const = 0;
  // A list with a value for each layer; std::nullopt also for a single value.
  virtual Result<std::optional<std::vector<int64_t>>> get_ints(std::string_view /*key*/) const { return std::nullopt; }
  virtual Result<std::optional<std::vector<float>>> get_floats(std::string_view /*key*/) const { return std::nullopt; }

  // All keys that have a value, and all tensors in the files.
  virtual std::vector<std::string> keys() const = 0;
  virtual std::vector<NamedTensor> tensor_names() const = 0;

  virtual bool has_tensor(std::string_view name) const = 0;
  // nullopt: absent. A tensor that must be made (unpacked, joined, quantized) is made once or, if files are read in
  // pieces, on each read.
  virtual Result<std::optional<SourceTensor>> find_tensor(std::string_view name) = 0;

  // Loads the files into memory ahead of use.
  virtual void populate(const std::function<void(uint64_t done, uint64_t total)>& on_progress) const = 0;
};

}  // namespace tern
