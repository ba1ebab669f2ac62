// tern eval: how well the model predicts a text.
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/layout.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kEvalFooter = R"(Examples
  tern eval -f book.txt
  tern eval -m model.gguf -f wiki.test.raw --ctx 512
  tern eval -f book.txt --head q6_k               with that head, compared with the file's own

The text is read in windows of --ctx tokens that overlap by half, so every prediction that counts has at least half a
window of text before it. Lower is better.
)";

struct EvalCommand {
  ModelOptions model;
  std::string file;
  std::string format = "table";
  int n_ctx = 0;

  Result<ExitCode> run() const;
  Result<EvalResult> eval_with(HeadKind head, std::string_view text, std::string& used) const;
};

std::string eval_json(const EvalResult& result, const std::string& head, const std::optional<EvalResult>& own) {
  nlohmann::ordered_json json = {{"perplexity", result.perplexity},
                                 {"nats_per_token", result.nats_per_token},
                                 {"bits_per_token", result.nats_per_token / std::numbers::ln2},
                                 {"tokens", result.n_tokens},
                                 {"head", head}};
  if (own) json["perplexity_with_own_head"] = own->perplexity;
  return json.dump(2) + "\n";
}

// `used`: which head that is.
Result<EvalResult> EvalCommand::eval_with(HeadKind head, std::string_view text, std::string& used) const {
  ModelOptions with_head = model;
  with_head.load.head = head;
  TERN_TRY(const Engine engine, load_engine(with_head));
  TERN_TRY_STATUS(need_tokenizer(engine));
  used = engine.info().head;
  ProgressBar bar;
  TERN_TRY(const EvalResult result, eval(engine, text, n_ctx, bar.callback()));
  bar.wipe();
  return result;
}

Result<ExitCode> EvalCommand::run() const {
  TERN_TRY(const std::string text, read_text(file));
  std::string head, own_head;
  std::optional<EvalResult> own;  // with the file's own head
  TERN_TRY(const EvalResult result, eval_with(model.load.head, text, head));
  std::string report =
      format_text("perplexity   {:.4f}\nnats/token   {:.4f}\nbits/token   {:.4f}\ntokens       {}\n", result.perplexity,
                  result.nats_per_token, result.nats_per_token / std::numbers::ln2, result.n_tokens);
  if (model.load.head == HeadKind::kQ8_0 || model.load.head == HeadKind::kQ6_K) {
    TERN_TRY(own, eval_with(HeadKind::kFile, text, own_head));
    report += format_text(
        "head         {}\n\nwith the file's own head, {}\nperplexity   {:.4f}\ndifference   {:+.4f} ({:+.3f} %)\n",
        head, own_head, own->perplexity, result.perplexity - own->perplexity,
        100 * (result.perplexity / own->perplexity - 1));
  }
  TERN_TRY_STATUS(print(format == "json" ? eval_json(result, head, own) : report));
  return ExitCode::kDone;
}

}  // namespace

Command add_eval(CLI::App& tern) {
  auto command = std::make_shared<EvalCommand>();
  CLI::App* app =
      add_command(tern, "eval", "Measure and check", "Measure how well the model predicts a text (perplexity).",
                  "-f FILE [--ctx N] [-o json] [options]", kEvalFooter);
  app->add_option("-f,--file", command->file, "Text file to read; - is standard input")
      ->type_name("FILE")
      ->required()
      ->group("Input");
  app->add_option("-c,--ctx", command->n_ctx, "Tokens per window (default: what the model was trained for)")
      ->type_name("N")
      ->check(in_range(4, 1 << 30, /*whole=*/true))
      ->group("Input");
  app->add_option("-o,--output", command->format, "table or json (default table)")
      ->type_name("FORM")
      ->check(one_of({"table", "json"}))
      ->group("Output");
  command->model.add_model(*app);
  command->model.add_backend(*app);
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
