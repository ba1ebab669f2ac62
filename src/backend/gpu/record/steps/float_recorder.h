// The float layers: matrix × vector kernels for a few tokens, with norms inside; matrix × matrix kernels for many.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "backend/gpu/record/steps/float_inputs.h"
#include "backend/gpu/record/steps/float_layers.h"
#include "backend/gpu/record/steps/heads_recorder.h"
#include "backend/gpu/record/steps/logits_recorder.h"

namespace tern::gpu {

class FloatRecorder {
 public:
  FloatRecorder(Recording& recording, NormRecorder& norms, HeadsRecorder& heads);

  Result<void> record(const step::FloatLinear& s);
  Result<void> record(const step::FloatLinearAdd& s);
  Result<void> record(const step::FloatGlu& s);
  Result<void> record(const step::FloatQkv& s);
  Result<void> record(const step::FloatStack& s);

 private:
  // Where results go: to `slot`, from value `first` of each row on.
  struct Out {
    SlotId slot;
    uint32_t first = 0;
    Store store = Store::kSet;
    std::optional<View<wgsl::F32>> bias = {};  // of each value of a row
  };
  // out = W · in, or out += W · in, where W is the matrices one below the other.
  Result<void> linear(std::span<const Tensor* const> matrices, SlotId in, const step::FloatNormOnRead& norm,
                      const Out& out, const MatvecLayout& layout);
  Result<void> linear_few(const FloatMatrix& matrix, const Tensor& w, const FloatRead& read, const Out& out,
                          const MatvecLayout& layout);
  struct GluViews {
    View<WeightUnits> gate;
    View<wgsl::U32> gate_scales;
    View<WeightUnits> up;
    View<wgsl::U32> up_scales;
  };
  Result<void> int8_glu_of(const step::FloatGlu& s, const FloatLinearConfig& config, const Extent& extent,
                           const GluViews& w, const Int8Rows& x);
  // `rows`: those of the layer's output.
  RowKernels row_kernels(const Tensor& w, const WeightCoding& coding, uint32_t columns, Rows rows) const;
  Result<void> linear_many(const FloatMatrix& matrix, const Tensor& w, SlotId in, const step::FloatNormOnRead& norm,
                           const Out& out, const When& when);
  // On subgroup matrices; false if the device has no suitable ones. `x`: the input as f16, none until it is needed.
  Result<bool> linear_on_matrices(const FloatMatrix::Part& part, const Tensor& w, SlotId in,
                                  const step::FloatNormOnRead& norm, const Out& out, const When& when,
                                  std::optional<HalvedTokens>& x);
  // Adds the bias to the results of these rows of the matrix, after kernels that do not do it themselves.
  Result<void> add_bias(uint32_t first, uint32_t count, const Out& out, const When& when);
  Result<std::optional<View<wgsl::F32>>> bias_view(std::span<const Tensor* const> biases);
  Result<BufferView> range_of(const FloatMatrix::Part& part, const Out& out);
  Result<bool> glu_on_matrices(const step::FloatGlu& s, const WeightStore::Glu& parts, const When& when);
  Result<void> glu_few(const step::FloatGlu& s, const WeightStore::Glu& parts, const FloatRead& read);
  Result<void> glu_many(const step::FloatGlu& s, const WeightStore::Glu& parts, const When& when);

  Recording& r_;
  HeadsRecorder& heads_;
  FloatLayers layers_;
  FloatInputs inputs_;
  std::unique_ptr<LogitsRecorder> logits_;
};

}  // namespace tern::gpu
