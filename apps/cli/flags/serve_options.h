// The options of `tern serve`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/flags/mcp_flags.h"
#include "cli/support/common.h"
#include "server/api/routes/api_server.h"

namespace tern::cli {

struct ServeOptions {
  ModelOptions model;
  server::ApiOptions api;
  std::string config;
  std::string folder;
  std::string alias;
  std::string list;  // file of --models
  std::vector<std::string> keys;
  std::string key_file;
  std::string template_text, template_file;
  McpFlags mcp;
  Pooling pooling = Pooling::kAuto;
  int most_seconds = 0, drain_seconds = 30;
  int batch = 0, small_batch = 0;
  bool quiet = false;
  bool without_page = false;
};

void add_serve_options(CLI::App& app, ServeOptions& command);

// --speculate and --draft-block, for replies of a scheduler.
void add_drafts(CLI::App& app, int& speculate, bool& draft_block, const char* group);
// GenerateOptions::speculate by these two.
int drafts_of(int speculate, bool draft_block);

// Adds the options of a single model: its file, how it computes, its parallel requests, and its answers.
void add_model_options(CLI::App& app, ServeOptions& command);

}  // namespace tern::cli
