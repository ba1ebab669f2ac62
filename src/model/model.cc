#include "model/model.h"

#include <algorithm>
#include <filesystem>

#include "base/cache_folder.h"
#include "base/thread_pool.h"
#include "model/declared.h"
#include "model/families/families.h"
#include "model/fold_scales.h"
#include "model/gguf/source.h"
#include "model/hf/source.h"
#include "model/mlc/source.h"
#include "model/ternary_check.h"

namespace tern {
namespace {

// A family: the names its files use, and how its shape and weights are read.
struct FamilyReader {
  std::string_view architecture;
  Result<Config> (*read_config)(ModelSource&, const std::string& architecture);
  Result<Weights> (*read_weights)(ModelSource&, const Config&);
};
constexpr FamilyReader kFamilies[] = {
    {"bitnet-b1.58", bitnet::read_config, bitnet::read_weights},
    {"bitnet-25", bitnet::read_config, bitnet::read_weights},
    {"bitnet", bitnet::read_config, bitnet::read_weights},
    {"llama", llama::read_config, llama::read_weights},
    {"minicpm", llama::read_config, llama::read_weights},
    {"granite", llama::read_config, llama::read_weights},
    {"phi3", phi3::read_config, phi3::read_weights},
    {"qwen3", qwen3::read_config, qwen3::read_weights},
};

uint64_t bytes_of(const Tensor& t) { return tensor_bytes(t.format, t.rows, t.cols); }
uint64_t elements_of(const Tensor& t) { return static_cast<uint64_t>(t.rows) * static_cast<uint64_t>(t.cols); }

template <class Function>
void for_each_tensor(const Layer& l, Function&& function) {
  for (const Tensor* t :
       {&l.attn_norm, &l.attn_q, &l.attn_k, &l.attn_v, &l.attn_q_norm, &l.attn_k_norm, &l.attn_sub_norm, &l.attn_output,
        &l.ffn_norm, &l.ffn_gate, &l.ffn_up, &l.ffn_sub_norm, &l.ffn_down}) {
    if (t->is_present()) function(*t);
  }
}

Result<void> check_ternary(const std::string& path, const Tensor& tensor) {
  TRY(const std::string_view why, why_not_ternary(tensor));
  if (why.empty()) return {};
  return fail(ErrorCode::kCorruption,
              "{}: tensor {} {}; the file is damaged, or packed for another processor (blocks of 64): use the file for "
              "x86",
              path, tensor.name, why);
}

Result<void> check_ternary(const std::string& path, const Weights& weights) {
  Result<void> result;
  for (const Layer& layer : weights.layers) {
    for_each_tensor(layer, [&](const Tensor& t) {
      if (result) result = check_ternary(path, t);
    });
  }
  return result;
}

// "models/Qwen3-0.6B/" is called Qwen3-0.6B, "models/bonsai.gguf" bonsai.
std::string name_of(const std::string& path) {
  const std::filesystem::path normal = (std::filesystem::path(path) / "").lexically_normal().parent_path();
  return is_directory(normal) ? normal.filename().string() : normal.stem().string();
}

}  // namespace

uint64_t Weights::bytes_per_token() const {
  uint64_t bytes = row_bytes(token_embd.format, token_embd.cols) + bytes_of(output_norm) + bytes_of(output);
  for (const Layer& layer : layers) for_each_tensor(layer, [&](const Tensor& t) { bytes += bytes_of(t); });
  return bytes;
}

uint64_t Weights::n_params() const {
  uint64_t n = elements_of(token_embd) + elements_of(output_norm);
  if (output.data.identity() != token_embd.data.identity()) n += elements_of(output);
  for (const Layer& layer : layers) for_each_tensor(layer, [&](const Tensor& t) { n += elements_of(t); });
  return n;
}

std::string supported_architectures() {
  std::string names;
  for (const FamilyReader& family : kFamilies) names += (names.empty() ? "" : ", ") + std::string(family.architecture);
  return names;
}

Result<std::unique_ptr<ModelSource>> open_source(const std::string& path, const OnProgress& on_progress,
                                                 Access access) {
  if (!is_directory(path)) {
    TRY(auto file, GgufFile::open(path, access));
    return std::make_unique<GgufSource>(std::move(file));
  }
  if (is_mlc_directory(path)) {
    const auto tell = [&](uint64_t done, uint64_t total) {
      if (on_progress) on_progress({.what = "checking", .done = done, .total = total, .unit = "B"});
    };
    return MlcSource::open(
        path, {.stamp_folder = user_cache_folder(), .n_threads = ThreadPool::passing_cpus(), .on_progress = tell},
        access);
  }
  if (is_hf_directory(path)) return HfSource::open(path, access);
  return fail(
      ErrorCode::kNotFound,
      "{}: this directory has neither config.json (Hugging Face) nor tensor-cache.json (MLC); name a GGUF file, "
      "or download all files of the model into it",
      path);
}

Result<Model> read_model(const std::string& path, std::unique_ptr<ModelSource> source) {
  if (source->gguf()) TRY_STATUS(check_extensions(*source->gguf()));
  Model model{.path = path, .name = {}, .config = {}, .weights = {}, .source = std::move(source)};
  TRY(const auto architecture, model.source->get_string("general.architecture"));
  if (!architecture) {
    return fail(ErrorCode::kCorruption, "{}: metadata key general.architecture is missing; convert the model again",
                path);
  }
  const auto* family = std::ranges::find(kFamilies, *architecture, &FamilyReader::architecture);
  if (family == std::end(kFamilies)) {
    return fail(ErrorCode::kNotSupported, "{}: architecture \"{}\" is not one that Tern runs ({})", path, *architecture,
                supported_architectures());
  }
  TRY(const auto name, model.source->get_string("general.name"));
  model.name = name ? *name : name_of(path);
  ObservedSource observed(*model.source);
  TRY(model.config, family->read_config(observed, *architecture));
  TRY(model.weights, family->read_weights(observed, model.config));
  TRY_STATUS(observed.check_all_used(*architecture));
  TRY_STATUS(fold_scales(model.config, model.weights));
  return model;
}

Result<Model> open_model(const std::string& path, const OnProgress& on_progress, Access access) {
  TRY(auto source, open_source(path, on_progress, access));
  TRY(Model model, read_model(path, std::move(source)));
  TRY_STATUS(check_ternary(path, model.weights));
  return model;
}

}  // namespace tern
