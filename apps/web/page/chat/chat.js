// What happens when somebody sends, stops, asks again: between the conversation, the model and the settings.

import {describe, isCancelled, isFatal} from '../base/errors.js';
import {formatDuration, formatRate} from '../base/format.js';
import {fitting, storyEnd, wholeText} from './context.js';
import {Parts} from './parts.js';

/** @typedef {import('./conversation.js').Message} Message */

/**
 * Sends 'state' when it begins or ends to work or wait, 'piece' with detail {message, text} for every piece of a reply,
 * 'end' with detail {message} when a reply is over, 'trouble' with detail Trouble for errors that the model survives.
 */
export class Chat extends EventTarget {
  /** @type {'idle'|'waiting'|'writing'} waiting: for a model that is still loaded */
  state = 'idle';
  #conversation;
  #host;
  #settings;
  /** @type {AbortController|null} */
  #abort = null;
  /** @type {Message|undefined} what the conversation ended with before the message that waits */
  #end;
  /** @type {import('../model/model_host.js').Source|null} the only model that shall answer the message that waits */
  #wanted = null;

  /**
   * @param {import('./conversation.js').Conversation} conversation
   * @param {import('../model/model_host.js').ModelHost} host
   * @param {import('../base/settings.js').Settings} settings
   */
  constructor(conversation, host, settings) {
    super();
    this.#conversation = conversation;
    this.#host = host;
    this.#settings = settings;
    host.addEventListener('phase', () => this.#modelChanged());
  }

  /**
   * Adds a message and has it answered, now or as soon as there is a model.
   * @param {string} text
   * @param {import('./attachments.js').Attachment[]} [files]
   */
  send(text, files = []) {
    if (this.state !== 'idle' || !(text.trim() || files.length > 0)) return;
    this.#end = this.#conversation.messages.at(-1);
    this.#conversation.add(asked(text, files));
    this.#answer();
  }

  /** Another version of a reply; without one, of the last. @param {Message} [reply] */
  regenerate(reply = this.#conversation.messages.at(-1)) {
    const {messages} = this.#conversation;
    const asked = messages.slice(0, messages.indexOf(reply) + 1).findLast(({role}) => role === 'user');
    if (this.state !== 'idle' || !asked) return;
    this.#end = messages.at(-1);
    this.#conversation.endAt(asked);
    this.#answer();
  }

  /** Another version of a reply, by another model, or none if that cannot be loaded. @param {() => void} load */
  regenerateBy(load, reply) {
    if (this.state !== 'idle') return;
    load();
    this.#wanted = this.#host.source;
    this.regenerate(reply);
    if (this.state !== 'waiting') this.#wanted = null;
  }

  /**
   * Another version of a message, to be answered; without one, of the last.
   * @param {string} text
   * @param {Message} [message]
   * @param {import('./attachments.js').Attachment[]} [files]
   */
  resend(text, message = this.#conversation.messages.findLast(({role}) => role === 'user'), files = []) {
    if (this.state !== 'idle' || !(text.trim() || files.length > 0)) return;
    if (!message) return void this.send(text, files);
    this.#end = this.#conversation.messages.at(-1);
    this.#conversation.add(asked(text, files), this.#conversation.before(message));
    this.#answer();
  }

  /** Another version of a reply, by the user. @param {string} text @param {Message} reply */
  rewrite(text, reply) {
    if (this.state !== 'idle' || !text.trim()) return;
    const {story} = reply;
    const written = {role: 'assistant', content: text, note: 'changed by you', ...(story ? {story} : {})};
    this.#conversation.add(written, this.#conversation.before(reply));
  }

  /** Goes on with the last story, from where it ended. */
  goOn() {
    const last = this.#conversation.messages.at(-1);
    if (this.state !== 'idle' || !last?.story || !this.#host.tern) return;
    this.#write(last);
  }

  /** Stops writing, or waiting; returns a message that was not answered yet, for the user to have back, or null. */
  stop() {
    if (this.state === 'writing') this.#abort?.abort();
    if (this.state !== 'waiting') return null;
    this.#wanted = null;
    this.#enter('idle');
    const {messages} = this.#conversation;
    if (this.#conversation.isNewest(messages.at(-1))) return this.#conversation.takeBack(this.#end);
    this.#conversation.endAt(this.#end);
    return null;
  }

  #answer() {
    if (this.#host.phase === 'ready') {
      this.#wanted = null;
      const {isStory: story, info: {name: model}} = this.#host;
      this.#write(this.#conversation.add({role: 'assistant', content: '', model, ...(story ? {story} : {})}));
    } else {
      this.#enter('waiting');
    }
  }

  #modelChanged() {
    if (this.#host.phase !== 'ready') this.#abort?.abort();
    else if (this.state === 'waiting' && this.#wanted && this.#host.source !== this.#wanted) this.stop();
    else if (this.state === 'waiting') this.#answer();
  }

  /** What the model is asked: the messages before the reply, or the text that it goes on with; and what is left out. */
  #prompt(reply) {
    const {messages} = this.#conversation;
    const {nCtx} = this.#host.info;
    const before = messages.slice(0, messages.indexOf(reply));
    if (reply.story) {
      const given = before.length > 0 ? wholeText(before.at(-1)) : '';
      return {prompt: reply.content ? storyEnd(given + reply.content, nCtx) : given, dropped: 0};
    }
    const system = this.#settings.get('systemPrompt').trim();
    const said = before.map((message) => ({role: message.role, content: wholeText(message)}))
        .filter(({content}) => content);
    const all = system ? [{role: 'system', content: system}, ...said] : said;
    const fit = fitting(all, nCtx, this.#settings.get('maxTokens'));
    return {prompt: fit.messages, dropped: fit.dropped};
  }

  /** @param {Message} reply the last of the conversation */
  async #write(reply) {
    const abort = this.#abort = new AbortController();
    const {tern} = this.#host;
    const {record} = this.#conversation;
    const options = this.#settings.generateOptions();
    const {prompt, dropped} = this.#prompt(reply);
    const before = reply.content;
    const parts = reply.story ? null : new Parts();
    delete reply.trouble;
    delete reply.note;
    this.#enter('writing');
    let failure = null;
    try {
      for await (const piece of tern.generate(prompt, {...options, signal: abort.signal})) {
        if (abort.signal.aborted) break;
        for (const part of parts && typeof piece === 'string' ? parts.push(piece) : [piece]) this.#take(reply, part);
      }
    } catch (error) {
      if (!isCancelled(error) && !abort.signal.aborted) failure = error;
    }
    for (const part of parts?.end() ?? []) this.#take(reply, part);
    this.#abort = null;
    const stopped = abort.signal.aborted;
    const wroteNothing = reply.content === before && !reply.thought && !reply.calls && !stopped && !failure;
    const isOther = record.messages.some(({model}) => model && model !== reply.model);
    reply.note = wroteNothing ? noteOnNothing(tern.stats, before, this.#host.isStory) :
      noteOn(tern.stats, {...options, dropped, stopped, model: isOther ? reply.model : ''});
    if (failure) reply.trouble = describe(failure, 'run').title;
    this.#conversation.save(record);  // which need not be the open one any more
    this.#enter('idle');
    this.dispatchEvent(new CustomEvent('end', {detail: {message: reply}}));
    if (!failure) return;
    // A model that was replaced meanwhile is nobody's trouble any more.
    if (isFatal(failure) && this.#host.tern === tern) await this.#host.lose(failure);
    else this.dispatchEvent(new CustomEvent('trouble', {detail: describe(failure, 'run', this.#host.backend)}));
  }

  /** @param {Message} reply @param {import('./parts.js').Part} part */
  #take(reply, part) {
    const text = typeof part === 'string' ? part : '';
    if (part.thought) reply.thought = (reply.thought ?? '') + part.thought;
    if (part.call) reply.calls = [...reply.calls ?? [], part.call];
    if (part.wasThought) {
      reply.thought = (reply.thought ?? '') + reply.content;
      reply.content = '';
    }
    reply.content += text;
    this.#conversation.grew();
    this.dispatchEvent(new CustomEvent('piece', {detail: {message: reply, text}}));
  }

  #enter(state) {
    this.state = state;
    this.dispatchEvent(new Event('state'));
  }
}

const asked = (content, files) => ({role: 'user', content, ...(files.length > 0 ? {files} : {})});

const kEndings = {
  max_tokens: 'reached the limit of tokens', length: 'reached the limit of tokens',
  context_full: 'the model’s context is full',
};

/** Where the model had nothing to add, that is what there is to say. */
function noteOnNothing(stats, before, isStory) {
  const ending = kEndings[stats?.finishReason];
  if (ending) return `nothing was written: ${ending}`;
  if (before) return 'the story has ended here: the model has nothing to add';
  return `the model wrote nothing${isStory ? ': another beginning may help' : ': “Again” may help'}`;
}

/** One line under a reply: by which of several models, how fast, how long, with which seed, and why it ended. */
function noteOn(stats, {temperature, seed, dropped, stopped, model}) {
  const parts = model ? [model] : [];
  if (stats?.nGenerated > 0) {
    parts.push(`${stats.nGenerated} tokens`, `${formatRate(stats.tokensPerSecond)} a second`);
    parts.push(`first after ${formatDuration(stats.timeToFirstTokenMs)}`);
  }
  if (temperature > 0) parts.push(`seed\u00a0${seed}`);
  if (dropped > 0) parts.push(`without the oldest ${dropped} messages, which no longer fit`);
  const ending = stopped ? 'stopped' : kEndings[stats?.finishReason];
  if (ending) parts.push(ending);
  return parts.join(' · ');
}
