#include "house_rules.h"

#include <regex>
#include <sstream>

namespace fs = std::filesystem;

namespace tern::structure {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The words after `//`; nothing where there is no comment. A `//` in a string or inside a word, as in an address,
// begins none.
std::string comment_of(const std::string& line) {
  bool in_string = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && line.compare(i, 2, "//") == 0 && (i == 0 || line[i - 1] == ' ')) {
      return line.substr(i + 2);
    }
  }
  return {};
}

bool is_comment_line(const std::string& line) {
  const size_t begin = line.find_first_not_of(' ');
  return begin != std::string::npos && line.compare(begin, 2, "//") == 0;
}

// True if a line at the left margin has the head of a function: a name and parameters.
bool begins_function(const std::string& line) {
  static const std::regex kOther("^(namespace|struct|class|enum|union|extern|using|//|[}])");
  return !std::regex_search(line, kOther) && line.contains('(');
}

}  // namespace

std::vector<Fault> check_comments(std::string_view text) {
  static const std::regex kPerson(R"(\b(who|whom|whoever|nobody|somebody)\b)", std::regex::icase);
  static const std::regex kNoSubject(R"(^ *(Of|Such|Whether|Likewise)\b)");
  std::vector<Fault> faults;
  bool goes_on = false;  // the comment of the line before
  const std::vector<std::string> lines = lines_of(text);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string comment = comment_of(lines[i]);
    std::smatch found;
    if (std::regex_search(comment, found, kPerson)) {
      faults.push_back({i + 1, "'" + found.str() + "' in a comment: name the thread, the caller or the user"});
    }
    const bool is_whole = is_comment_line(lines[i]);
    if (!(goes_on && is_whole) && std::regex_search(comment, found, kNoSubject)) {
      faults.push_back({i + 1, "a comment begins with '" + found[1].str() + "': give it a subject and a verb"});
    }
    goes_on = is_whole;
  }
  return faults;
}

std::vector<Fault> check_threads(std::string_view text) {
  static const std::regex kStart(R"(std::(jthread|thread)( \w+)?[({]|std::async\b|thread_\(\[)");
  std::vector<Fault> faults;
  const std::vector<std::string> lines = lines_of(text);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (std::regex_search(lines[i], kStart)) faults.push_back({i + 1, "starts a thread without start_thread()"});
  }
  return faults;
}

std::vector<Fault> check_functions(std::string_view text) {
  std::vector<Fault> faults;
  const std::vector<std::string> lines = lines_of(text);
  size_t head = 0;  // from 1 up; 0: outside functions
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.empty() || line[0] == ' ' || line[0] == '#') continue;
    if (head > 0 && line == "}" && i + 2 - head > kMaxFunctionLines) {
      faults.push_back({head, "a function of " + std::to_string(i + 2 - head) + " lines: " + lines[head - 1]});
    }
    const bool is_whole = line.ends_with(';') || line.ends_with('}');
    head = begins_function(line) && !is_whole ? i + 1 : 0;
  }
  return faults;
}

std::vector<Fault> check_links(std::string_view text, const fs::path& folder) {
  static const std::regex kLink(R"(\]\(([^()#\s]+)(#[^()\s]*)?\))");
  std::vector<Fault> faults;
  const std::vector<std::string> lines = lines_of(text);
  for (size_t i = 0; i < lines.size(); ++i) {
    for (auto link = std::sregex_iterator(lines[i].begin(), lines[i].end(), kLink); link != std::sregex_iterator();
         ++link) {
      const std::string target = (*link)[1];
      if (target.contains("://") || target.starts_with("mailto:")) continue;
      if (!fs::exists(folder / target)) faults.push_back({i + 1, "a link to " + target + ", which is not there"});
    }
  }
  return faults;
}

}  // namespace tern::structure
