#include "base/platform/unnamed_file.h"

namespace tern::platform {

SystemResult<DiskFile> make_unnamed_file(const std::string& /*folder*/, DiskFile::Readers /*readers*/) {
  return std::unexpected(std::make_error_code(std::errc::not_supported));
}

SystemResult<void> name_file(const DiskFile& /*file*/, const std::string& /*path*/) {
  return std::unexpected(std::make_error_code(std::errc::not_supported));
}

}  // namespace tern::platform
