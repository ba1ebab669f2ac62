// tern serve: serves a model over HTTP, or a folder, for the page that runs models in a browser.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

#include "base/result.h"
#include "cli/commands/commands.h"
#include "cli/flags/model_list.h"
#include "cli/flags/serve_options.h"
#include "cli/support/remedies.h"
#include "cli/support/sandbox.h"
#include "cli/support/settings.h"
#include "cli/terminal/help.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/log_pipe.h"
#include "cli/terminal/output.h"
#include "server/static_server.h"
#include "tern/data_folder.h"
#include "tern/energy.h"
#include "tern/tools.h"

namespace tern::cli {
namespace {

constexpr const char* kServeFooter = R"(Examples
  tern serve                                  the model that comes with Tern
  tern serve -m model.gguf                    for browsers at http://127.0.0.1:8080/, for OpenAI's clients at …/v1
  tern serve -hf OWNER/NAME --host 0.0.0.0 --api-key-file keys.txt
  tern serve --config /etc/tern/serve.toml    options from a file
  tern serve --models models.toml --models-max 2    several models, each loaded on its first request
  tern serve -m embedder.gguf --embedding     texts to vectors
  tern serve -m model.gguf --mcp mcp.json --mcp-allow search    the server calls a tool of an MCP server
  tern serve --static build/web/site          the page that runs models in a browser

Any client of OpenAI's API can use the server: /v1/chat/completions, /v1/completions, /v1/embeddings, /v1/models. So can
clients of Anthropic's (/v1/messages), Ollama's (/api/chat) and llama.cpp's (/completion). It answers many requests at once,
each with the same answer as if it were alone. A browser finds a chat page at the address, unless
--no-webui, --embedding or --static turns it off. Without -m the server has the model that comes with Tern, or with --static
only a folder.

The file of --models has a section for each model, [NAME], with the model's options (model or hf, ctx, parallel, kv, backend,
embedding, temp …), alias = ["a", "b"] and pinned = true. A model is downloaded and loaded on its first request. If there
are more than --models-max, the least recently used one is unloaded. --files keeps uploaded files and batches of requests;
batches continue when the server starts again.

Every option may also be in the --config file (port = 8080, metrics = true, api-key = ["a", "b"]) or in an environment
variable (TERN_PORT, TERN_MAX_WAITING). The command line overrides the environment, and the environment the file. An
unknown name in the file is an error.

Files are sent with the headers that browsers require before they give a page threads and shared memory. Ranges are
served, so an interrupted model download can continue. If NAME.gz is beside NAME and is not older, it is sent to clients
that accept gzip. Names that begin with a dot and links that lead out of the folder are not served. Ctrl-C and SIGTERM stop
the server with exit code 0, after the answers in progress; a second signal stops it at once.
)";

struct ServeCommand : ServeOptions {
  bool serves_model = true;

  Result<ExitCode> run();
  Result<ExitCode> serve_folder() const;
  Result<ExitCode> serve_model();
  Result<ExitCode> serve_one(const StopOnInterrupt& interrupt);
  Result<ExitCode> serve_list(const StopOnInterrupt& interrupt);
  Result<ExitCode> answer_until_end(server::ApiServer& server, const std::string& names,
                                    const StopOnInterrupt& interrupt) const;
  Result<std::vector<std::string>> read_keys() const;
  Result<std::unique_ptr<mcp::ToolSet>> open_tools(const StopOnInterrupt& interrupt);
};

// Reads API keys from the options, a file (one per line) and TERN_API_KEY. Only the options show in a process list.
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
    TRY(const std::string text, read_text(key_file));
    add_parts(text, '\n');
    if (all.size() == n_before) return fail(ErrorCode::kInvalidArgument, "{}: there is no API key in it", key_file);
  }
  return all;
}

Result<ExitCode> ServeCommand::serve_folder() const {
  StopOnInterrupt interrupt(InterruptPipe::kAnyEnd);  // before the address is printed: a reader may stop it immediately
  TRY(server::StaticServer server,
      server::StaticServer::open(
          {.folder = folder, .host = api.address.host, .port = api.address.port, .tls = api.address.tls}));
  if (!quiet) {
    print_note(format_text("serving {} at {} until Ctrl-C", folder, server.url()));
    if (!server::is_loopback(api.address.host) && !api.address.tls.is_wanted()) {
      print_note(
          "browsers allow WebGPU and threads only over https and on localhost; for other machines, use "
          "--ssl-cert-file and --ssl-key-file, put a TLS proxy in front of it, or forward the port");
    }
  }
  TRY_STATUS(server.serve(interrupt.token()));
  return ExitCode::kDone;
}

Result<std::unique_ptr<mcp::ToolSet>> ServeCommand::open_tools(const StopOnInterrupt& interrupt) {
  const auto note = [is_quiet = quiet](const std::string& line) {
    if (!is_quiet) print_note(one_line(line));
  };
  if (api.mcp.always && !mcp.is_wanted()) return fail(ErrorCode::kInvalidArgument, "--mcp-always needs --mcp");
  TRY(std::unique_ptr<mcp::ToolSet> tools, mcp.open(note, interrupt.token()));
  api.mcp.set = tools.get();
  api.mcp.rounds = mcp.rounds();
  api.mcp.on_problem = note;
  if (tools) note(tools_in_a_line(*tools));
  return tools;
}

Result<ExitCode> ServeCommand::serve_model() {
  TRY(api.api_keys, read_keys());
  TRY_STATUS(mcp.read());
  StopOnInterrupt interrupt(InterruptPipe::kAnyEnd);
  api.static_folder = folder;
  api.most_time = std::chrono::seconds(most_seconds);
  api.drain_time = std::chrono::seconds(drain_seconds);
  if (!quiet) {
    api.log.on_line = [log = std::make_shared<LogPipe>(STDERR_FILENO)](std::string_view line) { log->write(line); };
    api.on_event = [](const std::string& line) { print_note(with_flags(line)); };
  }
  TRY(const std::unique_ptr<mcp::ToolSet> tools, open_tools(interrupt));
  if (!without_page && folder.empty() && !model.load.embeddings) api.page_folder = data_folder("web");
  const auto energy = open_energy_reader();
  std::optional<server::EnergyMeter> meter;
  if (energy) api.energy = &meter.emplace(**energy);
  return list.empty() ? serve_one(interrupt) : serve_list(interrupt);
}

Result<ExitCode> ServeCommand::serve_list(const StopOnInterrupt& interrupt) {
  TRY(std::vector<server::ModelEntry> models, read_model_list(list, *this));
  if (std::ranges::all_of(models, &server::ModelEntry::embedding)) api.page_folder.clear();
  std::string names;
  for (const server::ModelEntry& entry : models) names += (names.empty() ? "" : ", ") + entry.served.names.front();
  TRY(server::ApiServer server, server::ApiServer::open(std::move(models), api));
  return answer_until_end(server, names, interrupt);
}

Result<ExitCode> ServeCommand::answer_until_end(server::ApiServer& server, const std::string& names,
                                                const StopOnInterrupt& interrupt) const {
  if (!quiet) {
    print_note(format_text("{} at {}v1 until Ctrl-C", names, server.url()));
    if (!api.page_folder.empty()) print_note(format_text("the chat page is at {}", server.url()));
    if (!server::is_loopback(api.address.host) && api.api_keys.empty()) {
      print_note("every program that reaches this machine can use it; --api-key requires a key");
    }
  }
  TRY_STATUS(server.serve(interrupt.token()));
  return ExitCode::kDone;
}

Result<ExitCode> ServeCommand::serve_one(const StopOnInterrupt& interrupt) {
  TRY(std::string own_template, template_of(*this));
  if (!own_template.empty()) model.load.chat_template = std::move(own_template);
  model.load.job.any_length = true;
  TRY(const Engine engine, load_engine(model));
  if (interrupt.interrupted()) return ExitCode::kInterrupted;
  const ModelInfo& info = engine.info();
  // The file's name is the main one: short and without spaces. Other names of the model work too.
  const std::string file = std::filesystem::path(info.path).filename().string();
  for (const std::string& name : {alias, file.substr(0, file.rfind('.')), file, info.name, info.path}) {
    if (!name.empty()) api.names.push_back(name);
  }
  if (info.embeddings) api.page_folder.clear();
  std::vector<server::ModelEntry> one = {{.served = served_with(*this, api.names), .engine = &engine}};
  TRY(server::ApiServer server, server::ApiServer::open(std::move(one), api));
  if (!quiet) print_note(describe(info));
  if (!quiet && !info.choice.empty()) print_note(info.choice);
  if (!quiet) note_default_model(model, engine);
  return answer_until_end(server, api.names.front(), interrupt);
}

Result<ExitCode> ServeCommand::run() { return serves_model ? serve_model() : serve_folder(); }

}  // namespace

Command add_serve(CLI::App& tern) {
  auto command = std::make_shared<ServeCommand>();
  CLI::App* app = add_command(tern, "serve", "Serve",
                              "Serve a model over HTTP with the APIs of OpenAI and others, or serve a folder.",
                              "[-m MODEL] [--static DIR] [options]", kServeFooter);
  add_serve_options(*app, *command);
  return {.app = app, .run = [command, app]() -> Result<ExitCode> {
            if (const char* file = std::getenv("TERN_CONFIG"); file && command->config.empty()) command->config = file;
            TRY_STATUS(apply_settings(*app, command->config));
            TRY_STATUS(enter_sandbox(*app));
            const bool names_model = app->count("-m") + app->count("--hf") + app->count("--models") > 0;
            command->serves_model = command->folder.empty() || names_model;
            return command->run();
          }};
}

}  // namespace tern::cli
