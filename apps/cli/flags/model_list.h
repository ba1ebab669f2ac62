// The file of `tern serve --models`: one section per model, whose keys are the command's own options.
#pragma once

#include <string>
#include <vector>

#include "cli/flags/serve_options.h"

namespace tern::cli {

// Returns the models of the file, not yet loaded. Missing hub models are downloaded: pinned ones immediately, others on
// their first request, with progress reported through `usual`. Options that a section does not set come from `usual`.
// kInvalidArgument: names the wrong section and key.
Result<std::vector<server::ModelEntry>> read_model_list(const std::string& file, const ServeOptions& usual);

// Extracts from `options` what one model is served with.
server::ServedModelOptions served_with(const ServeOptions& options, std::vector<std::string> names);

// Returns the template's text, from the option or its file; empty: the model's own.
Result<std::string> template_of(const ServeOptions& options);

}  // namespace tern::cli
