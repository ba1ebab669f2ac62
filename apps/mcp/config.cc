#include "mcp/config.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <set>

#include "base/json_reader.h"
#include "base/text/quoted.h"

namespace tern::mcp {
namespace {

// Keys that say nothing about how a server is run or asked.
constexpr auto kIdleOfFile = {"$schema", "inputs", "globalShortcut", "preferences"};
constexpr auto kIdleOfServer = {"description", "icon", "gallery", "version", "dev"};

std::unexpected<Error> wrong(const std::string& where, std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, "{}: {}", where, what);
}

bool is_among(std::string_view name, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* each) { return name == each; });
}

// Parses JSON that may have comments, as VS Code writes it. A name that an object has twice is an error.
Result<Json> parse_commented(std::string_view text, const std::string& path) {
  std::vector<std::set<std::string>> open;
  std::string twice;
  const auto watch = [&](int /*depth*/, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    return true;
  };
  try {
    Json json = Json::parse(text, watch, /*allow_exceptions=*/true, /*ignore_comments=*/true);
    if (!twice.empty()) return wrong(path, format_text("{} is there twice in one object", tern::quoted(twice)));
    return json;
  } catch (const Json::parse_error& error) {
    return wrong(path, format_text("not valid JSON, at byte {}", error.byte));
  } catch (const Json::exception&) {
    return wrong(path, "not valid JSON");
  }
}

// Fills in ${NAME}, ${env:NAME} and ${NAME:-OTHERWISE}.
Result<std::string> filled(const std::string& text, const std::string& where, const Environment& environment) {
  std::string out;
  size_t at = 0;
  for (size_t begin = 0; (begin = text.find("${", at)) != text.npos;) {
    const size_t end = text.find('}', begin);
    if (end == text.npos) return wrong(where, "'${' has no '}'");
    out.append(text, at, begin - at);
    at = end + 1;
    std::string name = text.substr(begin + 2, end - begin - 2);
    if (name.starts_with("env:")) name.erase(0, 4);
    if (name.starts_with("input:")) {
      return wrong(where,
                   format_text("{} asks for a value, which Tern does not; use an environment variable, ${{NAME}}",
                               tern::quoted("${" + name + "}")));
    }
    const size_t otherwise = name.find(":-");
    const std::optional<std::string> value = environment(name.substr(0, otherwise));
    if (!value && otherwise == name.npos) {
      return wrong(where, format_text("the environment variable {} is not set", tern::quoted(name)));
    }
    out += value ? *value : name.substr(otherwise + 2);
  }
  return out + text.substr(at);
}

// Reads the members of one server.
class ServerReader {
 public:
  ServerReader(const Json& json, std::string where, const Environment& environment)
      : json_(json), where_(std::move(where)), environment_(environment) {}

  Result<void> read(ServerConfig& server, bool& is_disabled) {
    for (const auto& [key, value] : json_.items()) {
      TRY_STATUS(read_member(key, value, server, is_disabled));
    }
    return check(server);
  }

 private:
  std::string at(const std::string& key) const { return where_ + ": \"" + key + "\""; }

  Result<std::string> text(const std::string& key, const Json& value) const {
    if (!value.is_string()) return wrong(at(key), "is not a text");
    return filled(value.get<std::string>(), at(key), environment_);
  }

  Result<std::vector<std::string>> texts(const std::string& key, const Json& value) const {
    if (!value.is_array()) return wrong(at(key), "is not a list of texts");
    std::vector<std::string> all;
    for (const Json& each : value) {
      TRY(std::string one, text(key, each));
      all.push_back(std::move(one));
    }
    return all;
  }

  Result<NamedValues> named(const std::string& key, const Json& value) const {
    if (!value.is_object()) return wrong(at(key), "is not an object of texts");
    NamedValues all;
    for (const auto& [name, each] : value.items()) {
      TRY(std::string one, text(key + "." + name, each));
      const auto breaks = [](const std::string& t) { return t.find_first_of(std::string("\r\n\0", 3)) != t.npos; };
      if (name.empty() || breaks(name) || (key == "headers" && breaks(one)) ||
          name.contains(key == "env" ? '=' : ':')) {
        return wrong(at(key), format_text("{} cannot be used", tern::quoted(name)));
      }
      all.emplace_back(name, std::move(one));
    }
    return all;
  }

  Result<bool> flag(const std::string& key, const Json& value) const {
    if (!value.is_boolean()) return wrong(at(key), "is neither true nor false");
    return value.get<bool>();
  }

  Result<std::chrono::seconds> seconds(const std::string& key, const Json& value) const {
    constexpr double kMost = 3600;
    if (!value.is_number() || value.get<double>() < 1 || value.get<double>() > kMost) {
      return wrong(at(key), "is not a number of seconds from 1 to 3600");
    }
    return std::chrono::seconds(static_cast<int64_t>(value.get<double>()));
  }

  Result<void> read_type(const Json& value) {
    TRY(type_, text("type", value));
    if (type_ == "stdio" || is_among(type_, {"http", "streamable-http", "streamableHttp"})) return {};
    if (type_ == "sse") {
      return wrong(where_,
                   "\"type\": \"sse\" is the older transport, which Tern does not speak; if the server has the newer "
                   "one too, write \"http\" and its address");
    }
    return wrong(at("type"), format_text("{} is neither \"stdio\" nor \"http\"", tern::quoted(type_)));
  }

  Result<void> read_member(const std::string& key, const Json& value, ServerConfig& server, bool& is_disabled) {
    if (key == "type" || key == "transport") return read_type(value);
    if (key == "command") return assign(server.command, text(key, value));
    if (key == "args") return assign(server.args, texts(key, value));
    if (key == "env") return assign(server.env, named(key, value));
    if (key == "cwd") return assign(server.cwd, text(key, value));
    if (is_among(key, {"url", "serverUrl", "httpUrl"})) return assign(server.url, text(key, value));
    if (key == "headers") return assign(server.headers, named(key, value));
    if (key == "disabled") return assign(is_disabled, flag(key, value));
    if (key == "autoApprove" || key == "alwaysAllow") {
      TRY(const std::vector<std::string> names, texts(key, value));
      server.allowed.insert(server.allowed.end(), names.begin(), names.end());
      return {};
    }
    if (key == "disabledTools") return assign(server.hidden, texts(key, value));
    if (key == "timeout") return assign(server.call_timeout, seconds(key, value));
    if (key == "startupTimeout") return assign(server.start_timeout, seconds(key, value));
    if (is_among(key, kIdleOfServer)) return {};
    return wrong(where_, format_text("Tern does not know the key {}", tern::quoted(key)));
  }

  template <class T>
  static Result<void> assign(T& target, Result<T> value) {
    TRY(target, std::move(value));
    return {};
  }

  Result<void> check(const ServerConfig& server) const {
    const bool is_program = !server.command.empty(), is_web = !server.url.empty();
    if (is_program == is_web) {
      return wrong(where_, is_web ? "has both \"command\" and \"url\"" : "has neither \"command\" nor \"url\"");
    }
    if (!type_.empty() && (type_ == "stdio") != is_program) {
      return wrong(where_, format_text("is of type \"{}\", but has \"{}\"", type_, is_web ? "url" : "command"));
    }
    if (is_web && !server.url.starts_with("http://") && !server.url.starts_with("https://")) {
      return wrong(at("url"), "does not begin with http:// or https://");
    }
    if (is_web && (!server.args.empty() || !server.env.empty() || !server.cwd.empty())) {
      return wrong(where_, "has \"url\", with which \"args\", \"env\" and \"cwd\" have no effect");
    }
    if (is_program && !server.headers.empty()) return wrong(where_, "has \"headers\" without \"url\"");
    return {};
  }

  const Json& json_;
  const std::string where_;
  const Environment& environment_;
  std::string type_;
};

// The member with the servers: "mcpServers", or VS Code's "servers", which its settings have inside of "mcp".
Result<const Json*> servers_of(const Json& file, const std::string& path) {
  const Json* found = nullptr;
  for (const auto& [key, value] : file.items()) {
    if (key == "mcp" && value.is_object() && value.contains("servers") && value.size() == 1) return &value["servers"];
    if (key == "mcpServers" || key == "servers") {
      if (found) return wrong(path, "has both \"mcpServers\" and \"servers\"");
      if (!value.is_object()) return wrong(path, format_text("\"{}\" is not an object", key));
      found = &value;
    } else if (!is_among(key, kIdleOfFile)) {
      return wrong(path, format_text("Tern does not know the key {}", tern::quoted(key)));
    }
  }
  if (!found) return wrong(path, "has no \"mcpServers\"");
  return found;
}

}  // namespace

Result<std::vector<ServerConfig>> parse_config(std::string_view text, const std::string& path,
                                               const Environment& environment) {
  TRY(const Json file, parse_commented(text, path));
  if (!file.is_object()) return wrong(path, "is not a JSON object with \"mcpServers\"");
  TRY(const Json* servers, servers_of(file, path));
  if (!servers->is_object()) return wrong(path, "\"servers\" is not an object");
  std::vector<ServerConfig> all;
  for (const auto& [name, json] : servers->items()) {
    const std::string where = path + ": server " + tern::quoted(name);
    if (!json.is_object()) return wrong(where, "is not an object");
    if (name.empty()) return wrong(path, "a server has an empty name");
    const auto off = json.find("disabled");  // its variables need not be set
    if (off != json.end() && off->is_boolean() && off->get<bool>()) continue;
    ServerConfig server{.name = name};
    bool is_disabled = false;
    TRY_STATUS(ServerReader(json, where, environment).read(server, is_disabled));
    all.push_back(std::move(server));
  }
  if (all.empty()) return wrong(path, "names no server that is not disabled");
  return all;
}

std::optional<std::string> process_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace tern::mcp
