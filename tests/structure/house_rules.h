// What every file of this project keeps to: how long files and functions are, how comments are worded, where links
// lead.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tern::structure {

struct Fault {
  size_t line;  // from 1 up
  std::string what;
};

inline constexpr size_t kMaxFileLines = 400, kMaxFunctionLines = 60;

// Comments of C++ text that name a thread, a buffer or a program like a person, or begin like a sentence without a
// verb.
std::vector<Fault> check_comments(std::string_view text);

// Functions of C++ text, as clang-format lays it out, with more than kMaxFunctionLines from their head to their last
// brace.
std::vector<Fault> check_functions(std::string_view text);

// Threads that C++ text starts without base/start_thread.h, so that a refused one would end the program.
std::vector<Fault> check_threads(std::string_view text);

// Links of Markdown text to files that are not there. `folder` is where the text's own file lies.
std::vector<Fault> check_links(std::string_view text, const std::filesystem::path& folder);

}  // namespace tern::structure
