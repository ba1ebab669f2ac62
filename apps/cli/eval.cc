// tern eval: how well the model predicts a text.
#include <cmath>
#include <memory>
#include <numbers>

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
  tern eval -f book.txt --head q6_k               … with that head, and what it costs against the file's own

The text is read in windows of --ctx tokens that overlap by half, so every counted prediction has at least half a
window before it. Lower is better.
)";

struct EvalCommand {
  ModelOptions model;
  std::string file;
  int n_ctx = 0;

  Result<ExitCode> run() const;
  Result<EvalResult> eval_with(HeadKind head, std::string_view text, std::string& used) const;
};

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
  TERN_TRY(const EvalResult result, eval_with(model.load.head, text, head));
  std::string report =
      format_text("perplexity   {:.4f}\nnats/token   {:.4f}\nbits/token   {:.4f}\ntokens       {}\n", result.perplexity,
                  result.nats_per_token, result.nats_per_token / std::numbers::ln2, result.n_tokens);
  if (model.load.head == HeadKind::kQ8_0 || model.load.head == HeadKind::kQ6_K) {
    TERN_TRY(const EvalResult own, eval_with(HeadKind::kFile, text, own_head));
    report += format_text(
        "head         {}\n\nwith the file's own head, {}\nperplexity   {:.4f}\ndifference   {:+.4f} ({:+.3f} %)\n",
        head, own_head, own.perplexity, result.perplexity - own.perplexity,
        100 * (result.perplexity / own.perplexity - 1));
  }
  TERN_TRY_STATUS(print(report));
  return ExitCode::kDone;
}

}  // namespace

Command add_eval(CLI::App& tern) {
  auto command = std::make_shared<EvalCommand>();
  CLI::App* app =
      add_command(tern, "eval", "Measure and check", "Measure how well the model predicts a text (perplexity).",
                  "-f FILE [--ctx N] [options]", kEvalFooter);
  app->add_option("-f,--file", command->file, "The text; - is standard input")
      ->type_name("FILE")
      ->required()
      ->group("Input");
  app->add_option("--ctx", command->n_ctx, "Tokens per window (default: what the model was trained for)")
      ->type_name("N")
      ->check(in_range(4, 1 << 30))
      ->group("Input");
  command->model.add_model(*app);
  command->model.add_backend(*app);
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
