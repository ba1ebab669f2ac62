// The common part of directories as model sources: values and some small tensors come from a configuration, and rows of
// attn_q and attn_k are in transformers' order.
#pragma once

#include <memory>
#include <utility>

#include "base/files/folder.h"
#include "model/hf/tokenizer.h"
#include "model/source/source.h"
#include "model/source/source_values.h"

namespace tern {

class DirectorySource : public ModelSource {
 public:
  explicit DirectorySource(std::shared_ptr<const Folder> folder) : folder_(std::move(folder)) {}

  const std::string& path() const override { return folder_->path(); }
  const Folder* folder() const override { return folder_.get(); }
  Result<std::optional<SourceText>> read_text() const override { return read_directory_text(*folder_); }
  RopePairs rope_pairs(std::string_view) const override { return RopePairs::kHalves; }
  Result<std::optional<std::string>> get_string(std::string_view key) const override {
    return values().get_string(key);
  }
  Result<std::optional<int64_t>> get_int(std::string_view key) const override { return values().get_int(key); }
  Result<std::optional<double>> get_float(std::string_view key) const override { return values().get_float(key); }
  Result<std::optional<bool>> get_bool(std::string_view key) const override { return values().get_bool(key); }
  Result<std::optional<std::vector<int64_t>>> get_ints(std::string_view key) const override {
    return values().get_ints(key);
  }
  std::vector<std::string> keys() const override { return values().keys(); }
  bool has_tensor(std::string_view name) const override { return values().find_vector(name) || has_in_files(name); }
  Result<std::optional<SourceTensor>> find_tensor(std::string_view name) override {
    if (auto computed = values().find_vector(name)) return computed;
    return find_in_files(name);
  }

 private:
  virtual const SourceValues& values() const = 0;
  virtual bool has_in_files(std::string_view name) const = 0;
  // Like find_tensor.
  virtual Result<std::optional<SourceTensor>> find_in_files(std::string_view name) = 0;

  std::shared_ptr<const Folder> folder_;
};

}  // namespace tern
