// Loads the model of the installation that it was built against, and calls a function of each library.
#include <tern/engine.h>
#include <tern/hub.h>
#include <tern/tern.h>
#include <tern/tools.h>

#include <iostream>

int main() {
  const auto engine = tern::Engine::load({});
  if (!engine) {
    std::cerr << engine.error().message << '\n';
    return 1;
  }
  const auto info = tern::inspect(engine->info().path);
  std::cout << tern::version() << ' ' << tern_version() << '\n' << engine->info().path << '\n';
  return info && info->n_params == engine->info().n_params && !tern::hub_pull("no name") ? 0 : 1;
}
