// One message as an element; a story's with the text that it goes on with.

import {copyFrom, icon, make} from '../base/dom.js';
import {formatBytes} from '../base/format.js';
import {MarkdownView} from '../markdown/view.js';
import {wholeText} from './context.js';
import {readCall} from './parts.js';

/**
 * @typedef {import('./conversation.js').Message} Message
 *
 * @typedef {object} Actions what the buttons of a message do
 * @property {(message: Message) => void} edit
 * @property {(message: Message) => void} again
 * @property {(message: Message, step: 1|-1) => void} step to another version
 * @property {(message: Message, button: HTMLElement) => void} more opens a menu
 */

/** @returns {HTMLButtonElement} */
export const toolButton = (name, symbol, label, title, onclick) => make('button',
    {type: 'button', class: 'quiet', data: {testid: name}, title, onclick}, icon(symbol),
    make('span', {class: 'label'}, label));

export class Turn {
  #message;
  #body;
  #note;
  #again;
  /** @type {HTMLElement|null} the arrows to other versions */
  #versions = null;
  #step;
  /** @type {MarkdownView|null} */
  #markdown = null;
  /** @type {HTMLDetailsElement|null} */
  #thought = null;
  #calls = 0;  // of tools that are shown
  #resized;

  /**
   * @param {Message} message
   * @param {Message|null} asked what a story goes on with
   * @param {Actions} actions
   * @param {() => void} resized
   */
  constructor(message, asked, actions, resized) {
    this.#message = message;
    this.#step = (step) => actions.step(message, step);
    this.#resized = resized;
    const given = asked ? wholeText(asked) : '';
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
    this.#again = toolButton('regenerate', 'again', 'Again', 'Another reply to the same message',
        () => actions.again(message));
    if (isReply) {
      this.tools.append(toolButton('copy', 'copy', 'Copy', 'Copy this text',
          ({currentTarget}) => copyFrom(currentTarget, given + message.content)), this.#again);
      if (!message.story) this.#restart();
    }
    if (asked || !isReply) {
      this.tools.append(toolButton('edit', 'edit', 'Edit', 'Write another version of this message',
          () => actions.edit(asked ?? message)));
    }
    if (isReply) {
      this.tools.append(toolButton('more', 'dots', 'More', 'More to do with this reply',
          ({currentTarget}) => actions.more(message, currentTarget)));
      this.tools.lastChild.setAttribute('aria-haspopup', 'menu');
    }
    if (message.files) body.after(make('div', {class: 'files-shown'}, ...message.files.map(fileCard)));
    this.append(message.content);
    this.finish();
  }

  #restart() {
    this.#body.replaceChildren();
    this.#markdown = new MarkdownView(this.#body, this.#resized);
  }

  get text() {
    return this.#body.textContent;
  }

  append(text) {
    // What was a reply may turn out to have been thoughts.
    if (this.#markdown && !this.#message.content.startsWith(this.#markdown.text + text)) {
      this.#restart();
      text = this.#message.content;
    }
    if (this.#message.thought) this.#think();
    for (; this.#calls < (this.#message.calls?.length ?? 0); this.#calls++) {
      this.element.querySelector('footer').before(callCard(this.#message.calls[this.#calls]));
    }
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

  /** @param {number} which of them this is, from 0 @param {number} count of the versions of this message */
  setVersions(which, count) {
    if (count < 2) return void this.#versions?.remove();
    this.#versions ??= make('div', {class: 'versions', role: 'group'},
        toolButton('version-before', 'back', 'Version before', 'The version before', () => this.#step(-1)),
        make('span', {data: {testid: 'version'}}),
        toolButton('version-after', 'next', 'Next version', 'The next version', () => this.#step(1)));
    const [back, label, next] = this.#versions.children;
    back.disabled = which === 0;
    next.disabled = which === count - 1;
    label.textContent = `${which + 1} / ${count}`;
    this.#versions.setAttribute('aria-label', `Version ${which + 1} of ${count}`);
    if (!this.#versions.isConnected) this.tools.prepend(this.#versions);
  }

  /** Has the focus on the arrow that was pressed, or on the other where there is no further version. */
  focusVersions(step) {
    const [back, , next] = this.#versions?.children ?? [];
    const [wanted, other] = step < 0 ? [back, next] : [next, back];
    (wanted?.disabled ? other : wanted)?.focus({preventScroll: true});
  }

  /** @param {import('./chat.js').Chat['state']} state @param {boolean} isLast */
  setState(state, isLast) {
    // What was asked has another reply below the one that it has.
    if (this.#message.role === 'user') {
      if (isLast && state === 'idle') this.tools.append(this.#again);
      else this.#again.remove();
    }
    const {classList} = this.element;
    classList.toggle('writing', state === 'writing' && this.#message.role === 'assistant');
    classList.toggle('waiting', state === 'waiting');
    this.element.setAttribute('aria-busy', String(state === 'writing'));
  }
}

/** A text that went along with a message. */
const fileCard = ({name, text}) => make('details', {class: 'card', data: {testid: 'file-shown'}},
    make('summary', {}, icon('file'), make('span', {}, name), make('span', {class: 'small'}, sizeOf(text))),
    make('pre', {tabindex: 0}, text));

/** @param {string} call */
function callCard(call) {
  const {name, text} = readCall(call);
  return make('details', {class: 'card', data: {testid: 'call'}},
      make('summary', {}, icon('panel'), make('span', {}, name), make('span', {class: 'small'}, 'asked for, not run')),
      make('pre', {tabindex: 0}, text));
}

/** @param {string} text */
const sizeOf = (text) => formatBytes(new Blob([text]).size);
