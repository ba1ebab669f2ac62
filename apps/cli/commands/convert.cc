// tern convert: writes a model from any container as a GGUF file.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/terminal/help.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress_bar.h"
#include "cli/terminal/terminal.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kConvertFooter = R"(Examples
  tern convert Falcon3-7B-Instruct-1.58bit falcon3.gguf --type i2_s     a Hugging Face directory, packed
  tern convert Phi-3-mini-4k-instruct-q4f16_1-MLC phi3.gguf             an MLC directory, without loss
  tern convert ggml-model-i2_s.gguf small.gguf --head q6_k              another format for the embedding
  tern convert qwen3-f16.gguf qwen3-q6_k.gguf --type q6_k --imatrix imatrix.gguf

Formats of two bits and less (i2_s, tq1_0, tq2_0, stq1_0, ptq1_0, q1_0, q2_0, pq2_0) can only store the weights −d, 0 and +d; a
tensor with other weights is refused by its name. For other formats the loss of each matrix is printed: NMSE is the sum of
squared errors ÷ the sum of squared weights. With --imatrix, K-quants are packed with a weight for each column: the size of
its inputs when llama.cpp's llama-imatrix ran the model on a text. The column "weighted" has the NMSE with these weights.
)";

constexpr size_t kShown = 5;  // matrices, unless all are requested

struct ConvertCommand {
  ConvertOptions options;
  bool all = false;
  bool json = false;
  bool quiet = false;

  Result<ExitCode> run();
  Result<void> report(const ConvertResult& result) const;
};

std::string names(const std::vector<std::string>& all) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(all.size(), 3); ++i) text += (i > 0 ? ", " : "") + one_line(all[i]);
  return all.size() > 3 ? format_text("{} and {} more", text, all.size() - 3) : text;
}

std::string table(const ConvertResult& result, bool all, const Style& style) {
  if (result.losses.empty() || result.losses.front().nmse == 0)
    return "nothing is lost: every tensor has the same values\n";
  const size_t n = all ? result.losses.size() : std::min(result.losses.size(), kShown);
  size_t width = 6, from_width = 4;
  bool is_weighted = false;
  for (const MatrixLoss& loss : result.losses) {
    width = std::max(width, display_width(one_line(loss.name)));
    from_width = std::max(from_width, display_width(one_line(loss.from)));
    is_weighted = is_weighted || loss.weighted_nmse.has_value();
  }
  const auto row = [&](std::string_view name, std::string_view from, std::string_view to, std::string_view nmse,
                       std::string_view weighted) {
    std::string text =
        format_text("{}  {}  {}  {}", pad(name, width), pad(from, from_width), pad(to, 6), pad_left(nmse, 8));
    if (is_weighted) text += format_text("  {}", pad_left(weighted, 8));
    return text;
  };
  std::string text = style.dim(row("matrix", "from", "to", "NMSE", "weighted")) + "\n";
  for (size_t i = 0; i < n; ++i) {
    const MatrixLoss& loss = result.losses[i];
    const std::string weighted = loss.weighted_nmse ? format_text("{:.1e}", *loss.weighted_nmse) : "–";
    text += row(one_line(loss.name), one_line(loss.from), loss.to, format_text("{:.1e}", loss.nmse), weighted) + "\n";
  }
  const size_t n_hidden = result.losses.size() - n;
  if (n_hidden > 0)
    text += style.dim(format_text("… and {} more with smaller losses (--all prints them)", n_hidden)) + "\n";
  return text + format_text("{} matrices packed, NMSE {:.2e} in total; {} tensors keep their values\n",
                            result.losses.size(), result.nmse, result.n_kept);
}

std::string to_json(const ConvertOptions& options, const ConvertResult& result) {
  using Json = nlohmann::ordered_json;
  Json matrices = Json::array();
  for (const MatrixLoss& loss : result.losses) {
    matrices.push_back({{"name", loss.name}, {"from", loss.from}, {"to", loss.to}, {"nmse", loss.nmse}});
    if (loss.weighted_nmse) matrices.back()["weighted_nmse"] = *loss.weighted_nmse;
  }
  const Json json = {{"in", options.in_path},
                     {"out", options.out_path},
                     {"nmse", result.nmse},
                     {"kept", result.n_kept},
                     {"matrices", std::move(matrices)},
                     {"not_in_imatrix", result.not_in_imatrix},
                     {"not_in_model", result.not_in_model}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The report goes to standard output, unless the model itself does.
Result<void> ConvertCommand::report(const ConvertResult& result) const {
  if (json) return print(to_json(options, result));
  if (quiet) return {};
  if (!result.not_in_imatrix.empty())
    print_note("not in the imatrix, so packed without it: " + names(result.not_in_imatrix));
  if (!result.not_in_model.empty()) print_note("in the imatrix, but not in the model: " + names(result.not_in_model));
  if (options.out_path != "-") return print(table(result, all, Style::of(STDOUT_FILENO)));
  std::fputs(table(result, all, Style::of(STDERR_FILENO)).c_str(), stderr);
  return {};
}

Result<ExitCode> ConvertCommand::run() {
  if (json && options.out_path == "-") {
    return fail(ErrorCode::kInvalidArgument, "convert: --json and the model cannot both go to standard output");
  }
  ProgressBar bar;
  const StopOnInterrupt interrupt;
  if (!quiet) options.on_progress = bar.callback();
  options.stop = interrupt.token();
  TRY(const ConvertResult result, convert(options));
  bar.wipe();
  TRY_STATUS(report(result));
  return ExitCode::kDone;
}

}  // namespace

Command add_convert(CLI::App& tern) {
  auto command = std::make_shared<ConvertCommand>();
  ConvertOptions& options = command->options;
  CLI::App* app = add_command(tern, "convert", "Models", "Write a model as a GGUF file, in another format if wanted.",
                              "IN OUT.gguf [--type TYPE] [--head TYPE] [--imatrix FILE]", kConvertFooter);
  app->add_option("in", options.in_path, "GGUF file, or a Hugging Face or MLC directory")
      ->required()
      ->option_text("IN")
      ->group("Files");
  app->add_option("out", options.out_path, "GGUF file to write")->required()->option_text("OUT.gguf")->group("Files");
  app->add_option("--type", options.type,
                  "Format of the linear layers: i2_s, tq1_0, tq2_0 if they are ternary, q1_0 if they are binary, else "
                  "q8_0, q6_k, q4_0 … (default: unchanged)")
      ->type_name("TYPE")
      ->group("Formats");
  app->add_option("--head", options.head,
                  "Format of the token embedding and the head: f16, q8_0, q6_k … (default: unchanged, or --type if "
                  "that is not ternary)")
      ->type_name("TYPE")
      ->group("Formats");
  app->add_option("--imatrix", options.imatrix_path,
                  "Importance matrix from llama.cpp (GGUF or .dat), which weights the errors of K-quants")
      ->type_name("FILE")
      ->check(not_empty())
      ->group("Formats");
  add_metadata_changes(*app, options.metadata);
  app->add_flag("--all", command->all, "Print the loss of every matrix, not only of the worst")->group("Output");
  app->add_flag("--json", command->json, "Print the losses as JSON")->group("Output");
  app->add_flag("-q,--quiet", command->quiet, "Print errors only: no progress, no summary")->group("Output");
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
