// Models by their names on a hub: the option -hf, and what `tern pull` shares with it.
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

// Downloads what is missing, unless Tern would refuse the model (and `options` have no check of their own), with a
// progress bar and notes on standard error unless `quiet`. Ctrl-C gives up with kInterrupted and keeps what is there.
Result<std::string> pull_model(const std::string& model, HubOptions options, bool quiet);

// The name on the hub of a published model that is called by its short name; any other name as it is.
std::string hub_name_of(const std::string& name);

// Where a model is that a word names: at a path, or on a hub, from where pull_model() brings it.
struct ModelPlace {
  std::string path, hub_name;  // one of them, or, for the model that comes with Tern, none
};

// For who has something else to do, and no terminal: `say` gets lines on how far it is. kInterrupted once a stop is
// requested; what has arrived is kept.
Result<std::string> pull_model_beside(const std::string& model, const MetadataChanges& changes,
                                      const std::stop_token& stop,
                                      const std::function<void(std::string_view line)>& say);

// The path of the model that one word names: the path of a file or a folder, a published model's short name, or
// OWNER/NAME[:FILE] on a hub. The latter two are downloaded on first use. kNotFound: a bare name that is none of these.
Result<std::string> path_of_model(const std::string& name);

// -hf OWNER/NAME[:FILE], wherever a command takes the path of a model.
class HubModelOption {
 public:
  // `path_option` is the one that takes a path; only one of the two may be given.
  void add(CLI::App& app, CLI::Option* path_option);

  // The path of the model that -hf names, downloaded on first use; else `path` where something is there, and the same
  // for a published model's short name. kNotFound: `path` is a bare name that is neither. `changes`: what the model
  // will be loaded with, so that one that Tern refuses without them is downloaded.
  Result<std::string> resolve(const std::string& path, const MetadataChanges& changes = {}) const;
  Result<ModelPlace> place(const std::string& path) const;  // the same, and nothing is downloaded

 private:
  std::string model_;
};

}  // namespace tern::cli
