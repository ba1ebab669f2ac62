// Downloads one file over several connections.
#pragma once

#include <functional>
#include <string>

#include "hub/net/http.h"
#include "hub/store/partial_file.h"

namespace tern::hub {

// The size of the chunks that a file of `file_bytes` is fetched in: about 64 chunks of 8 to 64 MiB.
uint64_t chunk_bytes_for(uint64_t file_bytes);

struct DownloadStatus {
  long status = 0;  // with which the host refused the file: 401, 403, 404 …; 0: the file is complete
  std::string error_code = {};
};

// Fetches what `file` lacks from `url`: ranges over several connections if the host supports them, else one stream.
// Continues after dropped connections. `on_progress` gets the number of bytes done. Received bytes are kept in any
// case. kIo: the network, after all tries of the retry policy, or the disk. kCorruption: the host reports or sends
// another size. kInterrupted. `name` is for errors.
Result<DownloadStatus> download(const HttpOptions& options, const std::string& url, const std::string& name,
                                PartialFile& file, const std::function<void(uint64_t done)>& on_progress);

}  // namespace tern::hub
