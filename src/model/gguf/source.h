// A GGUF file as a ModelSource.
#pragma once

#include "file/gguf/gguf.h"
#include "model/source/computed_tensors.h"
#include "model/source/source.h"

namespace tern {

class GgufSource final : public ModelSource {
 public:
  // `file`: the file after `changes` have been applied to it.
  explicit GgufSource(GgufFile file, Access access = Access::kResident, MetadataChanges changes = {});

  const std::string& path() const override { return file_.path(); }
  const std::string& container() const override { return container_; }
  uint64_t file_bytes() const override { return file_.file_bytes(); }
  Result<std::optional<SourceText>> read_text() const override;
  const GgufFile* gguf() const override { return &file_; }
  const MetadataChanges& changes() const override { return changes_; }
  RopePairs rope_pairs(std::string_view architecture) const override;
  Result<std::optional<std::string>> get_string(std::string_view key) const override;
  Result<std::optional<int64_t>> get_int(std::string_view key) const override { return file_.get_int(key); }
  Result<std::optional<double>> get_float(std::string_view key) const override { return file_.get_float(key); }
  Result<std::optional<bool>> get_bool(std::string_view key) const override { return file_.get_bool(key); }
  Result<std::optional<std::vector<int64_t>>> get_ints(std::string_view key) const override;
  Result<std::optional<std::vector<float>>> get_floats(std::string_view key) const override;
  std::vector<std::string> keys() const override;
  std::vector<NamedTensor> tensor_names() const override;
  bool has_tensor(std::string_view name) const override { return file_.find_tensor(name) || joined_experts(name); }
  Result<std::optional<SourceTensor>> find_tensor(std::string_view name) override;
  void populate(const std::function<void(uint64_t done, uint64_t total)>& on_progress) const override {
    file_.populate(on_progress);
  }

 private:
  Result<SourceTensor> in_rows(SourceTensor flat);
  // The tensor that joins the gates of a layer's experts with what `name` says, their other factor, or the reverse.
  const GgufTensor* joined_experts(std::string_view name) const;
  Result<SourceTensor> read_tensor(const GgufTensor& found, std::string_view name) const;

  GgufFile file_;
  std::string container_;
  MetadataChanges changes_;
  ComputedTensors made_;
};

// kNotSupported: keys of the file give its weights another meaning than their formats do. Only those that Tern does not
// know can be ignored.
Result<void> check_extensions(const GgufFile& file, const MetadataChanges& changes);

}  // namespace tern
