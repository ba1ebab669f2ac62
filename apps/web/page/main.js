// Puts the page together. It is usable as soon as this has run; the engine and the model come when they come.

import {byId, make} from './base/dom.js';
import {keepOffline} from './base/offline.js';
import {Settings} from './base/settings.js';
import {browserStorage} from './base/storage.js';
import {connectTheme} from './base/theme.js';
import {Chat} from './chat/chat.js';
import {ChatView} from './chat/chat_view.js';
import {Composer} from './chat/composer.js';
import {Conversation, kKey as kConversationKey} from './chat/conversation.js';
import {acceptDrops} from './model/file_drop.js';
import {addressSource, kDefaultModel, ModelHost} from './model/model_host.js';
import {ModelPanel} from './model/model_panel.js';
import {StatusView} from './model/status_view.js';
import {KernelsView} from './panel/kernels_view.js';
import {Panel} from './panel/panel.js';
import {Readings} from './panel/readings.js';
import {SettingsPanel} from './panel/settings_panel.js';

// The package is not waited for: a page that cannot get it still has to say so.
const engine = import('./tern/index.js').then((module) => module.Tern);
engine.catch(() => {});
const Tern = {
  load: async (...args) => (await engine).load(...args),
  models: {
    list: async () => (await engine).models.list(),
    delete: async (id) => (await engine).models.delete(id),
    usage: async () => (await engine).models.usage(),
  },
  diagnostics: async () => (await engine).diagnostics(),
};

const parameters = new URL(location.href).searchParams;
const settings = new Settings(browserStorage());
if (parameters.has('backend')) settings.override('backend', parameters.get('backend'));
if (parameters.has('threads')) settings.override('threads', Number(parameters.get('threads')));
const gpuWithout = (parameters.get('gpu-without') ?? '').split(',').filter(Boolean);

const host = new ModelHost(Tern, settings, gpuWithout);
const conversation = new Conversation(browserStorage());
const chat = new Chat(conversation, host, settings);

connectTheme(settings);
const panel = new Panel(settings);
const composer = new Composer(chat, conversation);
new ChatView(conversation, chat,
    {root: byId('messages'), log: byId('log'), jump: byId('jump'), edit: () => composer.edit()});
const status = new StatusView(host, chat, act);
const models = new ModelPanel(Tern, host, settings);
new Readings(host, chat);
new KernelsView(host, chat);
new SettingsPanel(settings, host);
acceptDrops((files) => models.loadFiles(files));

/** @param {import('./base/errors.js').Remedy} remedy */
function act(remedy) {
  if (remedy === 'choose' || remedy === 'storage') {
    panel.open(byId('model-title'));
    if (remedy === 'choose') byId('model-url').focus();
    else byId('models-list').scrollIntoView({block: 'center'});
    return;
  }
  if (remedy === 'use_cpu') settings.set('backend', 'cpu');
  host.reload();
  composer.focus();
}

function showWelcome() {
  byId('welcome').hidden = conversation.messages.length > 0;
  byId('new-chat').disabled = conversation.messages.length === 0;
}
conversation.addEventListener('change', showWelcome);
showWelcome();

let noticeTimer = 0;

/** @param {string} text @param {HTMLElement} [button] @param {number} [ms] for how long */
function notice(text, button, ms = 12000) {
  const place = byId('notice');
  place.replaceChildren(make('span', {}, text), ...(button ? [button] : []));
  place.hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => {
    place.hidden = true;
  }, ms);
}

byId('new-chat').addEventListener('click', () => {
  chat.stop();
  const old = conversation.messages;
  conversation.replace([]);
  status.showTrouble(null);
  composer.focus();
  if (old.length === 0) return;
  const undo = make('button', {type: 'button', class: 'quiet', data: {testid: 'undo'}, onclick: () => {
    if (conversation.messages.length === 0) conversation.replace(old);
    byId('notice').hidden = true;
    composer.focus();
  }}, 'Undo');
  notice('The conversation was cleared.', undo);
  // Once another has begun, there is nothing to undo any more.
  conversation.addEventListener('change', () => {
    byId('notice').hidden = true;
  }, {once: true});
});
// What somebody who helps wants to know: the browser, the model, what was tried. No word of the conversation.
byId('report').addEventListener('click', async () => {
  const {phase, info, trouble, source} = host;
  const about = await Tern.diagnostics().catch((error) => ({error: error.message}));
  const model = info ?? {address: String(source?.from?.name ?? source?.from ?? '')};
  const text = JSON.stringify({...about, page: {phase, backend: settings.get('backend'), gpuWithout}, model, trouble},
    null, 2);
  try {
    await navigator.clipboard.writeText(text);
    notice('The report was copied: this browser and the model, and nothing that was written.', undefined, 6000);
  } catch {
    notice('The browser does not let the page copy; the report is in the console.');
    console.info(text);
  }
});
conversation.addEventListener('trouble', () => (
  notice('The browser’s storage is full: this conversation will be gone when the page is closed.')));
addEventListener('pagehide', () => conversation.saveGrown());
// Tabs of the page show one conversation. One that is writing goes on, and is what is kept.
addEventListener('storage', ({key}) => {
  if (key === kConversationKey && chat.state === 'idle') conversation.adopt();
});

for (const kind of ['error', 'unhandledrejection']) {
  addEventListener(kind, (event) => {
    const error = event.reason ?? event.error;
    if (!error) return;
    const detail = String(error.message ?? error);
    status.showTrouble({title: 'Something in this page went wrong.', detail, remedies: [], code: 'page'});
  });
}

// A model named in the page's own address is for this visit; one that was chosen here is for the next ones too.
host.load(addressSource(parameters.get('model') || settings.get('model') || kDefaultModel, document.baseURI));
if (document.readyState === 'complete') keepOffline(host);
else addEventListener('load', () => keepOffline(host));
