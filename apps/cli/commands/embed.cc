// tern embed: turns texts into vectors.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/terminal/help.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress_bar.h"

namespace tern::cli {
namespace {

constexpr const char* kEmbedFooter = R"(Examples
  tern embed -m bitnet-embeddings-0.6b.gguf "a text" "another text"
  tern embed -m model.gguf -f lines.txt --json > vectors.jsonl
  grep -v '^$' notes.txt | tern embed -m model.gguf

Each text gives one line of numbers, a vector of length 1: the closer two texts are in meaning, the closer the sum of
the products of their numbers is to 1. With --json a line is {"index": 0, "n_tokens": 4, "embedding": [...]}.

Texts are tokenized as the model's makers specify, including a token at the end if they use one. Some models expect an
instruction before a question ("Instruct: ...\nQuery: ..."): give it as part of the text.
)";

struct EmbedCommand {
  ModelOptions model;
  SessionOptions session;
  std::vector<std::string> texts;
  std::string file;
  Pooling pooling = Pooling::kAuto;
  bool json = false;
  CLI::Option* text_option = nullptr;

  Result<std::vector<std::string>> input() const;
  Result<ExitCode> run();
};

struct Text {
  std::vector<TokenId> tokens;
  std::string name;  // for messages
};

// The texts are the arguments, or one per line of the input.
Result<std::vector<std::string>> EmbedCommand::input() const {
  if (text_option->count() > 0) return texts;
  TRY(std::string all, input_text(*text_option, "", file, "give texts, -f FILE with one per line, or pipe them in"));
  std::vector<std::string> lines;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find('\n', at), all.size());
    lines.push_back(all.substr(at, end - at));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    at = end + 1;
  }
  return lines;
}

Result<std::vector<Text>> tokenized(const Tokenizer& tokenizer, const std::vector<std::string>& texts, bool are_lines) {
  std::vector<Text> all;
  for (const std::string& text : texts) {
    const std::string name = format_text("{} {}", are_lines ? "line" : "text", all.size() + 1);
    if (text.empty()) {
      return fail(ErrorCode::kInvalidArgument, "{} is empty, and has no vector; leave it out", name);
    }
    std::vector<TokenId> tokens = tokenizer.encode(text);
    if (tokenizer.final_token()) tokens.push_back(*tokenizer.final_token());
    all.push_back({std::move(tokens), name});
  }
  if (all.empty()) return fail(ErrorCode::kInvalidArgument, "there are no texts; give one as an argument or per line");
  return all;
}

std::string line_of(const std::vector<float>& values, std::string_view between) {
  std::string line;
  for (const float value : values) {
    if (!line.empty()) line += between;
    line += format_text("{}", value);
  }
  return line;
}

Result<ExitCode> EmbedCommand::run() {
  TRY(const std::vector<std::string> all, input());
  model.load.embeddings = true;
  TRY(const Engine engine, load_engine(model));
  TRY(const Tokenizer* tokenizer, need_tokenizer(engine));
  TRY(const std::vector<Text> inputs, tokenized(*tokenizer, all, text_option->count() == 0));
  const auto longest = std::ranges::max_element(inputs, {}, [](const Text& text) { return text.tokens.size(); });
  const auto trained = static_cast<size_t>(engine.info().n_ctx);
  if (longest->tokens.size() > trained) {
    return fail(ErrorCode::kInvalidArgument, "{} has {} tokens, and {} was trained for {}; shorten it", longest->name,
                longest->tokens.size(), engine.info().name, trained);
  }
  session.n_ctx = static_cast<int>(longest->tokens.size());
  TRY(Session context, engine.new_session(session));
  ProgressBar bar;
  StopOnInterrupt stop;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (stop.interrupted()) return ExitCode::kInterrupted;
    if (inputs.size() > 1) bar.show({.what = "embedding", .done = i, .total = inputs.size(), .unit = "texts"});
    TRY(const std::vector<float> values, context.embed(inputs[i].tokens, pooling));
    bar.wipe();
    TRY_STATUS(print(json ? format_text("{{\"index\": {}, \"n_tokens\": {}, \"embedding\": [{}]}}\n", i,
                                        inputs[i].tokens.size(), line_of(values, ", "))
                          : line_of(values, " ") + "\n"));
  }
  return ExitCode::kDone;
}

}  // namespace

Command add_embed(CLI::App& tern) {
  auto command = std::make_shared<EmbedCommand>();
  CLI::App* app = add_command(tern, "embed", "Text", "Turn texts into vectors, for comparing what they mean.",
                              "[TEXT... | -f FILE] [options]", kEmbedFooter);
  command->text_option =
      app->add_option("text", command->texts, "The texts, each in quotes")->option_text("TEXT...")->group("Input");
  app->add_option("-f,--file", command->file,
                  "Read one text per line from this file; - is standard input (the default without other input)")
      ->type_name("FILE")
      ->excludes(command->text_option)
      ->group("Input");
  app->add_option_function<std::string>(
         "--pooling",
         [command](const std::string& name) {
           command->pooling = name == "last" ? Pooling::kLast : name == "mean" ? Pooling::kMean : Pooling::kAuto;
         },
         "Which vector to use: last (the last token's) or mean (the mean of all tokens') (default: as the file says)")
      ->type_name("WHICH")
      ->check(one_of({"auto", "last", "mean"}))
      ->group("Output");
  app->add_flag("--json", command->json, "Print one JSON object per line")->group("Output");
  command->model.add_model(*app);
  command->model.add_backend(*app);
  app->remove_option(app->get_option("--head"));  // embeddings do not use the head
  add_kv(*app, command->session.kv_type);
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
