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
const kNarrow = {width: 360, height: 740};

async function take(tab, name) {
  const file = path.join(kFolder, `${name}.png`);
  await tab.page.screenshot({path: file, animations: 'disabled', caret: 'hide'});
  const {size} = fs.statSync(file);
  if (size > kLimit) throw new Error(`${file}: ${size} bytes are more than ${kLimit}; show less, or a smaller window`);
  console.log(`${path.relative(kRoot, file)}: ${(size / 1000).toFixed(0)} KB`);
}

/** The same story every time. */
async function tellStory(tab, {isNarrow = false} = {}) {
  await tab.openPanel();
  await tab.by('setting-temperature').fill('0.7');
  await tab.by('setting-random-seed').uncheck();
  await tab.by('setting-seed').fill('7');
  await tab.by('setting-max-tokens').fill('160');
  await tab.by('setting-max-tokens').press('Tab');
  if (isNarrow) await tab.page.getByRole('button', {name: 'Close the instruments'}).click();  // they cover the page
  await tab.say('One day, a little tern flew over the sea', {timeout: 120_000});
}

needSite();
fs.mkdirSync(kFolder, {recursive: true});
const server = await FixtureServer.start({root: kSite});
const browser = await launch();
try {
  const wide = await browser.newContext({viewport: kWide, colorScheme: 'light'});
  const tab = await TernPage.open(wide, `${server.url}?backend=webgpu`);
  await tab.ready();
  await take(tab, 'welcome');
  await tellStory(tab);
  await tab.by('stats').evaluate((readings) => readings.scrollIntoView({block: 'end'}));
  await take(tab, 'story');
  await tab.by('kernels-open').click();
  await until(() => tab.by('kernel').count(), (count) => count > 3, {what: 'kernels'});
  await tab.page.setViewportSize(kSmall);
  await take(tab, 'kernels');
  await wide.close();

  const narrow = await browser.newContext({viewport: kNarrow, colorScheme: 'dark'});
  const small = await TernPage.open(narrow, `${server.url}?backend=cpu`);
  await small.ready();
  await tellStory(small, {isNarrow: true});
  await take(small, 'story_narrow_dark');
  await small.openPanel();
  await take(small, 'panel_narrow_dark');
  await narrow.close();
} finally {
  await browser.close();
  await server.down();
}
