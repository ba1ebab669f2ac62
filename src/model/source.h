// A model file as the families see it: values by GGUF key and tensors by GGUF name, whatever container they came in.
//
// GGUF's names are the common language. Another container is brought into it by an adapter of its own, so that a family
// is written once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/folder.h"
#include "base/result.h"
#include "file/gguf.h"
#include "model/config.h"
#include "quant/format.h"
#include "tern/options.h"
#include "text/vocab.h"

namespace tern {

struct SourceTensor {
  std::string name;              // as in a GGUF file: "blk.3.attn_q.weight"
  std::optional<Format> format;  // none: a type that Tern does not compute with
  std::string type_name;         // as the container calls it: "I2_S", "uint8"
  std::vector<int64_t> shape;    // rows first: [n_out, n_in]
  StoredBytes data;              // tensor_bytes(format, …); lives as long as the source
  float scale = 1.0f;            // multiplies what the format's decode gives (Tensor::scale), I2_S's own included
};

// A tensor of the file, and what it is called in GGUF: several names where it is several matrices in one.
struct NamedTensor {
  std::string in_file;
  std::vector<std::string> names;
};

// What a tokenizer and a chat template are made from.
struct SourceText {
  Vocab vocab;
  std::optional<std::string> chat_template;  // Jinja
};

class ModelSource {
 public:
  virtual ~ModelSource() = default;

  virtual const std::string& path() const = 0;       // for messages
  virtual const std::string& container() const = 0;  // "GGUF v3"
  virtual uint64_t file_bytes() const = 0;           // of all files
  // nullopt: the model comes without a tokenizer.
  virtual Result<std::optional<SourceText>> read_text() const = 0;
  // The folder behind it, for what lies beside the model; null for a GGUF file.
  virtual const Folder* folder() const { return nullptr; }
  // The GGUF file behind it, for what only such a file holds; else null.
  virtual const GgufFile* gguf() const { return nullptr; }
  // Where its metadata was not taken as it is: for GGUF files.
  virtual const MetadataChanges& changes() const {
    static const MetadataChanges kNone;
    return kNone;
  }
  // How the rows of attn_q and attn_k are ordered: in GGUF files of architecture "llama" for interleaved pairs.
  virtual RopePairs rope_pairs(std::string_view architecture) const = 0;

  // Typed look-ups. Absent: std::nullopt. Present with another type or out of range: kCorruption, naming the key.
  virtual Result<std::optional<std::string>> get_string(std::string_view key) const = 0;
  virtual Result<std::optional<int64_t>> get_int(std::string_view key) const = 0;
  virtual Result<std::optional<double>> get_float(std::string_view key) const = 0;
  virtual Result<std::optional<bool>> get_bool(std::string_view key) const = 0;
  // A list, one value for each layer; std::nullopt also where there is a single value. Only GGUF files have lists.
  virtual Result<std::optional<std::vector<int64_t>>> get_ints(std::string_view /*key*/) const { return std::nullopt; }

  // All keys that have a value, and all tensors in the files.
  virtual std::vector<std::string> keys() const = 0;
  virtual std::vector<NamedTensor> tensor_names() const = 0;

  virtual bool has_tensor(std::string_view name) const = 0;
  // nullopt: absent. A tensor that has to be made first (unpacked, joined, quantised) is made once, or
  // where the files are read in pieces each time it is read.
  virtual Result<std::optional<SourceTensor>> find_tensor(std::string_view name) = 0;

  // Brings the files into memory ahead of use.
  virtual void populate(const std::function<void(uint64_t done, uint64_t total)>& on_progress) const = 0;
};

}  // namespace tern
