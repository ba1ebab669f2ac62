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
  seed: 'seed',
  stop: 'stop',
  // Not OpenAI's, but of servers and libraries that follow it.
  ignore_eos: 'ignoreEos',
  enable_thinking: 'think',
};
// Without effect on what is generated.
const kIgnored = new Set(['model', 'user', 'store', 'metadata', 'safety_identifier', 'service_tier', 'stream',
  'stream_options', 'messages', 'prompt']);
// Harmless at these values; at any other they would change the result, so they are refused.
const kOnly = {
  n: [1],
  best_of: [1],
  frequency_penalty: [0],
  presence_penalty: [0],
  logprobs: [false],
  top_logprobs: [0],
  echo: [false],
  suffix: [''],
  tools: [],
  tool_choice: ['none'],
  parallel_tool_calls: [true, false],
  functions: [],
  logit_bias: [],
  response_format: [],
};

function isHarmless(name, value) {
  if (kOnly[name].includes(value)) return true;
  if (name === 'response_format') return value?.type === 'text';
  const isEmpty = typeof value === 'object' && Object.keys(value).length === 0;
  return isEmpty && ['tools', 'functions', 'logit_bias'].includes(name);
}

/** @returns {object} options of generate */
function optionsOf(where, body) {
  const options = {};
  const {extra_body: extra, ...own} = body;
  for (const [name, value] of Object.entries({...own, ...extra})) {
    if (value === undefined || value === null || kIgnored.has(name)) continue;
    if (Object.hasOwn(kSampling, name)) {
      options[kSampling[name]] = value;
    } else if (Object.hasOwn(kOnly, name)) {
      if (isHarmless(name, value)) continue;
      throw new NotSupportedError(`${where}: ${name} ${JSON.stringify(value)} is not supported; leave it out`);
    } else {
      throw new InvalidArgumentError(`${where}: there is no parameter '${name}'; leave it out`);
    }
  }
  return options;
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
    if (message?.tool_calls) throw new NotSupportedError(`${where}: tool_calls are not supported; leave them out`);
    // OpenAI's newer name of the system's role.
    const role = message?.role === 'developer' ? 'system' : message?.role;
    return {role, content: contentOf(where, message?.content)};
  });
}

function finishReasonOf(reason) {
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

/** What differs between the two: names, and where the text is. */
const kChat = {
  where: 'chat.completions.create',
  prefix: 'chatcmpl',
  object: 'chat.completion',
  chunk: 'chat.completion.chunk',
  whole: (text) => ({message: {role: 'assistant', content: text, refusal: null}}),
  first: {delta: {role: 'assistant', content: ''}},
  part: (text) => ({delta: {content: text}}),
  last: {delta: {}},
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
};

function envelope(kind, tern, body) {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  const id = `${kind.prefix}-${Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')}`;
  const created = Math.floor(Date.now() / 1000);
  return (object) => ({id, object, created, model: body.model ?? tern.info.name, system_fingerprint: null});
}

function choice(what, finishReason) {
  return {index: 0, ...what, logprobs: null, finish_reason: finishReason};
}

async function* stream(kind, tern, body, pieces) {
  const head = envelope(kind, tern, body);
  const wantsUsage = body.stream_options?.include_usage === true;
  const chunk = (choices) => ({...head(kind.chunk), choices, ...(wantsUsage ? {usage: null} : {})});
  if (kind.first) yield chunk([choice(kind.first, null)]);
  for await (const text of pieces) yield chunk([choice(kind.part(text), null)]);
  yield chunk([choice(kind.last, finishReasonOf(tern.stats.finishReason))]);
  if (wantsUsage) yield {...chunk([]), usage: usageOf(tern.stats)};
}

async function create(kind, tern, body, input, {signal} = {}) {
  const pieces = tern.generate(input, {...optionsOf(kind.where, body), signal});
  if (body.stream) return stream(kind, tern, body, pieces);
  let text = '';
  for await (const piece of pieces) text += piece;
  const choices = [choice(kind.whole(text), finishReasonOf(tern.stats.finishReason))];
  return {...envelope(kind, tern, body)(kind.object), choices, usage: usageOf(tern.stats)};
}

/**
 * @param {import('./tern.js').Tern} tern
 * @param {object} body as OpenAI's, plus top_k, min_p and repeat_penalty
 * @param {{signal?: AbortSignal}} [options]
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
