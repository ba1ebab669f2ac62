#include "model/model.h"

#include <algorithm>
#include <filesystem>

#include "base/files/cache_folder.h"
#include "base/log.h"
#include "base/text/quoted.h"
#include "base/thread_pool.h"
#include "model/families/family.h"
#include "model/fold_scales.h"
#include "model/gguf/changes.h"
#include "model/gguf/rotation.h"
#include "model/gguf/source.h"
#include "model/hf/source.h"
#include "model/mlc/source.h"
#include "model/source/ignored_keys.h"
#include "model/ternary_check.h"

namespace tern {
namespace {

uint64_t bytes_of(const Tensor& t) { return tensor_bytes(t.format, t.rows, t.cols); }
uint64_t elements_of(const Tensor& t) { return static_cast<uint64_t>(t.rows) * static_cast<uint64_t>(t.cols); }

Result<void> check_ternary(const std::string& path, const Tensor& tensor) {
  TRY(const std::string_view why, why_not_ternary(tensor));
  if (why.empty()) return {};
  return fail(ErrorCode::kCorruption,
              "{}: tensor {} {}; the file is damaged, or packed for another processor (blocks of 64): use the file for "
              "x86",
              path, tensor.name, why);
}

Result<void> check_ternary(const std::string& path, const Weights& weights) {
  for (const Layer& layer : weights.layers) {
    for (const Tensor* tensor : layer.tensors()) TRY_STATUS(check_ternary(path, *tensor));
  }
  return {};
}

// "models/Qwen3-0.6B/" is named Qwen3-0.6B, and "models/bonsai.gguf" bonsai.
std::string name_of(const std::string& path) {
  const std::filesystem::path normal = (std::filesystem::path(path) / "").lexically_normal().parent_path();
  return is_directory(normal) ? normal.filename().string() : normal.stem().string();
}

}  // namespace

std::vector<const Tensor*> Layer::tensors() const {
  std::vector<const Tensor*> all;
  for (const Linear* linear : linears()) all.insert(all.end(), {linear, &linear->input_norm, &linear->bias});
  all.insert(all.end(),
             {&attn_norm, &attn_q_norm, &attn_k_norm, &attn_sinks, &attn_sub_norm, &attn_post_norm, &delta_conv,
              &delta_decay, &delta_dt_bias, &delta_norm, &ffn_norm, &ffn_sub_norm, &ffn_post_norm, &input_post_norm,
              &ffn_router_norm, &ffn_experts_norm, &ffn_experts_post, &ffn_dense_post, &ffn_experts_scale});
  std::erase_if(all, [](const Tensor* tensor) { return !tensor->is_present(); });
  return all;
}

uint64_t Weights::bytes_per_token(int n_used) const {
  uint64_t bytes = row_bytes(token_embd.format, token_embd.cols) + bytes_of(output_norm) + bytes_of(output);
  if (per_layer_embd.is_present()) {
    bytes +=
        row_bytes(per_layer_embd.format, per_layer_embd.cols) + bytes_of(per_layer_proj) + bytes_of(per_layer_norm);
  }
  for (const Layer& layer : layers) {
    for (const Tensor* tensor : layer.tensors()) bytes += tensor->bytes_per_token(n_used);
  }
  return bytes;
}

uint64_t Weights::n_params() const {
  uint64_t n = elements_of(token_embd) + elements_of(output_norm);
  if (output.data.identity() != token_embd.data.identity()) n += elements_of(output);
  for (const Tensor* tensor : {&per_layer_embd, static_cast<const Tensor*>(&per_layer_proj), &per_layer_norm}) {
    n += elements_of(*tensor);
  }
  for (const Layer& layer : layers) {
    for (const Tensor* tensor : layer.tensors()) n += elements_of(*tensor);
    if (layer.attn_v.is_present() && layer.attn_v.name == layer.attn_k.name) n -= elements_of(layer.attn_v);
  }
  return n;
}

std::string supported_architectures() {
  std::string names;
  for (const Family& family : families()) names += (names.empty() ? "" : ", ") + std::string(family.architecture);
  return names;
}

Result<std::unique_ptr<ModelSource>> open_source(const std::string& path, const OnProgress& on_progress, Access access,
                                                 const MetadataChanges& changes) {
  if (!is_directory(path)) {
    TRY(auto file, GgufFile::open(path, access));
    TRY_STATUS(apply_changes(changes, file));
    return std::make_unique<GgufSource>(std::move(file), access, changes);
  }
  TRY_STATUS(refuse_changes(changes, path));
  return open_source(std::make_shared<DiskFolder>(path), on_progress, access);
}

Result<std::unique_ptr<ModelSource>> open_source(std::shared_ptr<const Folder> folder, const OnProgress& on_progress,
                                                 Access access) {
  if (is_mlc_directory(*folder)) {
    const auto tell = [&](uint64_t done, uint64_t total) {
      if (on_progress) on_progress({.what = "checking", .done = done, .total = total, .unit = "B"});
    };
    return MlcSource::open(
        std::move(folder),
        {.stamp_folder = user_cache_folder(), .n_threads = ThreadPool::load_time_cpus(), .on_progress = tell}, access);
  }
  if (is_hf_directory(*folder)) return HfSource::open(std::move(folder), access);
  return fail(
      ErrorCode::kNotFound,
      "{}: this directory has neither config.json (Hugging Face) nor tensor-cache.json (MLC); name a GGUF file, "
      "or download all files of the model into it",
      folder->path());
}

Result<Model> read_model(const std::string& path, std::unique_ptr<ModelSource> source) {
  if (source->gguf()) TRY_STATUS(check_extensions(*source->gguf(), source->changes()));
  Model model{.path = path, .name = {}, .config = {}, .weights = {}, .prediction = {}, .source = std::move(source)};
  TRY(const auto architecture, model.source->get_string("general.architecture"));
  if (!architecture) {
    return fail(ErrorCode::kCorruption, "{}: metadata key general.architecture is missing; convert the model again",
                path);
  }
  const Family* family = find_family(*architecture);
  if (!family) {
    return fail(ErrorCode::kNotSupported, "{}: architecture \"{}\" is not one that Tern runs ({})", path, *architecture,
                supported_architectures());
  }
  TRY(const auto name, model.source->get_string("general.name"));
  model.name = name ? *name : name_of(path);
  ObservedSource observed(*model.source);
  TRY(model.config, read_config(observed, *family));
  TRY(model.weights, read_weights(observed, *family, model.config));
  TRY(model.prediction, read_prediction_block(observed, *family, model.config, model.weights));
  TRY_STATUS(observed.check_all_used(model.config));
  if (model.source->gguf()) {
    TRY(const auto rotation, read_rotation(*model.source->gguf()));
    if (rotation) TRY_STATUS(apply_rotation(*rotation, path, model.config, model.weights));
    if (rotation) model.prediction.reset();  // whose matrices the file does not name
  }
  TRY_STATUS(fold_scales(model.config, model.weights));
  return model;
}

Result<Model> open_model(const std::string& path, const OnProgress& on_progress, Access access,
                         const MetadataChanges& changes) {
  TRY(auto source, open_source(path, on_progress, access, changes));
  TRY(Model model, read_model(path, std::move(source)));
  TRY_STATUS(check_ternary(path, model.weights));
  return model;
}

void warn_of_ignored_keys(const Model& model) {
  for (const std::string& key : model.source->changes().ignored_keys) {
    warn("{}: metadata key {} is ignored as you asked; if it changes what is computed, the results are wrong",
         model.path, tern::quoted(key));
  }
}

}  // namespace tern
