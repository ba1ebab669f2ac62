// Files that clients upload or that the server writes for them: kept in a folder, by ids that the server assigns.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/api/api_error.h"
#include "server/api/durable_files.h"

namespace tern::server {

struct StoredFile {
  std::string id, filename, purpose;
  uint64_t bytes = 0;
  int64_t created_at = 0, expires_at = 0;  // in seconds since 1970; expires_at 0: never
  uint64_t number = 0;                     // in order of creation

  Json json() const;
};

// Each file consists of ID.data and of ID.json, which describes it. Thread-safe.
class FileStore {
 public:
  // Creates the folder and removes what a killed program left behind, except for the files named in `unfinished`, for
  // which adopt() will be called again. kIo; kCorruption: an ID.json was not written by a server.
  static Result<std::unique_ptr<FileStore>> open(const std::string& folder, const std::set<std::string>& unfinished);

  // `lifetime`: in seconds; 0: until removed. A file that keep() has returned survives a loss of power.
  Result<NewFile> begin(const std::string& id) { return NewFile::create(path_of(id)); }
  Result<StoredFile> keep(const std::string& id, NewFile content, const std::string& filename, int64_t lifetime);
  // Takes over a file that the server has made by moving it. If the id exists already, that file is returned.
  Result<StoredFile> adopt(const std::string& id, const std::string& path, const std::string& filename,
                           int64_t lifetime);

  std::optional<StoredFile> find(const std::string& id);
  std::vector<StoredFile> all();  // in order of creation
  // False: no such file. 409: a batch reads it.
  ApiResult<bool> remove(const std::string& id);
  std::string path_of(const std::string& id) const { return folder_ + "/" + id + ".data"; }  // of an existing file

  // Keeps a file from being removed until `reader` releases it. False: no such file.
  bool hold(const std::string& id, const std::string& reader);
  void release(const std::string& id, const std::string& reader);

 private:
  explicit FileStore(std::string folder) : folder_(std::move(folder)) {}
  Result<void> load(const std::set<std::string>& unfinished);
  Result<StoredFile> add(StoredFile file, int64_t lifetime);  // call with the lock held
  Result<void> erase(const std::string& id);                  // call with the lock held
  void erase_expired();                                       // call with the lock held
  std::string note_of(const std::string& id) const { return folder_ + "/" + id + ".json"; }

  const std::string folder_;
  std::mutex mutex_;
  std::map<std::string, StoredFile> files_;
  std::map<std::string, std::set<std::string>> readers_;  // of each file in use
  uint64_t n_ever_ = 0;
};

// Reads a JSON object from a file. kCorruption: it is not one.
Result<Json> read_note(const std::string& path);

}  // namespace tern::server
