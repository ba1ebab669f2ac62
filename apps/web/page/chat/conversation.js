// The conversation as data, kept in the browser's storage so that a reload or a lost device does not cost it.

/**
 * @typedef {object} Message
 * @property {'user'|'assistant'} role
 * @property {string} content
 * @property {boolean} [story] of a reply: it goes on with the user's text instead of answering it
 * @property {string} [note] of a reply: one line on how it came about or why it ended
 * @property {string} [trouble] of a reply: why it broke off
 */

export const kKey = 'tern.conversation';

/** Sends 'change' when messages come or go (not when a reply grows), 'trouble' when it cannot be kept. */
export class Conversation extends EventTarget {
  /** @type {Message[]} */
  messages = [];
  #storage;
  #saveTimer = 0;
  #saidSo = false;
  #hasGrown = false;  // since it was saved

  /** @param {Storage|null} storage */
  constructor(storage) {
    super();
    this.#storage = storage;
    this.messages = restored(storage);
  }

  /** @param {Message} message @returns {Message} */
  add(message) {
    this.messages.push(message);
    this.#changed();
    return message;
  }

  /** Takes away the message at `index` and all that follow; returns them. @param {number} index @returns {Message[]} */
  cut(index) {
    const removed = this.messages.splice(index);
    this.#changed();
    return removed;
  }

  /** @param {Message[]} messages */
  replace(messages) {
    this.messages = messages;
    this.#changed();
  }

  /** A reply has grown: it is kept soon, not at every token. */
  grew() {
    this.#hasGrown = true;
    this.#saveTimer ||= setTimeout(() => this.save(), 1000);
  }

  /** Keeps what has grown, and only that: another tab may have written since. */
  saveGrown() {
    if (this.#hasGrown) this.save();
  }

  /** Takes over what another tab of the page has kept. */
  adopt() {
    this.messages = restored(this.#storage);
    this.dispatchEvent(new Event('change'));
  }

  save() {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = 0;
    this.#hasGrown = false;
    try {
      this.#storage?.setItem(kKey, JSON.stringify({version: 1, messages: this.messages}));
    } catch {
      if (!this.#saidSo) this.dispatchEvent(new Event('trouble'));
      this.#saidSo = true;
    }
  }

  #changed() {
    this.save();
    this.dispatchEvent(new Event('change'));
  }
}

function restored(storage) {
  try {
    const {version, messages} = JSON.parse(storage?.getItem(kKey) ?? '{}') ?? {};
    return version === 1 && Array.isArray(messages) && messages.every(isMessage) ? messages : [];
  } catch {
    return [];
  }
}

function isMessage(message) {
  const isText = (value) => value === undefined || typeof value === 'string';
  return (message?.role === 'user' || message?.role === 'assistant') && typeof message.content === 'string' &&
         isText(message.note) && isText(message.trouble);
}
