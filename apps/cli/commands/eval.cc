// tern eval: how well the model predicts a text.
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/terminal/help.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress_bar.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kEvalFooter = R"(Examples
  tern eval -f book.txt
  tern eval -m model.gguf -f wiki.test.raw --ctx 512
  tern eval -f book.txt --head q6_k               with that head, compared with the file's own
  tern eval -m q6_k.gguf --against f16.gguf -f book.txt
  tern eval -m qwen3-1.7b-q4_k.gguf --against Qwen/Qwen3-1.7B-GGUF:Q8_0 -f book.txt
  tern eval -f book.txt --kv q8_0 --against-kv f16        what a smaller KV cache costs, at several contexts

The text is read in windows of --ctx tokens that overlap by half, so every prediction that counts has at least half a
window of text before it. Lower is better.

With --against, the divergence is the Kullback-Leibler divergence between the model's probabilities and the other's, in
nats (0: they are the same), and the last line is how often both have the same most likely token. The other model's head
is used as it is in its file. Both models need the same tokenizer.

--against-kv compares with the same model with its KV cache in another type. Without --ctx this is measured in windows of
512 tokens, of 4,096, and of the model's trained length, as far as model and text allow.
)";

struct EvalCommand {
  ModelOptions model;
  EvalOptions options;
  std::string file;
  std::string against;
  std::optional<KvType> against_kv;
  std::string format = "table";

  Result<ExitCode> run() const;
  Result<ExitCode> run_against(std::string_view text) const;
  Result<ExitCode> run_against_kv(std::string_view text) const;
  Result<EvalResult> eval_with(HeadKind head, std::string_view text, std::string& used) const;
};

double bits(const EvalResult& result) { return result.nats_per_token / std::numbers::ln2; }

nlohmann::ordered_json result_json(const EvalResult& result, const std::string& head, KvType kv_type) {
  return {{"perplexity", result.perplexity},
          {"nats_per_token", result.nats_per_token},
          {"bits_per_token", bits(result)},
          {"tokens", result.n_tokens},
          {"head", head},
          {"kv", kv_name(kv_type)}};
}

std::string eval_json(const EvalResult& result, const std::string& head, KvType kv_type,
                      const std::optional<EvalResult>& own) {
  nlohmann::ordered_json json = result_json(result, head, kv_type);
  if (own) json["perplexity_with_own_head"] = own->perplexity;
  return json.dump(2) + "\n";
}

std::string result_table(const EvalResult& result) {
  return format_text("perplexity   {:.4f}\nnats/token   {:.4f}\nbits/token   {:.4f}\ntokens       {}\n",
                     result.perplexity, result.nats_per_token, bits(result), result.n_tokens);
}

nlohmann::ordered_json divergence_json(const Divergence& divergence) {
  return {{"perplexity", divergence.reference.perplexity},
          {"kl_mean", divergence.kl_mean},
          {"kl_median", divergence.kl_median},
          {"kl_99", divergence.kl_99},
          {"kl_max", divergence.kl_max},
          {"same_top1", divergence.same_top1}};
}

std::string against_json(const ModelInfo& model, const ModelInfo& reference, KvType kv_type,
                         const Divergence& divergence) {
  nlohmann::ordered_json json = result_json(divergence.model, model.head, kv_type);
  json["against"] = {{"model", reference.path}, {"head", reference.head}};
  json["against"].update(divergence_json(divergence));
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string against_table(const ModelInfo& reference, const Divergence& divergence) {
  std::string text = result_table(divergence.model);
  text +=
      format_text("\nagainst {}\nperplexity   {:.4f}\ndifference   {:+.4f} ({:+.3f} %)\n\n", one_line(reference.path),
                  divergence.reference.perplexity, divergence.model.perplexity - divergence.reference.perplexity,
                  100 * (divergence.model.perplexity / divergence.reference.perplexity - 1));
  text += format_text("divergence   mean {:.3g}, median {:.3g}, 99 % up to {:.3g}, greatest {:.3g} nats\n",
                      divergence.kl_mean, divergence.kl_median, divergence.kl_99, divergence.kl_max);
  return text + format_text("same token   {:.2f} %\n", 100 * divergence.same_top1);
}

std::string against_kv_json(const KvDivergence& found, const std::string& head, KvType kv_type, KvType reference) {
  nlohmann::ordered_json json = {{"head", head},
                                 {"kv", kv_name(kv_type)},
                                 {"against_kv", kv_name(reference)},
                                 {"contexts", nlohmann::ordered_json::array()},
                                 {"left_out", nlohmann::ordered_json::array()}};
  for (const auto& [n_ctx, divergence] : found.contexts) {
    json["contexts"].push_back({{"ctx", n_ctx},
                                {"perplexity", divergence.model.perplexity},
                                {"tokens", divergence.model.n_tokens},
                                {"against", divergence_json(divergence)}});
  }
  for (const auto& [n_ctx, reason] : found.left_out) json["left_out"].push_back({{"ctx", n_ctx}, {"reason", reason}});
  return json.dump(2) + "\n";
}

std::string against_kv_table(const KvDivergence& found, KvType kv_type, KvType reference) {
  const std::string name(kv_name(kv_type)), other(kv_name(reference));
  std::string text = format_text("{} KV cache against {}; divergence in nats\n\n", name, other);
  const auto row = [&](std::initializer_list<std::string> cells) {
    std::string line;
    for (const std::string& cell : cells) line += pad_left(cell, line.empty() ? 9 : 11);
    text += line + "\n";
  };
  row({"context", "tokens", name, other, "difference", "mean", "median", "99 %", "greatest", "same token"});
  for (const auto& [n_ctx, at] : found.contexts) {
    row({std::to_string(n_ctx), std::to_string(at.model.n_tokens), format_text("{:.4f}", at.model.perplexity),
         format_text("{:.4f}", at.reference.perplexity),
         format_text("{:+.3f} %", 100 * (at.model.perplexity / at.reference.perplexity - 1)),
         format_text("{:.3g}", at.kl_mean), format_text("{:.3g}", at.kl_median), format_text("{:.3g}", at.kl_99),
         format_text("{:.3g}", at.kl_max), format_text("{:.2f} %", 100 * at.same_top1)});
  }
  if (!found.left_out.empty()) text += "\n";
  for (const auto& [n_ctx, reason] : found.left_out) text += format_text("left out: {}, as {}\n", n_ctx, reason);
  return text;
}

// `used`: receives the name of the head.
Result<EvalResult> EvalCommand::eval_with(HeadKind head, std::string_view text, std::string& used) const {
  ModelOptions with_head = model;
  with_head.load.head = head;
  TRY(const Engine engine, load_engine(with_head));
  TRY_STATUS(need_tokenizer(engine));
  used = engine.info().head;
  ProgressBar bar;
  EvalOptions with_bar = options;
  with_bar.on_progress = bar.callback();
  TRY(const EvalResult result, eval(engine, text, with_bar));
  bar.wipe();
  return result;
}

Result<ExitCode> EvalCommand::run_against(std::string_view text) const {
  ModelOptions other;
  other.load = model.load;
  TRY(other.load.model_path, path_of_model(against));
  other.load.head = HeadKind::kFile;
  other.load.metadata = {};
  TRY(const Engine engine, load_engine(model));
  TRY_STATUS(need_tokenizer(engine));
  TRY(const Engine reference, load_engine(other));
  TRY_STATUS(need_tokenizer(reference));
  ProgressBar bar;
  EvalOptions with_bar = options;
  with_bar.on_progress = bar.callback();
  TRY(const Divergence divergence, eval_against(engine, reference, text, with_bar));
  bar.wipe();
  TRY_STATUS(print(format == "json" ? against_json(engine.info(), reference.info(), options.kv_type, divergence)
                                    : against_table(reference.info(), divergence)));
  return ExitCode::kDone;
}

Result<ExitCode> EvalCommand::run_against_kv(std::string_view text) const {
  if (*against_kv == options.kv_type) {
    return fail(ErrorCode::kInvalidArgument, "--kv and --against-kv are both {}; give two types",
                kv_name(options.kv_type));
  }
  TRY(const Engine engine, load_engine(model));
  TRY_STATUS(need_tokenizer(engine));
  ProgressBar bar;
  EvalOptions with_bar = options;
  with_bar.on_progress = bar.callback();
  TRY(const KvDivergence found, eval_kv(engine, text, *against_kv, with_bar));
  bar.wipe();
  TRY_STATUS(print(format == "json" ? against_kv_json(found, engine.info().head, options.kv_type, *against_kv)
                                    : against_kv_table(found, options.kv_type, *against_kv)));
  return ExitCode::kDone;
}

Result<ExitCode> EvalCommand::run() const {
  TRY(const std::string text, read_text(file));
  if (against_kv) return run_against_kv(text);
  if (!against.empty()) return run_against(text);
  std::string head, own_head;
  std::optional<EvalResult> own;  // with the file's own head
  TRY(const EvalResult result, eval_with(model.load.head, text, head));
  std::string report = result_table(result);
  if (model.load.head == HeadKind::kQ8_0 || model.load.head == HeadKind::kQ6_K) {
    TRY(own, eval_with(HeadKind::kFile, text, own_head));
    report += format_text(
        "head         {}\n\nwith the file's own head, {}\nperplexity   {:.4f}\ndifference   {:+.4f} ({:+.3f} %)\n",
        head, own_head, own->perplexity, result.perplexity - own->perplexity,
        100 * (result.perplexity / own->perplexity - 1));
  }
  TRY_STATUS(print(format == "json" ? eval_json(result, head, options.kv_type, own) : report));
  return ExitCode::kDone;
}

}  // namespace

Command add_eval(CLI::App& tern) {
  auto command = std::make_shared<EvalCommand>();
  CLI::App* app =
      add_command(tern, "eval", "Measure and check",
                  "Measure how well the model predicts a text (perplexity), or how far its predictions are "
                  "from another model's or from those with another KV cache.",
                  "-f FILE [--ctx N] [--against MODEL | --against-kv TYPE] [-o json] [options]", kEvalFooter);
  app->add_option("-f,--file", command->file, "Text file to read; - is standard input")
      ->type_name("FILE")
      ->required()
      ->group("Input");
  app->add_option("-c,--ctx", command->options.n_ctx, "Tokens per window (default: the model's trained length)")
      ->type_name("N")
      ->check(in_range(4, 1 << 30, /*whole=*/true))
      ->group("Input");
  CLI::Option* against = app->add_option("--against", command->against,
                                         "Compare the predictions with those of this reference model: a file, a "
                                         "folder, a name of 'tern models', or OWNER/NAME[:FILE] on Hugging Face")
                             ->type_name("MODEL")
                             ->check(not_empty())
                             ->group("Input");
  app->add_option_function<std::string>(
         "--against-kv", [command](const std::string& name) { command->against_kv = kv_type_of(name); },
         "Compare the predictions with those of the same model with its KV cache in this type: f16, f32 or q8_0")
      ->type_name("TYPE")
      ->check(one_of({"f16", "f32", "q8_0"}))
      ->excludes(against)
      ->group("Input");
  app->add_option("-o,--output", command->format, "table or json (default table)")
      ->type_name("FORM")
      ->check(one_of({"table", "json"}))
      ->group("Output");
  command->model.add_model(*app);
  command->model.add_backend(*app);
  add_kv(*app, command->options.kv_type);
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
