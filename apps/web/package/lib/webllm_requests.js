// WebLLM's requests as OpenAI's, and its replies from theirs.

import {InvalidArgumentError, NotSupportedError} from './errors.js';

/** Of a text: WebLLM asks for log probabilities as chats do. What is echoed is put in front of the reply here. */
function plainBody({logprobs, top_logprobs: top, echo, ...body}) {
  if (typeof (echo ?? false) !== 'boolean') throw new InvalidArgumentError('echo is true or false');
  return logprobs ? {...body, logprobs: typeof logprobs === 'number' ? logprobs : top ?? 0} : body;
}

// What a format has beside its type.
const kFormatFields = {json_object: ['schema'], json_schema: ['json_schema'], grammar: ['grammar'],
  structural_tag: ['structural_tag']};

function chatBody({response_format: format, ...body}) {
  if (!format) return body;
  const {type = 'text', ...fields} = format;
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null || kFormatFields[type]?.includes(name)) continue;
    throw new InvalidArgumentError(`response_format "${type}" has no '${name}'; leave it out`);
  }
  if ((type === 'grammar' || type === 'structural_tag') && (fields[type] ?? null) === null) {
    throw new InvalidArgumentError(`response_format.${type} is missing`);
  }
  return type === 'grammar' ? {...body, ebnf: format.grammar} : {...body, response_format: {...format, type}};
}

/** @returns {object} OpenAI's body of a request; a NotSupportedError for what cannot be done */
export function bodyOf(kind, request) {
  const {stream, ...body} = request;
  if (stream && body.n > 1) throw new NotSupportedError('n > 1 cannot be streamed; leave stream or n out');
  const own = kind === 'chat' ? chatBody(body) : plainBody(body);
  return {...own, stream: true, stream_options: {include_usage: true}};
}

const bytesOf = (text) => [...new TextEncoder().encode(text)];

/** The log probabilities of a text in the shape of a chat's. */
function chatLogprobs({tokens, token_logprobs: values, top_logprobs: tops}) {
  const shown = (token, logprob) => ({token, bytes: bytesOf(token), logprob});
  return {content: tokens.map((token, i) => (
    {...shown(token, values[i]), top_logprobs: Object.entries(tops[i]).map((one) => shown(...one))}))};
}

/**
 * OpenAI's chunks as WebLLM's: calls of tools are in the last chunk of a choice.
 * @param {AsyncIterable<object>} chunks
 * @param {string} [echo] what is in front of the text of each choice
 */
export async function* webLlmChunks(chunks, echo = '') {
  let calls = null;
  let echoed = -1;
  for await (const chunk of chunks) {
    const [choice] = chunk.choices;
    if (chunk.usage === null) delete chunk.usage;
    if (choice && echo && choice.index !== echoed) {
      choice.text = echo + choice.text;
      echoed = choice.index;
    }
    if (choice?.logprobs?.tokens) choice.logprobs = chatLogprobs(choice.logprobs);
    if (choice?.delta?.tool_calls) {
      calls = choice.delta.tool_calls;
      continue;
    }
    if (calls && choice) {
      choice.delta = {...choice.delta, tool_calls: calls};
      calls = null;
    }
    yield chunk;
  }
}

/** A reply from its chunks. */
export async function wholeReply(chunks) {
  const parts = [];
  let made = null;
  let isChat = true;
  for await (const chunk of chunks) {
    const [choice] = chunk.choices;
    isChat = made ? isChat : Boolean(choice) && 'delta' in choice;
    made = {...made, ...chunk};
    if (!choice) continue;
    const part = parts[choice.index] ??= {text: '', logprobs: null};
    part.text += choice.delta?.content ?? choice.text ?? '';
    part.calls = choice.delta?.tool_calls?.map(({index: _, ...call}) => call) ?? part.calls;
    if (choice.logprobs) part.logprobs = merged(part.logprobs, choice.logprobs);
    part.reason = choice.finish_reason;
  }
  const messageOf = ({text, calls}) => ({role: 'assistant', content: calls && text === '' ? null : text,
    ...(calls ? {tool_calls: calls} : {})});
  return {
    ...made, object: isChat ? 'chat.completion' : 'text_completion',
    choices: parts.map((part, index) => ({index, ...(isChat ? {message: messageOf(part)} : {text: part.text}),
      logprobs: part.logprobs, finish_reason: part.reason})),
  };
}

/** Two objects of lists as one. */
function merged(first, second) {
  const lists = Object.entries(second).map(([name, list]) => [name, list && [...(first?.[name] ?? []), ...list]]);
  return Object.fromEntries(lists);
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The conversation that a model has in its cache, told as WebLLM tells it. */
export class History {
  #messages = null;

  /** Whether a request goes on with it: all that was said, and something new. */
  continuesWith(messages) {
    const known = this.#messages;
    return known !== null && Array.isArray(messages) && messages.length > known.length &&
      known.every(({role, content}, i) => role === messages[i].role && same(content, messages[i].content));
  }

  /** @param {object[] | undefined} messages of the request; none: it was a text @param {string} reply */
  remember(messages, reply) {
    this.#messages = Array.isArray(messages) ? [...messages, {role: 'assistant', content: reply}] : null;
  }
}

/**
 * WebLLM's usage of the choices of a request. The prompt is counted for each choice, and of a conversation that goes on
 * only what is new.
 * @param {object[]} choices Tern's stats of each
 * @param {{goesOn: boolean, seconds: number}} request
 */
export function usageOf(choices, {goesOn, seconds}) {
  const sum = (read) => choices.reduce((total, stats) => total + (read(stats) ?? 0), 0);
  const known = goesOn ? choices[0]?.nReused ?? 0 : 0;
  const prompt = sum(({nPrompt}) => nPrompt) - known;
  const completion = sum(({nGenerated}) => nGenerated);
  const rate = (read) => (choices.length > 0 ? sum(read) / choices.length : 0);
  const decode = rate(({tokensPerSecond}) => tokensPerSecond);
  return {
    prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion,
    extra: {
      e2e_latency_s: seconds,
      prefill_tokens_per_s: rate(({promptTokensPerSecond}) => promptTokensPerSecond),
      decode_tokens_per_s: decode,
      time_to_first_token_s: sum(({timeToFirstTokenMs}) => timeToFirstTokenMs) / 1000,
      time_per_output_token_s: decode > 0 ? 1 / decode : 0,
    },
  };
}
