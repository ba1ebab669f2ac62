// An MLC directory as a ModelSource: q4f16_1 becomes Q4_0 in memory or as it is read, unquantised matrices are views
// into the shards.
#pragma once

#include "file/mlc.h"
#include "model/hf_tokenizer.h"
#include "model/made_tensors.h"
#include "model/mlc_config.h"
#include "model/source.h"

namespace tern {

class MlcSource final : public ModelSource {
 public:
  // Errors: those of MlcDirectory::open and parse_mlc_config; kNotSupported for tensors that the model's family does
  // not have, such as biases.
  static Result<std::unique_ptr<MlcSource>> open(const std::string& directory, const MlcCheck& check,
                                                 Access access = Access::kResident);

  const std::string& path() const override { return files_.path(); }
  const std::string& container() const override { return container_; }
  uint64_t file_bytes() const override { return files_.file_bytes(); }
  Result<std::optional<SourceText>> read_text() const override { return read_directory_text(path()); }
  RopePairs rope_pairs(std::string_view) const override { return RopePairs::kHalves; }
  Result<std::optional<std::string>> get_string(std::string_view key) const override {
    return config_.values.get_string(key);
  }
  Result<std::optional<int64_t>> get_int(std::string_view key) const override { return config_.values.get_int(key); }
  Result<std::optional<double>> get_float(std::string_view key) const override { return config_.values.get_float(key); }
  Result<std::optional<bool>> get_bool(std::string_view key) const override { return config_.values.get_bool(key); }
  std::vector<std::string> keys() const override { return config_.values.keys(); }
  std::vector<NamedTensor> tensor_names() const override;
  bool has_tensor(std::string_view name) const override;
  Result<std::optional<SourceTensor>> find_tensor(std::string_view name) override;
  // Nothing to bring: what is computed with was made in memory.
  void populate(const std::function<void(uint64_t, uint64_t)>&) const override {}

 private:
  MlcSource(MlcConfig config, MlcDirectory files, Access access)
      : config_(std::move(config)), files_(std::move(files)), made_(access) {}
  Result<void> check_tensors() const;
  Result<std::optional<SourceTensor>> find_whole(const std::string& name);
  Result<SourceTensor> repack(const std::string& name, const MlcTensor& codes);
  Result<SourceTensor> view(const std::string& name, const MlcTensor& in_file);

  MlcConfig config_;
  MlcDirectory files_;
  MadeTensors made_;
  std::string container_ = "MLC";
};

}  // namespace tern
