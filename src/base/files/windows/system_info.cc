#include "base/files/system_info.h"

#include <windows.h>

#include <array>

#include "base/platform/windows/wide.h"

namespace tern {

CpuInfo read_cpu_info() {
  std::array<wchar_t, 128> name = {};
  auto bytes = static_cast<DWORD>(sizeof(name));
  CpuInfo info;
  if (::RegGetValueW(HKEY_LOCAL_MACHINE, L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0", L"ProcessorNameString",
                     RRF_RT_REG_SZ, nullptr, name.data(), &bytes) == ERROR_SUCCESS) {
    info.name = platform::narrow(name.data());
    info.name.erase(info.name.find_last_not_of(' ') + 1);
  }
  return info;
}

MemoryInfo read_memory_info() {
  MEMORYSTATUSEX status = {};
  status.dwLength = sizeof(status);
  if (!::GlobalMemoryStatusEx(&status)) return {};
  return {.total_bytes = status.ullTotalPhys, .available_bytes = status.ullAvailPhys};
}

}  // namespace tern
