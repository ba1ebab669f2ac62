// A Hugging Face directory (config.json and safetensors) as a ModelSource. Floats are views of the files; norms are
// converted to f32 and ternary weights to I2_S, in memory or on each read.
#pragma once

#include "file/safetensors/safetensors_directory.h"
#include "model/hf/config.h"
#include "model/hf/directory_source.h"
#include "model/source/computed_tensors.h"

namespace tern {

class HfSource final : public DirectorySource {
 public:
  // Errors: those of SafetensorsDirectory::open and parse_hf_config; kNotSupported: tensors that the model's family
  // does not have.
  static Result<std::unique_ptr<HfSource>> open(std::shared_ptr<const Folder> folder,
                                                Access access = Access::kResident);

  const std::string& container() const override { return container_; }
  uint64_t file_bytes() const override { return files_.file_bytes(); }
  std::vector<NamedTensor> tensor_names() const override;
  void populate(const std::function<void(uint64_t done, uint64_t total)>& on_progress) const override {
    files_.populate(on_progress);
  }

 private:
  HfSource(std::shared_ptr<const Folder> folder, HfConfig config, SafetensorsDirectory files, Access access)
      : DirectorySource(std::move(folder)), config_(std::move(config)), files_(std::move(files)), made_(access) {}
  const SourceValues& values() const override { return config_.values; }
  const Family& family() const { return *config_.family; }
  bool has_in_files(std::string_view name) const override;
  Result<std::optional<SourceTensor>> find_in_files(std::string_view name) override;
  Result<void> check_tensors() const;
  Result<void> find_prediction();
  std::optional<std::string> gguf_name(const SafetensorsTensor& tensor) const;  // nullopt: it is left out
  Result<void> check_claims() const;
  const SafetensorsTensor* find_file_tensor(std::string_view gguf_name) const;
  HfChange change_of(std::string_view gguf_name, const SafetensorsTensor& in_file) const;
  std::function<void(std::span<float>)> value_change(std::string_view gguf_name, HfChange change) const;
  Result<SourceTensor> squeeze(SourceTensor tensor);
  Result<SourceTensor> stack(SourceTensor tensor, const SafetensorsTensor& first);
  Result<SourceTensor> take_turns(HfChange change, SourceTensor tensor, const SafetensorsTensor& in_file);
  Result<SourceTensor> make_ternary(SourceTensor tensor, const SafetensorsTensor& in_file);
  Result<SourceTensor> unpack(SourceTensor tensor, const SafetensorsTensor& in_file);
  Result<float> read_weight_scale(const SafetensorsTensor& weight) const;

  HfConfig config_;
  int64_t n_layers_ = 0;    // without the next one
  std::string prediction_;  // "blk.N." of the layer that proposes draft tokens; empty: none
  SafetensorsDirectory files_;
  ComputedTensors made_;
  std::string container_ = "safetensors";
};

// True if the directory has a config.json.
bool is_hf_directory(const Folder& folder);

}  // namespace tern
