// tern tokenize and tern detokenize: convert text to token ids and back.
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kTokenizeFooter = R"(Examples
  tern tokenize "Once upon a time"
  tern tokenize -m tokenizer.json -f text.txt --json
  tern tokenize --special --no-bos "<|eot_id|>"
)";

constexpr const char* kDetokenizeFooter = R"(Examples
  tern detokenize 1 15 204
  tern tokenize "there and back" | tern detokenize
  tern detokenize --json -f ids.txt
)";

struct TokenizeCommand {
  ModelOptions model;
  std::string text;
  std::vector<std::string> words;
  std::string file;
  CLI::Option* text_option = nullptr;
  bool json = false;
  bool special = false;
  bool no_bos = false;

  void add_options(CLI::App& app);
  Result<ExitCode> tokenize() const;
  Result<ExitCode> detokenize() const;
};

void TokenizeCommand::add_options(CLI::App& app) {
  app.add_option("-f,--file", file, "Read from this file; - is standard input (the default without other input)")
      ->type_name("FILE")
      ->group("Input");
  model.add_model(app);
  app.get_option("-m")->description(
      "GGUF model, tokenizer.json or tokenizer.model (default: the model that comes with Tern)");
  app.add_flag("--json", json, "Print JSON")->group("Output");
}

Result<ExitCode> TokenizeCommand::tokenize() const {
  TRY(const std::string input, input_text(*text_option, text, file, "give a text, -f FILE, or pipe one in"));
  TRY(const LoadOptions load, model.resolved());
  TRY(const std::unique_ptr<Tokenizer> tokenizer, load_tokenizer(load.model_path, load.metadata));
  const std::vector<TokenId> ids = tokenizer->encode(input, {.add_bos = !no_bos, .parse_special = special});
  std::string line;
  if (json) {
    line = nlohmann::json(ids).dump();
  } else {
    for (const TokenId id : ids) line += format_text("{}{}", line.empty() ? "" : " ", id);
  }
  TRY_STATUS(print(line + "\n"));
  return ExitCode::kDone;
}

Result<ExitCode> TokenizeCommand::detokenize() const {
  TRY(const std::string input,
      input_text(*text_option, joined_words(words), file, "give token ids, -f FILE, or pipe them in"));
  TRY(const LoadOptions load, model.resolved());
  TRY(const std::unique_ptr<Tokenizer> tokenizer, load_tokenizer(load.model_path, load.metadata));
  TRY(std::vector<TokenId> ids, parse_token_ids(input, tokenizer->vocab_size()));
  if (no_bos && !ids.empty() && tokenizer->bos() == ids.front()) ids.erase(ids.begin());
  const std::string text_out = tokenizer->decode(ids, special);
  if (json) {
    using Json = nlohmann::json;  // JSON is UTF-8: invalid bytes become U+FFFD
    TRY_STATUS(print(Json(text_out).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"));
    return ExitCode::kDone;
  }
  // Writes exactly the bytes, so that text survives the round trip. A terminal gets an extra line break.
  TRY_STATUS(print_untrusted(text_out));
  if (is_terminal(STDOUT_FILENO) && !text_out.ends_with('\n')) TRY_STATUS(print("\n"));
  return ExitCode::kDone;
}

}  // namespace

Command add_tokenize(CLI::App& tern) {
  auto command = std::make_shared<TokenizeCommand>();
  CLI::App* app = add_command(tern, "tokenize", "Tokens", "Print the token ids of a text, on one line.",
                              "[TEXT | -f FILE] [options]", kTokenizeFooter);
  CLI::Option* positional = app->add_option("text", command->words, "The text; several words need no quotes")
                                ->option_text("TEXT")
                                ->group("Input");
  command->text_option = positional;
  CLI::Option* prompt =
      app->add_option_function<std::string>(
             "-p,--prompt", [command](const std::string& text) { command->text = text; }, "The same, as in `tern run`")
          ->type_name("TEXT")
          ->excludes(positional)
          ->group("Input");
  command->add_options(*app);
  app->get_option("-f")->excludes(positional)->excludes(prompt);
  app->add_flag("--special", command->special, "Recognize control tokens such as <|eot_id|> in the text")
      ->group("Output");
  app->add_flag("--no-bos", command->no_bos, "Do not put the begin-of-sequence token first")->group("Output");
  return {.app = app, .run = [command, app] {
            if (app->count("-p") > 0) {
              command->text_option = app->get_option("-p");
            } else {
              command->text = joined_words(command->words);
            }
            return command->tokenize();
          }};
}

Command add_detokenize(CLI::App& tern) {
  auto command = std::make_shared<TokenizeCommand>();
  CLI::App* app = add_command(tern, "detokenize", "Tokens", "Turn token ids back into text, byte for byte.",
                              "[ID... | -f FILE] [options]", kDetokenizeFooter);
  command->text_option =
      app->add_option("ids", command->words, "Token ids, separated by spaces or commas, or as a JSON array")
          ->option_text("ID...")
          ->group("Input");
  command->add_options(*app);
  app->get_option("-f")->excludes(command->text_option);
  app->add_flag("--special", command->special, "Print control tokens such as <|eot_id|> too")->group("Output");
  app->add_flag("--no-bos", command->no_bos, "Leave out a begin-of-sequence token at the start")->group("Output");
  return {.app = app, .run = [command] { return command->detokenize(); }};
}

}  // namespace tern::cli
