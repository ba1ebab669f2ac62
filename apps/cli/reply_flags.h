// Generating text onto standard output: the options, the streaming, and the statistics. Shared by `run` and `chat`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common.h"
#include "cli/grammar_flags.h"
#include "tern/engine.h"

namespace tern::cli {

// --temp, --top-k and the others.
void add_sampling(CLI::App& app, SampleOptions& sample);
// --seed. `set` gets a number, or nothing for another one each time.
void add_seed(CLI::App& app, std::function<void(std::optional<uint64_t>)> set);

struct ReplyFlags {
  GenerateOptions generate;
  SessionOptions session;
  std::string prompt_cache;             // file; empty: none
  const ModelOptions* model = nullptr;  // how to load a draft model; set it before open_session()

  // Adds -n, the sampling options and the context options. `max_tokens_help` describes -n.
  void add(CLI::App& app, const std::string& max_tokens_help);
  // What stands for the sampling options that are not given; for setting().
  void advise(const SamplingAdvice& advice) { advice_ = advice; }
  void choose_seed();  // a random one, unless --seed gave one

  // What the text may be, before the model is loaded: whoever made a mistake there should not have to wait for it.
  Result<void> read_grammar();

  // The session with its draft model and what the prompt cache holds; and the cache written anew. Notes say what an
  // option does not do.
  Result<Session> open_session(const Engine& engine);
  Result<void> keep_cache(const Session& of) const;

  // What can also be changed between two replies, by the names of the options.
  static std::vector<std::string> setting_names();
  std::string setting(const std::string& name) const;  // its value as text, and where that is from if advised
  // kInvalidArgument: no such setting, or a value that it cannot have.
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

  void set_seed(std::optional<uint64_t> seed);  // none: another one each time
};

struct StreamOptions {
  bool silent = false;         // print nothing
  bool trim_start = false;     // do not print the white space that the text starts with
  bool one_paragraph = false;  // stop at the first line break after some text
};

struct PrintedReply {
  GenerateResult result;
  bool interrupted = false;      // by Ctrl-C
  bool paragraph_ended = false;  // by StreamOptions::one_paragraph
  bool printed_something = false;
  bool at_line_start = true;  // what was printed ends with a line break, or nothing was
};

// Streams what follows `prompt` to standard output. Ctrl-C ends it early; so does output that cannot be written, which
// is then the error.
Result<PrintedReply> generate_to_output(Session& session, std::span<const TokenId> prompt,
                                        const GenerateOptions& options, const StreamOptions& stream = {});

// "stop", "length", "context", "cancelled": why a text ended, for programs.
std::string_view finish_name(FinishReason reason);

// Several lines on standard error.
void print_stats(const Engine& engine, const Session& session, const GenerateResult& result,
                 const SampleOptions& asked);

}  // namespace tern::cli
