// Writes a model from any container as a GGUF file, with its matrices in other formats if requested.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/text/format_text.h"
#include "file/gguf/gguf_writer.h"
#include "file/gguf/imatrix.h"
#include "model/families/family.h"
#include "model/gguf/keys.h"
#include "model/gguf/vocab.h"
#include "model/model.h"
#include "model/sampling.h"
#include "model/source/ignored_keys.h"
#include "model/source/rope_keys.h"
#include "model/source/source_reader.h"
#include "quant/formats/i2_s.h"
#include "tern/tools.h"
#include "tools/convert/convert_checks.h"
#include "tools/convert/convert_job.h"
#include "tools/convert/head_order.h"
#include "tools/row_stream.h"
#include "tools/type_names.h"

namespace tern {
namespace {

std::string prefix_of(const std::string& name) { return name.substr(0, name.rfind('.')); }

// What families have that are only read from GGUF files, beside the names of their table.
constexpr std::string_view kNamesInGguf[] = {
    "attn_sinks.weight",    "post_attention_norm.weight", "ffn_gate_inp.weight",   "ffn_gate_inp.bias",
    "ffn_gate_exps.weight", "ffn_gate_exps.bias",         "ffn_up_exps.weight",    "ffn_up_exps.bias",
    "ffn_down_exps.weight", "ffn_down_exps.bias",         "ffn_gate_shexp.weight", "ffn_up_shexp.weight",
    "ffn_down_shexp.weight"};

// What surrounds the layer that proposes draft tokens.
constexpr std::string_view kNamesOfPrediction[] = {"nextn.eh_proj.weight", "nextn.enorm.weight", "nextn.hnorm.weight",
                                                   "nextn.shared_head_norm.weight"};

// Routers decide which experts compute, and the experts' biases are one matrix. Both stay F32, as in published files.
bool is_small(std::string_view tensor) { return tensor.contains(".ffn_gate_inp") || tensor.ends_with("_exps.bias"); }

class Converter {
 public:
  Converter(Model model, const ConvertOptions& options)
      : model_(std::move(model)), options_(options), writer_(options.out_path) {}

  Result<ConvertResult> run();

 private:
  const Config& config() const { return model_.config; }
  const Family& family() const { return *find_family(config().architecture); }
  ModelSource& source() const { return *model_.source; }

  Result<void> check_keys() const;
  Result<void> choose_formats();
  Result<void> collect();
  Result<void> collect_layer(int number);
  Result<void> collect_tensor(const std::string& name, int layer = 0, bool stays_f32 = false);
  Result<void> check_all_collected() const;
  Result<float> scale_of(const SourceTensor& tensor);
  Result<ConvertJob> linear_job(SourceTensor tensor);
  Result<ConvertJob> ternary_job(SourceTensor tensor);
  Result<void> use_imatrix();
  Result<void> add_metadata();
  void copy_metadata(const GgufFile& file);
  Result<void> add_text();
  Result<void> write_all();
  Result<void> write_rows(const ConvertJob& job, RowStream& stream);
  void add_loss(const ConvertJob& job, std::span<const PackingLoss> rows);

  Model model_;
  const ConvertOptions& options_;
  GgufWriter writer_;
  std::optional<Format> linear_, head_;  // none: unchanged
  std::vector<ConvertJob> jobs_;
  std::set<std::string> collected_;
  std::vector<std::pair<std::string, float>> scales_;  // one-element tensors, blk.N.X.scale
  std::optional<Imatrix> imatrix_;
  ConvertResult result_;
  PackingLoss all_;
};

// Programs that read GGUF files expect lists where a directory has names.
Result<void> Converter::check_keys() const {
  if (!family().parts.layer_inputs || model_.source->gguf()) return {};
  return fail(ErrorCode::kNotSupported,
              "{}: Tern does not write the keys of Gemma 4's layers; convert the directory with llama.cpp, or get a "
              "GGUF file",
              model_.source->path());
}

Result<void> Converter::choose_formats() {
  const bool is_bitlinear = config().int8_activations;
  if (!options_.type.empty()) {
    TRY(linear_, choose_type("convert: the type of the linear layers", options_.type,
                             is_bitlinear ? ternary_formats() : float_formats()));
  }
  if (!options_.head.empty()) {
    TRY(head_, choose_type("convert: the type of the head", options_.head, float_formats()));
  } else if (!is_bitlinear) {
    head_ = linear_;  // in other models, quantization includes the embedding
  }
  return {};
}

// Returns the factor for decoded values: the tensor's own scale times blk.N.X.scale, if the file has it.
Result<float> Converter::scale_of(const SourceTensor& tensor) {
  TRY(const auto factor, source().find_tensor(prefix_of(tensor.name) + ".scale"));
  const bool is_of_matrix = factor && factor->shape.size() == 1 && factor->shape[0] == 1;  // or of an expert each
  return is_of_matrix ? tensor.scale * load<float>(factor->data.data()) : tensor.scale;
}

// In BitNet files, TQ blocks have scale 1 and the matrix has a `.scale` tensor, as llama.cpp's converter writes them,
// so nothing is lost. For other families llama.cpp reads no such tensor, so the scale goes into the blocks, rounded to
// f16.
Result<ConvertJob> Converter::ternary_job(SourceTensor tensor) {
  TRY(const float scale, scale_of(tensor));
  const Format to = linear_.value_or(*tensor.format);
  ConvertJob job{.from = std::move(tensor), .format = to};
  const bool from_i2_s = job.from.format == Format::kI2_S;
  if (to == Format::kI2_S) {
    float magnitude = 1;
    if (!from_i2_s) {
      TRY(magnitude, common_magnitude(source().path(), job.from));
    }
    job.tail_scale = scale * magnitude;
  } else if (family().bitlinear == BitLinear::kAlways) {
    if (!from_i2_s && scale == 1) return job;  // the blocks' own scales, unchanged
    scales_.emplace_back(prefix_of(job.from.name) + ".scale", scale);
  } else {
    job.scale = scale;
  }
  return job;
}

Result<ConvertJob> Converter::linear_job(SourceTensor tensor) {
  const bool of_head = is_head(tensor.name);
  if (!of_head && config().int8_activations) return ternary_job(std::move(tensor));
  const auto wanted = of_head ? head_ : linear_;
  TRY(const float scale, scale_of(tensor));
  ConvertJob job{.from = std::move(tensor), .format = wanted.value_or(Format::kF16)};
  if (!wanted) job.format = job.from.format == Format::kF32 ? Format::kF16 : *job.from.format;
  job.scale = scale;
  return job;
}

Result<void> Converter::collect_tensor(const std::string& name, int layer, bool stays_f32) {
  if (collected_.contains(name)) return {};  // two checkpoint names may map to one GGUF name
  TRY(auto found, source().find_tensor(name));
  if (!found) return {};
  collected_.insert(name);
  if (!found->format) {
    return fail(ErrorCode::kNotSupported, "{}: tensor {} is {}, which cannot be converted", source().path(), name,
                found->type_name);
  }
  if (is_small(name) && found->shape.front() == 1) found->shape = {found->shape.back()};  // a router of one score
  ConvertJob job{.from = *found, .format = Format::kF32};
  if (job.is_matrix() && !stays_f32 && !is_small(name)) {
    TRY(job, linear_job(std::move(*found)));
    // Half of a row is for the next token's embedding, the other half for the hidden row.
    const bool is_joined = name.ends_with(kNamesOfPrediction[0]);
    if (is_joined && job.cols() / 2 % format_info(job.format).block != 0) job.format = Format::kF16;
  }
  if (job.in_file().bytes() == 0) {
    return fail(ErrorCode::kNotSupported,
                "{}: rows of tensor {} have {} values, but {} packs {}; choose another type or another head",
                source().path(), name, job.cols(), format_info(job.format).name, format_info(job.format).block);
  }
  if (config().ropes[0].pairs != family().gguf_pairs) {
    if (name.contains(".attn_q.")) job.heads_to_interleave = config().layer(layer).n_heads;
    if (name.contains(".attn_k.")) job.heads_to_interleave = config().layer(layer).n_kv_heads;
  }
  if (config().has_recurrent_layers() && !config().delta.is_tiled) put_heads_in_turns(config().delta, job);
  jobs_.push_back(std::move(job));
  return {};
}

Result<void> Converter::collect_layer(int i) {
  for (const TensorName& name : layer_names(family())) {
    const std::string in_layer = format_text("blk.{}.{}", i, name.gguf);
    const bool is_convolution = name.change == HfChange::kSqueeze;
    TRY_STATUS(collect_tensor(in_layer + (name.is_whole ? "" : ".weight"), i, is_convolution));
    if (!name.is_linear) continue;
    TRY_STATUS(collect_tensor(format_text("blk.{}.{}_norm_in.weight", i, name.gguf)));
    TRY_STATUS(collect_tensor(format_text("blk.{}.{}.bias", i, name.gguf), i));
  }
  for (const std::string_view name : kNamesInGguf) TRY_STATUS(collect_tensor(format_text("blk.{}.{}", i, name), i));
  return {};
}

// Collects the tensors under every name that the family may use.
Result<void> Converter::collect() {
  for (const char* name : {"token_embd", "per_layer_token_embd", "per_layer_model_proj", "per_layer_proj_norm"}) {
    TRY_STATUS(collect_tensor(std::string(name) + ".weight"));
  }
  for (const std::string_view name : {kRopeFreqs, kRopeFactorsShort, kRopeFactorsLong}) {
    TRY_STATUS(collect_tensor(std::string(name)));
  }
  for (int i = 0; i < config().n_layers; ++i) TRY_STATUS(collect_layer(i));
  if (model_.prediction) {
    TRY_STATUS(collect_layer(config().n_layers));
    for (const std::string_view name : kNamesOfPrediction) {
      TRY_STATUS(collect_tensor(format_text("blk.{}.{}", config().n_layers, name)));
    }
  }
  TRY_STATUS(collect_tensor("output_norm.weight"));
  TRY_STATUS(collect_tensor("output.weight"));
  return check_all_collected();
}

// A file without one of the tensors would be another model.
Result<void> Converter::check_all_collected() const {
  if (!source().gguf()) return {};
  for (const NamedTensor& tensor : source().tensor_names()) {
    const std::string& name = tensor.names.front();
    const bool is_written = collected_.contains(name) || name.ends_with(".scale");  // of the matrix of this name
    if (is_written || config().is_of_prediction(name) || is_harmless_tensor(name)) continue;
    return fail(ErrorCode::kNotSupported, "{}: tensor {} is one that Tern does not convert", source().path(), name);
  }
  return {};
}

Result<void> Converter::add_text() {
  TRY(const auto text, source().read_text());
  if (!text) {
    writer_.add_string("tokenizer.ggml.model", "none");
    return {};
  }
  TRY_STATUS(write_gguf_vocab(text->vocab, writer_, static_cast<size_t>(config().n_vocab)));
  if (text->chat_template) writer_.add_string("tokenizer.chat_template", *text->chat_template);
  return {};
}

// Where layers that only propose draft tokens are not written, nothing may count them.
void Converter::copy_metadata(const GgufFile& file) {
  const std::string prefix = config().architecture + ".";
  const std::vector<std::string> counts_them = {prefix + "block_count", prefix + "nextn_predict_layers",
                                                prefix + "attention.recurrent_layers"};
  const bool has_them = config().n_prediction_layers > 0 && !model_.prediction;
  for (const auto& [key, value] : file.metadata()) {
    if (key == "general.file_type" || key.starts_with("split.")) continue;
    if (has_them && std::ranges::contains(counts_them, key)) continue;
    writer_.add(key, value);
  }
  if (!has_them) return;
  writer_.add_u32(prefix + "block_count", static_cast<uint32_t>(config().n_layers));
  if (file.find(prefix + "full_attention_interval")) return;
  std::vector<int32_t> are_recurrent;
  for (const LayerConfig& layer : config().layers) are_recurrent.push_back(layer.is_recurrent ? 1 : 0);
  writer_.add_i32s(prefix + "attention.recurrent_layers", are_recurrent);
}

Result<void> Converter::add_metadata() {
  if (const GgufFile* file = source().gguf()) {
    copy_metadata(*file);
    return {};
  }
  Config written = config();
  if (!model_.prediction) written.n_prediction_layers = 0;
  write_gguf_config(written, writer_);
  writer_.add_string("general.name", model_.name);
  writer_.add_u32("general.quantization_version", 2);
  write_gguf_sampling(read_sampling_advice(source()).values, writer_);
  return add_text();
}

Result<void> Converter::write_all() {
  uint64_t total = 0;
  for (const ConvertJob& job : jobs_) total += job.in_file().bytes();
  TRY_STATUS(check_free_space(options_.out_path, total));
  for (const ConvertJob& job : jobs_) {
    TRY_STATUS(writer_.add_tensor(job.from.name, ggml_type_of(job.format), job.from.shape));
  }
  const int64_t one[] = {1};
  for (const auto& [name, scale] : scales_) TRY_STATUS(writer_.add_tensor(name, GgmlType::kF32, one));
  TRY_STATUS(writer_.begin());
  RowStream stream(writer_, total, options_.on_progress, options_.stop);
  for (ConvertJob& job : jobs_) {
    Scratch scratch;
    TRY(const Bytes bytes, job.from.data.read_all(scratch));  // experts may not be in memory
    job.from.data = bytes;
    if (job.is_copy()) {
      TRY_STATUS(stream.append(job.from.data.first(job.in_file().bytes())));
      continue;
    }
    TRY_STATUS(write_rows(job, stream));
    job.from.data = {};
  }
  for (const auto& [name, scale] : scales_) TRY_STATUS(stream.append(std::as_bytes(std::span(&scale, 1))));
  return writer_.finish();
}

Result<void> Converter::write_rows(const ConvertJob& job, RowStream& stream) {
  std::vector<PackingLoss> losses(static_cast<size_t>(job.rows()));
  TRY_STATUS(stream.append_matrix(job.in_file(), [&](int first, int n, MutableBytes out) {
    make_rows(job, first, out, std::span(losses).subspan(static_cast<size_t>(first), static_cast<size_t>(n)));
  }));
  TRY_STATUS(check_fit(source().path(), job, losses));
  if (job.is_matrix() && job.is_packing()) add_loss(job, losses);
  std::vector<std::byte> tail(static_cast<size_t>(format_info(job.format).tail_bytes));
  if (tail.empty()) return {};
  store(tail.data(), job.tail_scale);
  return stream.append(tail);
}

void Converter::add_loss(const ConvertJob& job, std::span<const PackingLoss> rows) {
  PackingLoss matrix;
  for (const PackingLoss& row : rows) matrix.add(row);
  all_.add(matrix);
  MatrixLoss loss{.name = job.from.name,
                  .from = job.from.type_name,
                  .to = std::string(format_info(job.format).name),
                  .nmse = matrix.nmse(),
                  .weighted_nmse = {}};
  if (!job.importance.empty()) loss.weighted_nmse = matrix.weighted_nmse();
  result_.losses.push_back(std::move(loss));
}

// Assigns column importance to every matrix that is quantized anew.
Result<void> Converter::use_imatrix() {
  if (options_.imatrix_path.empty()) return {};
  TRY(imatrix_, Imatrix::open(options_.imatrix_path));
  size_t n_weighted = 0, n_used = 0;
  for (ConvertJob& job : jobs_) {
    if (!job.is_matrix()) continue;
    const std::span<const float> importance = imatrix_->find(job.from.name);
    const size_t wanted = static_cast<size_t>(job.cols()) * static_cast<size_t>(job.n_experts());
    if (!importance.empty() && importance.size() != wanted) {
      return fail(ErrorCode::kInvalidArgument,
                  "{}: has {} values for {}, whose rows have {}; it was made for another model", imatrix_->path(),
                  importance.size(), job.from.name, wanted);
    }
    if (!job.is_packing()) continue;
    job.importance = importance;
    if (!format_info(job.format).encode_weighted) continue;
    ++n_weighted;
    n_used += importance.empty() ? 0 : 1;
    if (importance.empty()) result_.not_in_imatrix.push_back(job.from.name);
  }
  if (n_weighted == 0) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: would not be used, for no matrix is packed as a K-quant; leave it out, or choose another type: "
                "q6_k",
                imatrix_->path());
  }
  if (n_used == 0) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: holds nothing for the matrices that would be packed with it, such as "
                "{}; leave it out, or name another file",
                imatrix_->path(), result_.not_in_imatrix.front());
  }
  for (const auto& [name, means] : imatrix_->entries()) {
    if (!std::ranges::contains(jobs_, name, [](const ConvertJob& job) -> const std::string& { return job.from.name; }))
      result_.not_in_model.push_back(name);
  }
  return {};
}

Result<ConvertResult> Converter::run() {
  TRY_STATUS(check_keys());
  TRY_STATUS(choose_formats());
  TRY_STATUS(collect());
  TRY_STATUS(use_imatrix());
  TRY_STATUS(add_metadata());
  TRY_STATUS(write_all());
  result_.n_kept = jobs_.size() - result_.losses.size();
  result_.nmse = all_.nmse();
  std::ranges::stable_sort(result_.losses, std::greater(), &MatrixLoss::nmse);
  return std::move(result_);
}

// The output must not overwrite the input, which is still being read.
Result<void> check_paths(const ConvertOptions& options) {
  if (options.out_path.empty()) return fail(ErrorCode::kInvalidArgument, "convert: name the file to write");
  std::error_code error;
  if (std::filesystem::equivalent(options.in_path, options.out_path, error)) {
    return fail(ErrorCode::kInvalidArgument, "{}: would be written over itself; name another file", options.out_path);
  }
  return {};
}

}  // namespace

Result<ConvertResult> convert(const ConvertOptions& options) {
  TRY_STATUS(check_paths(options));
  TRY(Model model, open_model(options.in_path, {}, Access::kResident, options.metadata));
  warn_of_ignored_keys(model);
  Converter converter(std::move(model), options);
  return converter.run();
}

}  // namespace tern
