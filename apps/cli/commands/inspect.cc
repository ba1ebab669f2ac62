// tern inspect: shows what is in a model file.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ranges>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/support/remedies.h"
#include "cli/support/sampling_json.h"
#include "cli/terminal/help.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "tern/tools.h"
#include "tern/visible.h"

namespace tern::cli {
namespace {

constexpr const char* kInspectFooter = R"(Examples
  tern inspect model.gguf
  tern inspect model.gguf --json | jq '.tensors[].type'
  tern inspect model.gguf --json --arrays | jq '.metadata."tokenizer.ggml.tokens"[:100]'
  tern inspect                                    the model that comes with Tern
)";

struct TypeTotal {
  std::string type;
  size_t n_tensors = 0;
  uint64_t n_params = 0;
  uint64_t bytes = 0;
};

uint64_t n_elements(const TensorInfo& tensor) {
  uint64_t n = 1;
  for (const int64_t length : tensor.shape) n *= static_cast<uint64_t>(length);
  return n;
}

// Sorted by size, largest first.
std::vector<TypeTotal> totals_by_type(const FileInfo& info) {
  std::vector<TypeTotal> totals;
  for (const TensorInfo& tensor : info.tensors) {
    auto found = std::ranges::find(totals, tensor.type, &TypeTotal::type);
    if (found == totals.end()) found = totals.insert(totals.end(), {.type = tensor.type});
    ++found->n_tensors;
    found->n_params += n_elements(tensor);
    found->bytes += tensor.bytes;
  }
  std::ranges::sort(totals, std::greater(), &TypeTotal::bytes);
  return totals;
}

std::string metadata_value(const FileInfo& info, std::string_view key) {
  const auto found = std::ranges::find(info.metadata, key, [](const auto& entry) { return entry.first; });
  return found == info.metadata.end() ? "" : one_line(found->second);
}

std::string shape_text(const TensorInfo& tensor) {
  std::string text;
  for (const int64_t length : tensor.shape) text += format_text("{}{}", text.empty() ? "" : " × ", length);
  return text;
}

// Returns "" if all layers are alike.
std::string layers_text(const FileInfo& info) {
  std::string text;
  const auto add = [&](int LayerShape::* value, std::string_view what) {
    const auto [least, most] = std::ranges::minmax(info.layers | std::views::transform(value));
    if (least != most) text += format_text("{}{} to {} {}", text.empty() ? "" : ", ", least, most, what);
  };
  if (info.layers.empty()) return text;
  add(&LayerShape::n_heads, "heads");
  add(&LayerShape::n_kv_heads, "KV heads");
  add(&LayerShape::d_ff, "values in the feed-forward layer");
  return text + ", from layer to layer";
}

class Page {
 public:
  Page(const FileInfo& info, KvType kv_type, const Style& style, size_t width)
      : info_(info), kv_type_(kv_type), style_(style), width_(width) {}

  std::string render() {
    summary();
    types();
    metadata();
    tensors();
    return text_;
  }

 private:
  void heading(const std::string& title) { text_ += "\n" + style_.bold(title) + "\n"; }
  void summary();
  void types();
  void metadata();
  void tensors();

  const FileInfo& info_;
  const KvType kv_type_;
  const Style& style_;
  const size_t width_;
  std::string text_;
};

void Page::summary() {
  const auto line = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text_ += format_text("  {}  {}\n", style_.dim(pad(name, 14)), value);
  };
  text_ += style_.bold(one_line(info_.path)) + "\n";
  line("name", metadata_value(info_, "general.name"));
  line("architecture", metadata_value(info_, "general.architecture"));
  line("file", format_text("{}, {}", one_line(info_.container), human_bytes(info_.file_bytes)));
  line("parameters", human_count(info_.n_params));
  line("layers", layers_text(info_));
  if (info_.bytes_per_token > 0) {
    line("per token", format_text("{} of weights are read", human_bytes(info_.bytes_per_token)));
    line("KV cache",
         format_text("{} per token of context ({})", human_bytes(info_.kv_bytes_per_token), kv_name(kv_type_)));
    if (info_.state_bytes > 0) {
      line("states", format_text("{} for each conversation, in the recurrent layers", human_bytes(info_.state_bytes)));
    }
  }
  const SamplingAdvice& advice = info_.sampling;
  if (!advice.source.empty())
    line("sampling", format_text("{} ({})", given_sampling(advice.values), one_line(advice.source)));
  line("", not_followed_text(advice));
  for (const std::string& text : info_.changes.overrides) line("overridden", one_line(text));
  for (const std::string& key : info_.changes.ignored_keys) line("ignored", one_line(key));
  const bool runs = info_.not_supported.empty();
  line("runs on Tern", runs ? style_.green("yes") : style_.red("no: ") + one_line(with_flags(info_.not_supported)));
}

void Page::types() {
  heading("Formats");
  text_ += style_.dim("  format    tensors   parameters        bytes   bits/weight    share") + "\n";
  uint64_t all = 0;
  const std::vector<TypeTotal> totals = totals_by_type(info_);
  for (const TypeTotal& total : totals) all += total.bytes;
  for (const TypeTotal& total : totals) {
    const double bits =
        8.0 * static_cast<double>(total.bytes) / static_cast<double>(std::max<uint64_t>(total.n_params, 1));
    const double share = 100.0 * static_cast<double>(total.bytes) / static_cast<double>(std::max<uint64_t>(all, 1));
    text_ +=
        format_text("  {}{:>9}{}{}{:>14.2f}{:>7.1f} %\n", pad(one_line(total.type), 8), total.n_tensors,
                    pad_left(human_count(total.n_params), 13), pad_left(human_bytes(total.bytes), 13), bits, share);
  }
}

void Page::metadata() {
  heading(format_text("Metadata ({})", info_.metadata.size()));
  size_t key_width = 0;
  for (const auto& [key, value] : info_.metadata) key_width = std::max(key_width, display_width(key));
  key_width = std::min<size_t>(key_width, 56);
  const size_t value_width = width_ > key_width + 24 ? width_ - key_width - 4 : 20;
  for (const auto& [key, value] : info_.metadata) {
    text_ +=
        format_text("  {}  {}\n", style_.cyan(pad(one_line(key), key_width)), shorten(one_line(value), value_width));
  }
}

void Page::tensors() {
  heading(format_text("Tensors ({})", info_.tensors.size()));
  size_t name_width = 4;
  size_t shape_width = 5;
  for (const TensorInfo& tensor : info_.tensors) {
    name_width = std::max(name_width, display_width(tensor.name));
    shape_width = std::max(shape_width, display_width(shape_text(tensor)));
  }
  text_ += style_.dim(format_text("  {}  {}  {}  {}  {}", pad("name", name_width), pad("format", 7),
                                  pad_left("shape", shape_width), pad_left("bytes", 9), pad_left("offset", 13))) +
           "\n";
  for (const TensorInfo& tensor : info_.tensors) {
    text_ +=
        format_text("  {}  {}  {}  {}  {:>13}\n", pad(one_line(tensor.name), name_width), pad(one_line(tensor.type), 7),
                    pad_left(shape_text(tensor), shape_width), pad_left(human_bytes(tensor.bytes), 9), tensor.offset);
  }
}

// `metadata_text`: the output of inspect_metadata_json().
std::string to_json(const FileInfo& info, KvType kv_type, const std::string& metadata_text) {
  using Json = nlohmann::ordered_json;
  Json json = {{"path", info.path},
               {"container", info.container},
               {"file_bytes", info.file_bytes},
               {"parameters", info.n_params},
               {"bytes_per_token", info.bytes_per_token},
               {"kv_bytes_per_token", info.kv_bytes_per_token},
               {"state_bytes", info.state_bytes},
               {"kv", kv_name(kv_type)},
               {"supported", info.not_supported.empty()},
               {"not_supported", info.not_supported},
               {"overrides", info.changes.overrides},
               {"ignored_keys", info.changes.ignored_keys},
               {"sampling",
                {{"source", info.sampling.source},
                 {"values", sampling_json(info.sampling.values)},
                 {"not_followed", info.sampling.not_followed}}}};
  Json formats = Json::array();
  for (const TypeTotal& total : totals_by_type(info)) {
    formats.push_back(
        {{"type", total.type}, {"tensors", total.n_tensors}, {"parameters", total.n_params}, {"bytes", total.bytes}});
  }
  Json tensors = Json::array();
  for (const TensorInfo& tensor : info.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"type", tensor.type},
                       {"shape", tensor.shape},
                       {"offset", tensor.offset},
                       {"bytes", tensor.bytes}});
  }
  if (!info.layers.empty()) {
    Json& layers = json["layers"] = Json::array();
    for (const LayerShape& l : info.layers) {
      layers.push_back({{"heads", l.n_heads}, {"kv_heads", l.n_kv_heads}, {"feed_forward", l.d_ff}});
    }
  }
  json["formats"] = std::move(formats);
  json["metadata"] = Json::parse(metadata_text);
  json["tensors"] = std::move(tensors);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

struct InspectCommand {
  std::string path;
  HubModelOption hub;
  MetadataChanges metadata;
  KvType kv_type = KvType::kF16;
  bool json = false;
  bool arrays = false;

  Result<ExitCode> run() const;
};

Result<ExitCode> InspectCommand::run() const {
  if (arrays && !json) return fail(ErrorCode::kInvalidArgument, "inspect: --arrays needs --json");
  TRY(const std::string model_path, hub.resolve(path, metadata));
  TRY(const std::string file, model_path.empty() ? default_model_path() : Result<std::string>(model_path));
  TRY(const FileInfo info, inspect(file, kv_type, metadata));
  if (json) {
    TRY(const std::string values, inspect_metadata_json(file, arrays, metadata));
    TRY_STATUS(print(visible(to_json(info, kv_type, values))));
    return ExitCode::kDone;
  }
  // Shorten values on a terminal; files and pipes get them in full.
  const bool on_terminal = is_terminal(STDOUT_FILENO);
  const size_t width = on_terminal ? static_cast<size_t>(terminal_width(STDOUT_FILENO)) : 160;
  const Style style = Style::of(STDOUT_FILENO);
  TRY_STATUS(print(Page(info, kv_type, style, width).render()));
  return ExitCode::kDone;
}

}  // namespace

Command add_inspect(CLI::App& tern) {
  auto options = std::make_shared<InspectCommand>();
  CLI::App* app = add_command(tern, "inspect", "Models",
                              "Show what is in a model file: metadata, tensors, formats, bytes read per token.",
                              "[FILE] [--json [--arrays]]", kInspectFooter);
  CLI::Option* file = app->add_option("file", options->path, "Model file; without it, the model that comes with Tern")
                          ->option_text("FILE")
                          ->check(not_empty())
                          ->group("Input");
  CLI::Option* model = app->add_option("-m,--model", options->path, "The same, as in other commands")
                           ->type_name("FILE")
                           ->excludes(file)
                           ->check(not_empty())
                           ->group("Input");
  options->hub.add(*app, model);
  add_metadata_changes(*app, options->metadata);
  app->get_option("--hf")->excludes(file);
  add_kv(*app, options->kv_type);
  app->add_flag("--json", options->json, "Print JSON, with only the first items of long arrays")->group("Output");
  app->add_flag("--arrays", options->arrays, "With --json: print all arrays in full, including the vocabulary")
      ->group("Output");
  return {.app = app, .run = [options] { return options->run(); }};
}

}  // namespace tern::cli
