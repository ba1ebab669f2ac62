// Pictures of the page for docs/pictures, taken anew when it has changed:
//
//   node take_pictures.mjs

import fs from 'node:fs';
import path from 'node:path';
import {launch, until} from './support/browser.mjs';
import {FixtureServer} from './support/fixture_server.mjs';
import {kRoot, kSite, needSite} from './support/project.mjs';
import {TernPage} from './support/tern_page.mjs';

const kFolder = path.join(kRoot, 'docs/pictures');
const kLimit = 150e3;  // bytes; they stay in the repository's history for ever
const kWide = {width: 1280, height: 800};
const kSmall = {width: 960, height: 600};
const kLarge = {width: 1760, height: 990};
const kNarrow = {width: 360, height: 800};

async function take(tab, name) {
  const file = path.join(kFolder, `${name}.png`);
  await tab.by('composer').evaluate((field) => { field.style.caretColor = 'transparent'; });
  await tab.page.screenshot({path: file, animations: 'disabled', caret: 'hide'});
  const {size} = fs.statSync(file);
  if (size > kLimit) throw new Error(`${file}: ${size} bytes are more than ${kLimit}; show less, or a smaller window`);
  console.log(`${path.relative(kRoot, file)}: ${(size / 1000).toFixed(0)} KB`);
}

/** The instruments scrolled down to their end, the window just so high that no row is cut at the upper edge. */
async function showReadings(tab) {
  await until(() => tab.by('offline').textContent(), (text) => text !== '', {what: 'the page to be kept for later'});
  /** How far the whole rows begin below the edge, less a little air; whether one lies across it. */
  const look = () => tab.page.evaluate(() => {
    const panel = document.getElementById('panel');
    panel.scrollTop = panel.scrollHeight;
    const close = document.getElementById('panel-close').getBoundingClientRect();
    const edge = Math.max(panel.getBoundingClientRect().top, close.bottom);
    const rows = [...panel.querySelectorAll('section > :not(.settings), .settings > *')]
        .map((row) => row.getBoundingClientRect()).filter((box) => box.height > 0);
    const below = rows.map(({top}) => top - edge - 8).filter((room) => room >= 0);
    return {cut: Math.floor(Math.min(...below)), across: rows.some(({top, bottom}) => top < edge && bottom > edge)};
  });
  const {width, height} = tab.page.viewportSize();
  await tab.page.setViewportSize({width, height: height - (await look()).cut});
  if ((await look()).across) throw new Error('a row of the instruments is cut');
}

/** The same story every time: all of them on the CPU. */
async function tellStory(tab, {isNarrow = false} = {}) {
  await tab.openPanel();
  await tab.by('setting-random-seed').uncheck();
  await tab.by('setting-seed').fill('1');
  await tab.by('setting-max-tokens').fill('400');
  await tab.by('setting-max-tokens').press('Tab');
  if (isNarrow) await tab.page.getByRole('button', {name: 'Close the instruments'}).click();  // they cover the page
  await tab.say('Tell me a story about a fox and a lantern.', {timeout: 120_000});
  await tab.say('Who found it?', {timeout: 120_000});
  await tab.page.mouse.move(0, 0);  // off whatever it has pressed
}

needSite();
fs.mkdirSync(kFolder, {recursive: true});
const server = await FixtureServer.start({root: kSite});
const browser = await launch();
const begin = async (viewport, colorScheme, query) => {
  const context = await browser.newContext({viewport, colorScheme});
  const tab = await TernPage.open(context, `${server.url}?${query}`);
  await tab.ready();
  return {tab, close: () => context.close()};
};
try {
  const {tab, close} = await begin(kWide, 'light', 'backend=cpu');
  await take(tab, 'welcome');
  await tellStory(tab);
  await showReadings(tab);
  await take(tab, 'story');
  await close();

  const gpu = await begin(kWide, 'light', 'backend=webgpu');
  await tellStory(gpu.tab);
  await gpu.tab.by('kernels-open').click();
  await until(() => gpu.tab.by('kernel').count(), (count) => count > 3, {what: 'kernels'});
  await gpu.tab.page.setViewportSize(kSmall);
  await take(gpu.tab, 'kernels');
  await gpu.close();

  const menus = await begin(kSmall, 'light', 'backend=cpu');
  await menus.tab.openMenu();
  await take(menus.tab, 'models');
  await menus.tab.page.keyboard.press('Escape');
  for (const text of ['Tell me a story about a snowy day.', 'Who are you?', 'A story about a hedgehog, please.']) {
    if (await menus.tab.by('new-chat').isEnabled()) await menus.tab.by('new-chat').click();
    await menus.tab.say(text);
  }
  await menus.tab.by('library-open').click();
  await take(menus.tab, 'conversations');
  await menus.close();

  const failed = await begin(kSmall, 'light', 'backend=cpu');
  await failed.tab.openMenu();
  await failed.tab.by('model-search').fill('models/nothing.gguf');
  await failed.tab.by('model-load').click();
  await failed.tab.waitForError();
  await failed.tab.page.waitForSelector('[data-phase="ready"]');
  await take(failed.tab, 'failed');
  await failed.close();

  const large = await begin(kLarge, 'dark', 'backend=cpu');
  await tellStory(large.tab);
  await showReadings(large.tab);
  await take(large.tab, 'story_large_dark');
  await large.close();

  const {tab: small, close: closeSmall} = await begin(kNarrow, 'dark', 'backend=cpu');
  await take(small, 'welcome_narrow_dark');
  await tellStory(small, {isNarrow: true});
  await take(small, 'story_narrow_dark');
  await small.openPanel();
  await showReadings(small);
  await small.page.mouse.move(0, 0);
  await take(small, 'panel_narrow_dark');
  await closeSmall();
} finally {
  await browser.close();
  await server.down();
}
