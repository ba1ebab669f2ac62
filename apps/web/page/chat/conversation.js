// A conversation as data, kept in the browser's storage so that a reload or a lost device does not cost it. There may
// be many (library.js); this is the one that is open.

import {addTo, endAt, hasBranches, newestBelow, parentOf, pathOf, versionsOf} from './branches.js';
import {addOldForm, allRecords, keyOf, newRecord, newestIn, readRecord} from './library.js';

/**
 * @typedef {object} Message
 * @property {'user'|'assistant'} role
 * @property {string} content
 * @property {boolean} [story] of a reply: it goes on with the user's text instead of answering it
 * @property {string} [thought] of a reply: what the model thought before it, where it comes apart
 * @property {string[]} [calls] of a reply: calls of tools, as the model wrote them
 * @property {import('./attachments.js').Attachment[]} [files] of the user's: texts that go along with it
 * @property {string} [note] of a reply: one line on how it came about or why it ended
 * @property {string} [trouble] of a reply: why it broke off
 * @property {string} [model] of a reply: the one that wrote it
 * @property {number} [after] place in the record of what it follows, where that is not the message before it; -1: none
 *
 * @typedef {import('./library.js').Record} Record
 */

/**
 * Sends 'change' when messages come or go (not when a reply grows), 'kept' after saving, 'trouble' when that fails.
 * What cannot be kept stays here, to be read and saved to a file, until the page is closed.
 */
export class Conversation extends EventTarget {
  /** @type {Record} */
  record;
  #storage;
  #saveTimer = 0;
  /** @type {Record|null} what has grown since it was saved */
  #grown = null;
  /** @type {Map<string, Record>} what the storage had no room for */
  #unkept = new Map();
  /** @type {WeakMap<Message, Message>} where the conversation ended when this version was last left */
  #ends = new WeakMap();

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

  /** Those that are shown; other versions are in the record. @returns {Message[]} */
  get messages() {
    return pathOf(this.record);
  }

  /** Whether something would be lost if the page were closed. */
  get isUnkept() {
    return this.#unkept.size > 0;
  }

  /** @param {string} id @returns {Record|null} as it is now */
  read(id) {
    return this.#unkept.get(id) ?? readRecord(this.#storage, id);
  }

  /** @returns {Record[]} all there are, the last changed first */
  all() {
    const kept = allRecords(this.#storage).filter(({id}) => !this.#unkept.has(id));
    return [...this.#unkept.values(), ...kept].sort((a, b) => b.changed - a.changed);
  }

  /** Opens another one; without an id, a new one. @param {string|null} [id] */
  open(id = null) {
    this.saveGrown();
    this.record = (id && this.read(id)) || newRecord();
    this.dispatchEvent(new Event('change'));
  }

  /** Opens one that came from elsewhere. @param {Record} record */
  take(record) {
    this.saveGrown();
    this.record = record;
    this.#changed();
  }

  /**
   * @param {Message} message
   * @param {Message|null} [to] what it follows; null: it begins the conversation. What follows that already is another
   *     version of it.
   * @returns {Message}
   */
  add(message, to = this.messages.at(-1) ?? null) {
    this.#leave();
    addTo(this.record, message, to);
    this.#changed();
    return message;
  }

  /** @param {Message} message @returns {Message|null} what it follows */
  before(message) {
    return parentOf(this.record, message);
  }

  /** Whether a message was written after all others, those of other versions, too. @param {Message} message */
  isNewest(message) {
    return message === this.record.messages.at(-1);
  }

  /** All versions of what stands at a message's place. @param {Message} message */
  versions(message) {
    return versionsOf(this.record, message);
  }

  /** Has the conversation end at a message, for another one to follow it. @param {Message} message */
  endAt(message) {
    this.#leave();
    endAt(this.record, message);
    this.#changed();
  }

  /** Shows a version, with what followed it when it was last shown. @param {Message} version */
  choose(version) {
    this.#leave();
    const end = this.#ends.get(version);
    endAt(this.record, this.record.messages.includes(end) ? end : newestBelow(this.record, version));
    this.#changed();
  }

  /** Takes back the newest message. @param {Message|undefined} end what is shown then, if it is there */
  takeBack(end) {
    const {messages} = this.record;
    const to = parentOf(this.record, messages.at(-1));
    const message = messages.pop();
    delete this.record.leaf;
    const last = messages.includes(end) ? end : to;
    if (last) endAt(this.record, last);
    this.#changed();
    return message;
  }

  /** Remembers, for each message that is shown, what the conversation ended with. */
  #leave() {
    const {messages} = this;
    for (const message of messages) this.#ends.set(message, messages.at(-1));
  }

  /** @param {Partial<import('../base/settings.js').SettingValues>|null} settings its own; null: as for all */
  setSettings(settings) {
    const before = JSON.stringify(this.record.settings);
    if (settings) this.record.settings = settings;
    else delete this.record.settings;
    if (this.messages.length > 0 && JSON.stringify(this.record.settings) !== before) this.grew();
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
    if (this.#unkept.has(this.id)) return;
    this.record = readRecord(this.#storage, this.id) ?? newRecord();
    this.dispatchEvent(new Event('change'));
  }

  /** @param {Record} [record] that of a reply may be another by now */
  save(record = this.record) {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = 0;
    this.#grown = null;
    record.version = hasBranches(record) ? 2 : 1;
    try {
      if (record.messages.length > 0) {
        record.changed = Date.now();
        this.#storage?.setItem(keyOf(record.id), JSON.stringify(record));
      } else {
        this.#storage?.removeItem(keyOf(record.id));  // nobody wants a list of empty ones
      }
      this.#unkept.delete(record.id);
      this.dispatchEvent(new Event('kept'));
    } catch {
      const isNew = !this.#unkept.has(record.id);
      this.#unkept.set(record.id, record);
      if (isNew) this.dispatchEvent(new Event('trouble'));
    }
  }

  /** There may be room again. */
  keepUnkept() {
    for (const record of [...this.#unkept.values()]) this.save(record);
  }

  /** @param {string} id of one that was deleted */
  forget(id) {
    this.#unkept.delete(id);
  }

  #changed() {
    this.save();
    this.dispatchEvent(new Event('change'));
  }
}
