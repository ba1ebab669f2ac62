// Generates text to standard output: options, streaming and statistics. Shared by `run` and `chat`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags/grammar_flags.h"
#include "cli/flags/sampling_flags.h"
#include "cli/support/common.h"
#include "tern/engine.h"

namespace tern::cli {

// Adds --seed. `set` gets the number, or nullopt for another seed each time.
void add_seed(CLI::App& app, std::function<void(std::optional<uint64_t>)> set);

struct ReplyFlags {
  GenerateOptions generate;
  SessionOptions session;
  std::string prompt_cache;             // file; empty: none
  const ModelOptions* model = nullptr;  // how to load a draft model; set before open_session()

  // Adds -n, the sampling options and the context options. `max_tokens_help` describes -n.
  void add(CLI::App& app, const std::string& max_tokens_help);
  // Sets the advice that applies to sampling options that are not given; used by setting().
  void advise(const SamplingAdvice& advice) { advice_ = advice; }
  void choose_seed();  // a random one, unless --seed gave one

  // Reads the grammar before the model is loaded, so that a mistake is reported without the wait.
  Result<void> read_grammar();

  // open_session() opens the session with its draft model and loads the prompt cache; keep_cache() rewrites the cache.
  // Notes report options that have no effect.
  Result<Session> open_session(const Engine& engine);
  Result<void> keep_cache(const Session& of) const;

  // Names of the options that can also be changed between two replies.
  static std::vector<std::string> setting_names();
  std::string setting(const std::string& name) const;  // its value as text; if advised, with the source
  // kInvalidArgument: no such setting, or an invalid value.
  Result<void> set(const std::string& name, const std::string& value);

 private:
  bool seed_given_ = false;
  bool speculate_ = false;
  int most_guesses_ = 15;
  std::string draft_model_;
  int keep_past_context_ = -1;
  bool shift_ = false;
  std::shared_ptr<const Engine> draft_;
  SamplingAdvice advice_;
  GrammarFlags grammar_;

  void add_speculation(CLI::App& app);
  void set_seed(std::optional<uint64_t> seed);  // nullopt: another seed each time
};

struct StreamOptions {
  bool silent = false;         // print nothing
  bool trim_start = false;     // skip white space at the start of the text
  bool one_paragraph = false;  // stop at the first line break after some text
  // What to print for a piece of the reply, and at its end; null: the piece itself.
  std::function<std::string(std::string_view piece, bool is_last)> show = {};
};

struct PrintedReply {
  GenerateResult result;
  bool interrupted = false;      // by Ctrl-C
  bool paragraph_ended = false;  // by StreamOptions::one_paragraph
  bool printed_something = false;
  bool at_line_start = true;  // the output ends with a line break, or is empty
};

// Streams the continuation of `prompt` to standard output. Ctrl-C ends it early. So does a failed write, which is then
// the error.
Result<PrintedReply> generate_to_output(Session& session, std::span<const TokenId> prompt,
                                        const GenerateOptions& options, const StreamOptions& stream = {});

// Prints several lines on standard error.
void print_stats(const Engine& engine, const Session& session, const GenerateResult& result,
                 const SampleOptions& asked);

// "stop", "length", "context", "cancelled": the finish reason in the JSON of `tern run`.
std::string_view json_finish_name(FinishReason reason);

}  // namespace tern::cli
