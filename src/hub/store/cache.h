// The folders in which huggingface_hub keeps one repository:
//
//   ROOT/models--OWNER--NAME/blobs/ETAG                the bytes of a file
//   ROOT/models--OWNER--NAME/snapshots/COMMIT/PATH     a relative link to them
//   ROOT/models--OWNER--NAME/refs/REVISION             the commit that a branch or tag was last seen at
//   ROOT/.locks/models--OWNER--NAME/ETAG.lock          held while a blob is downloaded
#pragma once

#include <optional>
#include <string>

#include "hub/store/listing.h"

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

  // The last known commit of a revision; `revision` itself if it is a commit.
  std::optional<std::string> commit_of(const std::string& revision) const;

  // The files of a snapshot whose bytes exist. Blobs that a user deleted leave dangling links, which are skipped.
  std::vector<RemoteFile> files_of(const std::string& commit) const;

  // True if the snapshot has PATH and, if the size is known, the file has it.
  bool has(const std::string& commit, const RemoteFile& file) const;
  bool has_blob(const RemoteFile& file) const;

  // Creates the folders of the blobs and of the locks. kIo.
  Result<void> make_folders() const;
  // Links an existing blob into a snapshot. kIo.
  Result<void> link(const std::string& commit, const RemoteFile& file) const;
  // Records the commit of a branch or tag. Writes nothing if it is recorded already. kIo.
  Result<void> write_reference(const std::string& revision, const std::string& commit) const;

 private:
  std::string root_;
  std::string folder_;
  std::string lock_folder_;
};

}  // namespace tern::hub
