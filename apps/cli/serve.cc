// tern serve: a model over HTTP, or a folder, for the page that runs models in a browser.
#include <cstdlib>
#include <limits>
#include <memory>
#include <sstream>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/reply_flags.h"
#include "server/api/api_server.h"
#include "server/static_server.h"
#include "tern/data_folder.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr double kMostWhole = std::numeric_limits<int>::max();

constexpr const char* kServeFooter = R"(Examples
  tern serve -m model.gguf                    for browsers at http://127.0.0.1:8080/, for OpenAI's clients at …/v1
  tern serve -hf OWNER/NAME --host 0.0.0.0 --api-key SECRET
  tern serve -m embedder.gguf --embedding     texts to vectors
  tern serve --static build/web/site          the page that runs models in a browser

Any client of OpenAI's interface can use it: /v1/chat/completions, /v1/completions, /v1/embeddings, /v1/models. Many
may ask at once: each answer is the same as if nobody else did. A browser finds a page to chat on at the address itself,
unless --no-webui, --embedding or --static says otherwise. Without -m it serves the model that comes with Tern,
unless --static says that a folder alone is to be served.

Files are sent with the headers that browsers require before they give a page threads and shared memory. Ranges are
served, so an interrupted model download can continue. If NAME.gz lies beside NAME and is not older, it is sent to
clients that accept gzip. Names that begin with a dot and links that lead out of the folder are not served. Ctrl-C and
SIGTERM stop the server, with exit code 0: what is being answered ends first, unless they come again.
)";

struct ServeCommand {
  ModelOptions model;
  server::ApiOptions api;
  std::string folder;
  std::string alias;
  std::vector<std::string> keys;
  std::string key_file;
  std::string template_file;
  Pooling pooling = Pooling::kAuto;
  int most_seconds = 0, drain_seconds = 30;
  int batch = 0, small_batch = 0;
  bool quiet = false;
  bool without_page = false;
  bool serves_model = true;

  Result<ExitCode> run();
  Result<ExitCode> serve_folder() const;
  Result<ExitCode> serve_model();
  Result<std::vector<std::string>> read_keys() const;
};

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// Of the options, of a file with one a line, and of the environment, which nobody sees in a list of processes.
Result<std::vector<std::string>> ServeCommand::read_keys() const {
  std::vector<std::string> all;
  const auto add_parts = [&](const std::string& text, char separator) {
    std::istringstream parts(text);
    for (std::string key; std::getline(parts, key, separator);) {
      while (!key.empty() && (key.back() == '\r' || key.back() == ' ')) key.pop_back();
      if (!key.empty()) all.push_back(key);
    }
  };
  for (const std::string& text : keys) add_parts(text, ',');
  if (const char* text = std::getenv("TERN_API_KEY")) add_parts(text, ',');
  if (!key_file.empty()) {
    const size_t n_before = all.size();
    TERN_TRY(const std::string text, read_text(key_file));
    add_parts(text, '\n');
    if (all.size() == n_before) return fail(ErrorCode::kInvalidArgument, "{}: there is no API key in it", key_file);
  }
  return all;
}

Result<ExitCode> ServeCommand::serve_folder() const {
  StopOnInterrupt interrupt(
      InterruptPipe::kAnyEnd);  // before the address is printed: whoever reads it may end it at once
  TERN_TRY(server::StaticServer server,
           server::StaticServer::open({.folder = folder, .host = api.address.host, .port = api.address.port}));
  if (!quiet) {
    print_note(format_text("serving {} at {} until Ctrl-C", folder, server.url()));
    if (!is_this_machine(api.address.host)) {
      print_note(
          "browsers allow WebGPU and threads only over https and on localhost; for other machines, put a TLS proxy "
          "in front of it, or forward the port");
    }
  }
  TERN_TRY_STATUS(server.serve(interrupt.token()));
  return ExitCode::kDone;
}

Result<ExitCode> ServeCommand::serve_model() {
  TERN_TRY(api.api_keys, read_keys());
  StopOnInterrupt interrupt(InterruptPipe::kAnyEnd);
  if (!template_file.empty()) {
    TERN_TRY(model.load.chat_template, read_text(template_file));
    if (model.load.chat_template.empty()) {
      return fail(ErrorCode::kInvalidArgument, "{}: the template is empty", template_file);
    }
  }
  TERN_TRY(const Engine engine, load_engine(model));
  if (interrupt.interrupted()) return ExitCode::kInterrupted;
  const ModelInfo& info = engine.info();
  // The file's name is short and has no spaces; but any name that people have seen will do.
  const std::string file = info.path.substr(info.path.rfind('/') + 1);
  for (const std::string& name : {alias, file.substr(0, file.rfind('.')), file, info.name, info.path}) {
    if (!name.empty()) api.names.push_back(name);
  }
  api.static_folder = folder;
  if (!without_page && folder.empty() && !info.embeddings) api.page_folder = data_folder("web");
  api.pooling = pooling;
  api.most_time = std::chrono::seconds(most_seconds);
  api.drain_time = std::chrono::seconds(drain_seconds);
  for (const int tokens : {batch, small_batch}) {
    int& most = api.scheduler.max_batch_tokens;
    if (tokens > 0 && (most == 0 || tokens < most)) most = tokens;
  }
  TERN_TRY(server::ApiServer server, server::ApiServer::open(engine, api));
  if (!quiet) {
    print_note(describe(info));
    print_note(format_text("{} at {}v1 until Ctrl-C", api.names.front(), server.url()));
    if (!api.page_folder.empty()) print_note(format_text("a page to chat with it is at {}", server.url()));
    if (!is_this_machine(api.address.host) && api.api_keys.empty()) {
      print_note("whoever reaches this machine can use it: --api-key asks for a key");
    }
  }
  TERN_TRY_STATUS(server.serve(interrupt.token()));
  return ExitCode::kDone;
}

Result<ExitCode> ServeCommand::run() { return serves_model ? serve_model() : serve_folder(); }

void add_answers(CLI::App& app, ServeCommand& command) {
  constexpr const char* kGroup = "Answers, where a request does not say";
  app.add_option("-n,--max-tokens", command.api.max_tokens,
                 "Tokens of an answer (default: until the model stops or the context is full)")
      ->type_name("N")
      ->check(in_range(-1, kMostWhole, /*whole=*/true))
      ->group(kGroup);
  add_sampling(app, command.api.sample);
  add_seed(app, [&command](std::optional<uint64_t> seed) {
    command.api.has_seed = seed.has_value();
    command.api.sample.seed = seed.value_or(0);
  });
}

void add_capacity(CLI::App& app, ServeCommand& command) {
  constexpr const char* kGroup = "How many at once";
  const auto add = [&](const char* name, int& value, double least, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->check(in_range(least, kMostWhole, true))->group(kGroup);
  };
  server::ApiOptions& api = command.api;
  api.scheduler.max_stall_ms = 50;
  app.add_option("-c,--ctx", api.scheduler.n_ctx,
                 "Most tokens of a conversation (default: what the model was trained for)")
      ->type_name("N")
      ->check([](const std::string& text) { return text == "0" ? "" : in_range(1, kMostWhole, true)(text); }, "")
      ->group(kGroup);
  add("--parallel", api.scheduler.max_replies, 1, "N",
      "Answers that are written at a time; others wait (default 64); also written -np");
  add("--max-waiting", api.max_waiting, 0, "N", "Answers that may wait; more are refused with 429 (default 256)");
  add("--batch-size", command.batch, 1, "N", "Tokens of a pass over the model, prompts and answers together");
  add("--ubatch-size", command.small_batch, 1, "N", "The same; the smaller of both holds; also written -ub");
  app.add_option(
         "--max-stall-ms", api.scheduler.max_stall_ms,
         "While answers are written, read prompts in pieces of about so long (default 50; 0: as long as it takes)")
      ->type_name("MS")
      ->check(in_range(0, 1e6))
      ->group(kGroup);
  add("--timeout", command.most_seconds, 0, "SECONDS", "Most time for an answer (default 0: no limit)");
  add("--drain", command.drain_seconds, 0, "SECONDS", "When the server ends, time for what is running (default 30)");
  app.add_option("--speculate", api.speculate,
                 "Guess up to N tokens from what a text repeats, and check them at once (default 0: none)")
      ->type_name("N")
      ->check(in_range(0, 63, true))
      ->group(kGroup);
  add_kv(app, api.scheduler.kv_type);
}

void add_access(CLI::App& app, ServeCommand& command) {
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
  app.add_option("--api-key", command.keys, "Answer only those who send this key; $TERN_API_KEY is one, too")
      ->type_name("KEY")
      ->check(not_empty())
      ->group(kGroup);
  app.add_option("--api-key-file", command.key_file, "A file with such keys, one a line")
      ->type_name("FILE")
      ->check(not_empty())
      ->group(kGroup);
  app.add_option("--alias", command.alias, "What answers call the model (default: its own name)")
      ->type_name("NAME")
      ->check(not_empty())
      ->group(kGroup);
  app.add_option("--template", command.template_file, "Use this Jinja chat template instead of the model's own")
      ->type_name("FILE")
      ->check(not_empty())
      ->group(kGroup);
  app.add_flag("--metrics", api.metrics, "Have /metrics, for Prometheus")->group(kGroup);
  app.add_flag("--slots", api.slots, "Have /slots, which tells of the answers being written")->group(kGroup);
  app.add_flag("--no-webui", command.without_page, "Have no page to chat with the model at /")->group(kGroup);
  app.add_flag("--jinja", "For those who come from llama.cpp: this changes nothing here")->group(kGroup);
  app.add_flag("-q,--quiet", command.quiet, "Print errors only, not the address")->group(kGroup);
}

void add_embedding(CLI::App& app, ServeCommand& command) {
  app.add_flag("--embedding,--embeddings", command.model.load.embeddings,
               "Turn texts into vectors (/v1/embeddings), and do nothing else")
      ->group("Embeddings");
  app.add_option_function<std::string>(
         "--pooling",
         [&command](const std::string& name) {
           command.pooling = name == "last" ? Pooling::kLast : name == "mean" ? Pooling::kMean : Pooling::kAuto;
         },
         "Whose vector counts: last, the last token's, or mean, that of all (default: as the file says)")
      ->type_name("WHICH")
      ->check(one_of({"auto", "last", "mean"}))
      ->group("Embeddings");
}

}  // namespace

Command add_serve(CLI::App& tern) {
  auto command = std::make_shared<ServeCommand>();
  CLI::App* app =
      add_command(tern, "serve", "Serve", "Answer OpenAI's clients over HTTP with a model, or serve a folder.",
                  "[-m MODEL] [--static DIR] [options]", kServeFooter);
  add_access(*app, *command);
  command->model.add_model(*app);
  command->model.add_backend(*app);
  add_capacity(*app, *command);
  add_answers(*app, *command);
  add_embedding(*app, *command);
  return {.app = app, .run = [command, app] {
            const bool names_model = app->count("-m") + app->count("--hf") > 0;
            command->serves_model = command->folder.empty() || names_model;
            return command->run();
          }};
}

}  // namespace tern::cli
