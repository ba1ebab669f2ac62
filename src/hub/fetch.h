// Brings files from a hub into the cache: locks, space on the disk, checksums.
#pragma once

#include <string>
#include <vector>

#include "hub/hub.h"
#include "hub/store/cache.h"
#include "tern/hub.h"

namespace tern::hub {

class Fetcher {
 public:
  Fetcher(const Hub& hub, const Cache& cache, const HubOptions& options)
      : hub_(hub), cache_(cache), options_(options) {}

  // Brings the files of a snapshot into the cache, in this order. Files that are there cost nothing, and need no
  // writable disk. kIo: the network or the disk (its space is checked before anything is fetched). kCorruption: the
  // bytes do not match the hub's checksum; they are then deleted. kInterrupted.
  Result<void> fetch_all(const std::string& commit, const std::vector<RemoteFile>& files);

 private:
  // After a wrong checksum everything is deleted. kWrongSinceEarlier: an earlier run had left some of it.
  enum class Outcome { kRight, kWrong, kWrongSinceEarlier };

  Result<void> check_space(const std::vector<RemoteFile>& missing) const;
  Result<void> fetch(const std::string& commit, const RemoteFile& file);
  Result<void> fetch_blob(const std::string& commit, const RemoteFile& file);
  Result<Outcome> fetch_once(const std::string& commit, const RemoteFile& file);
  Result<bool> check(const RemoteFile& file, const std::string& path) const;
  void note(std::string_view text) const;
  void report(const std::string& what, uint64_t done, uint64_t total) const;

  const Hub& hub_;
  const Cache& cache_;
  const HubOptions& options_;
  std::string label_;    // of the progress display
  uint64_t total_ = 0;   // bytes of all files to be fetched
  uint64_t before_ = 0;  // … of the files before the current one
};

}  // namespace tern::hub
