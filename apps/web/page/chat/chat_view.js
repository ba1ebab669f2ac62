// The conversation on the page. A turn's element is made once and kept; a piece of a reply touches only the end of it.

import {announce, copyFrom} from '../base/dom.js';
import {hasBranches} from './branches.js';
import {Follow} from './follow.js';
import {toolButton, Turn} from './turn.js';

/** @typedef {import('./conversation.js').Message} Message */

const kNewStory = 'Tell me a story.';

export class ChatView {
  #conversation;
  #chat;
  #root;
  #log;
  #follow;
  #actions;
  #record = null;
  /** @type {WeakMap<Message, Turn>} */
  #turns = new WeakMap();
  /** @type {Message[]} */
  #shown = [];
  #tools;
  /** @type {Map<Message, string>} text that has come since the last frame */
  #pending = new Map();

  /**
   * @param {import('./conversation.js').Conversation} conversation
   * @param {import('./chat.js').Chat} chat
   * @param {{root: HTMLElement, log: HTMLElement, jump: HTMLElement, tellsStories: () => boolean,
   *     edit: (message: Message) => void, more: (message: Message, button: HTMLElement) => void}} places
   *     tellsStories: whether the model is one that is asked for stories
   */
  constructor(conversation, chat, {root, log, jump, edit, more, tellsStories}) {
    this.#conversation = conversation;
    this.#chat = chat;
    this.#root = root;
    this.#log = log;
    this.#follow = new Follow(log, jump);
    this.#tools = new LastTools(chat, tellsStories);
    this.#actions = {edit, more, again: (message) => chat.regenerate(message),
      step: (message, step) => this.#step(message, step)};
    conversation.addEventListener('change', () => this.#show());
    chat.addEventListener('state', () => this.#stateChanged());
    chat.addEventListener('piece', ({detail}) => this.#grow(detail.message, detail.text));
    chat.addEventListener('end', ({detail}) => this.#end(detail.message));
    root.addEventListener('click', (event) => copyCode(event.target));
    this.#show();
  }

  /** Another model has other buttons. */
  modelChanged() {
    this.#stateChanged();
  }

  /** Brings the elements in line with the conversation's messages. */
  #show() {
    const {messages, record} = this.#conversation;
    // A story reply shows the text it goes on with itself.
    const visible = messages.filter((message, i) => message.role === 'assistant' || !messages[i + 1]?.story);
    const isVisible = new Set(visible);
    for (const message of this.#shown) {
      if (!isVisible.has(message)) this.#turns.get(message).element.remove();
    }
    const isBranched = hasBranches(record);
    let there = this.#root.firstElementChild;
    visible.forEach((message) => {
      const turn = this.#turns.get(message) ?? this.#make(message);
      if (there === turn.element) there = there.nextElementSibling;
      else this.#root.insertBefore(turn.element, there);
      if (!isBranched) return void turn.setVersions(0, 1);
      const versions = this.#conversation.versions(message);
      turn.setVersions(versions.indexOf(message), versions.length);
    });
    const hasGrown = visible.length > this.#shown.length && this.#shown.every((message, i) => message === visible[i]);
    const isOther = record !== this.#record;
    this.#record = record;
    this.#shown = visible;
    this.#stateChanged();
    if (visible.length === 0) this.#follow.toBeginning();
    else if (hasGrown || isOther) this.#follow.toEnd();
  }

  #make(message) {
    const asked = message.story ? this.#conversation.before(message) : null;
    const turn = new Turn(message, asked, this.#actions, () => this.#follow.grown());
    this.#turns.set(message, turn);
    return turn;
  }

  /** To another version, which takes the place of this one before the reader's eyes. */
  #step(message, step) {
    if (this.#chat.state !== 'idle') return;
    const versions = this.#conversation.versions(message);
    const version = versions[versions.indexOf(message) + step];
    if (!version) return;
    const top = () => this.#turns.get(version).element.getBoundingClientRect().top;
    const before = this.#turns.get(message).element.getBoundingClientRect().top;
    this.#conversation.choose(version);
    this.#log.scrollTop += top() - before;
    this.#turns.get(version).focusVersions(step);
    this.#follow.stay();
  }

  #stateChanged() {
    const last = this.#shown.at(-1);
    const turn = last && this.#turns.get(last);
    for (const message of this.#shown) {
      this.#turns.get(message).setState(message === last ? this.#chat.state : 'idle', message === last);
    }
    this.#tools.moveTo(this.#chat.state === 'idle' ? turn : undefined, last);
  }

  #grow(message, text) {
    if (this.#pending.size === 0) requestAnimationFrame(() => this.#flush());
    this.#pending.set(message, (this.#pending.get(message) ?? '') + text);
  }

  #flush() {
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const [message, text] of pending) this.#turns.get(message)?.append(text);
    this.#follow.grown();
  }

  #end(message) {
    this.#flush();
    this.#turns.get(message)?.finish();
    this.#follow.grown();
    announce(message.trouble ?? `Reply: ${this.#turns.get(message)?.text ?? ''}`);
  }
}

/** The buttons that only the last turn has. */
class LastTools {
  #goOn;
  #newStory;
  #tellsStories;

  constructor(chat, tellsStories) {
    this.#tellsStories = tellsStories;
    this.#goOn = toolButton('continue', 'on', 'Go on', 'Let the story go on from here', () => chat.goOn());
    this.#newStory = toolButton('new-story', 'new', 'New story', 'Ask for another story', () => chat.send(kNewStory));
  }

  /** @param {Turn|undefined} turn undefined: nowhere @param {Message|undefined} message the turn's */
  moveTo(turn, message) {
    const tools = turn ? [message?.story && this.#goOn, this.#tellsStories() && this.#newStory].filter(Boolean) : [];
    for (const tool of [this.#goOn, this.#newStory]) {
      if (!tools.includes(tool)) tool.remove();
    }
    // Appending what is there already would take the focus from it.
    if (tools.some((tool) => tool.parentNode !== turn.tools)) turn.tools.append(...tools);
  }
}

function copyCode(target) {
  const button = target.closest?.('[data-action="copy-code"]');
  if (button) copyFrom(button, button.closest('figure').querySelector('code').textContent);
}
