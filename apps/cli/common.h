// What all commands share: exit codes, errors, and the options that choose a model and how to run it.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/hub_model.h"
#include "cli/layout.h"
#include "tern/engine.h"

namespace tern::cli {

// Scripts rely on these.
enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,         // everything that is not the command line's fault: files, memory, output that cannot be written
  kWrongUsage = 2,     // options that do not parse, and values that do not fit the model: an empty prompt, a prompt
                       // longer than the context, a token id outside the vocabulary (ErrorCode::kInvalidArgument)
  kInterrupted = 130,  // Ctrl-C; what was generated so far has been printed, and the statistics where asked for; what
                       // was downloaded is kept
};

ExitCode exit_code_for(ErrorCode code);

// "tern: MESSAGE", one line on standard error.
void print_error(std::string_view message);

// "(NOTE)", one dim line on standard error, for what a person should know but a script need not.
void print_note(std::string_view note);

template <class... Args>
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, std::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{code, format_text(format, std::forward<Args>(args)...)});
}

// Adds the subcommand with the usual shape of help page. `usage` goes on after "tern NAME ".
CLI::App* add_command(CLI::App& tern, const std::string& name, const std::string& group, const std::string& description,
                      const std::string& usage, const std::string& footer);

// -m and -hf, and where a model is run also -b, -t and what a GPU is to do.
struct ModelOptions {
  LoadOptions load;  // model_path as given with -m

  void add_model(CLI::App& app);
  void add_backend(CLI::App& app);

  // Once all options have their values, for who gives them without the library's parse(). Throws CLI::ValidationError
  // where some do not go together.
  void complete(const CLI::App& app);

  // The same with the path of the model; -hf downloads it on first use.
  Result<LoadOptions> resolved() const;
  Result<ModelPlace> place() const { return hub_.place(load.model_path); }

 private:
  HubModelOption hub_;
  std::optional<int> gpu_layers_;  // as programs ask for that can split a model between CPU and GPU

  friend Result<Engine> load_engine(const ModelOptions& model);

  void add_gpu(CLI::App& app);
  void add_gpu_layers(CLI::App& app);
  void apply_gpu_layers(const CLI::App& app);
};

// --override and --ignore, wherever a command opens a model file.
void add_metadata_changes(CLI::App& app, MetadataChanges& changes);

// --prefer speed|energy.
CLI::Option* add_prefer(CLI::App& app, Prefer& prefer);

// --kv f16|f32|q8_0, wherever a command runs a model or says what it needs.
CLI::Option* add_kv(CLI::App& app, KvType& type);
std::string_view kv_name(KvType type);
KvType kv_type_of(std::string_view name);  // of a name that was checked; f16 for any other

// What the model that comes with Tern can do, for where it is chosen.
inline constexpr std::string_view kDefaultModelLimits = "tells short children's stories and knows little else";

// Where the command line names no model: a note on which one that is, and what it can do.
void note_default_model(const ModelOptions& model, const Engine& engine);

// Downloads where -hf asks for it, and loads, with a progress bar.
Result<Engine> load_engine(const ModelOptions& model);

// The engine's tokenizer, or an error that names the file and what works without one.
Result<const Tokenizer*> need_tokenizer(const Engine& engine);

// Text for a command: `text` where given, else the file, else standard input, unless that is a terminal (an error
// that says what to give: `how`).
Result<std::string> input_text(const CLI::Option& text_option, const std::string& text, const std::string& file,
                               std::string_view how);

// Words of a command line as the text that they are, so that it needs no quotes.
std::string joined_words(const std::vector<std::string>& words);

// "1, 2 3" or "[1, 2, 3]": numbers apart by commas or white space. kInvalidArgument on anything else or outside
// [0, n_vocab).
Result<std::vector<TokenId>> parse_token_ids(std::string_view text, int n_vocab);

// What to do about a text that is longer than the context: "shorten it", or raise --ctx where the model allows more.
std::string shorten_or_raise_ctx(const Engine& engine, const Session& session);

// "tern-stories · bitnet-b1.58 · 24.5 M parameters · head F16 · cpu (avx2, 2 threads)"
std::string describe(const ModelInfo& info);

}  // namespace tern::cli

// Declares `declaration`, or returns the error from the enclosing function.
#define TERN_CLI_CONCAT_INNER(a, b) a##b
#define TERN_CLI_CONCAT(a, b) TERN_CLI_CONCAT_INNER(a, b)
#define TERN_TRY(declaration, ...)                                                 \
  auto TERN_CLI_CONCAT(result_, __LINE__) = __VA_ARGS__;                           \
  if (!TERN_CLI_CONCAT(result_, __LINE__))                                         \
    return std::unexpected(std::move(TERN_CLI_CONCAT(result_, __LINE__)).error()); \
  declaration = *std::move(TERN_CLI_CONCAT(result_, __LINE__))
#define TERN_TRY_STATUS(...)                                                                   \
  do {                                                                                         \
    if (auto status = __VA_ARGS__; !status) return std::unexpected(std::move(status).error()); \
  } while (false)
