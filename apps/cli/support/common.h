// What all commands share: exit codes, errors, and the options that choose a model and how to run it.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/support/hub_model.h"
#include "cli/terminal/layout.h"
#include "tern/engine.h"

namespace tern::cli {

// Scripts rely on these values.
enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,         // anything but the command line: files, memory, output that cannot be written
  kWrongUsage = 2,     // options that do not parse, and values that do not fit the model: an empty prompt, a prompt
                       // longer than the context, a token id outside the vocabulary (ErrorCode::kInvalidArgument)
  kInterrupted = 130,  // Ctrl-C; output generated so far was printed, and the statistics if requested; what was
                       // downloaded is kept
};

ExitCode exit_code_for(ErrorCode code);

// "tern: MESSAGE", one line on standard error.
void print_error(std::string_view message);

// "(NOTE)", one dim line on standard error, for a user rather than a script.
void print_note(std::string_view note);

// Adds a subcommand with the usual help page layout. `usage` follows "tern NAME ".
CLI::App* add_command(CLI::App& tern, const std::string& name, const std::string& group, const std::string& description,
                      const std::string& usage, const std::string& footer);

// -m and -hf; for commands that run a model also -b, -t and the GPU options.
struct ModelOptions {
  LoadOptions load;  // model_path as given with -m

  void add_model(CLI::App& app);
  void add_backend(CLI::App& app);

  // Finishes the options when all have their values. Callers that do not use the library's parse() call it themselves.
  // Throws CLI::ValidationError if some options conflict.
  void complete(const CLI::App& app);

  // The load options with the model's path; -hf downloads it on first use.
  Result<LoadOptions> resolved() const;
  Result<ModelPlace> place() const { return hub_.place(load.model_path); }

 private:
  HubModelOption hub_;
  std::optional<int> gpu_layers_;
  bool leaves_layers_to_memory_ = false;

  friend Result<Engine> load_engine(const ModelOptions& model);

  void add_gpu(CLI::App& app);
  void add_gpu_layers(CLI::App& app);
  void apply_gpu_layers(const CLI::App& app);
};

// Adds --override and --ignore, for commands that open a model file.
void add_metadata_changes(CLI::App& app, MetadataChanges& changes);

// Adds --prefer speed|energy.
CLI::Option* add_prefer(CLI::App& app, Prefer& prefer);

// Adds --kv f16|f32|q8_0, for commands that run a model or report its memory.
CLI::Option* add_kv(CLI::App& app, KvType& type);
std::string_view kv_name(KvType type);
KvType kv_type_of(std::string_view name);  // for a validated name; f16 for any other

// What the model that comes with Tern can do; shown where it is chosen.
inline constexpr std::string_view kDefaultModelLimits = "tells short children's stories and knows little else";

// If the command line names no model, prints a note on the default model and its limits.
void note_default_model(const ModelOptions& model, const Engine& engine);

// Downloads the model if -hf asks for it, then loads it with a progress bar.
Result<Engine> load_engine(const ModelOptions& model);

// Returns the engine's tokenizer, or an error that names the file and what works without one.
Result<const Tokenizer*> need_tokenizer(const Engine& engine);

// Returns the input of a command: `text` if given, else the file's content, else standard input. If that is a terminal,
// the error says what to give (`how`).
Result<std::string> input_text(const CLI::Option& text_option, const std::string& text, const std::string& file,
                               std::string_view how);

// Joins the words of a command line into one text, so that it needs no quotes.
std::string joined_words(const std::vector<std::string>& words);

// Parses "1, 2 3" or "[1, 2, 3]": numbers separated by commas or white space. kInvalidArgument: anything else, or an id
// outside [0, n_vocab).
Result<std::vector<TokenId>> parse_token_ids(std::string_view text, int n_vocab);

// Advice for a text that exceeds the context: "shorten it", or raise --ctx if the model allows more.
std::string shorten_or_raise_ctx(const Engine& engine, const Session& session);

// "tern-stories · bitnet-b1.58 · 24.5 M parameters · head F16 · cpu (avx2, 2 threads)"
std::string describe(const ModelInfo& info);

}  // namespace tern::cli
