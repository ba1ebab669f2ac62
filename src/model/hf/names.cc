#include "model/hf/names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "base/text/format_text.h"

namespace tern {
namespace {

constexpr std::string_view kGgufLayers = "blk.", kHfLayers = "model.layers.";

// A model for text and images has the text's tensors below the second instead of the first.
constexpr std::string_view kModel = "model.", kInnerModel = "model.language_model.";
constexpr std::array<std::string_view, 6> kLeftOut = {
    "model.visual.", "mtp.", "model.vision_tower.", "model.audio_tower.", "model.embed_vision.", "model.embed_audio."};

constexpr std::string_view kPrediction = "mtp.", kPredictionLayer = "mtp.layers.0.";
constexpr std::pair<std::string_view, std::string_view> kAroundPrediction[] = {
    {"nextn.eh_proj.weight", "mtp.fc.weight"},
    {"nextn.enorm.weight", "mtp.pre_fc_norm_embedding.weight"},
    {"nextn.hnorm.weight", "mtp.pre_fc_norm_hidden.weight"},
    {"nextn.shared_head_norm.weight", "mtp.norm.weight"}};

// Endings of tensor names. The last two are only for linear layers.
struct Ending {
  std::string_view gguf;
  std::string_view hf;
  bool of_linear;
};
constexpr Ending kEndings[] = {
    {".weight", ".weight", false}, {".bias", ".bias", true}, {"_norm_in.weight", ".rms_norm.weight", true}};

// A name split into the layer's number and the rest; `number` is empty outside the layers.
struct Split {
  std::string_view number;
  std::string_view rest;
};
std::optional<Split> split_layer(std::string_view name, std::string_view layers) {
  if (!name.starts_with(layers)) return Split{.number = {}, .rest = name};
  name.remove_prefix(layers.size());
  const size_t dot = name.find('.');
  const bool is_number = dot != 0 && dot != std::string_view::npos &&
                         std::ranges::all_of(name.substr(0, dot), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return std::nullopt;
  return Split{.number = name.substr(0, dot), .rest = name.substr(dot + 1)};
}

// The name in a checkpoint for text alone.
std::string without_inner(const Family& family, std::string_view hf_name) {
  if (family.outer_model_type.empty() || !hf_name.starts_with(kInnerModel)) return std::string(hf_name);
  return format_text("{}{}", kModel, hf_name.substr(kInnerModel.size()));
}

// True if `name` begins with the pattern, in which "*" is an expert's number. `rest` becomes what follows.
bool match(std::string_view pattern, std::string_view name, std::string_view& rest) {
  const size_t star = pattern.find('*');
  if (!name.starts_with(pattern.substr(0, star))) return false;
  if (star == std::string_view::npos) {
    rest = name.substr(pattern.size());
    return true;
  }
  name.remove_prefix(star);
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  const std::string_view end = pattern.substr(star + 1);
  if (digits == 0 || !name.substr(digits).starts_with(end)) return false;
  rest = name.substr(digits + end.size());
  return true;
}

// The name of the first expert's tensor.
std::string of_first_expert(std::string_view pattern) {
  std::string name(pattern);
  if (const size_t star = name.find('*'); star != std::string::npos) name[star] = '0';
  return name;
}

std::span<const TensorName> names_for(const Family& family, const Split& split) {
  return split.number.empty() ? outer_names() : layer_names(family);
}

}  // namespace

std::optional<LayerName> parse_layer_name(std::string_view gguf_name) {
  constexpr std::string_view kWeight = ".weight";
  const auto split = split_layer(gguf_name, kGgufLayers);
  if (!split || split->number.empty() || !split->rest.ends_with(kWeight)) return std::nullopt;
  LayerName name{.number = 0, .rest = split->rest.substr(0, split->rest.size() - kWeight.size())};
  const auto [end, error] =
      std::from_chars(split->number.data(), split->number.data() + split->number.size(), name.number);
  return error == std::errc() ? std::optional(name) : std::nullopt;
}

std::vector<std::string> hf_names(const Family& family, std::string_view gguf_name) {
  std::vector<std::string> names;
  const auto split = split_layer(gguf_name, kGgufLayers);
  if (!split) return names;
  const std::string prefix = split->number.empty() ? "" : format_text("{}{}.", kHfLayers, split->number);
  for (const TensorName& name : names_for(family, *split)) {
    if (name.is_whole && name.gguf == split->rest) names.push_back(format_text("{}{}", prefix, name.hf));
  }
  for (const Ending& ending : kEndings) {
    if (!split->rest.ends_with(ending.gguf)) continue;
    const std::string_view stem = split->rest.substr(0, split->rest.size() - ending.gguf.size());
    for (const TensorName& name : names_for(family, *split)) {
      if (name.gguf != stem || name.is_whole || (ending.of_linear && !name.is_linear)) continue;
      names.push_back(format_text("{}{}{}", prefix, of_first_expert(name.hf), ending.hf));
    }
  }
  if (family.outer_model_type.empty()) return names;
  for (size_t i = 0, n = names.size(); i < n; ++i) {
    if (!names[i].starts_with(kModel)) continue;
    names.push_back(format_text("{}{}", kInnerModel, std::string_view(names[i]).substr(kModel.size())));
  }
  return names;
}

const TensorName* find_tensor_name(const Family& family, std::string_view gguf_name, std::string_view hf_name) {
  constexpr std::string_view kWeight = ".weight";
  const bool predicts = hf_name.starts_with(kPredictionLayer);  // its names differ only in where they begin
  const std::string of_text = predicts ? format_text("{}0.{}", kHfLayers, hf_name.substr(kPredictionLayer.size()))
                                       : without_inner(family, hf_name);
  const auto split = split_layer(gguf_name, kGgufLayers), hf_split = split_layer(of_text, kHfLayers);
  if (!split || !hf_split) return nullptr;
  const auto found = std::ranges::find_if(names_for(family, *split), [&](const TensorName& name) {
    std::string_view end;
    if (!match(name.hf, hf_split->rest, end)) return false;
    return name.is_whole ? end.empty() && name.gguf == split->rest
                         : split->rest.starts_with(name.gguf) && split->rest.substr(name.gguf.size()) == kWeight;
  });
  return found == names_for(family, *split).end() ? nullptr : &*found;
}

bool is_prediction_name(std::string_view hf_name) { return hf_name.starts_with(kPrediction); }

std::vector<std::string> hf_prediction_names(const Family& family, std::string_view gguf_name) {
  const auto split = split_layer(gguf_name, kGgufLayers);
  if (!split) return {};
  for (const auto& [gguf, hf] : kAroundPrediction) {
    if (split->rest == gguf) return {std::string(hf)};
  }
  std::vector<std::string> names;
  const std::string layer = format_text("{}{}.", kHfLayers, split->number);
  for (const std::string& name : hf_names(family, gguf_name)) {
    if (!name.starts_with(layer)) continue;
    names.push_back(format_text("{}{}", kPredictionLayer, std::string_view(name).substr(layer.size())));
  }
  return names;
}

std::optional<std::string> gguf_prediction_name(const Family& family, std::string_view hf_name, int64_t number) {
  for (const auto& [gguf, hf] : kAroundPrediction) {
    if (hf_name == hf) return format_text("{}{}.{}", kGgufLayers, number, gguf);
  }
  if (!hf_name.starts_with(kPredictionLayer)) return std::nullopt;
  const std::string in_layer = format_text("{}{}.{}", kHfLayers, number, hf_name.substr(kPredictionLayer.size()));
  return gguf_name_of(family, in_layer);
}

bool is_linear_name(const Family& family, std::string_view gguf_name) {
  const auto layer = parse_layer_name(gguf_name);
  return layer && std::ranges::any_of(layer_names(family), [&](const TensorName& name) {
           return name.is_linear && name.gguf == layer->rest;
         });
}

std::optional<std::string> gguf_name_of(const Family& family, std::string_view hf_name) {
  const std::string of_text = without_inner(family, hf_name);
  const auto split = split_layer(of_text, kHfLayers);
  if (!split) return std::nullopt;
  const std::string prefix = split->number.empty() ? "" : format_text("{}{}.", kGgufLayers, split->number);
  for (const TensorName& name : names_for(family, *split)) {
    std::string_view end;
    if (!match(name.hf, split->rest, end)) continue;
    if (name.is_whole && end.empty()) return format_text("{}{}", prefix, name.gguf);
    if (name.is_whole) continue;
    if (name.is_linear && end == ".weight_scale") return format_text("{}{}.weight", prefix, name.gguf);
    for (const Ending& ending : kEndings) {
      if (end == ending.hf && (name.is_linear || !ending.of_linear)) {
        return format_text("{}{}{}", prefix, name.gguf, ending.gguf);
      }
    }
  }
  return std::nullopt;
}

bool is_known_hf_name(const Family& family, std::string_view hf_name) {
  if (hf_name.ends_with("rotary_emb.inv_freq")) return true;  // a table that follows from rope_theta
  if (!family.outer_model_type.empty() &&
      std::ranges::any_of(kLeftOut, [&](std::string_view part) { return hf_name.starts_with(part); })) {
    return true;
  }
  return gguf_name_of(family, hf_name).has_value();
}

}  // namespace tern
