// The shapes of OpenAI's chat completions and completions, for programs that speak them already.

import {InvalidArgumentError, NotSupportedError} from './errors.js';

// OpenAI's name to Tern's.
const kSampling = {
  temperature: 'temperature',
  top_p: 'topP',
  top_k: 'topK',
  min_p: 'minP',
  repeat_penalty: 'repeatPenalty',
  repetition_penalty: 'repeatPenalty',
  max_tokens: 'maxTokens',
  max_completion_tokens: 'maxTokens',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  dry_multiplier: 'dryMultiplier',
  dry_base: 'dryBase',
  dry_allowed_length: 'dryAllowedLength',
  dry_penalty_last_n: 'dryPenaltyLastN',
  dry_sequence_breakers: 'drySequenceBreakers',
  top_n_sigma: 'topNSigma',
  typical_p: 'typicalP',
  xtc_probability: 'xtcProbability',
  xtc_threshold: 'xtcThreshold',
  mirostat: 'mirostat',
  mirostat_tau: 'mirostatTau',
  mirostat_eta: 'mirostatEta',
  samplers: 'samplers',
  min_tokens: 'minTokens',
  logit_bias: 'logitBias',
  seed: 'seed',
  stop: 'stop',
  // Not OpenAI's, but of servers and libraries that follow it.
  ignore_eos: 'ignoreEos',
  enable_thinking: 'think',
  parse_special: 'parseSpecial',
  heal_prompt: 'heal',
};
const kMostLogprobs = 20;
const kMostChoices = 128;
// Without effect on what is generated.
const kIgnored = new Set(['model', 'user', 'store', 'metadata', 'safety_identifier', 'service_tier', 'stream',
  'stream_options', 'messages', 'prompt', 'n', 'logprobs', 'top_logprobs']);
// Harmless at these values; at any other they would change the result, so they are refused.
const kOnly = {
  best_of: [1],
  echo: [false],
  suffix: [''],
  functions: [],
};

function isHarmless(name, value) {
  if (kOnly[name].includes(value)) return true;
  return name === 'functions' && typeof value === 'object' && Object.keys(value).length === 0;
}

/** What OpenAI's fields of a chat say of the reply's form, as options of generate. */
const kForms = {
  tools: (tools) => (tools.length === 0 ? {} : {tools}),
  tool_choice: (choice, where) => {
    const name = typeof choice === 'string' ? choice : choice?.function?.name;
    if (typeof name === 'string') return {toolChoice: name};
    throw new InvalidArgumentError(`${where}: tool_choice is auto, none, required or a function`);
  },
  parallel_tool_calls: (parallelToolCalls) => ({parallelToolCalls}),
  response_format: (format, where) => {
    const {type, json_schema: named, schema, structural_tag: tag = format} = format;
    if (type === 'text') return {};
    if (type === 'json_object') return schema === undefined || schema === null ? {json: true} : {jsonSchema: schema};
    if (type === 'structural_tag') return {structuralTag: tag};
    if (type !== 'json_schema') {
      throw new NotSupportedError(`${where}: response_format ${JSON.stringify(type)} is not supported; there are ` +
        'text, json_object, json_schema and structural_tag');
    }
    if (named?.schema !== undefined) return {jsonSchema: named.schema};
    throw new InvalidArgumentError(`${where}: response_format.json_schema.schema is missing`);
  },
  json_schema: (jsonSchema) => ({jsonSchema}),
  grammar: (grammar) => ({grammar}),
  ebnf: (ebnf) => ({ebnf}),
  regex: (regex) => ({regex}),
};

/** @returns {object} options of generate */
function optionsOf(where, body) {
  const options = {};
  const {extra_body: extra, ...own} = body;
  for (const [name, value] of Object.entries({...own, ...extra})) {
    if (value === undefined || value === null || kIgnored.has(name)) continue;
    if (Object.hasOwn(kSampling, name)) {
      options[kSampling[name]] = value;
    } else if (Object.hasOwn(kForms, name)) {
      Object.assign(options, kForms[name](value, where));
    } else if (Object.hasOwn(kOnly, name)) {
      if (isHarmless(name, value)) continue;
      throw new NotSupportedError(`${where}: ${name} ${JSON.stringify(value)} is not supported; leave it out`);
    } else {
      throw new InvalidArgumentError(`${where}: there is no parameter '${name}'; leave it out`);
    }
  }
  const n = wantedLogprobs(where, body);
  if (n === undefined) return options;
  // The tokens have to spell the text, so it does not begin with the rest of the prompt's last word.
  return {...(body.messages ? {} : {heal: false}), ...options, logprobs: n};
}

/** How many of the most probable are told for each token; undefined: nothing is. A chat says so with two fields. */
function wantedLogprobs(where, {logprobs, top_logprobs: top, messages}) {
  const isCount = (value, most) => Number.isInteger(value) && value >= 0 && value <= most;
  if (!messages) {
    if (logprobs === undefined || logprobs === null || isCount(logprobs, kMostLogprobs)) return logprobs ?? undefined;
    throw new InvalidArgumentError(`${where}: logprobs is a whole number from 0 to ${kMostLogprobs}`);
  }
  if (top !== undefined && top !== null && !isCount(top, kMostLogprobs)) {
    throw new InvalidArgumentError(`${where}: top_logprobs is a whole number from 0 to ${kMostLogprobs}`);
  }
  if (logprobs !== undefined && logprobs !== null && typeof logprobs !== 'boolean') {
    throw new InvalidArgumentError(`${where}: logprobs is true or false; top_logprobs says how many`);
  }
  if (!logprobs && top > 0) throw new InvalidArgumentError(`${where}: top_logprobs needs logprobs: true`);
  return logprobs ? top ?? 0 : undefined;
}

/** @returns {number} how many choices */
function wantedChoices(where, {n}) {
  if (n === undefined || n === null) return 1;
  if (Number.isInteger(n) && n >= 1 && n <= kMostChoices) return n;
  throw new InvalidArgumentError(`${where}: n is a whole number from 1 to ${kMostChoices}`);
}

function contentOf(where, content) {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw new InvalidArgumentError(`${where}: a message's content is a text`);
  return content.map((part) => {
    if (part?.type === 'text' && typeof part.text === 'string') return part.text;
    throw new NotSupportedError(`${where}: content of type ${JSON.stringify(part?.type)} is not supported, only text`);
  }).join('');
}

function messagesOf(where, messages) {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new InvalidArgumentError(`${where}: messages is a list of {role, content}, with at least one`);
  }
  return messages.map((message) => {
    // OpenAI's newer name of the system's role.
    const role = message?.role === 'developer' ? 'system' : message?.role;
    const {tool_calls: calls, tool_call_id: id, name} = message ?? {};
    const content = Array.isArray(calls) && !message.content ? '' : contentOf(where, message?.content);
    return {role, content, ...(calls ? {tool_calls: calls} : {}), ...(id ? {tool_call_id: id, name} : {})};
  });
}

function finishReasonOf({finishReason: reason, toolCalls = []}) {
  if (reason === 'stop_token' && toolCalls.length > 0) return 'tool_calls';
  return reason === 'max_tokens' || reason === 'context_full' ? 'length' : 'stop';
}

function usageOf({nPrompt, nReused, nGenerated}) {
  return {
    prompt_tokens: nPrompt,
    completion_tokens: nGenerated,
    total_tokens: nPrompt + nGenerated,
    prompt_tokens_details: {cached_tokens: nReused},
  };
}

const shown = ({text, logprob, bytes}) => ({token: text, logprob, bytes});

/** Of a chat: each token with its text, and what else was probable. */
function chatLogprobs(entries) {
  const content = entries.map(({top, ...own}) => ({...shown(own), top_logprobs: top.map(shown)}));
  return {content, refusal: null};
}

/** Of a plain text: a list for each thing. Offsets count from the text's beginning, in UTF-16 units. */
function plainLogprobs(entries, offset) {
  let at = offset;
  return {
    tokens: entries.map(({text}) => text),
    token_logprobs: entries.map(({logprob}) => logprob),
    top_logprobs: entries.map(({top}) => Object.fromEntries(top.map(({text, logprob}) => [text, logprob]))),
    text_offset: entries.map(({text}) => {
      at += text.length;
      return at - text.length;
    }),
  };
}

const callsOf = (calls) => (
  calls.map(({id, name, arguments: given}) => ({id, type: 'function', function: {name, arguments: given}})));

/** What differs between the two: names, and where the text is. */
const kChat = {
  where: 'chat.completions.create',
  prefix: 'chatcmpl',
  object: 'chat.completion',
  chunk: 'chat.completion.chunk',
  whole: (text, stats) => ({message: {
    role: 'assistant',
    content: text === '' && stats.toolCalls?.length > 0 ? null : text,
    refusal: null,
    ...(stats.reasoning ? {reasoning_content: stats.reasoning} : {}),
    ...(stats.toolCalls?.length > 0 ? {tool_calls: callsOf(stats.toolCalls)} : {}),
  }}),
  first: {delta: {role: 'assistant', content: ''}},
  part: (text) => ({delta: {content: text}}),
  last: {delta: {}},
  calls: (calls) => ({delta: {tool_calls: callsOf(calls).map((call, index) => ({index, ...call}))}}),
  logprobs: chatLogprobs,
};
const kPlain = {
  where: 'completions.create',
  prefix: 'cmpl',
  object: 'text_completion',
  chunk: 'text_completion',
  whole: (text) => ({text}),
  first: null,
  part: (text) => ({text}),
  last: {text: ''},
  logprobs: plainLogprobs,
};

function envelope(kind, tern, body) {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  const id = `${kind.prefix}-${Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')}`;
  const created = Math.floor(Date.now() / 1000);
  return (object) => ({id, object, created, model: body.model ?? tern.info.name, system_fingerprint: null});
}

function choice(index, what, finishReason, logprobs = null) {
  return {index, ...what, logprobs, finish_reason: finishReason};
}

/** The usage of several choices of one prompt. */
function summed(usages) {
  const [first] = usages;
  const generated = usages.reduce((sum, {completion_tokens: n}) => sum + n, 0);
  return {...first, completion_tokens: generated, total_tokens: first.prompt_tokens + generated};
}

/** What begins each of the choices, one after the other, each with a seed of its own. */
function generations(kind, tern, body, input, given) {
  const options = optionsOf(kind.where, body);
  const seedOf = (i) => (options.seed === undefined ? {} : {seed: options.seed + i});
  return Array.from({length: wantedChoices(kind.where, body)},
    (_, i) => () => tern.generate(input, {...options, ...seedOf(i), ...given}));
}

/** What `tern` has to say about the tokens since the last call. */
function logprobsSince(kind, tern) {
  let nTold = 0;
  let offset = 0;
  return () => {
    const {logprobs} = tern.stats;
    if (!logprobs) return null;
    const entries = logprobs.slice(nTold);
    const made = kind.logprobs(entries, offset);
    nTold += entries.length;
    offset += entries.reduce((sum, {text}) => sum + text.length, 0);
    return made;
  };
}

async function* stream(kind, tern, body, replies) {
  const head = envelope(kind, tern, body);
  const wantsUsage = body.stream_options?.include_usage === true;
  const chunk = (...choices) => ({...head(kind.chunk), choices, ...(wantsUsage ? {usage: null} : {})});
  const usages = [];
  for (const [index, begin] of replies.entries()) {
    if (kind.first) yield chunk(choice(index, kind.first, null));
    const pieces = begin();
    const logprobs = logprobsSince(kind, tern);
    for await (const text of pieces) yield chunk(choice(index, kind.part(text), null, logprobs()));
    const {toolCalls = []} = tern.stats;
    if (toolCalls.length > 0) yield chunk(choice(index, kind.calls(toolCalls), null));
    yield chunk(choice(index, kind.last, finishReasonOf(tern.stats), logprobs()));
    usages.push(usageOf(tern.stats));
  }
  if (wantsUsage) yield {...chunk(), usage: summed(usages)};
}

async function create(kind, tern, body, input, {signal, logitProcessor} = {}) {
  const replies = generations(kind, tern, body, input, {signal, logitProcessor});
  if (body.stream) return stream(kind, tern, body, replies);
  const choices = [];
  const usages = [];
  for (const [index, begin] of replies.entries()) {
    let text = '';
    for await (const piece of begin()) text += piece;
    const reason = finishReasonOf(tern.stats);
    choices.push(choice(index, kind.whole(text, tern.stats), reason, logprobsSince(kind, tern)()));
    usages.push(usageOf(tern.stats));
  }
  return {...envelope(kind, tern, body)(kind.object), choices, usage: summed(usages)};
}

/**
 * @param {import('./tern.js').Tern} tern
 * @param {object} body as OpenAI's, plus top_k, min_p, repeat_penalty and heal_prompt
 * @param {{signal?: AbortSignal, logitProcessor?: object}} [options]
 * @returns {Promise<object | AsyncIterable<object>>}
 */
export async function chatCompletions(tern, body, options) {
  return create(kChat, tern, body, messagesOf(kChat.where, body?.messages), options);
}

/** The same for a prompt: a text or token ids. */
export async function completions(tern, body, options) {
  const prompt = Array.isArray(body?.prompt) && typeof body.prompt[0] === 'string' && body.prompt.length === 1 ?
    body.prompt[0] : body?.prompt;
  if (typeof prompt !== 'string' && !(Array.isArray(prompt) && typeof prompt[0] === 'number')) {
    throw new InvalidArgumentError(`${kPlain.where}: prompt is one text, or a list of token ids`);
  }
  return create(kPlain, tern, body, prompt, options);
}
