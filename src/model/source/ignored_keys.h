// Makes sure that no part of a model file is silently ignored. Whatever a family did not ask for must be declared here
// as having no effect; otherwise the model is refused, naming the key or tensor.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/source/config.h"
#include "model/source/key_rules.h"
#include "model/source/source.h"

namespace tern {

// kNotSupported, naming the tensor as in the file: no computation uses it.
std::unexpected<Error> unknown_tensor(const std::string& path, std::string_view tensor,
                                      const std::string& architecture);

// True for a tensor that no computation needs.
bool is_harmless_tensor(std::string_view name);

// A ModelSource that records what it was asked for, which is what the family computes with.
class ObservedSource final : public ModelSource {
 public:
  explicit ObservedSource(ModelSource& source) : source_(source) {}

  // `config`: the model that is computed. kNotSupported: a tensor, or a key of the architecture or the tokenizer, that
  // was not asked for and may change the results. kInvalidArgument: an override of a key that is not read, or a key to
  // ignore that is known to change the results.
  Result<void> check_all_used(const Config& config) const;

  const std::string& path() const override { return source_.path(); }
  const std::string& container() const override { return source_.container(); }
  uint64_t file_bytes() const override { return source_.file_bytes(); }
  Result<std::optional<SourceText>> read_text() const override { return source_.read_text(); }
  const GgufFile* gguf() const override { return source_.gguf(); }
  const MetadataChanges& changes() const override { return source_.changes(); }
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
  Result<std::optional<std::vector<float>>> get_floats(std::string_view key) const override {
    keys_.emplace(key);
    return source_.get_floats(key);
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
  // How a key affects the model.
  enum class KeyUse : uint8_t {
    kRead,      // it was asked for
    kHarmless,  // it was not, and its value has no effect
    kMatters,   // it was not, and its value has an effect
    kUnknown,   // … or may have an effect
    kOfNoModel  // it describes the file or belongs to another program
  };
  struct KeyState {
    KeyUse use;
    const KeyRule* rule = nullptr;  // for kMatters
  };
  Result<KeyState> state_of(const std::string& key, const Config& config) const;
  Result<void> check_changes(const Config& config) const;
  std::unexpected<Error> refused(const std::string& key, const KeyState& state) const;
  std::string value_text(const std::string& key) const;
  Result<void> check_tensors(const Config& config) const;

  ModelSource& source_;
  mutable std::set<std::string, std::less<>> keys_;
  std::set<std::string, std::less<>> tensors_;
};

}  // namespace tern
