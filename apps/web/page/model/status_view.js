// What the page says about its model outside the panel: the chip and the horizon above, progress and trouble below.

import {announce, byId, make} from '../base/dom.js';
import {kRemedyLabels} from '../base/errors.js';
import {formatBytes, formatRate} from '../base/format.js';
import {kDefaultModelLimits} from './model_host.js';

const kWords = {
  story: 'This one goes on with texts. Give it a beginning; nothing you write leaves this page.',
  chat: 'Ask it something; nothing you write leaves this page.',
  storyteller: `This one ${kDefaultModelLimits}. Ask it for one; nothing you write leaves this page.`,
};
const kBackends = {webgpu: 'on your GPU', cpu: 'on your CPU', ref: 'reference'};

const kTellerIdeas = ['Tell me a story about a fox and a lantern.', 'Tell me a story about a snowy day.',
  'Who are you?', 'What can you do?'];
// Each ends with a word that the model's tokenizer ends, too: a token that might go on is gone on with.
const kStoryIdeas = ['Once upon a time, there was a little bird.', 'Tom wanted to find the end of the rainbow.',
  'Deep in the forest there stood a small blue door.'];
const kChatIdeas = ['Explain how arctic terns find their way.', 'Write four lines about the sea in winter.',
  'What is a language model, in plain words?', kTellerIdeas[0]];

/** Errors of the engine are lines of a log, without a full stop. @param {string} text */
const sentence = (text) => (/[.!?)…]$/.test(text) ? text : `${text}.`);

export class StatusView {
  #host;
  #chat;
  #trouble = byId('trouble');
  #act;
  #words;

  /**
   * @param {import('./model_host.js').ModelHost} host
   * @param {import('../chat/chat.js').Chat} chat
   * @param {(remedy: import('../base/errors.js').Remedy) => void} act what the buttons beside a trouble do
   * @param {{story: string, chat: string, storyteller: string, where?: string}} [words] of another engine than one in
   *     the tab
   */
  constructor(host, chat, act, words = kWords) {
    this.#words = words;
    this.#host = host;
    this.#chat = chat;
    this.#act = act;
    host.addEventListener('phase', () => this.#phaseChanged());
    host.addEventListener('progress', () => this.#showProgress());
    chat.addEventListener('state', () => this.#stateChanged());
    chat.addEventListener('end', () => this.#showSpeed());
    chat.addEventListener('trouble', ({detail}) => this.showTrouble(detail));
    byId('loading-cancel').addEventListener('click', () => host.cancelLoad());
    this.#phaseChanged();
  }

  /** @param {import('../base/errors.js').Trouble|null} trouble */
  showTrouble(trouble) {
    this.#trouble.hidden = trouble === null;
    if (!trouble) return void this.#trouble.replaceChildren();
    const buttons = trouble.remedies.map((remedy) => make('button',
        {type: 'button', data: {testid: `remedy-${remedy}`}, onclick: () => this.#act(remedy)}, kRemedyLabels[remedy]));
    this.#trouble.dataset.code = trouble.code;
    this.#trouble.replaceChildren(
        make('p', {}, make('strong', {}, trouble.title), ' ', make('span', {}, sentence(trouble.detail))),
        make('div', {class: 'remedies'}, ...buttons, make('button',
            {type: 'button', class: 'quiet', onclick: () => this.showTrouble(null)}, 'Dismiss')));
  }

  #phaseChanged() {
    const {phase, info, source, trouble} = this.#host;
    document.documentElement.dataset.phase = phase;
    byId('loading').hidden = phase !== 'loading';
    byId('horizon').classList.toggle('busy', phase === 'loading');
    if (phase === 'loading') this.#showProgress();
    if (phase !== 'empty') this.showTrouble(trouble);
    byId('model-chip-name').textContent = info?.name || source?.label || 'no model';
    this.#showSpeed();
    const limits = phase === 'ready' && this.#host.isStoryteller ? `; it ${kDefaultModelLimits}` : '';
    byId('model-chip').title = `${info?.name || source?.label || 'No model'}: ${kPhases[phase]}${limits}`;
    if (phase === 'ready') announce(`${info.name} is ready.`);
    this.#showWelcome();
    this.#stateChanged();
  }

  /** "95 tok/s · on your CPU": the speed of the last reply. */
  #showSpeed() {
    const {backend, info, tern} = this.#host;
    const speed = tern?.stats?.tokensPerSecond;
    const isSoftware = /swiftshader|llvmpipe|lavapipe|basic render/i.test(JSON.stringify(info?.adapter ?? ''));
    const where = backend && (this.#words.where ?? (isSoftware ? 'on a GPU in software' : kBackends[backend]));
    byId('model-chip-where').textContent = [speed > 0 ? `${formatRate(speed)} tok/s` : '', where]
      .filter(Boolean).join(' · ');
  }

  #showProgress() {
    const {progress, source} = this.#host;
    if (!progress) return;
    const {phase, loaded, total, bytesPerSecond} = progress;
    const share = total > 0 ? Math.min(1, loaded / total) : 0;
    const isKnown = total > 0;
    const bar = byId('loading-bar');
    const text = progressText(progress, source.label);
    byId('loading-text').textContent = text;
    bar.classList.toggle('unknown', !isKnown);
    bar.style.setProperty('--share', String(share));
    byId('horizon').style.setProperty('--share', String(isKnown ? share : 0.5));
    if (isKnown) bar.setAttribute('aria-valuenow', String(Math.round(share * 100)));
    else bar.removeAttribute('aria-valuenow');
    bar.setAttribute('aria-valuetext', text);
    Object.assign(byId('loading').dataset, {step: phase, loaded, total, speed: Math.round(bytesPerSecond)});
  }

  #stateChanged() {
    const {phase, isStory, isStoryteller} = this.#host;
    document.documentElement.dataset.chat = this.#chat.state;
    const field = byId('composer');
    field.placeholder = isStory ? 'Begin a story…' : isStoryteller ? 'Ask for a story…' : 'Write a message…';
    byId('composer-label').textContent = isStory ? 'The beginning of a story' : 'Message';
    byId('composer-hint').textContent = this.#chat.state === 'waiting' ? kWaiting[phase] ?? '' :
      isStory ? kStoryHint :
        isStoryteller ? `This model ${kDefaultModelLimits}.` :
          matchMedia('(pointer: coarse)').matches ? '' : 'Enter sends, Shift+Enter begins a line, Ctrl+/ lists keys.';
  }

  #showWelcome() {
    const {isStory, isStoryteller} = this.#host;
    byId('welcome-text').textContent = this.#words[isStory ? 'story' : isStoryteller ? 'storyteller' : 'chat'];
    const ideas = isStory ? kStoryIdeas : isStoryteller ? kTellerIdeas : kChatIdeas;
    byId('ideas').replaceChildren(...ideas.map((idea) => make('li', {},
        make('button', {type: 'button', data: {testid: 'idea'}, onclick: () => this.#chat.send(idea)}, idea))));
  }
}

const kPhases = {
  empty: 'nothing loaded', loading: 'loading', ready: 'ready', failed: 'could not be loaded', lost: 'lost',
};

const kStoryHint = 'Write how a story begins; the model goes on from there. Each text is a new story.';

const kWaiting = {
  loading: 'Your message goes out as soon as the model is there.',
  empty: 'Your message waits for a model: choose one.',
  failed: 'Your message waits for a model: see above.',
  lost: 'Your message waits until the model is loaded again.',
};

/** @param {import('./model_host.js').Progress} progress @param {string} label */
export function progressText({phase, loaded, total, fromCache, bytesPerSecond}, label) {
  if (phase === 'ready') return `${label} is ready`;
  if (phase === 'wait') return `Another tab is busy with ${label}: waiting for it`;
  if (phase === 'compile') return `Preparing ${label} for the GPU${total > 0 ? `: ${loaded} of ${total}` : ''}`;
  if (phase === 'start' || !(loaded > 0 || total > 0)) return `Looking for ${label}`;
  // What the engine counts while it loads may be bytes or parts; a share is true of both.
  if (phase === 'load') return `Loading ${label}${total > 0 ? ` · ${Math.floor(loaded / total * 100)} %` : ''}`;
  const verb = phase === 'verify' || fromCache ? 'Checking' : 'Fetching';
  const parts = [total > 0 ? `${formatBytes(loaded)} of ${formatBytes(total)}` : formatBytes(loaded)];
  if (bytesPerSecond > 0) parts.push(`${formatBytes(bytesPerSecond)}/s`);
  if (total > 0) parts.push(`${Math.floor(loaded / total * 100)} %`);
  return `${verb} ${label} · ${parts.join(' · ')}`;
}
