// What of a conversation still fits into a model's context. Tokens are guessed, to the safe side: asking the tokenizer
// for each message would cost a trip to the worker, and the model refuses what does not fit anyway.

/** @param {string} text @returns {number} about how many tokens, rather more than fewer */
export function guessTokens(text) {
  // Three Latin letters a token is pessimistic; scripts without an alphabet take about one a character.
  const other = text.replace(/[\u0000-\u024f]/g, '').length;
  return Math.ceil((text.length - other) / 3) + other;
}

/**
 * A message with the texts that go along with it, and with the calls of tools in it, as the model reads it.
 * @param {import('./conversation.js').Message} message
 */
export function wholeText({content, files = [], calls = []}) {
  return [content, ...files.map(fenced), ...calls.map((call) => `<tool_call>\n${call.trim()}\n</tool_call>`)]
      .filter(Boolean).join('\n\n');
}

/** Between more backticks than the text itself has anywhere. */
function fenced({name, text}) {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${name}:\n\n${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}

const kTemplate = 8;  // tokens that a chat template puts around a message

/**
 * The end of a conversation that fits: questions are dropped with their answers, the oldest first; the last message
 * always stays.
 * @param {{role: string, content: string}[]} messages @param {number} nCtx @param {number} maxTokens of the reply
 * @returns {{messages: {role: string, content: string}[], dropped: number}}
 */
export function fitting(messages, nCtx, maxTokens) {
  const room = nCtx - Math.min(maxTokens, Math.floor(nCtx / 4));
  const isSystem = messages[0]?.role === 'system';
  const head = isSystem ? messages.slice(0, 1) : [];
  const rest = messages.slice(head.length);
  const cost = ({content}) => guessTokens(content) + kTemplate;
  let sum = [...head, ...rest].reduce((total, message) => total + cost(message), 0);
  let begin = 0;
  while (sum > room && begin < rest.length - 1) {
    do sum -= cost(rest[begin++]);
    while (begin < rest.length - 1 && rest[begin].role !== 'user');
  }
  return {messages: [...head, ...rest.slice(begin)], dropped: begin};
}

/**
 * The end of a story that leaves half of the context to go on with, from the beginning of a sentence if there is one.
 * @param {string} text @param {number} nCtx
 */
export function storyEnd(text, nCtx) {
  const kept = nCtx * 2;  // characters: about half of the tokens
  if (text.length <= kept) return text;
  const end = text.slice(-kept);
  const sentence = /[.!?]["”’]?\s+/.exec(end);
  return sentence && sentence.index < kept / 2 ? end.slice(sentence.index + sentence[0].length) : end.trimStart();
}
