// The parts of a reply that are not its text: what the model thought, and its calls of tools, where it writes them
// between tags. Such a tag may come in pieces, so what may be the beginning of one is held back.

/** @typedef {string|{thought: string}|{call: string}|{wasThought: true}} Part wasThought: so was all before it */

const kTags = {
  '<think>': 'thought', '</think>': 'text', '<thinking>': 'thought', '</thinking>': 'text',
  '<tool_call>': 'call', '</tool_call>': 'text',
};
const kTag = /<\/?(?:think|thinking|tool_call)>/;
const kLongest = '</tool_call>'.length;

export class Parts {
  #in = 'text';
  #held = '';
  #call = '';
  #hasText = false;
  #hasThought = false;

  /** @param {string} piece @returns {Part[]} */
  push(piece) {
    this.#held += piece;
    const parts = [];
    for (let found; (found = kTag.exec(this.#held));) {
      this.#take(this.#held.slice(0, found.index), parts);
      this.#held = this.#held.slice(found.index + found[0].length);
      this.#enter(found[0], parts);
    }
    const open = this.#held.lastIndexOf('<', this.#held.length);
    const mayBeTag = open >= 0 && this.#held.length - open < kLongest &&
      Object.keys(kTags).some((tag) => tag.startsWith(this.#held.slice(open)));
    const end = mayBeTag ? open : this.#held.length;
    this.#take(this.#held.slice(0, end), parts);
    this.#held = this.#held.slice(end);
    return parts;
  }

  /** What is left where the reply ends. @returns {Part[]} */
  end() {
    const parts = [];
    this.#take(this.#held, parts);
    this.#held = '';
    this.#endCall(parts);
    return parts;
  }

  #endCall(parts) {
    if (this.#call) parts.push({call: this.#call});
    this.#call = '';
  }

  #enter(tag, parts) {
    const isEnd = tag.startsWith('</');
    this.#endCall(parts);
    // Some templates have the model begin inside its thoughts, and only their end is written.
    if (isEnd && this.#in === 'text' && tag.includes('think')) parts.push({wasThought: true});
    this.#in = kTags[tag];
    if (isEnd && tag.includes('think')) this.#hasText = false;
  }

  #take(text, parts) {
    // Lines between the tags, the thoughts and the reply belong to neither.
    const isBegun = this.#in === 'text' ? this.#hasText : this.#in === 'call' || this.#hasThought;
    const shown = isBegun ? text : text.trimStart();
    if (!shown) return;
    this.#hasThought ||= this.#in === 'thought';
    if (this.#in === 'call') this.#call += shown;
    else parts.push(this.#in === 'thought' ? {thought: shown} : shown);
    if (this.#in === 'text') this.#hasText = true;
  }
}

/** @param {string} call as it was written @returns {{name: string, text: string}} for people */
export function readCall(call) {
  try {
    const {name, ...rest} = JSON.parse(call);
    return {name: String(name ?? 'a tool'), text: JSON.stringify(rest.arguments ?? rest.parameters ?? rest, null, 2)};
  } catch {
    return {name: 'a tool', text: call.trim()};
  }
}
