#include "cli/flags/serve_options.h"

#include <cstdint>
#include <limits>

#include "cli/flags/reply_flags.h"
#include "cli/terminal/help.h"
#include "cli/terminal/layout.h"

namespace tern::cli {

void add_drafts(CLI::App& app, int& speculate, bool& draft_block, const char* group) {
  app.add_option("--speculate", speculate,
                 "Speculative decoding: draft up to N tokens from repetitions in the text and check them at once "
                 "(default 0: off)")
      ->type_name("N")
      ->check(in_range(0, 63, true))
      ->group(group);
  app.add_flag("--draft-block", draft_block,
               "Draft tokens come from the model's own layer for them instead, at most 15 unless --speculate says how "
               "many (Qwen3.5 with MTP)")
      ->group(group);
}

int drafts_of(int speculate, bool draft_block) {
  constexpr int kUsualDrafts = 15;
  return draft_block && speculate == 0 ? kUsualDrafts : speculate;
}

namespace {

constexpr double kMostWhole = std::numeric_limits<int>::max();

void add_answers(CLI::App& app, ServeOptions& command) {
  constexpr const char* kGroup = "Defaults of requests";
  app.add_option("-n,--max-tokens", command.api.max_tokens,
                 "Maximum tokens of an answer (default: until the model stops or the context is full)")
      ->type_name("N")
      ->check(in_range(-1, kMostWhole, /*whole=*/true))
      ->group(kGroup);
  app.add_flag("--parse-special", command.api.parse_special,
               "Control tokens such as <|im_end|> count in messages, too; by default they are text there")
      ->group(kGroup);
  add_sampling(app, command.api.sample);
  add_seed(app, [&command](std::optional<uint64_t> seed) {
    command.api.has_seed = seed.has_value();
    command.api.sample.seed = seed.value_or(0);
  });
}

void add_capacity(CLI::App& app, ServeOptions& command) {
  constexpr const char* kGroup = "Parallelism";
  const auto add = [&](const char* name, int& value, double least, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->check(in_range(least, kMostWhole, true))->group(kGroup);
  };
  server::ApiOptions& api = command.api;
  api.scheduler.max_stall_ms = 50;
  api.scheduler.target_ttft_ms = 1000;
  app.add_option("-c,--ctx", api.scheduler.n_ctx,
                 "Context size of a conversation, in tokens (default: the model's trained length)")
      ->type_name("N")
      ->check([](const std::string& text) { return text == "0" ? "" : in_range(1, kMostWhole, true)(text); }, "")
      ->group(kGroup);
  add("--parallel", api.scheduler.max_replies, 1, "N",
      "Answers to generate at the same time; others wait (default 64); also written -np");
  add("--max-waiting", api.max_waiting, 0, "N", "Requests that may wait; more are refused with 429 (default 256)");
  add("--batch-size", command.batch, 1, "N", "Maximum tokens of a pass, prompts and answers together");
  add("--ubatch-size", command.small_batch, 1, "N", "The same; the smaller of the two counts; also written -ub");
  const auto add_time = [&](const char* name, float& ms, double most, const char* help) {
    app.add_option(name, ms, help)->type_name("MS")->check(in_range(0, most))->group(kGroup);
  };
  add_time("--max-stall-ms", api.scheduler.max_stall_ms, 1e6,
           "While answers are generated, process prompts in pieces that take about this long (default 50; 0: whole "
           "prompts)");
  add_time("--target-ttft-ms", api.scheduler.target_ttft_ms, 1e9,
           "If a first token takes longer than this, and twice its prompt's own time, these pieces grow as long as it "
           "waits (default 1000; 0: they do not)");
  app.add_option(
         "--reasoning-budget", api.thoughts,
         "Tokens that a model may think where a request says nothing; then its thought is ended (-1: any number)")
      ->type_name("N")
      ->check(in_range(-1, 1e9, /*whole=*/true))
      ->group(kGroup);
  add_drafts(app, api.speculate, api.scheduler.draft_block, kGroup);
  app.add_option_function<double>(
         "--cache-ram",
         [&api](double mib) {
           api.scheduler.max_kept_bytes =
               mib < 0 ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(mib) * 1024 * 1024;
         },
         "Memory for the prefix cache: keys and values of finished answers, for prompts that begin the same (default: "
         "an eighth of the free memory; -1: no limit)")
      ->type_name("MIB")
      ->check(in_range(-1, 1e9, /*whole=*/true))
      ->group(kGroup);
  add_kv(app, api.scheduler.kv_type);
}

void add_times(CLI::App& app, ServeOptions& command) {
  constexpr const char* kGroup = "Parallelism";
  const auto add = [&](const char* name, int& value, const char* help) {
    app.add_option(name, value, help)->type_name("SECONDS")->check(in_range(0, kMostWhole, true))->group(kGroup);
  };
  add("--timeout", command.most_seconds, "Time limit of an answer (default 0: none)");
  add("--drain", command.drain_seconds, "Time that running answers have when the server stops (default 30)");
}

// Options for several models in one server.
void add_models(CLI::App& app, ServeOptions& command) {
  constexpr const char* kGroup = "Several models";
  CLI::Option* list = app.add_option("--models", command.list,
                                     "A file with a section for each model; a model is loaded on its first request");
  list->type_name("FILE")->check(not_empty())->group(kGroup);
  for (const char* one : {"--model", "--hf", "--alias", "--template", "--chat-template", "--embedding"}) {
    list->excludes(app.get_option(one));
  }
  app.add_option("--models-max", command.api.most_models, "Models in memory at the same time (default 0: all)")
      ->type_name("N")
      ->check(in_range(0, 1e6, /*whole=*/true))
      ->needs(list)
      ->group(kGroup);
}

void add_keys(CLI::App& app, ServeOptions& command) {
  constexpr const char* kGroup = "Serve";
  app.add_option("--api-key", command.keys, "Answer only requests with this key; $TERN_API_KEY is a key too")
      ->type_name("KEY")
      ->check(not_empty())
      ->group(kGroup);
  app.add_option("--api-key-file", command.key_file, "A file with such keys, one per line")
      ->type_name("FILE")
      ->check(not_empty())
      ->group(kGroup);
  app.add_option("--allow-origin", command.api.allowed_origins,
                 "Let web pages of this origin use the server too, such as https://chat.example.org; '*': all pages")
      ->type_name("ORIGIN")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return server::is_origin(text) ? std::string() : "'" + text + "' has no form like https://chat.example.org";
          },
          ""))
      ->group(kGroup);
}

void add_access(CLI::App& app, ServeOptions& command) {
  constexpr const char* kGroup = "Serve";
  server::ApiOptions& api = command.api;
  app.add_option("--static", command.folder, "Folder to serve; its index.html is the first page")
      ->type_name("DIR")
      ->check(not_empty())
      ->group(kGroup);
  app.add_option("--host", api.address.host, "Listen on this name or address (default 127.0.0.1: this machine only)")
      ->type_name("NAME")
      ->check(not_empty())
      ->group(kGroup);
  app.add_option("--port", api.address.port, "Listen on this port (default 8080); 0: any free port")
      ->type_name("N")
      ->check(in_range(0, 65535, /*whole=*/true))
      ->group(kGroup);
  add_keys(app, command);
  app.add_flag("--any-model", api.any_model, "Answer requests for other models, too, with the first one")
      ->group(kGroup);
  app.add_option("--alias", command.alias, "The model's name in answers (default: its own name)")
      ->type_name("NAME")
      ->check(not_empty())
      ->group(kGroup);
  app.add_option("--files", api.files_folder,
                 "Enable /v1/files and /v1/batches, and keep their files in this folder, which only one server may use "
                 "at a time")
      ->type_name("DIR")
      ->check(not_empty())
      ->group(kGroup);
  app.add_option_function<uint64_t>(
         "--max-file-mib", [&api](uint64_t mib) { api.max_file_bytes = mib << 20; },
         "Maximum MiB of an uploaded file (default 512)")
      ->type_name("MIB")
      ->check(in_range(1, 1e6, /*whole=*/true))
      ->group(kGroup);
  app.add_option("--slot-save-path", api.slot_folder,
                 "Enable POST /slots/ID?action=save, restore and erase, which keep the KV cache of conversations in "
                 "files of this folder")
      ->type_name("DIR")
      ->check(not_empty())
      ->group(kGroup);
  app.add_flag("--no-webui", command.without_page, "Do not serve the chat page at /")->group(kGroup);
  app.add_flag("--jinja", "Accepted because llama.cpp has it; has no effect")->group(kGroup);
  app.add_option("--config", command.config, "Read options from a file, one per line: port = 8080; also $TERN_CONFIG")
      ->type_name("FILE")
      ->check(not_empty())
      ->group(kGroup);
}

void add_tls(CLI::App& app, ServeOptions& command) {
  constexpr const char* kGroup = "Serve";
  server::TlsFiles& tls = command.api.address.tls;
  app.add_option("--ssl-cert-file", tls.certificate, "Serve https with this certificate, in PEM form")
      ->type_name("FILE")
      ->check(not_empty())
      ->group(kGroup);
  app.add_option("--ssl-key-file", tls.key, "The certificate's private key")
      ->type_name("FILE")
      ->check(not_empty())
      ->group(kGroup);
}

void add_template(CLI::App& app, ServeOptions& command) {
  constexpr const char* kGroup = "Serve";
  CLI::Option* file =
      app.add_option("--template", command.template_file, "Use this Jinja chat template instead of the model's own");
  file->type_name("FILE")->check(not_empty())->group(kGroup);
  const auto is_template = [](const std::string& text) -> std::string {
    if (text.contains('{')) return "";
    return format_text(
        "'{}' is not a Jinja template, and Tern knows none by name; give its text, or its file with --template",
        shorten(one_line(text), 40));
  };
  app.add_option("--chat-template", command.template_text, "The same, given as text")
      ->type_name("TEXT")
      ->check(is_template, "")
      ->excludes(file)
      ->group(kGroup);
}

void add_reports(CLI::App& app, ServeOptions& command) {
  constexpr const char* kGroup = "Reports";
  server::ApiOptions& api = command.api;
  app.add_flag("--metrics", api.metrics, "Enable /metrics, for Prometheus")->group(kGroup);
  app.add_flag("--slots", api.slots, "Enable /slots, which shows the answers that are being generated")->group(kGroup);
  app.add_option_function<std::string>(
         "--log-format",
         [&api](const std::string& name) {
           api.log.format = name == "json" ? server::LogFormat::kJson : server::LogFormat::kText;
         },
         "Format of the line that is logged for each request on standard error: text (default) or json")
      ->type_name("FORMAT")
      ->check(one_of({"text", "json"}))
      ->group(kGroup);
  app.add_flag("--log-texts", api.log.texts, "Also log prompts and answers")->group(kGroup);
  app.add_flag("-q,--quiet", command.quiet, "Print errors only: neither the address nor requests")->group(kGroup);
}

void add_embedding(CLI::App& app, ServeOptions& command) {
  app.add_flag("--embedding,--embeddings", command.model.load.embeddings,
               "Serve only embeddings: vectors of texts (/v1/embeddings)")
      ->group("Embeddings");
  app.add_option_function<std::string>(
         "--pooling",
         [&command](const std::string& name) {
           command.pooling = name == "last" ? Pooling::kLast : name == "mean" ? Pooling::kMean : Pooling::kAuto;
         },
         "Which vector to use: last (the last token's) or mean (the mean of all tokens') (default: as the file says)")
      ->type_name("WHICH")
      ->check(one_of({"auto", "last", "mean"}))
      ->group("Embeddings");
}

void add_tools(CLI::App& app, ServeOptions& command) {
  command.mcp.add(app, "Tools",
                  "Tools that the server calls itself: names of tools or of servers, or 'all'; calls of others are "
                  "the client's");
  app.add_flag("--mcp-always", command.api.mcp.always,
               "Offer them to every chat without tools of its own; by default to requests with \"mcp\": true or a list "
               "of servers")
      ->group("Tools");
}

}  // namespace

void add_model_options(CLI::App& app, ServeOptions& command) {
  command.model.add_model(app);
  command.model.add_backend(app);
  add_template(app, command);
  add_capacity(app, command);
  add_answers(app, command);
  add_embedding(app, command);
}

void add_serve_options(CLI::App& app, ServeOptions& command) {
  add_access(app, command);
  add_tls(app, command);
  add_reports(app, command);
  add_tools(app, command);
  add_model_options(app, command);
  add_times(app, command);
  add_models(app, command);
}

}  // namespace tern::cli
