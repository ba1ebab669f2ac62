// All conversations, each under a key of its own in the browser's storage: what one tab writes, no other overwrites.

import {endsOf, hasBranches, isTree, pathOf} from './branches.js';
import {wholeText} from './context.js';

/**
 * @typedef {object} Record
 * @property {1|2} version 2: its messages have versions (branches.js), which earlier pages do not know
 * @property {string} id
 * @property {string} name given by the user; '' for the beginning of what was said
 * @property {number} changed ms since 1970
 * @property {Partial<import('../base/settings.js').SettingValues>} [settings] its own
 * @property {string} [model] of a server with several: the one that answers
 * @property {import('./conversation.js').Message[]} messages all of them, in the order in which they were written
 * @property {number} [leaf] place of the last one that is shown, where that is not the last of all
 */

const kPrefix = 'tern.conversation.';
const kOldKey = 'tern.conversation';  // there was one conversation, and this was it
const kNameLength = 60;
const kFileKind = 'tern-conversations';

export const keyOf = (id) => kPrefix + id;
export const isConversationKey = (key) => key?.startsWith(kPrefix) ?? false;

/** @returns {Record} an empty one, which is kept once something is said */
export function newRecord() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  const id = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return {version: 1, id, name: '', changed: 0, messages: []};
}

/** @param {Storage|null} storage @param {string|null} id @returns {Record|null} null: none, or not readable */
export function readRecord(storage, id) {
  if (!id) return null;
  try {
    const record = JSON.parse(storage?.getItem(keyOf(id)) ?? 'null');
    return isRecord(record) && record.id === id ? record : null;
  } catch {
    return null;
  }
}

/** @returns {string[]} */
function allKeys(storage) {
  return Array.from({length: storage?.length ?? 0}, (_, i) => storage.key(i)).filter(isConversationKey);
}

export const hasAny = (storage) => allKeys(storage).length > 0;

/** @param {Storage|null} storage @returns {Record[]} the last changed first */
export function allRecords(storage) {
  return allKeys(storage).map((key) => readRecord(storage, key.slice(kPrefix.length))).filter(Boolean)
      .sort((a, b) => b.changed - a.changed);
}

export const newestIn = (storage) => allRecords(storage)[0] ?? null;

/** What an earlier version of the page kept becomes one of the conversations. */
export function addOldForm(storage) {
  const text = storage?.getItem(kOldKey);
  if (!text) return;
  try {
    const {version, messages} = JSON.parse(text);
    const isWhole = version === 1 && Array.isArray(messages) && messages.length > 0 && messages.every(isMessage);
    if (isWhole) keep(storage, {...newRecord(), changed: Date.now(), messages});
    storage.removeItem(kOldKey);
  } catch {
    // It stays as it is where there is no room for it, or it is none.
  }
}

function keep(storage, record) {
  storage.setItem(keyOf(record.id), JSON.stringify(record));
}

/** @param {Record} record @returns {string} its name for people */
export function nameOf(record) {
  const messages = pathOf(record);
  const first = messages.find(({role}) => role === 'user')?.content ?? messages[0]?.content ?? '';
  const line = first.replace(/\s+/g, ' ').trim();
  const short = line.length > kNameLength ? `${line.slice(0, kNameLength - 1).trimEnd()}…` : line;
  return record.name || short || 'New conversation';
}

const kAround = 40;  // characters before and after what was found

/**
 * Where all words of a search are, in the name or the messages, of other versions too.
 * @param {Record} record @param {string} query
 * @returns {string|null} some text around the first word, '' where that is in the name; null: not found
 */
export function findIn(record, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const name = nameOf(record).toLowerCase();
  const texts = record.messages.map(wholeText);
  const all = [name, ...texts].join('\n').toLowerCase();
  if (!words.every((word) => all.includes(word))) return null;
  const word = words.find((one) => !name.includes(one));
  if (!word) return '';
  const text = texts.find((one) => one.toLowerCase().includes(word));
  const at = text.toLowerCase().indexOf(word);
  const [begin, end] = [Math.max(0, at - kAround), at + word.length + kAround];
  return `${begin > 0 ? '…' : ''}${text.slice(begin, end).replace(/\s+/g, ' ').trim()}${end < text.length ? '…' : ''}`;
}

/** @param {Storage} storage @param {Record} record @param {string} name '' for the beginning of what was said */
export function rename(storage, record, name) {
  record.name = name.replace(/\s+/g, ' ').trim().slice(0, 200);
  keep(storage, record);
}

export const remove = (storage, id) => storage?.removeItem(keyOf(id));
export const putBack = keep;

/** @param {Record[]} records @returns {string} JSON that importFrom takes */
export function exported(records) {
  const conversations = records.map((record) => ({...picked(record), id: record.id}));
  return `${JSON.stringify({kind: kFileKind, version: 1, conversations}, null, 1)}\n`;
}

/** What of a record leaves the browser. @param {Record} record */
export function picked(record) {
  const {name, changed, messages, leaf, settings} = record;
  return {...(hasBranches(record) ? {version: 2} : {}), name, changed, messages,
    ...(leaf === undefined ? {} : {leaf}), ...(settings ? {settings} : {})};
}

/**
 * @param {Record} record
 * @returns {string} for people and other programs: what is shown, and then the other versions, each from where it parts
 */
export function asMarkdown(record) {
  const shown = pathOf(record);
  const ends = endsOf(record).filter((end) => end !== shown.at(-1));
  const told = new Set(shown);
  const others = ends.map((end, k) => {
    const path = pathOf({...record, leaf: record.messages.indexOf(end)});
    const parts = path.findIndex((message) => !told.has(message));
    if (parts < 0) return '';
    for (const message of path) told.add(message);
    return `---\n\n## Version ${k + 2}, from message ${parts + 1} on\n\n${turns(path, parts)}`;
  });
  return `# ${nameOf(record)}\n\n${[turns(shown, 0), ...others].filter(Boolean).join('\n\n')}\n`;
}

/** @param {import('./conversation.js').Message[]} path @param {number} from the first that is told */
function turns(path, from) {
  return path.map(({role, content, story}, i) => {
    if (i < from) return '';
    if (role === 'user') return path[i + 1]?.story ? '' : `**You**\n\n${wholeText(path[i])}`;
    return story ? `${path[i - 1]?.content ?? ''}${content}` : content;
  }).filter(Boolean).join('\n\n');
}

/**
 * Adds the conversations of a file. One that is here already, word for word, is not added again; one that differs from
 * what is here under its id gets another. Nothing is overwritten.
 * @param {Storage} storage
 * @param {string} text
 * @returns {number} how many were added. Throws an Error of one line where it is no such file; then nothing is added
 */
export function importFrom(storage, text) {
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    throw new Error('this is no JSON, so it holds no conversations');
  }
  if (file?.kind !== kFileKind || file.version !== 1 || !Array.isArray(file.conversations)) {
    throw new Error('this is no file of conversations that the page has exported');
  }
  const records = file.conversations.map((one) => ({version: 1, ...one}));
  const wrong = records.findIndex((record) => !isRecord(record) || record.messages.length === 0);
  if (wrong >= 0) throw new Error(`conversation ${wrong + 1} of the file is damaged`);
  const added = [];
  try {
    for (const record of records) {
      const there = readRecord(storage, record.id);
      if (there && JSON.stringify(there.messages) === JSON.stringify(record.messages)) continue;
      const mine = {...newRecord(), ...(there ? {} : {id: record.id}), ...picked(record)};
      keep(storage, mine);
      added.push(mine.id);
    }
  } catch (error) {
    for (const id of added) remove(storage, id);
    throw new Error('the browser’s storage has no room for these conversations', {cause: error});
  }
  return added.length;
}

/** @param {any} record */
export function isRecord(record) {
  const isOpenable = (record?.version === 1 || record?.version === 2) && /^[\w-]{1,64}$/.test(record.id);
  return isOpenable && typeof record.name === 'string' && Number.isFinite(record.changed) &&
    ['object', 'undefined'].includes(typeof record.settings) &&
    Array.isArray(record.messages) && record.messages.every(isMessage) && isTree(record);
}

function isMessage(message) {
  const areAll = (list, is) => list === undefined || (Array.isArray(list) && list.every(is));
  const isText = (value) => value === undefined || typeof value === 'string';
  return (message?.role === 'user' || message?.role === 'assistant') && typeof message.content === 'string' &&
         isText(message.note) && isText(message.trouble) && isText(message.thought) && isText(message.model) &&
         areAll(message.calls, isText) && areAll(message.files, (file) => isText(file?.name) && isText(file?.text));
}
