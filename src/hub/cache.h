// The folders in which huggingface_hub keeps one repository:
//
//   ROOT/models--OWNER--NAME/blobs/ETAG                the bytes of a file
//   ROOT/models--OWNER--NAME/snapshots/COMMIT/PATH     a relative link to them
//   ROOT/models--OWNER--NAME/refs/REVISION             the commit that a branch or tag was last seen at
//   ROOT/.locks/models--OWNER--NAME/ETAG.lock          held while a blob is downloaded
#pragma once

#include <optional>
#include <string>

#include "hub/listing.h"

namespace tern::hub {

class Cache {
 public:
  // `repo` is OWNER/NAME, checked by parse_model_name.
  Cache(const std::string& root, const std::string& repo);

  const std::string& root() const { return root_; }
  std::string blob(const std::string& etag) const;
  // Where a download of the blob collects its bytes (see PartialFile).
  std::string partial_stem(const std::string& etag) const;
  std::string lock(const std::string& etag) const;
  std::string snapshot(const std::string& commit) const;

  // The commit of a revision as last seen; `revision` itself where it is one.
  std::optional<std::string> commit_of(const std::string& revision) const;

  // The files of a snapshot whose bytes are there. Blobs that a user deleted leave links that lead nowhere.
  std::vector<RemoteFile> files_of(const std::string& commit) const;

  // Whether PATH of the snapshot is there and, where the size is known, has it.
  bool has(const std::string& commit, const RemoteFile& file) const;
  bool has_blob(const RemoteFile& file) const;

  // The folder of the blobs, and that of the locks. kIo.
  Result<void> make_folders() const;
  // Puts a blob that is there into a snapshot. kIo.
  Result<void> link(const std::string& commit, const RemoteFile& file) const;
  // Notes the commit of a branch or tag. Writes nothing where that is known. kIo.
  Result<void> write_reference(const std::string& revision, const std::string& commit) const;

 private:
  std::string root_;
  std::string folder_;
  std::string lock_folder_;
};

}  // namespace tern::hub
