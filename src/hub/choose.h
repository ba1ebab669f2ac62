// Which files of a repository make the model that was asked for.
#pragma once

#include <string>
#include <vector>

#include "hub/listing.h"

namespace tern::hub {

struct Choice {
  std::vector<RemoteFile> files;  // in the order to fetch them: small ones first, so that weights complete a model
  std::string model;              // the path to open, within the repository; empty: the repository's folder itself
};

// `wanted` is a path, a part of a name or empty (see hub_pull). `source` names the repository in errors. kNotFound: no
// such file, several that fit (they are listed with sizes), nothing that Tern could load, or a split file that lacks
// parts.
Result<Choice> choose(const Listing& listing, const std::string& wanted, std::string_view source);

}  // namespace tern::hub
