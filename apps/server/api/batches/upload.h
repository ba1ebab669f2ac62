// Receives a form with a file, and writes the file to the disk as it arrives.
#pragma once

#include <httplib.h>

#include <cstdint>

#include "server/api/batches/file_store.h"

namespace tern::server {

// Reads POST /v1/files; its parts are "file", "purpose" and "expires_after[seconds]". 400: a part is missing or wrong;
// 413: the file is larger than `most` bytes; 415: it is not a form; 507: the disk is full.
ApiResult<StoredFile> take_upload(const httplib::Request& request, const httplib::ContentReader& reader,
                                  FileStore& files, uint64_t most);

}  // namespace tern::server
