// What goes along with a message and what comes with a reply, with the fake package: node --test dev/writing.test.mjs

import assert from 'node:assert/strict';
import {after, afterEach, before, test} from 'node:test';

import {untilInPage} from '../../tests/support/browser.mjs';
import {kIdle, pages, say} from './pages.mjs';

const {open} = pages({before, after, afterEach});
const attached = (page) => page.locator('#attached li').allInnerTexts();
const file = (name, text) => ({name, mimeType: '', buffer: Buffer.from(text)});

test('texts are picked, dropped and pasted, left out, sent, shown and edited', async () => {
  const page = await open('fake=chat&fake-ms=1');
  await page.getByTestId('attach-file').setInputFiles([file('a.md', '# A'), file('b.csv', 'x,y')]);
  await untilInPage(page, () => document.querySelectorAll('#attached li').length === 2);
  const dropped = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['print(1)'], 'c.py'));
    return data;
  });
  await page.dispatchEvent('body', 'drop', {dataTransfer: dropped});
  await untilInPage(page, () => document.querySelectorAll('#attached li').length === 3);
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData('text/plain', 'long '.repeat(1000));
    document.querySelector('#composer').dispatchEvent(new ClipboardEvent('paste',
        {clipboardData: data, bubbles: true, cancelable: true}));
  });
  assert.deepEqual(await attached(page), ['a.md', 'b.csv', 'c.py', 'pasted.txt']);
  await page.getByRole('button', {name: 'Leave out b.csv'}).click();
  assert.ok(await page.getByTestId('send').isEnabled(), 'texts alone are a message, too');
  await say(page, 'What is this?');
  assert.deepEqual(await attached(page), []);
  const shown = page.getByTestId('file-shown');
  assert.deepEqual((await shown.allInnerTexts()).map((text) => text.split('\n')[0]), ['a.md', 'c.py', 'pasted.txt']);
  await shown.nth(1).locator('summary').click();
  assert.ok(await page.getByText('print(1)').isVisible());
  await page.reload();
  await page.waitForSelector(kIdle);
  assert.equal(await shown.count(), 3);
  await page.getByTestId('edit').click();
  assert.deepEqual(await attached(page), ['a.md', 'c.py', 'pasted.txt']);
  await page.keyboard.press('Escape');
  assert.deepEqual(await attached(page), []);
});

test('what is no text is not attached, and the page says why', async () => {
  const page = await open('fake=chat&fake-ms=1');
  for (const [name, text, why] of [['photo.png', Buffer.from([0x89, 0x50, 0xff]), /photo\.png is no text in UTF-8/],
    ['zeros', Buffer.alloc(9), /zeros is no text/], ['empty.txt', '', /empty\.txt is empty/],
    ['long.txt', 'x'.repeat(1_000_001), /long\.txt has 1\.00 MB, and texts of up to 1\.00 MB/]]) {
    await page.getByTestId('attach-file').setInputFiles(file(name, text));
    await page.getByTestId('notice').filter({hasText: why}).waitFor();
  }
  assert.deepEqual(await attached(page), []);
});

test('tokens are counted while one writes, those of attached texts too', async () => {
  const page = await open('fake=chat&fake-ms=1');
  const count = (text) => page.getByTestId('token-count').filter({hasText: text}).waitFor();
  await page.getByTestId('composer').fill('How far do arctic terns fly?');
  await count('6 of 1,024 tokens');
  await page.getByTestId('attach-file').setInputFiles(file('a.txt', 'one two '.repeat(600)));
  await count(/^1,2\d\d of 1,024 tokens/);
  assert.match(await page.getByTestId('token-count').getAttribute('class'), /over/);
  await page.getByTestId('attached-remove').click();
  await page.getByTestId('composer').fill('');
  await untilInPage(page, () => document.querySelector('#composer-count').textContent === '');
});

test('a model that goes on with texts takes a file as its beginning', async () => {
  const page = await open('fake-ms=1');
  await page.getByTestId('attach-file').setInputFiles(file('a.txt', 'Once upon'));
  await untilInPage(page, () => document.querySelector('#composer').value === 'Once upon');
});

test('thoughts are folded, calls of tools are cards, and both outlive a reload', async () => {
  const page = await open('fake=thinker&fake-ms=1');
  await say(page, 'How far?');
  for (const again of [false, true]) {
    if (again) await page.reload();
    await page.waitForSelector(kIdle);
    assert.equal(await page.getByTestId('reply').innerText(), 'About 70,000 km a year.');
    assert.equal(await page.getByTestId('thought').innerText(), 'Thoughts');
    assert.match(await page.getByTestId('call').innerText(), /^look_up\s+asked for, not run$/);
  }
  await page.getByTestId('thought').locator('summary').click();
  await page.getByText('How far is it?').waitFor();
  await page.getByTestId('call').locator('summary').press('Enter');
  assert.match(await page.getByTestId('call').innerText(), /"title": "Arctic tern"/);
});

test('a reply is read aloud, sentence by sentence, until one has heard enough', async () => {
  const page = await open('fake=chat&fake-ms=1');
  await page.evaluate(() => {
    globalThis.spoken = [];
    globalThis.SpeechSynthesisUtterance = class {
      constructor(text) {
        this.text = text;
      }
    };
    const voice = {speaking: false, speak: ({text}) => {
      globalThis.spoken.push(text);
      voice.speaking = true;
    }, cancel: () => {
      voice.speaking = false;
    }};
    Object.defineProperty(globalThis, 'speechSynthesis', {value: voice});
  });
  await say(page, 'How far?');
  await page.getByTestId('more').click();
  await page.getByTestId('read').click();
  const spoken = await page.evaluate(() => globalThis.spoken);
  assert.equal(spoken[0], 'Arctic terns');
  assert.ok(spoken.includes('south, August, 35,000 km,'), String(spoken));
  assert.ok(spoken.includes('They follow the wind, not the shortest line.'), String(spoken));
  assert.ok(!spoken.join(' ').includes('Copy'));
  await page.getByTestId('more').click();
  await page.getByTestId('read-stop').click();
  assert.equal(await page.evaluate(() => globalThis.speechSynthesis.speaking), false);
});
