// Requests about one repository of a hub.
#pragma once

#include <string>
#include <utility>

#include "hub/net/http.h"
#include "hub/store/listing.h"
#include "hub/store/model_name.h"

namespace tern::hub {

class Hub {
 public:
  Hub(std::string endpoint, ModelName name, HttpOptions http)
      : endpoint_(std::move(endpoint)), name_(std::move(name)), http_(std::move(http)) {}

  // The contents of the revision. kIo: the hub cannot be reached or denies access, so a cache may help; other errors
  // are final.
  Result<Listing> list() const;

  // Asks for what the listing lacks: the file's size, and its name among the blobs.
  Result<RemoteFile> complete(const std::string& commit, RemoteFile file) const;

  std::string address(const std::string& commit, const std::string& path) const;

  // The error for a refusal of `what` (a file; empty: the repository), with advice.
  std::unexpected<Error> refusal(long status, const std::string& error_code, const std::string& what) const;

  const HttpOptions& http() const { return http_; }

 private:
  std::string endpoint_;
  ModelName name_;
  HttpOptions http_;
};

}  // namespace tern::hub
