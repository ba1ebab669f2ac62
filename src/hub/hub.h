// A conversation with one repository of a hub.
#pragma once

#include <string>
#include <utility>

#include "hub/http.h"
#include "hub/listing.h"
#include "hub/model_name.h"

namespace tern::hub {

class Hub {
 public:
  Hub(std::string endpoint, ModelName name, HttpOptions http)
      : endpoint_(std::move(endpoint)), name_(std::move(name)), http_(std::move(http)) {}

  // What the revision holds. kIo where the hub cannot be reached or does not let us in, which a cache may help over;
  // any other error is the hub's last word.
  Result<Listing> list() const;

  // Asks for what the listing does not tell of the file: its size, and its name among the blobs.
  Result<RemoteFile> complete(const std::string& commit, RemoteFile file) const;

  std::string address(const std::string& commit, const std::string& path) const;

  // What the hub means by refusing `what` (a file, or empty: the repository), and what to do about it.
  std::unexpected<Error> refusal(long status, const std::string& error_code, const std::string& what) const;

  const HttpOptions& http() const { return http_; }

 private:
  std::string endpoint_;
  ModelName name_;
  HttpOptions http_;
};

}  // namespace tern::hub
