// Mixtures of experts: the keys and tensors that all families with them share.
#include <cmath>

#include "base/text/format_text.h"
#include "model/families/family.h"
#include "model/source/source_reader.h"

namespace tern {
namespace {

constexpr int kMostExperts = 1024, kMostExpertWidth = 1 << 20;

// How converters number what becomes of the scores.
constexpr int64_t kSoftmax = 1, kSoftmaxOfChosen = 3;

// Keys that only some files have must say what the family computes.
Result<void> check_weights(const ModelSource& source, const Config& c) {
  const std::string gating = c.architecture + ".expert_gating_func", norm = c.architecture + ".expert_weights_norm",
                    scale = c.architecture + ".expert_weights_scale";
  TRY(const auto function, source.get_int(gating));
  const int64_t of_chosen = c.experts.weighs_chosen ? kSoftmaxOfChosen : kSoftmax;
  if (function && *function != 0 && *function != kSoftmax && *function != of_chosen) {
    return fail(ErrorCode::kNotSupported, "{}: {} is {}, but Tern computes only the softmax of the scores (1)",
                source.path(), gating, *function);
  }
  TRY(const auto is_normed, source.get_bool(norm));
  if (is_normed && *is_normed != c.experts.weighs_chosen) {
    return fail(ErrorCode::kNotSupported, "{}: {} is {}, which Tern does not compute for this architecture",
                source.path(), norm, *is_normed);
  }
  TRY(const auto factor, source.get_float(scale));
  if (factor && *factor != 0 && *factor != 1) {
    return fail(ErrorCode::kNotSupported, "{}: {} is {}, but Tern knows only 1", source.path(), scale, *factor);
  }
  return {};
}

// What a mixture beside a dense network has in addition. The router's input is also divided by √d_model, which its
// matrix takes over.
Result<void> read_beside_dense(const TensorReader& tensors, const std::string& blk, const Config& c, Layer& l) {
  TRY(l.ffn_router, tensors.matrix(blk + "ffn_gate_inp.weight", c.experts.n, c.d_model, float_formats()));
  l.ffn_router.scale /= std::sqrt(static_cast<float>(c.d_model));
  TRY(l.ffn_router_norm, tensors.vector(blk + "ffn_gate_inp.scale", c.d_model));
  TRY(l.ffn_experts_norm, tensors.vector(blk + "pre_ffw_norm_2.weight", c.d_model));
  TRY(l.ffn_experts_post, tensors.vector(blk + "post_ffw_norm_2.weight", c.d_model));
  TRY(l.ffn_dense_post, tensors.vector(blk + "post_ffw_norm_1.weight", c.d_model));
  TRY(l.ffn_experts_scale, tensors.vector(blk + "ffn_down_exps.scale", c.experts.n));
  return {};
}

}  // namespace

Result<void> read_expert_shape(const ModelSource& source, const Family& family, Config& c) {
  if (family.parts.experts == Experts::kNone) return {};
  if (family.parts.dense_beside_experts) {
    TRY(const auto n, source.get_int(c.architecture + ".expert_count"));
    if (n.value_or(0) == 0) return {};
  }
  const MetadataReader meta(source, c.architecture);
  ExpertConfig& e = c.experts;
  e.weighs_chosen = family.parts.experts == Experts::kSoftmaxOfChosen;
  TRY(e.n, meta.integer("expert_count", kMostExperts));
  TRY(e.n_used, meta.integer("expert_used_count", kMostExperts));
  if (e.n_used > e.n) {
    return fail(ErrorCode::kCorruption,
                "{}: expert_used_count is {}, but a layer has only expert_count {}; convert the model again",
                source.path(), e.n_used, e.n);
  }
  TRY(const auto d_ff, source.get_int(c.architecture + ".expert_feed_forward_length"));
  TRY(e.d_ff, meta.integer(d_ff ? "expert_feed_forward_length" : "feed_forward_length", kMostExpertWidth));
  TRY(const auto shared, source.get_int(c.architecture + ".expert_shared_feed_forward_length"));
  if (shared && *shared != 0) {
    TRY(e.d_ff_shared, meta.integer("expert_shared_feed_forward_length", kMostExpertWidth));
  }
  return check_weights(source, c);
}

Result<void> read_expert_layer(const TensorReader& tensors, int layer, const Family& family, const Config& c,
                               Layer& l) {
  const std::string blk = format_text("blk.{}.", layer);
  const ExpertConfig& e = c.experts;
  if (family.parts.dense_beside_experts) {
    TRY_STATUS(read_beside_dense(tensors, blk, c, l));
  } else {
    TRY(l.ffn_router, tensors.linear(blk + "ffn_gate_inp", e.n, c.d_model, false));
  }
  TRY(l.ffn_gate_exps, tensors.experts(blk + "ffn_gate_exps", e.n, e.d_ff, c.d_model));
  TRY(l.ffn_up_exps, tensors.experts(blk + "ffn_up_exps", e.n, e.d_ff, c.d_model));
  TRY(l.ffn_down_exps, tensors.experts(blk + "ffn_down_exps", e.n, c.d_model, e.d_ff));
  if (e.d_ff_shared == 0) return {};
  TRY(l.ffn_gate_shared, tensors.linear(blk + "ffn_gate_shexp", e.d_ff_shared, c.d_model, false));
  TRY(l.ffn_up_shared, tensors.linear(blk + "ffn_up_shexp", e.d_ff_shared, c.d_model, false));
  TRY(l.ffn_down_shared, tensors.linear(blk + "ffn_down_shexp", c.d_model, e.d_ff_shared, false));
  TRY(l.ffn_shared_gate, tensors.linear(blk + "ffn_gate_inp_shexp", 1, c.d_model, false));
  return {};
}

}  // namespace tern
