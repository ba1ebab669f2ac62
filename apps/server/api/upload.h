// A form with a file, as it comes: the file goes to the disk.
#pragma once

#include <httplib.h>

#include <functional>

#include "server/api/file_store.h"

namespace tern::server {

struct UploadLimits {
  uint64_t file_bytes = 0;
  std::function<void()> on_progress = {};  // after each MiB or so
};

// POST /v1/files: "file", "purpose" and "expires_after[seconds]" are its parts. 400 where one is missing or wrong, 413
// for a file that is too large, 415 for what is no form, 507 where the disk is full.
ApiResult<StoredFile> take_upload(const httplib::Request& request, const httplib::ContentReader& reader,
                                  FileStore& files, const UploadLimits& limits);

}  // namespace tern::server
