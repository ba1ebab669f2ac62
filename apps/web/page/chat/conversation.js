// A conversation as data, kept in the browser's storage so that a reload or a lost device does not cost it. There may
// be many (library.js); this is the one that is open.

import {addOldForm, keyOf, newRecord, newestIn, readRecord} from './library.js';

/**
 * @typedef {object} Message
 * @property {'user'|'assistant'} role
 * @property {string} content
 * @property {boolean} [story] of a reply: it goes on with the user's text instead of answering it
 * @property {string} [thought] of a reply: what the model thought before it, where it comes apart
 * @property {string} [note] of a reply: one line on how it came about or why it ended
 * @property {string} [trouble] of a reply: why it broke off
 *
 * @typedef {import('./library.js').Record} Record
 */

/** Sends 'change' when messages come or go (not when a reply grows), 'kept' after saving, 'trouble' when it cannot. */
export class Conversation extends EventTarget {
  /** @type {Record} */
  record;
  #storage;
  #saveTimer = 0;
  #saidSo = false;
  /** @type {Record|null} what has grown since it was saved */
  #grown = null;

  /**
   * @param {Storage|null} storage
   * @param {string|null} [id] of the one to open; the last used, if there is no such one
   */
  constructor(storage, id = null) {
    super();
    this.#storage = storage;
    addOldForm(storage);
    this.record = readRecord(storage, id) ?? newestIn(storage) ?? newRecord();
  }

  get id() {
    return this.record.id;
  }

  /** @returns {Message[]} */
  get messages() {
    return this.record.messages;
  }

  /** Opens another one; without an id, a new one. @param {string|null} [id] */
  open(id = null) {
    this.saveGrown();
    this.record = readRecord(this.#storage, id) ?? newRecord();
    this.dispatchEvent(new Event('change'));
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
    this.record.messages = messages;
    this.#changed();
  }

  /** A reply has grown: it is kept soon, not at every token. */
  grew() {
    this.#grown = this.record;
    this.#saveTimer ||= setTimeout(() => this.saveGrown(), 1000);
  }

  /** Keeps what has grown, and only that: another tab may have written since. */
  saveGrown() {
    if (this.#grown) this.save(this.#grown);
  }

  /** Takes over what another tab of the page has kept. */
  adopt() {
    this.record = readRecord(this.#storage, this.id) ?? newRecord();
    this.dispatchEvent(new Event('change'));
  }

  /** @param {Record} [record] that of a reply may be another by now */
  save(record = this.record) {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = 0;
    this.#grown = null;
    try {
      if (record.messages.length > 0) {
        record.changed = Date.now();
        this.#storage?.setItem(keyOf(record.id), JSON.stringify(record));
      } else {
        this.#storage?.removeItem(keyOf(record.id));  // nobody wants a list of empty ones
      }
      this.dispatchEvent(new Event('kept'));
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
