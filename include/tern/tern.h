/* Tern for C and for every language that can call C. Start here:
 *
 *   tern_engine* engine = NULL;
 *   tern_session* session = NULL;
 *   tern_error* error = NULL;
 *   int32_t* prompt = NULL;
 *   size_t n = 0;
 *   if (tern_engine_load(NULL, &engine, &error) || tern_session_new(engine, NULL, &session, &error) ||
 *       tern_tokenize(engine, "Once upon a time", 16, TERN_ADD_BOS, &prompt, &n, &error) ||
 *       tern_generate(session, prompt, n, NULL, print_text, stdout, NULL, &error)) {
 *     fprintf(stderr, "%s\n", tern_error_message(error));
 *   }
 *   tern_free(prompt);
 *   tern_error_free(error);
 *   tern_session_free(session);
 *   tern_engine_free(engine);
 *
 * with
 *
 *   static bool print_text(void* user, const char* text, size_t n_bytes) {
 *     return fwrite(text, 1, n_bytes, (FILE*)user) == n_bytes;
 *   }
 *
 * Errors. A function that can fail returns a code; TERN_OK (0) means success. After a failure its last argument, unless
 * NULL, points to an error with one line of text; free it with tern_error_free. All other output arguments stay
 * unchanged. On success the error argument stays unchanged. No function throws a C++ exception.
 *
 * Memory. The caller owns what a `T** out` argument receives: free handles with their own function, everything else
 * with tern_free. Freeing NULL does nothing. A returned `const char*`, or one in a struct, belongs to the handle; each
 * declaration states its lifetime. Arguments are not kept after the call. Handles may be freed in any order: a session
 * keeps the parts of its engine alive that it needs, and a generation those of its session.
 *
 * Threads. Any function may be called on any thread. Calls on an engine, and on handles made from it, are serialized
 * by a lock for each engine; one step of a generation holds it once. Functions that do not wait for this lock say
 * "never waits". Do not free a handle that another thread is using. Callbacks run on the thread of the call that they
 * were passed to. They may call any function, but must not free handles that this call uses.
 *
 * Structs begin with their size, so that they can grow. Start with `T_init(&options, sizeof options)`, which sets the
 * size and the defaults; NULL options mean the defaults. If a function fills in a struct, set its `size` to its sizeof
 * first. A library older than the header rejects fields that it does not know, unless they are 0. Text is UTF-8. */
#ifndef TERN_TERN_H_
#define TERN_TERN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tern/version.h"

#if defined(_WIN32) && defined(TERN_MAKES_LIBRARY)
#define TERN_API __declspec(dllexport)
#elif defined(__GNUC__)
#define TERN_API __attribute__((visibility("default")))
#else
#define TERN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using, readability-identifier-naming): names and typedefs are C's */

/* The library's version; TERN_VERSION_STRING is the header's. Never waits; the text is static. */
TERN_API const char* tern_version(void);

/* Frees text and tokens that a function returned. Never waits. */
TERN_API void tern_free(void* memory);

/* ---- errors */

typedef enum tern_code {
  TERN_OK = 0,
  TERN_NOT_FOUND = 1,        /* the named file, tensor or device does not exist */
  TERN_CORRUPTION = 2,       /* the file's bytes contradict its format */
  TERN_NOT_SUPPORTED = 3,    /* well-formed, but Tern cannot run it correctly */
  TERN_INVALID_ARGUMENT = 4, /* the caller's argument is out of range */
  TERN_OUT_OF_MEMORY = 5,    /* the model or the context does not fit */
  TERN_DEVICE_LOST = 6,      /* the GPU went away */
  TERN_IO = 7,               /* reading or writing failed, here or over the network */
  TERN_INTERRUPTED = 8,      /* a callback asked to stop */
  TERN_INTERNAL = 9          /* a bug in Tern */
} tern_code;

typedef struct tern_error tern_error;

/* What went wrong, where, and what to do, in one line; "" for NULL. Valid as long as the error. These three functions
 * never wait. */
TERN_API const char* tern_error_message(const tern_error* error);
TERN_API tern_code tern_error_code(const tern_error* error); /* TERN_OK for NULL */
TERN_API void tern_error_free(tern_error* error);

/* Sets the handler of warnings; without one (NULL) they go to standard error. `line` is valid until the handler
 * returns. The handler may run on any thread that is in a call, and on several at once. Never waits. */
typedef void (*tern_on_warning)(void* user, const char* line);
TERN_API void tern_set_warning_handler(tern_on_warning handler, void* user);

/* ---- engines: a model, ready to run */

typedef struct tern_engine tern_engine;

/* The current task, and how much of the total is done, in `unit`s. The texts are valid until the callback returns. */
typedef void (*tern_on_progress)(void* user, const char* what, uint64_t done, uint64_t total, const char* unit);

enum {
  TERN_BACKEND_AUTO = 0,
  TERN_BACKEND_CPU = 1,
  TERN_BACKEND_WEBGPU = 2,
  TERN_BACKEND_REF = 3,
  TERN_BACKEND_BOTH = 4 /* the CPU and a GPU, each pass where it costs least (see `tern devices --calibrate`) */
};

/* How AUTO chooses a device, if `tern devices --calibrate` has measured the costs. ENERGY: by speed if joules cannot be
 * counted. GPU: a GPU if there is one; this is also the rule if nothing has been measured. */
enum { TERN_PREFER_SPEED = 0, TERN_PREFER_ENERGY = 1, TERN_PREFER_GPU = 2 };

/* The format of the LM head, see HeadKind in options.h. */
enum { TERN_HEAD_AUTO = 0, TERN_HEAD_FILE = 1, TERN_HEAD_Q8_0 = 2, TERN_HEAD_Q6_K = 3, TERN_HEAD_EXACT = 4 };

typedef struct tern_load_options {
  size_t size;
  const char* model_path;       /* NULL or "": the model that comes with Tern */
  const char* chat_template;    /* Jinja source that replaces the model's own; NULL or "": the model's */
  const char* gpu_adapter;      /* part of its name, or its index; NULL or "": the first that works */
  const char* gpu_cache_dir;    /* for compiled pipelines; NULL or "": the user's cache folder */
  tern_on_progress on_progress; /* may be NULL */
  void* user;                   /* passed to on_progress */
  int32_t backend;              /* TERN_BACKEND_AUTO: the fastest that can run this model */
  int32_t n_threads;            /* 0: one per fast CPU; at most one per CPU */
  int32_t max_batch;            /* prompt tokens per step; 0: chosen by Tern */
  int32_t head;                 /* TERN_HEAD_AUTO */
  int32_t pin_threads;          /* 1: bind each thread to its own CPU */
  int32_t prefer;               /* TERN_PREFER_SPEED: what AUTO optimizes, if costs were measured */
  /* Changes to a GGUF file's metadata, see MetadataChanges in options.h: values that replace the file's
   * ("KEY=TYPE:VALUE", with a TYPE of int, float, bool or str), and keys to ignore that Tern would otherwise reject. */
  const char* const* overrides;
  size_t n_overrides;
  const char* const* ignored_keys;
  size_t n_ignored_keys;
  int32_t gpu_layers; /* TERN_BACKEND_AUTO: so many of the last layers are on a GPU; 0: all, or what its memory holds */
} tern_load_options;

/* Never waits. */
TERN_API void tern_load_options_init(tern_load_options* options, size_t size);

/* Loads a model. Errors: NOT_FOUND, CORRUPTION, NOT_SUPPORTED, INVALID_ARGUMENT, OUT_OF_MEMORY, IO. Waits for no lock,
 * since there is no engine yet. */
TERN_API tern_code tern_engine_load(const tern_load_options* options, tern_engine** engine, tern_error** error);
TERN_API void tern_engine_free(tern_engine* engine);

typedef struct tern_model_info {
  size_t size;
  const char* path; /* all texts are valid as long as the engine */
  const char* name;
  const char* architecture; /* as in the file, "bitnet-b1.58" */
  const char* backend;      /* "cpu (AVX3_SPR, 2 threads)" */
  const char* head;         /* what the logits are computed from */
  const char* gpu;          /* the GPU's name; "" if none computes */
  uint64_t n_params;
  uint64_t file_bytes;
  uint64_t bytes_per_token;    /* weights read per decoded token */
  uint64_t kv_bytes_per_token; /* KV cache bytes per token of context */
  int32_t n_vocab;
  int32_t n_ctx; /* trained context length, in tokens */
  int32_t n_layers;
  int32_t n_threads;         /* threads that compute on the host; 0: a GPU computes */
  int32_t has_tokenizer;     /* 1 or 0 */
  int32_t has_chat_template; /* 1 or 0 */
} tern_model_info;

/* INVALID_ARGUMENT: `info->size` is not set. Never waits. */
TERN_API tern_code tern_engine_info(const tern_engine* engine, tern_model_info* info, tern_error** error);

/* The path of the model that comes with Tern, or NOT_FOUND. Never waits. */
TERN_API tern_code tern_default_model_path(char** path, tern_error** error);

/* ---- text and tokens. NOT_SUPPORTED: the model has no tokenizer */

enum {
  TERN_ADD_BOS = 1,       /* tokenize: put the begin-of-sequence token first, if the model wants one */
  TERN_SPECIAL_TOKENS = 2 /* tokenize: recognize control tokens in the text; detokenize: spell them out */
};

/* `text` may hold any bytes. `*n_tokens` may become 0; `*tokens` is not NULL even then. */
TERN_API tern_code tern_tokenize(const tern_engine* engine, const char* text, size_t n_bytes, uint32_t flags,
                                 int32_t** tokens, size_t* n_tokens, tern_error** error);

/* The bytes of the tokens, followed by a 0 that is not counted in `n_bytes`; `n_bytes` may be NULL. May end inside a
 * character if the tokens do. Ids outside the vocabulary add nothing. */
TERN_API tern_code tern_detokenize(const tern_engine* engine, const int32_t* tokens, size_t n_tokens, uint32_t flags,
                                   char** text, size_t* n_bytes, tern_error** error);

/* The token with exactly this spelling, e.g. "<|eot_id|>", or -1. */
TERN_API int32_t tern_find_token(const tern_engine* engine, const char* text);

/* The begin-of-sequence token, or -1. */
TERN_API int32_t tern_bos_token(const tern_engine* engine);

/* Tokens that end a reply. The array is valid as long as the engine; tern_render_chat() may add one more token. */
TERN_API const int32_t* tern_stop_tokens(const tern_engine* engine, size_t* n_tokens);

typedef struct tern_chat_message {
  const char* role; /* "system", "user" or "assistant" */
  const char* content;
} tern_chat_message;

typedef struct tern_chat_options {
  size_t size;
  int32_t add_generation_prompt;  /* 1: end the text where the model's reply begins */
  int32_t think;                  /* the template's enable_thinking: 1, 0, or -1: its default */
  int32_t continue_final_message; /* 1: the last message is the beginning of the reply; the text ends with it */
  int32_t parse_special; /* 1: control tokens' spellings in messages become these tokens; only for trusted texts */
} tern_chat_options;

/* Never waits. */
TERN_API void tern_chat_options_init(tern_chat_options* options, size_t size);

/* Renders the conversation with the model's template, for display. NOT_SUPPORTED: the model has no template. `n_bytes`
 * may be NULL. */
TERN_API tern_code tern_render_chat(const tern_engine* engine, const tern_chat_message* messages, size_t n_messages,
                                    const tern_chat_options* options, char** text, size_t* n_bytes, tern_error** error);

/* The tokens of that text. In messages control tokens are text, which tern_tokenize could not tell from the
 * template's own. Errors as tern_render_chat and tern_tokenize. */
TERN_API tern_code tern_tokenize_chat(const tern_engine* engine, const tern_chat_message* messages, size_t n_messages,
                                      const tern_chat_options* options, int32_t** tokens, size_t* n_tokens,
                                      tern_error** error);

/* ---- sessions: a context and its KV cache */

typedef struct tern_session tern_session;

enum { TERN_KV_F16 = 0, TERN_KV_F32 = 1, TERN_KV_Q8_0 = 2 };

typedef struct tern_session_options {
  size_t size;
  int32_t n_ctx;   /* tokens; 0: the trained length, or as much of it as fits in memory */
  int32_t kv_type; /* TERN_KV_F16 */
  /* A smaller model with the same tokenizer that proposes the draft tokens for tern_generate_options.speculate; NULL:
   * none. The session keeps the parts of it alive that it needs, and its calls wait for the locks of both engines. */
  const tern_engine* draft;
  int32_t draft_block; /* 1: the model's own layer for draft tokens proposes them; INVALID_ARGUMENT: it has none */
} tern_session_options;

/* Never waits. */
TERN_API void tern_session_options_init(tern_session_options* options, size_t size);

TERN_API tern_code tern_session_new(tern_engine* engine, const tern_session_options* options, tern_session** session,
                                    tern_error** error);
TERN_API void tern_session_free(tern_session* session);

TERN_API int32_t tern_session_n_ctx(const tern_session* session);
TERN_API int32_t tern_session_n_used(const tern_session* session); /* tokens in it */
TERN_API void tern_session_reset(tern_session* session);           /* forgets them */

/* Saves the session's KV cache to a file; a session without tokens writes no file. */
TERN_API tern_code tern_session_save_cache(tern_session* session, const char* path, tern_error** error);

/* Loads such a file: the next prompt with the same prefix is not computed again. The session's own tokens are forgotten
 * even on an error. `loaded`, unless NULL, becomes false if the file does not exist, which is not an error.
 * INVALID_ARGUMENT: the file is for another model or other settings, or is not a cache file; CORRUPTION: it is
 * damaged. */
TERN_API tern_code tern_session_load_cache(tern_session* session, const char* path, bool* loaded, tern_error** error);

/* The logits after tokens[first], tokens[first + 1], … of a text that begins with tokens[0], as [n_tokens - first,
 * n_vocab] floats; `n_floats` must be exactly (n_tokens - first) · n_vocab. Forgets the session's tokens. A failure may
 * leave some rows written. */
TERN_API tern_code tern_session_logits(tern_session* session, const int32_t* tokens, size_t n_tokens, size_t first,
                                       float* logits, size_t n_floats, tern_error** error);

/* ---- grammars: constraints on the text of a reply, see grammar.h */

typedef struct tern_grammar tern_grammar;

enum {
  TERN_GRAMMAR_JSON_SCHEMA = 0, /* JSON that is valid for the JSON Schema in `text` */
  TERN_GRAMMAR_JSON_OBJECT = 1, /* any JSON object; `text` is not used */
  TERN_GRAMMAR_GBNF = 2,        /* a grammar in llama.cpp's notation */
  TERN_GRAMMAR_REGEX = 3        /* a regular expression that matches the whole reply */
};

/* INVALID_ARGUMENT: a mistake in `text`; NOT_SUPPORTED: a feature that Tern cannot enforce. Both name the place. Any
 * number of replies of any engines may use a grammar, and may outlive it. Make it once and use it often. Both functions
 * never wait. */
TERN_API tern_code tern_grammar_new(int32_t kind, const char* text, size_t n_bytes, tern_grammar** grammar,
                                    tern_error** error);
TERN_API void tern_grammar_free(tern_grammar* grammar);

/* ---- turns of a conversation with tools */

typedef struct tern_turn tern_turn;

enum {
  TERN_TOOLS_AUTO = 0,    /* the model decides; a call is constrained to the tool's parameters */
  TERN_TOOLS_NONE = 1,    /* the prompt does not mention the tools */
  TERN_TOOLS_REQUIRED = 2 /* the reply must be a call */
};

typedef struct tern_turn_options {
  size_t size;
  const char* tools;     /* as in OpenAI's API: a JSON list of {"type": "function", "function": {"name": …,
                            "description": …, "parameters": a JSON schema, "strict": …}}; NULL or "": none */
  const char* tool_name; /* with REQUIRED: the only tool that may be called; NULL or "": any */
  int32_t tool_choice;   /* TERN_TOOLS_AUTO */
  int32_t one_call;      /* 1: a reply has one call at most */
  int32_t think;         /* as in tern_chat_options */
  int32_t parse_special; /* as in tern_chat_options */
} tern_turn_options;

/* Never waits. */
TERN_API void tern_turn_options_init(tern_turn_options* options, size_t size);

/* Prepares the model's reply to a conversation. `messages` is a JSON list as in OpenAI's API: {"role": …, "content":
 * …}, with "tool_calls" in the assistant's messages, and results of calls as {"role": "tool", "tool_call_id": …,
 * "content": …}. NOT_SUPPORTED: the model has no chat template, its template has no tools, or a tool's parameters
 * cannot be enforced; INVALID_ARGUMENT: what is wrong with the JSON. */
TERN_API tern_code tern_turn_new(const tern_engine* engine, const char* messages, size_t n_bytes,
                                 const tern_turn_options* options, tern_turn** turn, tern_error** error);
TERN_API void tern_turn_free(tern_turn* turn);

/* The prompt as text, for display, and as tokens. Valid as long as the turn. `n_bytes` may be NULL. Both never wait.
 * Pass the turn in tern_generate_options.turn when generating. */
TERN_API const char* tern_turn_prompt(const tern_turn* turn, size_t* n_bytes);
TERN_API const int32_t* tern_turn_tokens(const tern_turn* turn, size_t* n_tokens);

/* Parses a reply and returns it as a message in JSON: {"role": "assistant", "content": a text or null, and if there are
 * any "reasoning_content" and "tool_calls"}. `text` is the whole reply so far. `finish`: why it ended; with NONE the
 * message has only the parts that are certain. A call that was cut off is content. `n_message` may be NULL. Never
 * waits. */
TERN_API tern_code tern_turn_read(const tern_turn* turn, const char* text, size_t n_bytes, int32_t finish,
                                  char** message, size_t* n_message, tern_error** error);

/* ---- generating */

enum {
  TERN_FINISH_NONE = 0, /* it has not ended */
  TERN_FINISH_STOP_TOKEN = 1,
  TERN_FINISH_STOP_STRING = 2,
  TERN_FINISH_MAX_TOKENS = 3,
  TERN_FINISH_CONTEXT_FULL = 4,
  TERN_FINISH_CANCELLED = 5
};

/* For sampling parameters: the model makers' recommendation, else Tern's default. */
enum { TERN_RECOMMENDED = -2 };

/* Added to a token's logit before all other steps; -INFINITY: never this token. */
typedef struct tern_logit_bias {
  int32_t token;
  float bias;
} tern_logit_bias;

typedef struct tern_generate_options {
  size_t size;
  const char* const* stop; /* texts that end the reply and are not part of it */
  size_t n_stop;
  uint64_t seed;      /* same seed, same text */
  int32_t max_tokens; /* -1: until the model stops or the context is full */
  int32_t ignore_eos; /* 1: go on past the model's stop tokens */
  /* These six are TERN_RECOMMENDED by default. Tern's own defaults are 0.7, 1, 0, 1, 40, 64. */
  float temperature;     /* 0: always the most probable token */
  float top_p;           /* keep the smallest set with this much probability; 1: all */
  float min_p;           /* drop tokens less probable than this fraction of the best; 0: none */
  float repeat_penalty;  /* 1: off */
  int32_t top_k;         /* keep this many of the most probable; 0: all */
  int32_t repeat_last_n; /* how many of the last tokens count as seen; -1: all */
  /* Subtracted from the logits of tokens in the reply so far: once, and once for each occurrence. NAN (the default): as
   * recommended, else 0. */
  float presence_penalty;
  float frequency_penalty;
  const tern_logit_bias* logit_bias; /* n_logit_bias of them */
  size_t n_logit_bias;
  int32_t heal_prompt; /* 1: the prompt may end inside a word, which the reply continues */
  /* Speculative decoding: the maximum number of draft tokens, from repetitions in the text or the session's draft
   * model, that one pass checks. The text stays the same; it comes faster if drafts are right. 0: off. It is always off
   * if a GPU computes. */
  int32_t speculate;
  /* If the context is full, keep its first so many tokens and the later half of the others, and continue instead of
   * ending with CONTEXT_FULL; at most half of the context. -1: end. */
  int32_t keep_past_context;
  int32_t reserved; /* 0 */
  /* The reply's constraint; NULL: none. A grammar turns off `speculate` and `heal_prompt`, and a complete reply ends
   * with TERN_FINISH_STOP_TOKEN. */
  const tern_grammar* grammar;
  const tern_turn* turn; /* the turn of this prompt, whose tools constrain the reply; NULL: none */
  int32_t min_tokens;    /* no stop token or text ends the reply before so many tokens; at most max_tokens */
  /* Samplers, as docs/numerics.md has them. NAN, TERN_RECOMMENDED or NULL, the defaults: as recommended, else off. */
  int32_t mirostat; /* 1 or 2; 0: off */
  float mirostat_tau, mirostat_eta, typical_p, top_n_sigma, xtc_probability, xtc_threshold, dry_multiplier, dry_base;
  int32_t dry_allowed_length, dry_penalty_last_n;
  const char* const* dry_sequence_breakers;
  int64_t n_dry_sequence_breakers; /* TERN_RECOMMENDED: those are a line break, a colon, a quotation mark and a star */
  const char* samplers;            /* the steps that run, in this order: "top_k;top_p;temperature" */
} tern_generate_options;

/* Never waits. */
TERN_API void tern_generate_options_init(tern_generate_options* options, size_t size);

typedef struct tern_stats {
  size_t size;
  int32_t finish;          /* TERN_FINISH_…; NONE until the reply has ended */
  int32_t n_prompt;        /* prompt tokens */
  int32_t n_reused;        /* prompt tokens that were still in the KV cache */
  int32_t n_generated;     /* tokens sampled, including the stop token */
  double prompt_seconds;   /* until the first token */
  double decode_seconds;   /* for the tokens after the first */
  double load_seconds;     /* to load the engine */
  int32_t n_guessed;       /* draft tokens that were checked */
  int32_t n_guessed_right; /* draft tokens that were accepted */
} tern_stats;

/* Called after each step, including prefill steps. n_bytes is 0 during prefill and while no character is complete.
 * `text` is whole UTF-8 characters followed by a 0, valid until the callback returns. Returning false ends the reply,
 * which is not an error. */
typedef bool (*tern_on_text)(void* user, const char* text, size_t n_bytes);

/* Continues `prompt`. A prefix that the session has already seen is not computed again, so pass the whole history each
 * time to continue a conversation. on_text and stats may be NULL. Each step takes the engine's lock once; on_text is
 * called without it. */
TERN_API tern_code tern_generate(tern_session* session, const int32_t* prompt, size_t n_prompt,
                                 const tern_generate_options* options, tern_on_text on_text, void* user,
                                 tern_stats* stats, tern_error** error);

/* A reply, step by step. A session has one generation at a time: beginning another, and any other use or reset of the
 * session, cancels it. */
typedef struct tern_generation tern_generation;

typedef struct tern_step {
  size_t size;
  const char* text; /* new text: whole characters and a 0; valid until the next step or the free */
  size_t n_bytes;
  int32_t token;  /* -1 during prefill and after the end */
  int32_t finish; /* why the reply ended; TERN_FINISH_NONE before the end */
} tern_step;

TERN_API tern_code tern_generation_begin(tern_session* session, const int32_t* prompt, size_t n_prompt,
                                         const tern_generate_options* options, tern_generation** generation,
                                         tern_error** error);

/* Does one bounded piece of work: a batch of the prompt, or one token. Does nothing after the end; `finish` stays. */
TERN_API tern_code tern_generation_next(tern_generation* generation, tern_step* step, tern_error** error);

/* Cancels the reply: the next step reports TERN_FINISH_CANCELLED, unless the reply has already ended. A step running on
 * another thread is completed first. Never waits. */
TERN_API void tern_generation_cancel(tern_generation* generation);

/* Statistics so far. */
TERN_API tern_code tern_generation_stats(const tern_generation* generation, tern_stats* stats, tern_error** error);
TERN_API void tern_generation_free(tern_generation* generation);

/* ---- downloading */

/* Same as tern_on_progress, but returning false stops with INTERRUPTED and keeps the downloaded part. */
typedef bool (*tern_on_download)(void* user, const char* what, uint64_t done, uint64_t total, const char* unit);

typedef struct tern_pull_options {
  size_t size;
  const char* cache_dir; /* NULL or "": the folder of Hugging Face's own tools */
  tern_on_download on_progress;
  void* user;
  int32_t offline;       /* 1: use the cache only */
  int32_t prefer_cached; /* 1: use the network only for files that are not in the cache */
  int32_t unchecked;     /* 1: download even what Tern cannot run; 0: check the headers before the weights first */
  int32_t reserved;
} tern_pull_options;

/* Never waits. */
TERN_API void tern_pull_options_init(tern_pull_options* options, size_t size);

/* Downloads a model from Hugging Face ("OWNER/NAME", "OWNER/NAME:FILE", or a name that `tern models` lists) unless it
 * is on this machine already, and returns its path. See hub_pull in hub.h. Waits for no engine's lock. */
TERN_API tern_code tern_pull(const char* model, const tern_pull_options* options, char** path, tern_error** error);

/* NOLINTEND(modernize-use-using, readability-identifier-naming) */

#ifdef __cplusplus
}
#endif

#endif
