// An MLC directory as a ModelSource: q4f16_1 and q4f32_1 are converted to Q4_0, in memory or on each read; matrices
// that are not quantized are views of the shards.
#pragma once

#include "file/mlc/mlc.h"
#include "model/hf/directory_source.h"
#include "model/mlc/config.h"
#include "model/source/computed_tensors.h"

namespace tern {

class MlcSource final : public DirectorySource {
 public:
  // Errors: those of MlcDirectory::open and parse_mlc_config; kNotSupported: tensors that the model's family does not
  // have, such as biases.
  static Result<std::unique_ptr<MlcSource>> open(std::shared_ptr<const Folder> folder, const MlcCheck& check,
                                                 Access access = Access::kResident);

  const std::string& container() const override { return container_; }
  uint64_t file_bytes() const override { return files_.file_bytes(); }
  std::vector<NamedTensor> tensor_names() const override;
  // Does nothing, as most tensors are made in memory.
  void populate(const std::function<void(uint64_t, uint64_t)>&) const override {}

 private:
  MlcSource(std::shared_ptr<const Folder> folder, MlcConfig config, MlcDirectory files, Access access)
      : DirectorySource(std::move(folder)), config_(std::move(config)), files_(std::move(files)), made_(access) {}
  const SourceValues& values() const override { return config_.values; }
  bool has_in_files(std::string_view name) const override;
  Result<std::optional<SourceTensor>> find_in_files(std::string_view name) override;
  Result<void> check_tensors() const;
  Result<std::optional<SourceTensor>> find_whole(const std::string& name);
  Result<SourceTensor> repack(const std::string& name, const MlcTensor& codes);
  Result<SourceTensor> view(const std::string& name, const MlcTensor& in_file);

  MlcConfig config_;
  MlcDirectory files_;
  ComputedTensors made_;
  std::string container_ = "MLC";
};

}  // namespace tern
