#include "model/model.h"

#include <algorithm>
#include <filesystem>

#include "model/bitnet.h"
#include "quant/i2_s.h"

namespace tern {
namespace {

// A family: the names its files use, and how its shape and weights are read.
struct Family {
  std::string_view architecture;
  Result<Config> (*read_config)(const GgufFile&, const std::string& architecture);
  Result<Weights> (*read_weights)(const GgufFile&, const Config&);
};
constexpr Family kFamilies[] = {
    {"bitnet-b1.58", bitnet::read_config, bitnet::read_weights},
    {"bitnet-25", bitnet::read_config, bitnet::read_weights},
    {"bitnet", bitnet::read_config, bitnet::read_weights},
};

uint64_t bytes_of(const Tensor& t) { return tensor_bytes(t.format, t.rows, t.cols); }
uint64_t elements_of(const Tensor& t) { return static_cast<uint64_t>(t.rows) * static_cast<uint64_t>(t.cols); }

template <class Function>
void for_each_tensor(const Layer& l, Function&& function) {
  for (const Tensor* t : {&l.attn_norm, &l.attn_q, &l.attn_k, &l.attn_v, &l.attn_sub_norm, &l.attn_output, &l.ffn_norm,
                          &l.ffn_gate, &l.ffn_up, &l.ffn_sub_norm, &l.ffn_down}) {
    function(*t);
  }
}

// Two bits have four codes and ternary weights use three, so a tensor in another layout or with damaged bytes shows the
// fourth almost at once. Looking at the start of each tensor costs nothing at load.
Result<void> check_ternary_codes(const std::string& path, const Weights& weights) {
  constexpr size_t kLook = 16384;
  const Tensor* bad = nullptr;
  for (const Layer& layer : weights.layers) {
    for_each_tensor(layer, [&](const Tensor& t) {
      if (t.format != Format::kI2_S || bad) return;
      const size_t size = std::min(t.data.size(), kLook + kI2sTailBytes);
      if (find_i2_s_code3(t.data.first(size)) >= 0) bad = &t;
    });
  }
  if (!bad) return {};
  return fail(ErrorCode::kCorruption,
              "{}: tensor {} holds two-bit codes that no ternary weight has; the file is damaged or packed for another "
              "processor (blocks of 64); use the file for x86",
              path, bad->name);
}

}  // namespace

uint64_t Weights::bytes_per_token() const {
  uint64_t bytes = row_bytes(token_embd.format, token_embd.cols) + bytes_of(output_norm) + bytes_of(output);
  for (const Layer& layer : layers) for_each_tensor(layer, [&](const Tensor& t) { bytes += bytes_of(t); });
  return bytes;
}

uint64_t Weights::n_params() const {
  uint64_t n = elements_of(token_embd) + elements_of(output_norm);
  if (output.data.data() != token_embd.data.data()) n += elements_of(output);
  for (const Layer& layer : layers) for_each_tensor(layer, [&](const Tensor& t) { n += elements_of(t); });
  return n;
}

std::string supported_architectures() {
  std::string names;
  for (const Family& family : kFamilies) names += (names.empty() ? "" : ", ") + std::string(family.architecture);
  return names;
}

Result<Model> open_model(const std::string& path) {
  TRY(auto file, GgufFile::open(path));
  Model model{
      .path = path, .name = {}, .config = {}, .weights = {}, .file = std::make_unique<GgufFile>(std::move(file))};
  TRY(const auto architecture, model.file->get_string("general.architecture"));
  if (!architecture) {
    return fail(ErrorCode::kCorruption, "{}: metadata key general.architecture is missing; convert the model again",
                path);
  }
  const auto* family = std::ranges::find(kFamilies, *architecture, &Family::architecture);
  if (family == std::end(kFamilies)) {
    return fail(ErrorCode::kNotSupported, "{}: architecture \"{}\" is not one that Tern runs ({})", path, *architecture,
                supported_architectures());
  }
  TRY(const auto name, model.file->get_string("general.name"));
  model.name = name ? std::string(*name) : std::filesystem::path(path).stem().string();
  TRY(model.config, family->read_config(*model.file, std::string(*architecture)));
  TRY(model.weights, family->read_weights(*model.file, model.config));
  TRY_STATUS(check_ternary_codes(path, model.weights));
  return model;
}

}  // namespace tern
