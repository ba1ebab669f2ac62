// Nothing of a model file is left out of the computation in silence: what a family did not ask for must be declared
// here as changing nothing, or the model is refused by the name of the key or tensor.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/source.h"

namespace tern {

// kNotSupported, by the tensor's name in the file: nobody computes with it.
std::unexpected<Error> unknown_tensor(const std::string& path, std::string_view tensor,
                                      const std::string& architecture);

// A ModelSource that remembers what it was asked for: which a family then computes with.
class ObservedSource final : public ModelSource {
 public:
  explicit ObservedSource(ModelSource& source) : source_(source) {}

  // kNotSupported: a key of `architecture`, or a tensor, that nobody asked for and that may change what is computed.
  Result<void> check_all_used(const std::string& architecture) const;

  const std::string& path() const override { return source_.path(); }
  const std::string& container() const override { return source_.container(); }
  uint64_t file_bytes() const override { return source_.file_bytes(); }
  Result<std::optional<SourceText>> read_text() const override { return source_.read_text(); }
  const GgufFile* gguf() const override { return source_.gguf(); }
  RopePairs rope_pairs(std::string_view architecture) const override { return source_.rope_pairs(architecture); }
  std::vector<std::string> keys() const override { return source_.keys(); }
  std::vector<NamedTensor> tensor_names() const override { return source_.tensor_names(); }

  Result<std::optional<std::string>> get_string(std::string_view key) const override {
    keys_.emplace(key);
    return source_.get_string(key);
  }
  Result<std::optional<int64_t>> get_int(std::string_view key) const override {
    keys_.emplace(key);
    return source_.get_int(key);
  }
  Result<std::optional<double>> get_float(std::string_view key) const override {
    keys_.emplace(key);
    return source_.get_float(key);
  }
  Result<std::optional<bool>> get_bool(std::string_view key) const override {
    keys_.emplace(key);
    return source_.get_bool(key);
  }
  Result<std::optional<std::vector<int64_t>>> get_ints(std::string_view key) const override {
    keys_.emplace(key);
    return source_.get_ints(key);
  }
  bool has_tensor(std::string_view name) const override { return source_.has_tensor(name); }
  Result<std::optional<SourceTensor>> find_tensor(std::string_view name) override {
    tensors_.emplace(name);
    return source_.find_tensor(name);
  }
  void populate(const std::function<void(uint64_t done, uint64_t total)>& on_progress) const override {
    source_.populate(on_progress);
  }

 private:
  Result<void> check_key(const std::string& key, std::string_view name) const;
  Result<void> check_tensors(const std::string& architecture) const;

  ModelSource& source_;
  mutable std::set<std::string, std::less<>> keys_;
  std::set<std::string, std::less<>> tensors_;
};

}  // namespace tern
