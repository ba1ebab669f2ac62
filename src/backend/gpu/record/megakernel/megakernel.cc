#include "backend/gpu/record/megakernel/megakernel.h"

#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace tern::gpu {

Result<std::unique_ptr<Megakernel>> Megakernel::create(Device& device, KernelLibrary& kernels, WeightStore& weights,
                                                       MegakernelLayers layers) {
  std::unique_ptr<Megakernel> one(new Megakernel(device, kernels, std::move(layers)));
  one->matrices_ = weights.together();
  one->scales_ = weights.scales_together();
  TRY_STATUS(one->check_places(weights));
  TRY_STATUS(one->put_vectors());
  TRY_STATUS(one->make_words());
  return one;
}

Result<const Pipeline*> Megakernel::pipeline(KernelLibrary& kernels, const MegakernelLayers& layers) {
  if (const auto* c = std::get_if<TernaryLayersConfig>(&layers.config)) {
    return kernels.pipeline(kernels.traced(ternary_layers, *c).module);
  }
  return kernels.pipeline(kernels.traced(float_layers, std::get<FloatLayersConfig>(layers.config)).module);
}

Result<void> Megakernel::make_words() {
  TRY(words_, device_.new_buffer("words between workgroups", uint64_t{4} * shape().n_words(), BufferUse::kWork));
  return reset(SpinLimit::kDefault);
}

Result<std::unique_ptr<Megakernel>> Megakernel::for_rows(int fewest, int most) const {
  TRY(const TernaryRowsConfig c, megakernel_rows(device_, layers_, static_cast<uint32_t>(most)));
  std::unique_ptr<Megakernel> one(new Megakernel(device_, kernels_, layers_));
  one->layers_.config = c;
  one->fewest_rows_ = fewest;
  one->matrices_ = matrices_;
  one->vectors_ = vectors_;
  TRY_STATUS(one->make_words());
  return one;
}

Result<void> Megakernel::ready(uint32_t workgroups, int n_rows, int n_pos) {
  const Run run{workgroups, n_rows, shape().is_short(workgroups, static_cast<uint32_t>(n_pos))};
  const bool has_stale_words = last_ && (last_->workgroups != run.workgroups || last_->n_rows != run.n_rows ||
                                         (last_->is_short && !run.is_short));
  if (has_stale_words) TRY_STATUS(reset(SpinLimit::kDefault));
  last_ = run;
  return {};
}

// Checks that all matrices are where the kernel expects them.
Result<void> Megakernel::check_places(WeightStore& weights) const {
  CHECK(matrices_ && matrices_->bytes() == layers_.matrices.bytes);
  const auto* floats = std::get_if<FloatLayersConfig>(&layers_.config);
  return floats ? check_places(*floats, weights) : check_places(std::get<TernaryLayersConfig>(layers_.config), weights);
}

Result<void> Megakernel::check_places(const TernaryLayersConfig& c, WeightStore& weights) const {
  const uint32_t places[] = {c.qkv_at, c.output_at, c.gate_at, c.up_at, c.down_at};
  for (size_t l = 0; l < layers_.layers.size(); ++l) {
    const auto bound = bound_matrices(layers_.layers[l]);
    for (size_t i = 0; i < bound.size(); ++i) {
      TRY(const BufferView view, weights.ternary(bound[i]));
      CHECK(view.buffer == matrices_ && view.offset == (l * c.layer_vectors + places[i]) * uint64_t{16});
    }
  }
  return {};
}

Result<void> Megakernel::check_places(const FloatLayersConfig& c, WeightStore& weights) const {
  uint64_t units = 0, words = 0;  // of the preceding layers
  for (size_t l = 0; l < layers_.layers.size(); ++l) {
    const FloatLayersConfig::Kind& kind = c.kind_of(static_cast<uint32_t>(l));
    std::vector<const FloatLayersConfig::Matrix*> places{&kind.qk};
    if (kind.v.coding != kind.qk.coding) places.push_back(&kind.v);
    places.insert(places.end(), {&kind.output, &kind.gate, &kind.up, &kind.down});
    auto place = places.begin();
    for (const auto& bound : bound_matrices(layers_.layers[l])) {
      TRY(const FloatMatrix* matrix, weights.matrix(bound));
      for (const FloatMatrix::Part& part : matrix->parts) {
        CHECK(place != places.end() && part.coding == (*place)->coding);
        CHECK(part.units.buffer == matrices_ && part.units.offset == (units + (*place)->units_at) * 16);
        CHECK(part.scales.buffer == scales_ && part.scales.offset == (words + (*place)->scales_at) * 4);
        ++place;
      }
    }
    CHECK(place == places.end());
    units += kind.units, words += kind.scales;
  }
  return {};
}

// Uploads each layer's norm gains side by side, followed by a ternary layer's scales.
Result<void> Megakernel::put_vectors() {
  const auto n = std::visit([](const auto& c) { return c.layer_values(); }, layers_.config);
  std::vector<float> values(layers_.layers.size() * n);
  Scratch scratch;
  for (size_t l = 0; l < layers_.layers.size(); ++l) {
    const auto& layer = layers_.layers[l];
    const auto of_layer = std::span(values).subspan(l * n, n);
    size_t at = 0;
    for (const Tensor* gain : layer.gains) {
      const auto width = static_cast<size_t>(gain->cols);
      CHECK(at + width <= n);
      TRY(const Bytes row, gain->data.read(0, row_bytes(gain->format, gain->cols), scratch));
      format_info(gain->format).decode(row, of_layer.subspan(at, width));
      for (float& value : of_layer.subspan(at, width)) value *= gain->scale;
      at += width;
    }
    if (layer.is_ternary) {
      for (const Tensor* w : layer.matrices) of_layer[at++] = w->scale;
      ++at;
    }
    CHECK(at == n);
  }
  const Bytes bytes = std::as_bytes(std::span(values));
  TRY(vectors_, device_.new_buffer("the layers' vectors", bytes.size(), BufferUse::kWeights));
  return device_.write(*vectors_, 0, bytes);
}

Result<RecordedDispatch> Megakernel::record(const BufferView& x, const BufferView& angles, const BufferView& params,
                                            const GpuKvStore& store, const When& when) const {
  CHECK(store.all_layers().buffer && store.type() == KvType::kF16);
  const BufferView matrices{matrices_, 0, 0}, vectors{vectors_.get(), 0, 0};
  const View<wgsl::Vec4<wgsl::F16x2>> kv{store.all_layers()};
  const View<wgsl::Atomic<wgsl::U32>> words{{words_.get(), 0, 0}};
  const auto record_ternary = [&](const auto& kernel) {
    return kernels_.record(kernel, Extent{.when = when}, View<TernaryWeights>{matrices}, View<wgsl::F32>{vectors},
                           View<wgsl::F32>{x}, View<wgsl::Vec2<wgsl::F32>>{angles}, View<wgsl::U32>{params}, kv, words);
  };
  if (const auto* c = std::get_if<TernaryLayersConfig>(&layers_.config)) {
    return record_ternary(kernels_.traced(ternary_layers, *c));
  }
  if (const auto* c = std::get_if<TernaryRowsConfig>(&layers_.config)) {
    return record_ternary(kernels_.traced(ternary_rows, *c));
  }
  return kernels_.record(kernels_.traced(float_layers, std::get<FloatLayersConfig>(layers_.config)),
                         Extent{.when = when}, View<WeightUnits>{matrices}, View<wgsl::U32>{{scales_, 0, 0}},
                         View<wgsl::F32>{vectors}, View<wgsl::F32>{x}, View<wgsl::Vec2<wgsl::F32>>{angles},
                         View<wgsl::U32>{params}, kv, words);
}

bool Megakernel::has_failed(Bytes outcome) {
  uint32_t n_failed = 0;
  std::memcpy(&n_failed, outcome.data(), sizeof(n_failed));
  return n_failed > 0;
}

Result<void> Megakernel::reset(SpinLimit limit) {
  last_.reset();
  // One read takes about a microsecond; on a software device, much less than the work that it waits for.
  const uint32_t unit = device_.adapter().type == AdapterType::kSoftware ? 1'000'000 : 1'000;
  std::vector<uint32_t> words(shape().n_words());
  words[LayersShape::kSpinLimit] = limit == SpinLimit::kDefault ? 50 * unit : unit;
  return device_.write(*words_, 0, std::as_bytes(std::span(words)));
}

}  // namespace tern::gpu
