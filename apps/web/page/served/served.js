// What is different where `tern serve` has sent the page: the engine is that server, so there is no model to fetch, no
// file to drop and no kernel to see, and there may be a key to be asked for. Where it has several models, one of them
// is chosen.

import {byId, make} from '../base/dom.js';
import {kRemedyLabels, kTroubles} from '../base/errors.js';
import {browserStorage} from '../base/storage.js';
import {kDefaultModelLimits} from '../model/model_host.js';
import {ApiKey, KeyDialog} from './key.js';
import {chosenFor, ServedMenu, sourceOf} from './models.js';
import {ServerTern} from './server_engine.js';

const key = new ApiKey(browserStorage());
const kBase = new URL('.', document.baseURI).href;

/** What the page begins with. @param {import('../chat/conversation.js').Conversation} conversation */
export const firstSource = (conversation) => sourceOf(kBase, chosenFor(conversation, browserStorage()));

export const kWords = {
  where: 'on the server',
  story: 'This model goes on with texts. Give it a beginning; what you write goes to this server, and to nobody else.',
  chat: 'Ask it something; what you write goes to this server, and to nobody else.',
  storyteller: `This model ${kDefaultModelLimits}. Ask it for one; what you write goes to this server, and to nobody ` +
    'else.',
};

export const Tern = {
  load: (base, {signal}) => ServerTern.load(base, {signal, key: () => key.value}),
  diagnostics: async () => ({browser: navigator.userAgent, server: true}),
};

/** @type {ServedMenu|null} */
let menu = null;
export const others = async () => menu?.others() ?? [];

const kBoth = {
  unauthorized: {title: 'The server asks for a key.', remedies: ['key']},
  too_many: {title: 'Too many are asking this server just now.', remedies: ['retry']},
  unavailable: {title: 'The server takes no more at the moment.', remedies: ['retry']},
  timeout: {title: 'The server took too long, by its own limit.', remedies: ['retry']},
  unreachable: {title: 'The server cannot be reached. Your conversation is kept.', remedies: ['retry']},
  broken_off: {title: 'The connection to the server broke off. Your conversation is kept.', remedies: ['retry']},
  server: {title: 'The server could not answer.', remedies: ['retry']},
};

/** Before the page is put together: takes away what is for an engine in the tab. */
export function prepare() {
  Object.assign(kTroubles.load, kBoth);
  Object.assign(kTroubles.run, kBoth);
  Object.assign(kRemedyLabels, {key: 'Enter the key', reload: 'Connect again'});
  for (const id of ['model-menu', 'kernels', 'kernels-open', 'kernels-why', 'model-change', 'offline']) {
    byId(id).remove();
  }
  byId('drop-what').textContent = 'Drop a text here';
  byId('drop-kinds').textContent = 'text files for your message';
  byId('backend').closest('.row').hidden = true;
  // Nothing opens behind the model's name, unless there turn out to be several.
  const chip = byId('model-chip');
  chip.querySelector('.more').remove();
  chip.replaceWith(make('div', {class: 'chip', id: 'model-chip', data: {testid: 'model-chip'}}, ...chip.childNodes));
}

/**
 * Connects the dialog for the key, and the menu of models.
 * @param {import('../model/model_host.js').ModelHost} host
 * @param {import('../chat/chat.js').Chat} chat
 * @param {import('../chat/conversation.js').Conversation} conversation
 * @returns {(remedy: string) => Promise<void>} what the buttons beside a trouble do
 */
export function connect(host, chat, conversation) {
  const list = () => ServerTern.list(kBase, {key: () => key.value});
  menu = new ServedMenu(kBase, list, host, conversation, browserStorage());
  const dialog = new KeyDialog(key);
  const again = async () => {
    const isMessage = host.phase === 'ready' && chat.state === 'idle';
    await host.reload();  // it may be another server by now, with another model
    if (isMessage && host.phase === 'ready') chat.regenerate();
  };
  const wasRefused = (trouble) => {
    if (trouble?.code === 'unauthorized') dialog.ask(key.value !== '');
  };
  host.addEventListener('phase', () => wasRefused(host.trouble));
  chat.addEventListener('trouble', ({detail}) => wasRefused(detail));
  dialog.addEventListener('key', again);
  return async (remedy) => (remedy === 'key' ? dialog.ask() : again());
}
