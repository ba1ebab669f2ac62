// This process, and what it runs in.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace tern::platform {

int process_id();
std::string host_name();       // "host" where the system does not tell
uint64_t peak_memory_bytes();  // the most memory that this process has had

// The most address space that the process may have ('ulimit -v'); none where there is no limit.
std::optional<uint64_t> address_space_limit();

// Raises the limit on open files, which systems set low for programs that cannot have many.
void allow_open_files(unsigned most);

// The program or the shared library that has the code at `address`; empty if unknown.
std::string module_file(const void* address);

// Where a user's files of some kind are kept, without an end slash: on Linux and the like by the XDG base directory
// specification, where relative paths are ignored. Empty if there is no such folder.
std::string user_cache_folder();  // $XDG_CACHE_HOME, ~/.cache; %LOCALAPPDATA%
std::string user_state_folder();  // $XDG_STATE_HOME, ~/.local/state; %LOCALAPPDATA%
std::string user_home_folder();   // $HOME; %USERPROFILE%

std::tm local_time(std::time_t time);
std::tm utc_time(std::time_t time);

// The first place of `what`, which is not empty, in `text`; npos if there is none. Takes time in proportion to the
// sum of their lengths, whatever they are.
size_t find_bytes(std::string_view text, std::string_view what);

}  // namespace tern::platform
