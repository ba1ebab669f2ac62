// The layer behind the last one that proposes draft tokens.
#include <algorithm>

#include "base/text/format_text.h"
#include "model/families/family.h"
#include "model/source/source_reader.h"

namespace tern {
namespace {

// Columns [first, first + n) of a matrix, as one of its own.
Result<Linear> columns_of(const Tensor& matrix, std::string name, int first, int n, Weights& owner) {
  const uint64_t stride = row_bytes(matrix.format, matrix.cols), part = row_bytes(matrix.format, n);
  const uint64_t skipped = first == 0 ? 0 : row_bytes(matrix.format, first);
  if (part == 0 || part + part != stride) {
    return fail(ErrorCode::kNotSupported, "tensor {}: half of a row is no whole number of {} blocks", matrix.name,
                format_info(matrix.format).name);
  }
  const auto make = [from = matrix.data, stride, part, skipped](uint64_t row, uint64_t count,
                                                                MutableBytes out) -> Result<void> {
    Scratch scratch;
    TRY(const Bytes rows, from.read(row * stride, count * stride, scratch));
    for (uint64_t i = 0; i < count; ++i) {
      std::ranges::copy(rows.subspan(i * stride + skipped, part), out.subspan(i * part, part).begin());
    }
    return {};
  };
  const ByteSource& source =
      *owner.parts.emplace_back(std::make_unique<MadeRows>(part, static_cast<uint64_t>(matrix.rows), make));
  Tensor columns = matrix;
  columns.name = std::move(name);
  columns.cols = n;
  columns.data = StoredBytes(source, 0, source.size());
  return Linear(std::move(columns));
}

}  // namespace

Result<std::unique_ptr<PredictionBlock>> read_prediction_block(ModelSource& source, const Family& family,
                                                               const Config& config, const Weights& weights) {
  const TensorReader tensors(source);
  const int number = config.n_layers, d = config.d_model;
  const std::string blk = format_text("blk.{}.", number), next = blk + "nextn.";
  if (config.n_prediction_layers != 1 || !tensors.has(next + "enorm.weight")) return nullptr;
  auto block = std::make_unique<PredictionBlock>();
  Config in_file = config;  // where the layer has its number
  in_file.n_layers = number + 1;
  in_file.each_layer().back() = {};
  Weights& w = block->weights;
  TRY(Layer layer, read_layer(tensors, number, family, in_file));
  w.layers.push_back(std::move(layer));
  TRY(const Tensor joined, tensors.matrix(next + "eh_proj.weight", d, 2 * d, float_formats()));
  TRY(w.next_proj, columns_of(joined, next + "e_proj.weight", 0, d, w));
  TRY(w.hidden_proj, columns_of(joined, next + "h_proj.weight", d, d, w));
  TRY(w.next_norm, tensors.vector(next + "enorm.weight", d));
  TRY(w.hidden_norm, tensors.vector(next + "hnorm.weight", d));
  TRY(w.output_norm, tensors.vector(next + "shared_head_norm.weight", d));
  w.token_embd = weights.token_embd;
  w.output = weights.output;
  block->config = config;
  block->config.n_layers = 1;
  block->config.n_prediction_layers = 0;
  block->config.layers.assign(1, {});
  return block;
}

}  // namespace tern
