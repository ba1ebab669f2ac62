// One file over several connections.
#pragma once

#include <functional>
#include <string>

#include "hub/http.h"
#include "hub/partial_file.h"

namespace tern::hub {

// The size of the parts that a file of so many bytes is fetched in: at least 8 MB, at most 64 MB, about 64 parts.
uint64_t chunk_bytes_for(uint64_t file_bytes);

struct DownloadStatus {
  long status = 0;  // that the host refused the file with: 401, 403, 404 …; 0: the file is complete
  std::string error_code = {};
};

// Fetches what `file` lacks from `url`. Ranges over several connections where the host knows ranges, else one stream;
// goes on after dropped connections. `on_progress` hears the bytes that are there. What came is kept in any case.
// kIo: the network, as often as the retry policy tries, or the disk. kCorruption: the host says or sends another size,
// named `name`. kInterrupted.
Result<DownloadStatus> download(const HttpOptions& options, const std::string& url, const std::string& name,
                                PartialFile& file, const std::function<void(uint64_t done)>& on_progress);

}  // namespace tern::hub
