// Models named on a hub: the option -hf, and what `tern pull` shares with it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tern/hub.h"
#include "tern/options.h"

namespace tern::cli {

// Downloads the missing files of a model, with a progress bar and notes on standard error unless `quiet`. Refuses
// models that Tern cannot run, unless `options` has its own check. kInterrupted: Ctrl-C; downloaded data is kept.
Result<std::string> pull_model(const std::string& model, HubOptions options, bool quiet);

// The hub name of a published model with this short name; any other name unchanged.
std::string hub_name_of(const std::string& name);

// The location of a model named by one word: a path, or a hub from which pull_model() downloads it.
struct ModelPlace {
  std::string path, hub_name;  // one of them; both empty for the model that comes with Tern
};

// Like pull_model(), for a background thread without a terminal: `say` gets progress lines. kInterrupted: a stop was
// requested; downloaded data is kept.
Result<std::string> pull_model_beside(const std::string& model, const MetadataChanges& changes,
                                      const std::stop_token& stop,
                                      const std::function<void(std::string_view line)>& say);

// Returns the path of a model named by one word: a file or folder, a published model's short name, or OWNER/NAME[:FILE]
// on a hub. The latter two are downloaded on first use. kNotFound: a bare name that is none of these.
Result<std::string> path_of_model(const std::string& name);

// The option -hf OWNER/NAME[:FILE], for commands that take the path of a model.
class HubModelOption {
 public:
  // `path_option` takes the path; only one of the two options may be given.
  void add(CLI::App& app, CLI::Option* path_option);

  // Returns the path of the model that -hf names, downloaded on first use. Without -hf, returns `path` if it exists,
  // and downloads a published model by its short name. kNotFound: `path` is a bare name that is neither. `changes`: the
  // metadata changes for loading; a model that Tern refuses without them is then downloaded.
  Result<std::string> resolve(const std::string& path, const MetadataChanges& changes = {}) const;
  Result<ModelPlace> place(const std::string& path) const;  // the same without a download

 private:
  std::string model_;
};

}  // namespace tern::cli
