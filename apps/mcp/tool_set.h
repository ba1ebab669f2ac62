// The tools of all MCP servers together, as a model sees them, and calls of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/config.h"
#include "tern/error.h"

namespace tern::mcp {

struct Tool {
  std::string name;         // as the model sees it
  std::string server;       // the server's name in the file
  std::string own_name;     // the tool's name there
  std::string description;  // text of the server
  std::string parameters;   // a JSON schema, as text
  bool is_allowed = false;  // may be called without a question
};

struct CallResult {
  std::string text;         // for the model, also if the call failed
  bool is_error = false;    // the tool says so, or it could not be asked
  bool is_stopped = false;  // by the caller's stop_token
  std::string problem;      // for a person, if the server could not be asked; else empty
};

struct ToolSetOptions {
  // Names of tools or of servers whose tools need no question; "all": any.
  std::vector<std::string> allowed = {};
  // A line for a person: a server that does not work, a tool that is left out.
  std::function<void(const std::string& line)> on_note = [](const std::string&) {};
  // Lines that servers write to standard error, with the server's name; null: only a failure quotes the last one.
  std::function<void(const std::string& line)> on_log = nullptr;
};

class ToolSet {
 public:
  // Starts all servers at the same time. One that does not work is noted, and its tools are missing. An error: none
  // works, or `allowed` has a name that is no tool or server; kInterrupted: `stop`.
  static Result<std::unique_ptr<ToolSet>> open(const std::vector<ServerConfig>& servers, ToolSetOptions options,
                                               std::stop_token stop = {});
  ~ToolSet();  // ends the servers
  ToolSet(const ToolSet&) = delete;
  ToolSet& operator=(const ToolSet&) = delete;

  // The functions below may be called by several threads.

  std::vector<Tool> tools() const;

  // The tools' list in the format of ChatOptions::tools. `servers`: only theirs; empty: all. `allowed_only`: only tools
  // that need no question.
  struct Choice {
    std::vector<std::string> servers = {};
    bool allowed_only = false;
  };
  std::string json(const Choice& choice) const;
  std::string json() const { return json(Choice()); }

  // Lists the tools again where a server has said that they changed. True if they did.
  bool refresh(std::stop_token stop = {});

  // From now on, this tool needs no question, unless its server changes its description or parameters.
  void allow(const std::string& name);
  bool is_allowed(const std::string& name) const;

  // `arguments`: a JSON object, as text. Never fails: the result says what went wrong.
  CallResult call(const std::string& name, std::string_view arguments, std::stop_token stop = {});

 private:
  class Impl;
  explicit ToolSet(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tern::mcp
