// The files of one directory by name: on disk, or on a host where only their headers are read.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"

namespace tern {

class Folder {
 public:
  virtual ~Folder() = default;

  virtual const std::string& path() const = 0;  // for messages
  virtual std::vector<std::string> names() const = 0;
  virtual bool has(std::string_view name) const = 0;
  // Errors: those of open_file.
  virtual Result<std::unique_ptr<File>> open(std::string_view name, Access access = Access::kResident) const = 0;
  // True if all bytes of its files can be read. Otherwise tensor data is fake: good enough to build a model, but
  // nothing may be derived from the values, and reading many of them wastes time.
  virtual bool has_weights() const = 0;

  // The path of a file in it, for messages.
  std::string path_of(std::string_view name) const;
};

class DiskFolder final : public Folder {
 public:
  explicit DiskFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const override { return path_; }
  std::vector<std::string> names() const override { return list_directory(path_); }
  bool has(std::string_view name) const override { return is_file(path_of(name)); }
  Result<std::unique_ptr<File>> open(std::string_view name, Access access) const override {
    return open_file(path_of(name), access);
  }
  bool has_weights() const override { return true; }

 private:
  std::string path_;
};

}  // namespace tern
