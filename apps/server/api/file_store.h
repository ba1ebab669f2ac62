// Files that clients upload, and those that the server writes for them: in a folder, by ids of the server's own.
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
#include "server/api/disk.h"

namespace tern::server {

struct StoredFile {
  std::string id, filename, purpose;
  uint64_t bytes = 0;
  int64_t created_at = 0, expires_at = 0;  // in seconds since 1970; never: 0
  uint64_t number = 0;                     // in the order in which they came

  Json json() const;
};

// Each file has ID.data and ID.json beside it, which says what it is. Threads may call all of it.
class FileStore {
 public:
  // Makes the folder, and tidies up what a program that was killed left behind, apart from what `unfinished` names,
  // files that adopt() will be called for again. kIo; kCorruption: a file's ID.json is none of the server's.
  static Result<std::unique_ptr<FileStore>> open(const std::string& folder, const std::set<std::string>& unfinished);

  // `lifetime`: in seconds; 0: until it is removed. What keep() has returned is there after a loss of power.
  Result<NewFile> begin(const std::string& id) { return NewFile::create(path_of(id)); }
  Result<StoredFile> keep(const std::string& id, NewFile content, const std::string& filename, int64_t lifetime);
  // A file of the server's own making, from where it lies; what is there already under this id is the same.
  Result<StoredFile> adopt(const std::string& id, const std::string& path, const std::string& filename,
                           int64_t lifetime);

  std::optional<StoredFile> find(const std::string& id);
  std::vector<StoredFile> all();  // in the order in which they came
  // False: there is none. 409: a batch reads it.
  ApiResult<bool> remove(const std::string& id);
  std::string path_of(const std::string& id) const { return folder_ + "/" + id + ".data"; }  // one that is there

  // A file that somebody reads stays. False: there is none.
  bool hold(const std::string& id, const std::string& reader);
  void release(const std::string& id, const std::string& reader);

 private:
  explicit FileStore(std::string folder) : folder_(std::move(folder)) {}
  Result<void> load(const std::set<std::string>& unfinished);
  Result<StoredFile> add(StoredFile file, int64_t lifetime);  // locked
  Result<void> erase(const std::string& id);                  // locked
  void erase_expired();                                       // locked
  std::string note_of(const std::string& id) const { return folder_ + "/" + id + ".json"; }

  const std::string folder_;
  std::mutex mutex_;
  std::map<std::string, StoredFile> files_;
  std::map<std::string, std::set<std::string>> readers_;  // of each file that has any
  uint64_t n_ever_ = 0;
};

// What a file on the disk says, as an object. kCorruption: it is none.
Result<Json> read_note(const std::string& path);

}  // namespace tern::server
