// The messages of a conversation are a tree, so that another version of one takes nothing away. They are kept as one
// list, in the order in which they were written; a conversation without versions is that list.

/**
 * @typedef {import('./conversation.js').Message} Message
 * @typedef {import('./library.js').Record} Record
 */

/** @param {Message[]} messages all of a record @param {number} i @returns {number} of what it follows; -1: nothing */
const before = (messages, i) => messages[i].after ?? i - 1;

const lastOf = ({messages, leaf}) => leaf ?? messages.length - 1;

/** @param {Record} record @returns {Message[]} those that are shown, from the first to the last */
export function pathOf(record) {
  const path = [];
  for (let i = lastOf(record); i >= 0; i = before(record.messages, i)) path.push(record.messages[i]);
  return path.reverse();
}

/** @param {Record} record @returns {boolean} whether there is more than what is shown */
export const hasBranches = ({messages}) => messages.some(({after}) => after !== undefined);

/** @param {Record} record @param {Message} message @returns {Message|null} what it follows */
export function parentOf({messages}, message) {
  return messages[before(messages, messages.indexOf(message))] ?? null;
}

/** @param {Record} record @param {Message|null} message null: what begins the conversation */
export function childrenOf({messages}, message) {
  const index = messages.indexOf(message);
  return messages.filter((_, i) => before(messages, i) === index);
}

/**
 * All versions of what stands at a message's place, itself among them. A story is one with the text that it goes on
 * with, so other beginnings count as versions of it.
 * @param {Record} record @param {Message} message @returns {Message[]} the oldest first
 */
export function versionsOf(record, message) {
  const one = message.story ? parentOf(record, message) : message;
  const versions = childrenOf(record, one && parentOf(record, one));
  return versions.flatMap((version) => {
    const stories = version.role === 'user' ? childrenOf(record, version).filter(({story}) => story) : [];
    return stories.length > 0 ? stories : [version];
  });
}

/**
 * Adds a message after another, and shows it.
 * @param {Record} record
 * @param {Message} message
 * @param {Message|null} to
 */
export function addTo(record, message, to) {
  const {messages} = record;
  const after = to ? messages.indexOf(to) : -1;
  if (after !== messages.length - 1) message.after = after;
  messages.push(message);
  delete record.leaf;
}

/** Has the conversation end at a message. @param {Record} record @param {Message} message */
export function endAt(record, message) {
  const index = record.messages.indexOf(message);
  if (index === record.messages.length - 1) delete record.leaf;
  else record.leaf = index;
}

/** @param {Record} record @param {Message} message @returns {Message} the last written of those that follow it */
export function newestBelow(record, message) {
  const {messages} = record;
  const below = new Set([messages.indexOf(message)]);
  messages.forEach((_, i) => below.has(before(messages, i)) && below.add(i));
  return messages[Math.max(...below)];
}

/** @param {Record} record @returns {Message[]} the last message of each branch, the oldest first */
export function endsOf({messages}) {
  const followed = new Set(messages.map((_, i) => before(messages, i)));
  return messages.filter((_, i) => !followed.has(i));
}

/** Whether each message follows an earlier one, and the shown end is one of them. @param {Record} record */
export function isTree({messages, leaf}) {
  const isPlace = (value, from, to) => value === undefined || (Number.isInteger(value) && value >= from && value < to);
  return messages.every(({after}, i) => isPlace(after, -1, i)) && isPlace(leaf, 0, messages.length);
}
