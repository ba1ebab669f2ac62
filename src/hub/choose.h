// Chooses the files of a repository that make up the requested model.
#pragma once

#include <string>
#include <vector>

#include "hub/store/listing.h"

namespace tern::hub {

struct Choice {
  std::vector<RemoteFile> files;  // in the order to fetch them: small ones first, so that weights complete a model
  std::string model;              // the path to open, within the repository; empty: the repository's folder itself
};

// `wanted` is a path, a part of a name or empty (see hub_pull). `source` names the repository in errors. kNotFound: no
// such file, several matches (listed with sizes), nothing that Tern could load, or a split file with missing parts.
Result<Choice> choose(const Listing& listing, const std::string& wanted, std::string_view source);

}  // namespace tern::hub
