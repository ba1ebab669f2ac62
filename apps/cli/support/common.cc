#include "cli/support/common.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>

#include "base/result.h"
#include "cli/support/remedies.h"
#include "cli/terminal/help.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/progress_bar.h"
#include "cli/terminal/terminal.h"
#include "tern/tools.h"

namespace tern::cli {

ExitCode exit_code_for(ErrorCode code) {
  if (code == ErrorCode::kInterrupted) return ExitCode::kInterrupted;
  return code == ErrorCode::kInvalidArgument ? ExitCode::kWrongUsage : ExitCode::kFailed;
}

void print_error(std::string_view message) {
  const std::string prefix = Style::of(STDERR_FILENO).red("tern:");
  std::fprintf(stderr, "%s %s\n", prefix.c_str(), one_line(with_flags(message)).c_str());
}

void print_note(std::string_view note) {
  const std::string line = Style::of(STDERR_FILENO).dim(format_text("({})", one_line(note)));
  std::fprintf(stderr, "%s\n", line.c_str());
}

CLI::App* add_command(CLI::App& tern, const std::string& name, const std::string& group, const std::string& description,
                      const std::string& usage, const std::string& footer) {
  CLI::App* app = tern.add_subcommand(name, description);
  app->group(group);
  app->usage(format_text("tern {} {}", name, usage));
  app->footer(footer);
  return app;
}

void ModelOptions::add_model(CLI::App& app) {
  CLI::Option* path =
      app.add_option("-m,--model", load.model_path,
                     "Model file or folder, or a name of 'tern models' (default: the model that comes with Tern)")
          ->type_name("FILE")
          ->check(not_empty())
          ->group("Model");
  hub_.add(app, path);
  add_metadata_changes(app, load.metadata);
}

void add_metadata_changes(CLI::App& app, MetadataChanges& changes) {
  app.add_option("--override", changes.overrides,
                 "Use this metadata value instead of the GGUF file's; TYPE is int, float, bool or str; may be repeated")
      ->type_name("KEY=TYPE:VALUE")
      ->allow_extra_args(false)
      ->check(not_empty())
      ->group("Model");
  app.add_option("--ignore", changes.ignored_keys,
                 "Load a GGUF file although Tern does not know this metadata key; may be repeated")
      ->type_name("KEY")
      ->allow_extra_args(false)
      ->check(not_empty())
      ->group("Model");
}

Result<LoadOptions> ModelOptions::resolved() const {
  LoadOptions with_path = load;
  TRY(with_path.model_path, hub_.resolve(load.model_path, load.metadata));
  return with_path;
}

void ModelOptions::add_backend(CLI::App& app) {
  static const std::map<std::string, BackendKind> kBackends = {{"auto", BackendKind::kAuto},
                                                               {"cpu", BackendKind::kCpu},
                                                               {"webgpu", BackendKind::kWebGpu},
                                                               {"ref", BackendKind::kRef},
                                                               {"both", BackendKind::kBoth}};
  app.add_option_function<std::string>(
         "-b,--backend", [this](const std::string& name) { load.backend = kBackends.at(name); },
         "Where to compute: cpu, webgpu (a GPU), both (each pass where it costs least; needs 'tern devices "
         "--calibrate'), ref (slow, exact loops), or auto (default)")
      ->type_name("NAME")
      ->check(one_of({"auto", "cpu", "webgpu", "both", "ref"}))
      ->group("Model");
  add_prefer(app, load.prefer)->group("Model");
  app.add_option("-t,--threads", load.n_threads, "CPU threads, at most one per CPU (default 0: one per fast CPU)")
      ->type_name("N")
      ->check(in_range(0, 1024, /*whole=*/true))
      ->group("Model");
  app.add_flag("--pin", load.pin_threads, "Bind each thread to its own CPU")->group("Model");
  static const std::map<std::string, HeadKind> kHeads = {{"auto", HeadKind::kAuto},
                                                         {"f16", HeadKind::kFile},
                                                         {"q8_0", HeadKind::kQ8_0},
                                                         {"q6_k", HeadKind::kQ6_K},
                                                         {"exact", HeadKind::kExact}};
  app.add_option_function<std::string>(
         "--head", [this](const std::string& name) { load.head = kHeads.at(name); },
         "Format of the head, the last matrix: f16 (as in the file), q8_0, q6_k, exact (the same text as f16, for half "
         "the bytes), or auto (default)")
      ->type_name("FORM")
      ->check(one_of({"auto", "f16", "q8_0", "q6_k", "exact"}))
      ->group("Model");
  app.add_flag_callback(
         "--no-fuse", [this] { load.fuse = false; }, "Run every step of the model separately, for comparison")
      ->group("Model");
  add_gpu(app);
}

void ModelOptions::add_gpu_layers(CLI::App& app) {
  const auto parse = [this](const std::string& text) {
    int n = std::numeric_limits<int>::max();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    const bool is_number = error == std::errc() && end == text.data() + text.size() && n >= -1;
    if (!is_number && text != "all" && text != "auto")
      throw CLI::ValidationError("--gpu-layers", format_text("'{}' is not a number of layers", one_line(text)));
    gpu_layers_ = n == -1 ? std::numeric_limits<int>::max() : n;
    leaves_layers_to_memory_ = text == "auto";
  };
  app.add_option_function<std::string>(
         "--gpu-layers", parse,
         "How many layers, the last ones, are on a GPU if there is one; the others are on the CPU. 0: the same as "
         "-b cpu; all, -1 or a large number: the whole model; auto: as many as its memory holds. Also written -ngl")
      ->type_name("N")
      ->group("GPU");
}

void ModelOptions::apply_gpu_layers(const CLI::App& app) {
  if (!gpu_layers_) return;
  if (app.count("-b") > 0) throw CLI::ValidationError("--gpu-layers", "chooses the backend, too; give one of them");
  load.backend = *gpu_layers_ == 0 ? BackendKind::kCpu : BackendKind::kAuto;
  if (app.count("--prefer") > 0)
    throw CLI::ValidationError("--gpu-layers", "means --prefer gpu, too; give one of them");
  load.prefer = Prefer::kGpu;
  if (*gpu_layers_ > 0 && !leaves_layers_to_memory_) load.gpu_layers = gpu_layers_;
}

void ModelOptions::add_gpu(CLI::App& app) {
  GpuOptions& gpu = load.gpu;
  const std::vector<CLI::Option*> options = {
      app.add_option("--gpu", gpu.adapter, "Which GPU: part of its name, or its number in 'tern devices'")
          ->type_name("NAME")
          ->check(not_empty()),
      app.add_option("--wgsl-dir", gpu.wgsl_dir,
                     "Write the GPU kernels to this folder and run them from there, so that you can edit them")
          ->type_name("DIR")
          ->check(not_empty()),
      app.add_option(
             "--gpu-without", gpu.without,
             "GPU features not to use: f16, subgroups, subgroup-matrix, dot4, timestamps, limits, serial, tuned, "
             "expert-tiles")
          ->type_name("LIST")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->check(one_of({"f16", "subgroups", "subgroup-matrix", "dot4", "timestamps", "limits", "serial", "tuned",
                          "expert-tiles"})),
      app.add_option_function<std::string>(
             "--megakernel,--one-dispatch",
             [&gpu](const std::string& use) {
               gpu.megakernel = use == "on"    ? MegakernelUse::kOn
                                : use == "off" ? MegakernelUse::kOff
                                               : MegakernelUse::kAuto;
             },
             "Compute all layers of a token in one dispatch of the GPU: auto (default: if a trial shows that it is "
             "correct and faster), on, off")
          ->type_name("WHEN")
          ->check(one_of({"auto", "on", "off"})),
      app.add_flag("--gpu-validate", gpu.validation, "Validate every call to the GPU (slow; for finding bugs)"),
  };
  for (CLI::Option* option : options) option->group("GPU");
  add_gpu_layers(app);
  app.parse_complete_callback([this, &app] { complete(app); });
}

void ModelOptions::complete(const CLI::App& app) {
  apply_gpu_layers(app);
  const bool chooses = load.backend == BackendKind::kAuto || load.backend == BackendKind::kBoth;
  if (app.count("--prefer") > 0 && !chooses)
    throw CLI::ValidationError("--prefer", "works only with -b auto and -b both");
  if (load.backend == BackendKind::kBoth && load.prefer == Prefer::kGpu)
    throw CLI::ValidationError("--prefer", "gpu works only with -b auto; with -b both use speed or energy");
  if (load.backend == BackendKind::kWebGpu || chooses) return;
  for (const char* name : {"--gpu", "--wgsl-dir", "--gpu-without", "--megakernel", "--gpu-validate"}) {
    if (app.count(name) > 0) throw CLI::ValidationError(name, "needs -b webgpu, -b both or -b auto");
  }
}

CLI::Option* add_prefer(CLI::App& app, Prefer& prefer) {
  static const std::map<std::string, Prefer> kPreferences = {
      {"speed", Prefer::kSpeed}, {"energy", Prefer::kEnergy}, {"gpu", Prefer::kGpu}};
  return app
      .add_option_function<std::string>(
          "--prefer", [&prefer](const std::string& name) { prefer = kPreferences.at(name); },
          "What -b auto optimizes, once 'tern devices --calibrate' has measured: speed (default), energy, or gpu "
          "(always a GPU, if there is one)")
      ->type_name("WHAT")
      ->check(one_of({"speed", "energy", "gpu"}));
}

CLI::Option* add_kv(CLI::App& app, KvType& type) {
  return app
      .add_option_function<std::string>(
          "--kv", [&type](const std::string& name) { type = kv_type_of(name); },
          "Number format of the KV cache: f16, f32 or q8_0 (default f16)")
      ->type_name("TYPE")
      ->check(one_of({"f16", "f32", "q8_0"}))
      ->group("Model");
}

KvType kv_type_of(std::string_view name) {
  return name == "f32" ? KvType::kF32 : name == "q8_0" ? KvType::kQ8_0 : KvType::kF16;
}

std::string_view kv_name(KvType type) {
  switch (type) {
    case KvType::kF16:
      return "f16";
    case KvType::kF32:
      return "f32";
    case KvType::kQ8_0:
      return "q8_0";
  }
  return "";
}

Result<Engine> load_engine(const ModelOptions& model) {
  TRY(LoadOptions with_progress, model.resolved());
  ProgressBar bar;
  with_progress.on_progress = bar.callback();
  Result<Engine> engine = Engine::load(with_progress);
  bar.wipe();
  if (engine && model.gpu_layers_.value_or(0) > 0) {
    if (!engine->info().adapter)
      print_note("there is no GPU that can run this model, so the CPU runs it ('tern devices' says why)");
  }
  return engine;
}

void note_default_model(const ModelOptions& model, const Engine& engine) {
  const Result<ModelPlace> place = model.place();
  const char* other = std::getenv("TERN_MODEL");
  if (!place || !place->path.empty() || !place->hub_name.empty() || (other && *other)) return;
  print_note(format_text("the default model, {}: it {}; -m names another", engine.info().name, kDefaultModelLimits));
}

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

Result<const Tokenizer*> need_tokenizer(const Engine& engine) {
  if (engine.has_tokenizer()) return &engine.tokenizer();
  return fail(ErrorCode::kNotSupported,
              "{}: the file has no tokenizer, so Tern cannot read or write text with it; `tern logits --tokens` and "
              "`tern bench` work without one",
              engine.info().path);
}

Result<std::string> input_text(const CLI::Option& text_option, const std::string& text, const std::string& file,
                               std::string_view how) {
  if (text_option.count() > 0) return text;
  if (file.empty() && is_terminal(STDIN_FILENO)) return fail(ErrorCode::kInvalidArgument, "no input: {}", how);
  return read_text(file.empty() ? "-" : file);
}

Result<std::vector<TokenId>> parse_token_ids(std::string_view text, int n_vocab) {
  constexpr std::string_view kBetween = ", \t\r\n[]";
  std::vector<TokenId> ids;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) return ids;
    const std::string_view word = text.substr(0, text.find_first_of(kBetween));
    text.remove_prefix(word.size());
    TokenId id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error == std::errc::invalid_argument || end != word.data() + word.size()) {
      return fail(ErrorCode::kInvalidArgument, "token {}: '{}' is not a number", ids.size() + 1, shorten(word, 40));
    }
    if (error != std::errc() || id < 0 || id >= n_vocab) {
      return fail(ErrorCode::kInvalidArgument, "token {}: id {} is outside the vocabulary; it has {} tokens, 0 to {}",
                  ids.size() + 1, shorten(word, 40), n_vocab, n_vocab - 1);
    }
    ids.push_back(id);
  }
}

std::string describe(const ModelInfo& info) {
  return one_line(format_text("{} · {} · {} parameters · head {} · {}", info.name, info.architecture,
                              human_count(info.n_params), info.head, info.backend));
}

std::string shorten_or_raise_ctx(const Engine& engine, const Session& session) {
  return session.n_ctx() < engine.info().n_ctx ? "shorten it or raise --ctx" : "shorten it";
}

}  // namespace tern::cli
