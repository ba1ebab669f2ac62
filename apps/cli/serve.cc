// tern serve: a folder over HTTP, for the page that runs models in a browser.
#include <memory>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "server/static_server.h"

namespace tern::cli {
namespace {

constexpr const char* kServeFooter = R"(Examples
  tern serve --static build/web/site          the page that runs models in a browser
  tern serve --static site --port 0           on any free port; its address is printed
  tern serve --static site --host 0.0.0.0     for other machines too

Files are sent with the headers that browsers require before they give a page threads and shared memory. Ranges are
served, so an interrupted model download can continue. If NAME.gz lies beside NAME and is not older, it is sent to
clients that accept gzip. Names that begin with a dot and links that lead out of the folder are not served. Ctrl-C stops
the server, with exit code 0.
)";

struct ServeCommand {
  server::StaticOptions options;
  bool quiet = false;

  Result<ExitCode> run() const;
};

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

Result<ExitCode> ServeCommand::run() const {
  if (options.folder.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "serve: say what to serve: --static DIR, a folder of files (see 'tern serve --help')");
  }
  StopOnInterrupt interrupt;  // before the address is printed: whoever reads it may press Ctrl-C at once
  TERN_TRY(server::StaticServer server, server::StaticServer::open(options));
  if (!quiet) {
    print_note(format_text("serving {} at {} until Ctrl-C", options.folder, server.url()));
    if (!is_this_machine(options.host)) {
      print_note(
          "browsers allow WebGPU and threads only over https and on localhost; for other machines, put a TLS proxy "
          "in front of it, or forward the port");
    }
  }
  TERN_TRY_STATUS(server.serve(interrupt.token()));
  return ExitCode::kDone;
}

}  // namespace

Command add_serve(CLI::App& tern) {
  auto command = std::make_shared<ServeCommand>();
  CLI::App* app =
      add_command(tern, "serve", "Browser", "Serve a folder over HTTP: the page that runs models in a browser.",
                  "--static DIR [options]", kServeFooter);
  app->add_option("--static", command->options.folder, "Folder to serve; its index.html is the first page")
      ->type_name("DIR")
      ->check(not_empty())
      ->group("Serve");
  app->add_option("--host", command->options.host,
                  "Listen on this name or address (default 127.0.0.1: this machine only)")
      ->type_name("NAME")
      ->check(not_empty())
      ->group("Serve");
  app->add_option("--port", command->options.port, "Listen on this port (default 8080); 0: any free port")
      ->type_name("N")
      ->check(in_range(0, 65535, /*whole=*/true))
      ->group("Serve");
  app->add_flag("-q,--quiet", command->quiet, "Print errors only, not the address")->group("Serve");
  return {.app = app, .run = [command] { return command->run(); }};
}

}  // namespace tern::cli
