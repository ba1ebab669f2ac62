// Puts the page together. It is usable as soon as this has run; the engine and the model come when they come.

import {stayAwake} from './base/awake.js';
import {byId, make} from './base/dom.js';
import {kExample} from './base/example.js';
import {connectKeys, openKeys} from './base/keys.js';
import {later} from './base/later.js';
import {keepOffline} from './base/offline.js';
import {Settings} from './base/settings.js';
import {browserStorage} from './base/storage.js';
import {connectTheme} from './base/theme.js';
import {Chat} from './chat/chat.js';
import {ChatView} from './chat/chat_view.js';
import {Composer} from './chat/composer.js';
import {Conversation} from './chat/conversation.js';
import {hasAny, isConversationKey, keyOf} from './chat/library.js';
import {acceptDrops, mayBeModel} from './model/file_drop.js';
import {addressSource, kDefaultModel, ModelHost} from './model/model_host.js';
import {StatusView} from './model/status_view.js';
import {Panel} from './panel/panel.js';

// One page, two engines: in this tab, or the server's that has sent the page, which says so.
const isServed = document.documentElement.dataset.engine === 'server';
const served = isServed ? await import('./served/served.js') : null;
served?.prepare();
// The package is not waited for: a page that cannot get it still has to say so.
const engine = (served ? Promise.resolve(served) : import('./tern/index.js')).then((module) => module.Tern);
engine.catch(() => {});
const Tern = {
  load: async (...args) => (await engine).load(...args),
  models: {
    list: async () => (await engine).models.list(),
    delete: async (id) => (await engine).models.delete(id),
    usage: async () => (await engine).models.usage(),
    keep: async (tern, options) => (await engine).models.keep(tern, options),
  },
  published: async () => (await import('./tern/lib/published.js')).kPublished,
  diagnostics: async () => (await engine).diagnostics(),
};

const kTabKey = 'tern.conversation';
const parameters = new URL(location.href).searchParams;
const settings = new Settings(browserStorage());
if (parameters.has('backend')) settings.override('backend', parameters.get('backend'));
if (parameters.has('threads')) settings.override('threads', Number(parameters.get('threads')));
const gpuWithout = (parameters.get('gpu-without') ?? '').split(',').filter(Boolean);

const host = new ModelHost(Tern, settings, gpuWithout);
// Which conversation a tab shows is the tab's own, and outlives its reload.
const tabStorage = browserStorage('sessionStorage');
const conversation = new Conversation(browserStorage(), tabStorage?.getItem(kTabKey) ?? null);
const chat = new Chat(conversation, host, settings);

// A conversation may have settings of its own.
const showOwn = () => settings.setOwn(conversation.record.settings ?? null);
let ownRecord = conversation.record;
conversation.addEventListener('change', () => {
  if (conversation.record === ownRecord) return;
  ownRecord = conversation.record;
  showOwn();
});
showOwn();
settings.addEventListener('own', () => conversation.setSettings(settings.own));

connectTheme(settings);
stayAwake(chat, settings);
new Panel(settings, later('style/panel.css', async () => (
  (await import('./panel/instruments.js')).fill(host, chat, settings, !served))));
const composer = new Composer(chat, conversation, host, (sentence) => notice(sentence));
const edit = (message) => composer.edit(message);
const more = later('', async () => (
  new (await import('./chat/more.js')).MoreMenu(chat, edit, async () => (served ?? await models()).others())));
const view = new ChatView(conversation, chat, {
  root: byId('messages'), log: byId('log'), jump: byId('jump'), edit,
  more: async (message, button) => (await more()).open(message, button),
  tellsStories: () => host.phase === 'ready' && host.isStoryteller,
});
host.addEventListener('phase', () => view.modelChanged());
const status = new StatusView(host, chat, served ? served.connect(host, chat, conversation) : act, served?.kWords);
const models = later('style/menus.css', async () => (
  new (await import('./model/model_menu.js')).ModelMenu(Tern, host, settings)));
const openModels = async () => (await models()).open();
if (!served) {
  for (const id of ['model-chip', 'model-change']) byId(id).addEventListener('click', openModels);
}
acceptDrops(async (files) => {
  if (!served && files.some(mayBeModel)) (await models()).loadFiles(files);
  else await composer.attach(files);
});

/** @param {import('./base/errors.js').Remedy} remedy */
function act(remedy) {
  if (remedy === 'choose' || remedy === 'storage') {
    openModels();
    return;
  }
  if (remedy === 'use_cpu') settings.set('backend', 'cpu');
  host.reload();
  composer.focus();
}

const example = byId('example');
example.append(make('figcaption', {}, 'An example: the colored line was asked, the model wrote the rest.'),
    make('p', {class: 'prose'}, make('span', {class: 'given'}, kExample.asked), `\n${kExample.reply}`));

function showWelcome() {
  byId('welcome').hidden = conversation.messages.length > 0;
  // Once somebody has written something, that is the better example.
  example.hidden = !host.isStoryteller || hasAny(browserStorage());
  byId('new-chat').disabled = conversation.messages.length === 0;
}
conversation.addEventListener('change', showWelcome);
host.addEventListener('phase', showWelcome);
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

/** Opens a conversation; null: a new one. The one before is in the list. @param {string|null} id */
function goTo(id) {
  chat.stop();
  conversation.open(id);
  status.showTrouble(null);
  composer.focus();
}
byId('new-chat').addEventListener('click', () => goTo(null));
const library = later('style/menus.css', async () => (
  new (await import('./chat/library_view.js')).LibraryView(browserStorage(), conversation, goTo)));
addEventListener('beforeunload', (event) => conversation.isUnkept && event.preventDefault());
byId('library-open').addEventListener('click', async () => (await library()).open());
connectKeys(() => composer.focus());
byId('keys-open').addEventListener('click', openKeys);

/** Opens the conversation that the page's address holds, and keeps it like any other. */
async function openShared() {
  if (!location.hash.startsWith('#chat=')) return;
  const {hash} = location;
  history.replaceState(null, '', location.pathname + location.search);
  try {
    const record = await (await import('./chat/share.js')).recordOf(hash);
    chat.stop();
    conversation.take(record);
    notice('This conversation came with the link. It is kept in this browser now.');
  } catch (error) {
    notice(error.message);
  }
}
addEventListener('hashchange', openShared);
openShared();

function rememberTab() {
  try {
    tabStorage?.setItem(kTabKey, conversation.id);
  } catch {
    // Then a reload opens the last used one.
  }
}
conversation.addEventListener('change', rememberTab);
rememberTab();
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
  notice('The browser’s storage is full. This conversation goes on, but what was written last will be gone when the ' +
    'page is closed: save it to a file, or delete others to make room.', undefined, 30_000)));
addEventListener('pagehide', () => conversation.saveGrown());
// Tabs may show one conversation. One that is writing goes on, and is what is kept.
addEventListener('storage', ({key}) => {
  if (isConversationKey(key) && key === keyOf(conversation.id) && chat.state === 'idle') conversation.adopt();
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
host.load(served ? served.firstSource(conversation) :
  addressSource(parameters.get('model') || settings.get('model') || kDefaultModel, document.baseURI));
const isUntouched = () => chat.state === 'idle' && !byId('composer').value && !document.querySelector('dialog[open]');
if (!served) {
  if (document.readyState === 'complete') keepOffline(host, isUntouched);
  else addEventListener('load', () => keepOffline(host, isUntouched));
}
