#include "base/platform/disk_file.h"

#include <windows.h>

#include <algorithm>

#include "base/platform/windows/wide.h"

namespace tern::platform {
namespace {

constexpr DWORD kAtOnce = DWORD{1} << 30;  // bytes of one call

std::unexpected<std::error_code> error_of(DWORD number) {
  switch (number) {
    case ERROR_NO_DATA:  // the pipe is being closed
    case ERROR_BROKEN_PIPE:
    case ERROR_PIPE_NOT_CONNECTED:
      return std::unexpected(std::make_error_code(std::errc::broken_pipe));
    case ERROR_ALREADY_EXISTS:
    case ERROR_FILE_EXISTS:
      return std::unexpected(std::make_error_code(std::errc::file_exists));
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
    case ERROR_DISK_QUOTA_EXCEEDED:
      return std::unexpected(std::make_error_code(std::errc::no_space_on_device));
    default:
      return std::unexpected(std::error_code(static_cast<int>(number), std::system_category()));
  }
}

std::unexpected<std::error_code> last_error() { return error_of(::GetLastError()); }

HANDLE native(intptr_t handle) { return reinterpret_cast<HANDLE>(handle); }

// From Windows' count of 100 ns since 1601.
int64_t nanoseconds(int64_t ticks) { return (ticks - 116'444'736'000'000'000) * 100; }

OVERLAPPED position(uint64_t offset) {
  OVERLAPPED at = {};
  at.Offset = static_cast<DWORD>(offset);
  at.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return at;
}

DWORD how_to_create(DiskFile::Mode mode) {
  switch (mode) {
    case DiskFile::Mode::kCreateNew:
      return CREATE_NEW;
    case DiskFile::Mode::kReplace:
      return CREATE_ALWAYS;
    case DiskFile::Mode::kReadWrite:
      return OPEN_ALWAYS;
    default:
      return OPEN_EXISTING;
  }
}

// Other handles cannot read or write what is locked, so it is one byte after all that files have.
SystemResult<bool> lock(const DiskFile& file, DWORD flags) {
  OVERLAPPED at = position(uint64_t{1} << 62);
  if (::LockFileEx(native(file.handle()), LOCKFILE_EXCLUSIVE_LOCK | flags, 0, 1, 0, &at)) return true;
  const DWORD error = ::GetLastError();
  if (error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING) return false;
  return error_of(error);
}

}  // namespace

SystemResult<DiskFile> DiskFile::open(const std::string& path, Mode mode, Readers /*those of the folder*/) {
  const bool reads = mode == Mode::kRead || mode == Mode::kReadAtOnce || mode == Mode::kReadNoLink;
  // With this flag a folder can be opened, too, and then be told from a file.
  const DWORD flags = (reads ? FILE_FLAG_BACKUP_SEMANTICS : FILE_ATTRIBUTE_NORMAL) |
                      (mode == Mode::kReadNoLink ? FILE_FLAG_OPEN_REPARSE_POINT : 0);
  const DWORD access = (reads || mode == Mode::kReadWrite ? GENERIC_READ : 0) | (reads ? 0 : GENERIC_WRITE);
  const HANDLE handle =
      ::CreateFileW(wide_path(path).c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                    how_to_create(mode), flags, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return last_error();
  return DiskFile(reinterpret_cast<intptr_t>(handle), true);
}

DiskFile DiskFile::standard_input() {
  return DiskFile(reinterpret_cast<intptr_t>(::GetStdHandle(STD_INPUT_HANDLE)), false);
}

DiskFile DiskFile::standard_output() {
  return DiskFile(reinterpret_cast<intptr_t>(::GetStdHandle(STD_OUTPUT_HANDLE)), false);
}

DiskFile::~DiskFile() {
  if (is_owned_ && handle_ != kNone) ::CloseHandle(native(handle_));
}

SystemResult<FileInfo> DiskFile::info() const {
  FileInfo info;
  if (::GetFileType(native(handle_)) != FILE_TYPE_DISK) return info;
  FILE_BASIC_INFO basic = {};
  FILE_STANDARD_INFO standard = {};
  BY_HANDLE_FILE_INFORMATION names = {};
  if (!::GetFileInformationByHandleEx(native(handle_), FileBasicInfo, &basic, sizeof(basic)) ||
      !::GetFileInformationByHandleEx(native(handle_), FileStandardInfo, &standard, sizeof(standard)) ||
      !::GetFileInformationByHandle(native(handle_), &names)) {
    return last_error();
  }
  if ((names.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) return info;  // a link that was not followed
  info.kind = standard.Directory ? FileKind::kDirectory : FileKind::kRegular;
  info.size = static_cast<uint64_t>(standard.EndOfFile.QuadPart);
  info.written_ns = nanoseconds(basic.LastWriteTime.QuadPart);
  info.changed_ns = nanoseconds(basic.ChangeTime.QuadPart);
  info.id = uint64_t{names.nFileIndexHigh} << 32 | names.nFileIndexLow;
  info.n_names = names.nNumberOfLinks;
  info.stored_bytes = static_cast<uint64_t>(standard.AllocationSize.QuadPart);
  return info;
}

SystemResult<size_t> DiskFile::read_some(MutableBytes into) const {
  DWORD n = 0;
  if (::ReadFile(native(handle_), into.data(), static_cast<DWORD>(std::min<size_t>(into.size(), kAtOnce)), &n,
                 nullptr)) {
    return n;
  }
  // The end of a pipe.
  if (const DWORD error = ::GetLastError(); error != ERROR_BROKEN_PIPE && error != ERROR_HANDLE_EOF)
    return error_of(error);
  return 0;
}

SystemResult<size_t> DiskFile::read_some_at(uint64_t offset, MutableBytes into) const {
  OVERLAPPED at = position(offset);
  DWORD n = 0;
  if (::ReadFile(native(handle_), into.data(), static_cast<DWORD>(std::min<size_t>(into.size(), kAtOnce)), &n, &at))
    return n;
  if (const DWORD error = ::GetLastError(); error != ERROR_HANDLE_EOF) return error_of(error);
  return 0;
}

SystemResult<void> DiskFile::write(Bytes bytes) {
  while (!bytes.empty()) {
    DWORD n = 0;
    const auto wanted = static_cast<DWORD>(std::min<size_t>(bytes.size(), kAtOnce));
    if (!::WriteFile(native(handle_), bytes.data(), wanted, &n, nullptr)) return last_error();
    bytes = bytes.subspan(n);
  }
  return {};
}

SystemResult<void> DiskFile::write_at(uint64_t offset, Bytes bytes) {
  while (!bytes.empty()) {
    OVERLAPPED at = position(offset);
    DWORD n = 0;
    const auto wanted = static_cast<DWORD>(std::min<size_t>(bytes.size(), kAtOnce));
    if (!::WriteFile(native(handle_), bytes.data(), wanted, &n, &at)) return last_error();
    offset += n;
    bytes = bytes.subspan(n);
  }
  return {};
}

SystemResult<void> DiskFile::resize(uint64_t bytes) {
  FILE_END_OF_FILE_INFO end = {};
  end.EndOfFile.QuadPart = static_cast<LONGLONG>(bytes);
  if (!::SetFileInformationByHandle(native(handle_), FileEndOfFileInfo, &end, sizeof(end))) return last_error();
  return {};
}

SystemResult<void> DiskFile::sync() {
  if (::FlushFileBuffers(native(handle_))) return {};
  const DWORD error = ::GetLastError();
  if (error == ERROR_INVALID_FUNCTION || error == ERROR_NOT_SUPPORTED) return {};
  return error_of(error);
}

SystemResult<void> DiskFile::close() {
  const intptr_t handle = std::exchange(handle_, kNone);
  if (is_owned_ && handle != kNone && !::CloseHandle(native(handle))) return last_error();
  return {};
}

bool is_disk_full(std::error_code error) { return error == std::errc::no_space_on_device; }

SystemResult<FileInfo> file_info(const std::string& path) {
  const SystemResult<DiskFile> file = DiskFile::open(path, DiskFile::Mode::kReadAtOnce);
  if (!file) return std::unexpected(file.error());
  return file->info();
}

SystemResult<void> lock_file(const DiskFile& file) {
  const SystemResult<bool> locked = lock(file, 0);
  return locked ? SystemResult<void>() : std::unexpected(locked.error());
}

SystemResult<bool> try_lock_file(const DiskFile& file) { return lock(file, LOCKFILE_FAIL_IMMEDIATELY); }

SystemResult<void> link_file(const std::string& from, const std::string& to) {
  if (!::CreateHardLinkW(wide_path(to).c_str(), wide_path(from).c_str(), nullptr)) return last_error();
  return {};
}

SystemResult<void> touch_file(const std::string& path) {
  const SystemResult<DiskFile> file = DiskFile::open(path, DiskFile::Mode::kWrite);
  if (!file) return std::unexpected(file.error());
  FILETIME now = {};
  ::GetSystemTimeAsFileTime(&now);
  if (!::SetFileTime(native(file->handle()), nullptr, nullptr, &now)) return last_error();
  return {};
}

SystemResult<void> sync_folder(const std::string& /*path*/) { return {}; }  // NTFS writes names by a journal

void remove_file_at_end(const char* path) noexcept { ::DeleteFileW(wide_path(path).c_str()); }

SystemResult<void> replace_file(const std::string& from, const std::string& to) {
  constexpr DWORD kFlags = MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH;
  if (!::MoveFileExW(wide_path(from).c_str(), wide_path(to).c_str(), kFlags)) return last_error();
  return {};
}

}  // namespace tern::platform
