#include "backend/gpu/kernels/golden/golden_cases_test_support.h"

#include <string_view>

#include "backend/gpu/kernels/attention/attention.h"
#include "backend/gpu/kernels/attention/grouped_attention.h"
#include "backend/gpu/kernels/attention/serial_attention.h"
#include "backend/gpu/kernels/elementwise.h"
#include "backend/gpu/kernels/embed.h"
#include "backend/gpu/kernels/float/float_linear.h"
#include "backend/gpu/kernels/float/float_matmul.h"
#include "backend/gpu/kernels/float/halve_tokens.h"
#include "backend/gpu/kernels/head/argmax.h"
#include "backend/gpu/kernels/megakernel/float_layers.h"
#include "backend/gpu/kernels/megakernel/ternary_layers.h"
#include "backend/gpu/kernels/megakernel/ternary_rows.h"
#include "backend/gpu/kernels/qkv_heads.h"
#include "backend/gpu/kernels/rms_norm.h"
#include "backend/gpu/kernels/ternary/norm_fused.h"
#include "backend/gpu/kernels/ternary/ternary_columns.h"
#include "backend/gpu/kernels/ternary/ternary_matmul.h"
#include "backend/gpu/kernels/ternary/ternary_qkv.h"
#include "base/bytes.h"

namespace tern::gpu {
namespace {

using wgsl::F16x2;
using wgsl::F32;
using wgsl::I8x4;

struct ModelShape {
  std::string name;
  uint32_t width, ffn, n_vocab;
  HeadShape heads;
};
const ModelShape kStories = {"stories", 512, 1536, 8192, {8, 2, 64}};
// As small as the megakernels take, so that their texts can be read.
const ModelShape kSmall = {"small", 256, 256, 1024, {4, 4, 64}};
const ModelShape kBitnet2b = {"bitnet-2b", 2560, 6912, 128256, {20, 5, 128}};

struct NamedCaps {
  std::string name;
  Caps caps;
};
const NamedCaps kAll = {"all", {.packed_dot = true, .subgroup = 32}};
const NamedCaps kNone = {"none", {}};
const NamedCaps kSubgroup8 = {"subgroup8", {.packed_dot = false, .subgroup = 8}};

// The caps of SwiftShader.
const NamedCaps kSubgroup4 = {"serial4", {.packed_dot = true, .subgroup = 4}};

constexpr float kEps = 1e-5f;
constexpr uint32_t kUsualWorkgroupBytes = 32u << 10;

struct NamedCoding {
  std::string name;
  WeightCoding coding;
};
const NamedCoding kCodings[] = {
    {"f32", {}},
    {"f16", {.words = WeightWords::kF16}},
    {"bf16", {.words = WeightWords::kBF16}},
    {"codes8", {.words = WeightWords::kCodes8, .zero = 128, .group = 32}},
    {"codes8_f32_scales", {.words = WeightWords::kCodes8, .zero = 128, .group = 16, .f32_scales = true}},
    {"codes4", {.words = WeightWords::kCodes4, .zero = 8, .group = 32}},
    {"codes2", {.words = WeightWords::kCodes2, .zero = 1, .group = 256}},
    {"signs", {.words = WeightWords::kSigns, .group = 128}},
    {"codes8_byte_mins", {.words = WeightWords::kCodes8, .zero = 128, .group = 16, .mins = WeightMins::kBytes}},
    {"codes4_byte_mins", {.words = WeightWords::kCodes4, .group = 32, .mins = WeightMins::kBytes}},
    {"codes4_f16_mins", {.words = WeightWords::kCodes4, .group = 32, .mins = WeightMins::kF16}},
    {"codes8_f32_mins",
     {.words = WeightWords::kCodes8, .zero = 128, .group = 32, .f32_scales = true, .mins = WeightMins::kF16}},
    {"codes4_byte_mins_f32",
     {.words = WeightWords::kCodes4, .group = 32, .f32_scales = true, .mins = WeightMins::kBytes}},
};

class Cases {
 public:
  explicit Cases(const ModelShape& model) : m_(model) {}

  // Kernels that need no optional device features.
  void add_plain() {
    add("select_rows", select_rows({m_.width}));
    add("relu2_mul", glu_mul({m_.ffn}, Activation::kRelu2));
    add("silu_mul", glu_mul({m_.ffn}, Activation::kSilu));
    add("gelu_mul", glu_mul({m_.ffn}, Activation::kGeluTanh));
    add("gelu_mul_columns", glu_mul({256, 8960, 512}, Activation::kGeluTanh));
    add("add", gpu::add({m_.width}));
    add("add_scaled", gpu::add({m_.width}, 0.5f));
    add("add_bias", add_bias({m_.width, 0, m_.width}));
    add("softcap", softcap({m_.n_vocab}, 30));
    add("rope", rope({m_.heads.n_heads, m_.heads.head_dim}));
    add("rope_interleaved", rope({m_.heads.n_heads, m_.heads.head_dim, true}));
    add("kv_append_f16", kv_append<F16x2>({.heads = m_.heads}));
    add("kv_append_f32", kv_append<F32>({.heads = m_.heads}));
    add("kv_append_q8_0", kv_append<I8x4>({.heads = m_.heads}));
    add("argmax_parts", argmax_parts({.n = m_.n_vocab}));
    add("argmax_next", argmax_next({.n = m_.n_vocab}));
    const WeightCoding f16{.words = WeightWords::kF16};
    add("argmax_embed", argmax_embed({.parts = ceil_div(m_.n_vocab, 256u),
                                      .begins_step = true,
                                      .workgroup = caps_.caps.subgroup > 0 ? 512u : 256u,
                                      .embed = {.width = m_.width, .coding = f16}}));
    for (auto& [name, module] : matrix_kernels(m_.width, m_.ffn, m_.heads)) add(name, std::move(module));
    for (auto& [name, module] : expert_tile_kernels()) add(name, std::move(module));
    add("halve_tokens", halve_tokens({.width = m_.width, .caps = {}}));
    add("halve_tokens_exactly", halve_tokens({.width = m_.width, .caps = {}, .rest_at = 64}));
    add("norm_halves", norm_halves({.width = m_.width, .caps = {}, .eps = 1e-6f}));
    add("norm_halves_exactly", norm_halves({.width = m_.width, .caps = {}, .rest_at = 64, .eps = 1e-6f}));
  }

  // Kernels that depend on the device's features.
  void add_capable(const NamedCaps& caps) {
    caps_ = caps;
    add_norms();
    add_ternary();
    add_attention<F16x2>("f16");
    add_attention<F32>("f32");
    add_attention<I8x4>("q8_0");
    add("attention_merge", attention_merge(attention_config(16)));
    add_float();
    for (auto& [name, module] : head_kernels(m_.width, m_.n_vocab, caps.caps)) add(name, std::move(module));
    for (auto& [name, module] : delta_kernels(caps.caps)) add(name, std::move(module));
    for (auto& [name, module] : expert_kernels(caps.caps)) add(name, std::move(module));
    for (auto& [name, module] : int8_kernels(caps.caps)) add(name, std::move(module));
    if (caps.caps.packed_dot && caps.caps.subgroup >= 8) add_layers();
  }

  // The kernels that software drivers run instead of the GPU kernels.
  void add_serial(const NamedCaps& caps) {
    caps_ = caps;
    const RmsNormConfig norm{
        .width = m_.width, .eps = kEps, .caps = caps.caps, .workgroup = caps.caps.subgroup, .in_loops = true};
    add("quantize", quantize(norm));
    add("rms_norm_quantize", rms_norm_quantize(norm));
    const ArgmaxConfig argmax{.n = m_.n_vocab, .workgroup = 16, .serial = true};
    add("argmax_parts", argmax_parts(argmax));
    add("argmax_next", argmax_next(argmax));
    TernaryConfig ternary{.rows = m_.width,
                          .cols = m_.ffn,
                          .caps = caps.caps,
                          .lanes = 1,
                          .rows_per_group = 1,
                          .workgroup = 16,
                          .in_loops = true};
    add("ternary_matvec", ternary_matvec(ternary));
    std::swap(ternary.rows, ternary.cols);
    add("ternary_glu", ternary_glu(ternary));
    add_serial_attention<F16x2>("f16");
    add_serial_attention<F32>("f32");
    add_serial_attention<I8x4>("q8_0");
  }

  // The megakernels of a model with two layers.
  void add_small_layers(const NamedCaps& caps) {
    caps_ = caps;
    TernaryLayersConfig c{{.n_layers = 2,
                           .d_model = m_.width,
                           .d_ff = m_.ffn,
                           .heads = m_.heads,
                           .eps = kEps,
                           .caps = caps.caps,
                           .workgroup = 256,
                           .most_splits = 2}};
    c.most_ahead = 2;
    CHECK(c.place_matrices(1));
    add("ternary_layers", ternary_layers(c));
    TernaryRowsConfig rows = rows_config(c, 2);
    rows.heads_at_once = 1;
    CHECK(fits(rows));
    add("ternary_rows", ternary_rows(rows));
    FloatLayersConfig f{static_cast<const LayersShape&>(c)};
    f.words_in_quads = true;
    f.most_ahead = 2;
    FloatLayersConfig::Kind kind;
    for (auto* matrix : {&kind.qk, &kind.v, &kind.output, &kind.gate, &kind.up, &kind.down}) {
      matrix->coding = {.words = WeightWords::kCodes8, .zero = 128, .group = 32};
    }
    f.kinds = {kind};
    CHECK(f.place_matrices(256) && fits(f));
    add("float_layers", float_layers(f));
  }

  std::vector<GoldenCase> take() { return std::move(cases_); }

 private:
  template <class... P>
  void add(std::string_view name, wgsl::Kernel<P...> kernel) {
    add(name, std::move(kernel.module));
  }
  void add(std::string_view name, wgsl::Module module) {
    const std::string caps = caps_.name.empty() ? "" : "." + caps_.name;
    cases_.push_back({std::string(name) + "." + m_.name + caps + ".wgsl", std::move(module)});
  }

  void add_layers() {
    TernaryLayersConfig c{
        {.n_layers = 30, .d_model = m_.width, .d_ff = m_.ffn, .heads = m_.heads, .eps = kEps, .caps = caps_.caps}};
    CHECK(c.place_matrices(1));
    TernaryLayersConfig other = c;  // kept only as a hash
    other.interleaved = true;
    other.workgroup = 256;
    add("ternary_layers.interleaved", ternary_layers(other));
    other.serial_subgroups = true;
    other.kv_heads_of_workgroup = 2;
    add("ternary_layers.serial_subgroups", ternary_layers(other));
    add("ternary_layers", ternary_layers(c));

    for (const uint32_t tokens : {2u, 4u, 8u}) {
      TernaryRowsConfig rows = rows_config(c, tokens);
      rows.most_rows = 64, rows.heads_at_once = 1;
      if (fits(rows))
        add(tokens == 8 ? std::string("ternary_rows") : "ternary_rows.of_" + std::to_string(tokens),
            ternary_rows(rows));
    }

    FloatLayersConfig f{
        {.n_layers = 28, .d_model = m_.width, .d_ff = m_.ffn, .heads = m_.heads, .eps = kEps, .caps = caps_.caps}};
    const auto kind_of = [](const WeightCoding& coding) {
      FloatLayersConfig::Kind k;
      for (auto* matrix : {&k.qk, &k.v, &k.output, &k.gate, &k.up, &k.down}) matrix->coding = coding;
      return k;
    };
    const auto add_kinds = [&](const char* name, const std::vector<FloatLayersConfig::Kind>& kinds) {
      f.kinds = kinds;
      if (f.place_matrices(256) && fits(f)) add(name, float_layers(f));
    };
    const auto add_floats = [&](const char* name, const WeightCoding& coding) { add_kinds(name, {kind_of(coding)}); };
    f.words_in_quads = true;
    const WeightCoding signs{.words = WeightWords::kSigns, .group = 128};
    f.heads_normed = true, f.head_eps = kEps;
    add_floats("float_layers.codes4_f16_mins", {.words = WeightWords::kCodes4, .group = 32, .mins = WeightMins::kF16});
    f.heads_at_once = 2, f.caps.subgroup = 8, f.workgroup = 64, f.most_splits = 8;
    add_floats("float_layers.subgroup8", signs);
    f.heads_at_once = 8, f.caps = caps_.caps, f.workgroup = 512, f.most_splits = 16;
    // Like Q4_K, except for the values and down projections of some layers, which are like Q6_K.
    const auto most = kind_of({.words = WeightWords::kCodes4, .group = 32, .mins = WeightMins::kBytes});
    auto some = most;
    some.v.coding = some.down.coding = {.words = WeightWords::kCodes8, .zero = 128, .group = 16};
    some.layers = {0b1111'0010'0100'1001'0010'0100'0111};
    add_kinds("float_layers.kinds", {most, some});
    add_floats("float_layers", {.words = WeightWords::kCodes8, .zero = 128, .group = 32});
  }

  void add_norms() {
    const RmsNormConfig norm{.width = m_.width, .eps = kEps, .caps = caps_.caps};
    add("rms_norm", rms_norm(norm));
    add("rms_norm_add", rms_norm_add(norm, 0.5f));
    add("head_norm", head_norm({m_.heads.n_heads, m_.heads.head_dim, kEps, caps_.caps}));
    add("quantize", quantize(norm));
    add("rms_norm_quantize", rms_norm_quantize(norm));
  }

  void add_ternary() {
    TernaryConfig down{.rows = m_.width, .cols = m_.ffn, .caps = caps_.caps};
    const TernaryConfig up{.rows = m_.ffn, .cols = m_.width, .caps = caps_.caps};
    const NormConfig norm{.eps = kEps, .n_parts = m_.width / 32};
    add("ternary_matvec", ternary_matvec(down));
    down.store = Store::kAdd;
    add("ternary_matvec_add", ternary_matvec(down));
    add("ternary_glu", ternary_glu(up));
    add("normed_matvec_add", normed_matvec_add(down, norm));
    add("normed_glu", normed_glu(up, norm));
    if (caps_.caps.subgroup > 0) add_ternary_columns(down, up, norm);
    TernaryMatmulConfig tiles{.rows = m_.width, .cols = m_.ffn, .caps = caps_.caps};
    add("ternary_matmul", ternary_matmul(tiles));
    tiles.store = Store::kAdd;
    add("ternary_matmul_add", ternary_matmul(tiles));
    add("ternary_glu_matmul",
        ternary_glu_matmul({.rows = m_.ffn, .cols = m_.width, .caps = caps_.caps, .tile_tokens = 32}));
    add_qkv<F16x2>("f16", norm);
    add_qkv<F32>("f32", norm);
    add_qkv<I8x4>("q8_0", norm);
  }

  // Two rows at a time, whose statistics are added up in the order of 256 invocations. A row of `down` is so long that
  // its loads stay in a loop.
  void add_ternary_columns(TernaryConfig down, TernaryConfig up, const NormConfig& norm) {
    const ColumnsConfig columns{.columns = 2, .norm_workgroup = 256};
    up.rows_per_group = 1;
    add("normed_matvec_add_columns", normed_matvec_add_columns(down, norm, columns));
    add("normed_glu_columns", normed_glu_columns(up, norm, columns));
    const TernaryQkvConfig qkv = fit(TernaryQkvConfig{.cols = m_.width, .heads = m_.heads, .caps = caps_.caps});
    add("normed_qkv_columns_f16",
        normed_qkv_columns<F16x2>(qkv, norm, {.columns = 2, .norm_workgroup = qkv.workgroup}));
    add("normed_qkv_columns_f32", normed_qkv_columns<F32>(qkv, norm, {.columns = 2, .norm_workgroup = qkv.workgroup}));
  }

  template <class KvWord>
  void add_qkv(const std::string& kv, const NormConfig& norm) {
    const auto config = [&](bool interleaved) {
      const TernaryQkvConfig c{.cols = m_.width, .heads = m_.heads, .interleaved = interleaved, .caps = caps_.caps};
      return kHasKvScales<KvWord> ? fit_to_codes(c, 256) : fit(c);
    };
    TernaryQkvConfig c = config(false);
    add("ternary_qkv_" + kv, ternary_qkv<KvWord>(c));
    add("normed_qkv_" + kv, normed_qkv<KvWord>(c, norm));
    c = config(true);
    add("ternary_qkv_interleaved_" + kv, ternary_qkv<KvWord>(c));
  }

  AttentionConfig attention_config(uint32_t max_splits) const {
    AttentionConfig c = fit(AttentionConfig{.heads = m_.heads, .caps = caps_.caps});
    c.max_splits = max_splits;
    return c;
  }

  template <class KvWord>
  void add_attention(const std::string& kv) {
    add("attention_" + kv, attention<KvWord>(attention_config(0)));
    AttentionConfig window = attention_config(0);
    window.window = 300;
    add("attention_window_" + kv, attention<KvWord>(window));
    window.softcap = 50;
    add("attention_softcap_" + kv, attention<KvWord>(window));
    window.softcap = 0;
    add("attention_split_" + kv, attention<KvWord>(attention_config(16)));
    add("attention_split_of_groups_" + kv, grouped_attention<KvWord>(attention_config(16)));
    AttentionConfig rounds = attention_config(0);
    rounds.rounds = 4;
    rounds = fit(rounds);
    if (has_grouped_attention<KvWord>(rounds, kUsualWorkgroupBytes)) {
      add("attention_of_groups_" + kv, grouped_attention<KvWord>(rounds));
    }
    HeadsConfig heads{.shape = m_.heads, .normed = true, .eps = kEps, .caps = caps_.caps};
    add("heads_attention_normed_" + kv, heads_attention<KvWord>(window, heads));
    heads.normed = false;
    heads.interleaved = true;
    add("heads_attention_split_" + kv, heads_attention<KvWord>(attention_config(16), heads));
  }

  template <class KvWord>
  void add_serial_attention(const std::string& kv) {
    SerialAttentionConfig attention{.heads = m_.heads, .caps = caps_.caps};
    add("serial_attention_" + kv, serial_attention<KvWord>(attention));
    attention.window = 300;
    attention.heads.head_dim = 72;  // its quads are not a multiple of four lanes
    add("serial_attention_window_" + kv, serial_attention<KvWord>(attention));
    HeadsConfig heads{.shape = m_.heads, .normed = true, .eps = kEps, .caps = caps_.caps};
    add("serial_heads_normed_" + kv, serial_heads<KvWord>(heads));
    heads.normed = false;
    heads.interleaved = true;
    add("serial_heads_" + kv, serial_heads<KvWord>(heads));
  }

  void add_float() {
    for (const auto& [name, coding] : kCodings) {
      if (m_.width % coding.values() != 0) continue;
      add("embed_" + name, embed({m_.width, coding}));
      FloatLinearConfig c =
          fit(FloatLinearConfig{.rows = m_.n_vocab, .cols = m_.width, .coding = coding, .caps = caps_.caps});
      c.lanes = std::min(c.lanes, 32u);
      add("float_linear_" + name, float_linear(c));
    }
    // Small codes staged in workgroup memory, others not; with a norm; adding to y; as a gated pair.
    FloatLinearConfig c{.rows = m_.ffn, .cols = m_.width, .coding = kCodings[5].coding, .caps = caps_.caps};
    c.up_coding = c.coding;
    c.act = Activation::kSilu;
    c.normed = c.staged = true;
    c.eps = kEps;
    c.lanes = 16;
    c.rows_per_group = 1;
    add("float_glu_staged", float_glu(c));
    add("float_linear_staged", float_linear(c));
    // int8 activations, with signed codes, codes with a zero, and signs.
    c.staged = false;
    c.int8_x = true;
    add("float_glu_int8", float_glu(c));
    c.coding = kCodings[3].coding;
    add("float_linear_int8_codes8", float_linear(c));
    c.coding = kCodings[7].coding;
    c.normed = false;
    add("float_linear_int8_signs", float_linear(c));
    c.int8_x = false;
    c.normed = true;
    c.coding = kCodings[3].coding;
    c.store = Store::kAdd;
    add("float_linear_normed_add", float_linear(c));
    add("float_linear_bias_add", float_linear_bias(c));
    add_float_columns(c);
    FloatMatmulConfig m{.rows = m_.width, .cols = m_.ffn, .coding = kCodings[5].coding};
    add("float_matmul", float_matmul(m));
    m.store = Store::kAdd;
    m.coding = kCodings[1].coding;
    add("float_matmul_add", float_matmul(m));
    m.tile_rows = 32;
    m.up_coding = m.coding = kCodings[7].coding;
    m.act = Activation::kSilu;
    add("float_glu_matmul", float_glu_matmul(m));
    for (const bool normed : {false, true}) {
      const HeadsConfig heads{.shape = m_.heads, .normed = normed, .eps = kEps, .caps = caps_.caps};
      add(normed ? "qkv_heads_normed" : "qkv_heads", qkv_heads<F16x2>(heads));
      if (normed) add("qkv_heads_normed_q8_0", qkv_heads<I8x4>(heads));
    }
  }

  // Two rows of x at a time.
  void add_float_columns(FloatLinearConfig c) {
    c.columns = 2;
    add("float_linear_columns_add", float_linear_columns(c));
    c.of_logits = c.int8_x = true;
    c.normed = false;
    c.store = Store::kSet;
    add("float_linear_columns_int8", float_linear_columns(c));
    c.of_logits = false;
    c.up_coding = c.coding;
    add("float_glu_columns", float_glu_columns(c));
  }

  ModelShape m_;
  NamedCaps caps_;
  std::vector<GoldenCase> cases_;
};

}  // namespace

std::vector<GoldenCase> golden_cases() {
  Cases stories(kStories), bitnet(kBitnet2b), small(kSmall);
  stories.add_plain();
  stories.add_capable(kNone);
  stories.add_capable(kSubgroup8);
  stories.add_serial(kSubgroup4);
  bitnet.add_plain();
  bitnet.add_capable(kAll);
  small.add_small_layers(kAll);
  std::vector<GoldenCase> cases = stories.take();
  for (Cases* of : {&bitnet, &small}) {
    for (GoldenCase& c : of->take()) cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace tern::gpu
