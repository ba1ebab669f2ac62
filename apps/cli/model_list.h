// A file of models for `tern serve --models`: a section each, whose keys are the command's own options.
#pragma once

#include <string>
#include <vector>

#include "cli/serve_options.h"

namespace tern::cli {

// The models of the file, none of which is loaded yet. Those on a hub are downloaded where they are not there: pinned
// ones at once, others when they are first asked for, with what `usual` says of events. What a section does not say is
// as in `usual`. kInvalidArgument: what is wrong in the file, by section and key.
Result<std::vector<server::ModelEntry>> read_model_list(const std::string& file, const ServeOptions& usual);

// What a model is served with, of all that was asked for.
server::ServedModelOptions served_with(const ServeOptions& options, std::vector<std::string> names);

// The template's text, of the option or of its file; empty: the model's own.
Result<std::string> template_of(const ServeOptions& options);

}  // namespace tern::cli
