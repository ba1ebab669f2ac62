// Writes a random model of a preset's shape, as a stream.
#include <algorithm>
#include <array>
#include <filesystem>

#include "base/check.h"
#include "base/format_text.h"
#include "base/thread_pool.h"
#include "file/gguf_writer.h"
#include "tern/tools.h"
#include "tools/synth_presets.h"
#include "tools/synth_tensors.h"

namespace tern {
namespace {

constexpr std::array kLinearFormats = {Format::kI2_S, Format::kTQ1_0, Format::kTQ2_0};
constexpr std::array kHeadFormats = {Format::kF16,  Format::kF32,  Format::kBF16,
                                     Format::kQ8_0, Format::kQ4_0, Format::kQ6_K};
constexpr size_t kChunkBytes = size_t{4} << 20;  // made and written at a time, per thread

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

Result<const SynthShape*> choose_shape(const std::string& preset) {
  if (const SynthShape* shape = find_synth_shape(preset)) return shape;
  std::string names;
  for (const SynthShape& shape : synth_shapes()) names += (names.empty() ? "" : ", ") + std::string(shape.name);
  return fail(ErrorCode::kInvalidArgument, "synth: no preset is named \"{}\"; choose one of {}", preset, names);
}

Result<Format> choose_format(std::string_view what, const std::string& name, std::span<const Format> choices) {
  const FormatInfo* found = find_format(name);
  if (found && std::ranges::find(choices, found->format) != choices.end()) return found->format;
  std::string names;
  for (const Format format : choices) names += (names.empty() ? "" : ", ") + lower_case(format_info(format).name);
  return fail(ErrorCode::kInvalidArgument, "synth: {} cannot be \"{}\"; choose one of {}", what, name, names);
}

GgmlType type_of(Format format) {
  const auto found = std::ranges::find(ggml_types(), format_info(format).name, &GgmlTypeInfo::name);
  CHECK(found != ggml_types().end());
  return found->type;
}

Result<void> check_blocks(const SynthShape& shape, std::span<const SynthTensor> tensors) {
  for (const SynthTensor& tensor : tensors) {
    const FormatInfo& format = format_info(tensor.format);
    if (tensor.cols % format.block == 0) continue;
    return fail(ErrorCode::kInvalidArgument,
                "synth: {} packs {} values, but rows of {} have {} in preset {}; choose another type or preset",
                format.name, format.block, tensor.name, tensor.cols, shape.name);
  }
  return {};
}

// Before an hour of writing to a disk that is too small. Pipes and devices have no such limit.
Result<void> check_free_space(const std::string& path, uint64_t needed) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (path == "-" || (fs::exists(status) && !fs::is_regular_file(status))) return {};
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  const fs::space_info space = fs::space(folder, error);
  if (error || space.available >= needed) return {};  // an unusable folder is reported when the file is created
  return fail(ErrorCode::kIo,
              "{}: the model needs {} MB, but only {} MB are free in {}; make room or name another folder", path,
              needed / 1'000'000 + 1, space.available / 1'000'000, folder.string());
}

void add_metadata(GgufWriter& writer, const SynthShape& shape, uint64_t seed) {
  const std::string prefix = "bitnet-b1.58.";
  const auto add_u32 = [&](std::string_view key, int value) {
    writer.add_u32(prefix + std::string(key), static_cast<uint32_t>(value));
  };
  writer.add_string("general.architecture", "bitnet-b1.58");
  writer.add_string("general.name", format_text("{}, random weights", shape.name));
  writer.add_string("general.description", format_text("Made by `tern synth --preset {} --seed {}`", shape.name, seed));
  add_u32("vocab_size", shape.n_vocab);
  add_u32("context_length", shape.n_ctx);
  add_u32("embedding_length", shape.d_model);
  add_u32("block_count", shape.n_layers);
  add_u32("feed_forward_length", shape.d_ff);
  add_u32("rope.dimension_count", shape.head_dim());
  add_u32("attention.head_count", shape.n_heads);
  add_u32("attention.head_count_kv", shape.n_kv_heads);
  writer.add_f32(prefix + "attention.layer_norm_rms_epsilon", shape.rms_eps);
  writer.add_f32(prefix + "rope.freq_base", shape.rope_theta);
}

// Makes the tensors' bytes on all CPUs and hands them to the writer.
class TensorStream {
 public:
  TensorStream(GgufWriter& writer, uint64_t total, const OnProgress& on_progress)
      : writer_(writer), pool_(ThreadPool::available_cpus()), total_(total), on_progress_(on_progress) {}

  Result<void> append(const SynthTensor& tensor) {
    const size_t one_row = row_bytes(tensor.format, tensor.cols);
    const int per_worker = static_cast<int>(std::max<size_t>(kChunkBytes / one_row, 1));
    for (int first = 0; first < tensor.rows; first += per_worker * pool_.size()) {
      const int n = std::min(tensor.rows - first, per_worker * pool_.size());
      buffer_.resize(one_row * static_cast<size_t>(n));
      pool_.run([&](int worker) {
        const int begin = n * worker / pool_.size();
        const int end = n * (worker + 1) / pool_.size();
        const auto part = MutableBytes(buffer_).subspan(static_cast<size_t>(begin) * one_row,
                                                        static_cast<size_t>(end - begin) * one_row);
        make_rows(tensor, first + begin, end - begin, part);
      });
      TRY_STATUS(write(buffer_));
    }
    return write(make_tail(tensor));
  }

 private:
  Result<void> write(Bytes bytes) {
    TRY_STATUS(writer_.append(bytes));
    done_ += bytes.size();
    if (on_progress_) on_progress_({.what = "writing", .done = done_, .total = total_, .unit = "B"});
    return {};
  }

  GgufWriter& writer_;
  ThreadPool pool_;
  const uint64_t total_;
  uint64_t done_ = 0;
  const OnProgress& on_progress_;
  std::vector<std::byte> buffer_;
};

}  // namespace

Result<void> synth(const SynthOptions& options) {
  TRY(const SynthShape* shape, choose_shape(options.preset));
  TRY(const Format linear, choose_format("the type of the linear layers", options.type, kLinearFormats));
  TRY(const Format head, choose_format("the type of the head", options.head, kHeadFormats));
  if (options.out_path.empty()) return fail(ErrorCode::kInvalidArgument, "synth: name the file to write");
  const std::vector<SynthTensor> tensors = synth_tensors(*shape, linear, head, options.seed);
  TRY_STATUS(check_blocks(*shape, tensors));
  uint64_t total = 0;
  for (const SynthTensor& tensor : tensors) total += tensor.bytes();
  TRY_STATUS(check_free_space(options.out_path, total));

  GgufWriter writer(options.out_path);
  add_metadata(writer, *shape, options.seed);
  for (const SynthTensor& tensor : tensors) {
    const int64_t dims[] = {tensor.rows, tensor.cols};
    TRY_STATUS(
        writer.add_tensor(tensor.name, type_of(tensor.format), std::span(dims).last(tensor.is_vector() ? 1 : 2)));
  }
  TRY_STATUS(writer.begin());
  TensorStream stream(writer, total, options.on_progress);
  for (const SynthTensor& tensor : tensors) TRY_STATUS(stream.append(tensor));
  return writer.finish();
}

}  // namespace tern
