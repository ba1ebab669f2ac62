// The conversation on the page. A turn's element is made once and kept; a piece of a reply touches only the end of it.

import {announce, copyFrom, icon, make} from '../base/dom.js';
import {MarkdownView} from '../markdown/view.js';
import {Follow} from './follow.js';

/** @typedef {import('./conversation.js').Message} Message */

const kNewStory = 'Tell me a story.';

export class ChatView {
  #conversation;
  #chat;
  #root;
  #follow;
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
   * @param {{root: HTMLElement, log: HTMLElement, jump: HTMLElement, edit: () => void, tellsStories: () => boolean}}
   *     places tellsStories: whether the model is one that is asked for stories
   */
  constructor(conversation, chat, {root, log, jump, edit, tellsStories}) {
    this.#conversation = conversation;
    this.#chat = chat;
    this.#root = root;
    this.#follow = new Follow(log, jump);
    this.#tools = new LastTools(chat, edit, tellsStories);
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
    const {messages} = this.#conversation;
    // A story reply shows the text it goes on with itself.
    const visible = messages.filter((message, i) => message.role === 'assistant' || !messages[i + 1]?.story);
    for (const message of this.#shown) {
      if (!visible.includes(message)) this.#turns.get(message).element.remove();
    }
    visible.forEach((message, i) => {
      const turn = this.#turns.get(message) ?? this.#make(message);
      const there = this.#root.children[i] ?? null;
      if (there !== turn.element) this.#root.insertBefore(turn.element, there);
    });
    const added = visible.length > this.#shown.length;
    this.#shown = visible;
    this.#stateChanged();
    if (visible.length === 0) this.#follow.toBeginning();
    else if (added) this.#follow.toEnd();
  }

  #make(message) {
    const {messages} = this.#conversation;
    const given = message.story ? messages[messages.indexOf(message) - 1]?.content ?? '' : '';
    const turn = new Turn(message, given, () => this.#follow.grown());
    this.#turns.set(message, turn);
    return turn;
  }

  #stateChanged() {
    const last = this.#shown.at(-1);
    const turn = last && this.#turns.get(last);
    for (const message of this.#shown) {
      this.#turns.get(message).setState(message === last ? this.#chat.state : 'idle');
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

/** One message as an element; a story's with the text that it goes on with. */
class Turn {
  #message;
  #body;
  #note;
  /** @type {MarkdownView|null} */
  #markdown = null;
  /** @type {HTMLDetailsElement|null} */
  #thought = null;

  /** @param {Message} message @param {string} given @param {() => void} resized */
  constructor(message, given, resized) {
    this.#message = message;
    const isReply = message.role === 'assistant';
    this.#body = make(message.story ? 'span' : 'div', {data: {testid: isReply ? 'reply' : 'said'}});
    this.#note = make('p', {class: 'note', data: {testid: 'note'}});
    this.tools = make('div', {class: 'turn-tools', role: 'group', 'aria-label': 'This message'});
    const kind = message.story ? 'story' : isReply ? 'reply' : 'said';
    const body = message.story ?
      make('div', {class: 'text prose'}, make('span', {class: 'given', data: {testid: 'given'}}, given), this.#body) :
      this.#body;
    body.classList.add('text');
    this.element = make('article', {class: `turn ${kind}`, 'aria-label': isReply ? 'Reply' : 'You'}, body,
        make('footer', {}, this.#note, this.tools));
    if (isReply) {
      this.tools.append(make('button', {type: 'button', class: 'quiet', data: {testid: 'copy'}, title: 'Copy this text',
        onclick: (event) => copyFrom(event.currentTarget, given + message.content)},
      icon('copy'), make('span', {class: 'label'}, 'Copy')));
      if (!message.story) this.#markdown = new MarkdownView(this.#body, resized);
    }
    this.append(message.content);
    this.finish();
  }

  get text() {
    return this.#body.textContent;
  }

  append(text) {
    if (this.#message.thought) this.#think();
    if (this.#markdown) this.#markdown.append(text);
    else if (this.#body.lastChild) this.#body.lastChild.appendData(text);
    else this.#body.append(text);
  }

  #think() {
    this.#thought ??= make('details', {class: 'thought', data: {testid: 'thought'}},
        make('summary'), make('p', {}, ''));
    if (!this.#thought.isConnected) this.#body.before(this.#thought);
    const [summary, {firstChild: shown}] = this.#thought.children;
    summary.textContent = this.#message.content ? 'Thoughts' : 'Thinking…';
    shown.appendData(this.#message.thought.slice(shown.length));
  }

  finish() {
    this.#markdown?.finish();
    if (this.#thought) this.#thought.firstChild.textContent = 'Thoughts';
    const {note, trouble} = this.#message;
    this.#note.replaceChildren(...[trouble && make('span', {class: 'broke'}, trouble), note].filter(Boolean));
  }

  /** @param {import('./chat.js').Chat['state']} state */
  setState(state) {
    const {classList} = this.element;
    classList.toggle('writing', state === 'writing' && this.#message.role === 'assistant');
    classList.toggle('waiting', state === 'waiting');
    this.element.setAttribute('aria-busy', String(state === 'writing'));
  }
}

/** The buttons that only the last turn has. */
class LastTools {
  #regenerate;
  #goOn;
  #newStory;
  #edit;
  #tellsStories;

  constructor(chat, edit, tellsStories) {
    this.#tellsStories = tellsStories;
    const button = (name, symbol, label, title, onclick) => make('button',
        {type: 'button', class: 'quiet', data: {testid: name}, title, onclick}, icon(symbol), make('span', {}, label));
    this.#regenerate = button('regenerate', 'again', 'Again', 'Another reply to the same message',
        () => chat.regenerate());
    this.#goOn = button('continue', 'on', 'Go on', 'Let the story go on from here', () => chat.goOn());
    this.#newStory = button('new-story', 'new', 'New story', 'Ask for another story', () => chat.send(kNewStory));
    this.#edit = button('edit', 'edit', 'Edit', 'Change your last message and send it again', edit);
  }

  /** @param {Turn|undefined} turn undefined: nowhere @param {Message|undefined} message the turn's */
  moveTo(turn, message) {
    const tools = [this.#regenerate, message?.story && this.#goOn, this.#tellsStories() && this.#newStory, this.#edit]
        .filter(Boolean);
    for (const tool of [this.#regenerate, this.#goOn, this.#newStory, this.#edit]) {
      if (!turn || !tools.includes(tool)) tool.remove();
    }
    // Appending what is there already would take the focus from it.
    if (turn && tools.some((tool) => tool.parentNode !== turn.tools)) turn.tools.append(...tools);
  }
}

function copyCode(target) {
  const button = target.closest?.('[data-action="copy-code"]');
  if (button) copyFrom(button, button.closest('figure').querySelector('code').textContent);
}
