#!/usr/bin/env node
// usage: try.mjs [PROJECT...]
//
// Installs the package and a bundler in a project of its own, builds it as its users would, and reads the story in
// Chromium. Without names: all projects. Needs npm's registry; what is installed is kept in build/bundlers.
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {launch, openPage, until} from '../tests/support/browser.mjs';
import {FixtureServer} from '../tests/support/fixture_server.mjs';
import {kDefaultModel, kRoot, tern} from '../tests/support/project.mjs';
import {kProjects} from './projects.mjs';

const kHere = path.dirname(fileURLToPath(import.meta.url));
const kWork = path.join(kRoot, 'build/bundlers');

function run(folder, command) {
  try {
    execFileSync(command[0], command.slice(1), {cwd: folder, encoding: 'utf8', stdio: 'pipe',
      env: {...process.env, NEXT_TELEMETRY_DISABLED: '1', CI: '1'}});
  } catch (error) {
    throw new Error(`${command.join(' ')}:\n${error.stdout}${error.stderr}`);
  }
}

/** The package as npm would get it. */
function pack() {
  fs.mkdirSync(kWork, {recursive: true});
  run(kWork, ['npm', 'pack', path.join(kRoot, 'apps/web/package'), '--silent']);
  return path.join(kWork, fs.readdirSync(kWork).find((name) => /^tern-web-.*\.tgz$/.test(name)));
}

/** A copy of the project with what it depends on. */
function install(name, {app, beside}, tarball) {
  const kind = name.split(' ')[0];
  const folder = path.join(kWork, kind);
  fs.mkdirSync(folder, {recursive: true});
  if (fs.existsSync(path.join(kHere, kind))) fs.cpSync(path.join(kHere, kind), folder, {recursive: true});
  for (const file of app) {
    const [from, to = from] = file.split(':');
    fs.cpSync(path.join(kHere, 'app', from), path.join(folder, to));
  }
  const manifest = path.join(folder, 'package.json');
  if (!fs.existsSync(manifest)) fs.writeFileSync(manifest, '{"private": true, "type": "module"}');
  fs.rmSync(path.join(folder, 'node_modules/tern-web'), {recursive: true, force: true});
  fs.rmSync(path.join(folder, 'dist'), {recursive: true, force: true});
  fs.rmSync(path.join(folder, 'package-lock.json'), {force: true});
  run(folder, ['npm', 'install', '--no-audit', '--no-fund', '--silent', tarball]);
  if (beside) fs.cpSync(path.join(folder, 'node_modules/tern-web'), path.join(folder, beside), {recursive: true});
  return folder;
}

/** Bytes of the scripts that a page loads before it asks for the engine, compressed. */
function scriptBytes(requests, root) {
  const scripts = new Set(requests.map((request) => request.path).filter((name) => name.endsWith('.js')));
  let bytes = 0;
  for (const name of scripts) {
    const file = path.join(root, name);
    if (fs.existsSync(file)) bytes += gzipSync(fs.readFileSync(file)).length;
  }
  return bytes;
}

async function startOwn(folder, {command, url}) {
  const env = {...process.env, NO_COLOR: '1'};
  const child = spawn(command[0], command.slice(1), {cwd: folder, detached: true, env});
  let words = '';
  child.stdout.on('data', (text) => {
    words += text;
  });
  child.stderr.on('data', (text) => {
    words += text;
  });
  const found = await until(() => url.exec(words), Boolean, {what: command.join(' '), timeout: 60_000});
  return {url: found[1], stop: () => process.kill(-child.pid)};
}

function page(name, {app}) {
  if (app.includes('index.html')) return null;
  const script = {webpack: 'main.js'}[name] ?? 'main_beside.js';
  const map = '<script type="importmap">{"imports": {"tern-web": "/tern/index.js"}}</script>';
  const imports = name === 'plain' ? map : '';
  return `<!doctype html><html lang="en"><title>a story</title><p id="story"></p>${imports}` +
    `<script type="module" src="./${script}"></script></html>`;
}

async function tryProject(name, project, {tarball, browser, story}) {
  const folder = install(name, project, tarball);
  for (const command of project.build ?? []) run(folder, command);
  if (!project.out && !project.serve) return void console.log(`${name}: builds`);
  let server;
  if (project.serve) {
    fs.mkdirSync(path.join(folder, 'public/models'), {recursive: true});
    fs.cpSync(kDefaultModel, path.join(folder, 'public/models/tern-stories.gguf'));
    if (project.build) for (const command of project.build) run(folder, command);
    server = await startOwn(folder, project.serve);
  } else {
    const root = path.join(folder, project.out);
    const html = name === 'next' ? null : page(name, project);
    if (html) fs.writeFileSync(path.join(root, 'index.html'), html);
    const files = await FixtureServer.start({root});
    files.mount('models/tern-stories.gguf', {from: kDefaultModel});
    server = {url: files.url, stop: () => files.down(), bytes: () => scriptBytes(files.requests, root)};
  }
  const context = await browser.newContext();
  try {
    const tab = await openPage(context);
    await tab.goto(server.url);
    await until(() => tab.title(), (title) => title !== 'a story' && title !== '',
      {what: `${name}: a story`, timeout: 60_000});
    const text = await tab.locator('#story').textContent();
    const {flavor, why} = await tab.evaluate(() => ({...document.documentElement.dataset}));
    assert.equal(text, story, name);
    assert.deepEqual(tab.mistakes, []);
    assert.equal(flavor, 'threads', why);
    const weight = server.bytes ? `, scripts: ${(server.bytes() / 1000).toFixed(1)} kB (gzip)` : '';
    console.log(`${name}: right, ${flavor}${weight}`);
  } finally {
    await context.close();
    await server.stop();
  }
}

const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !Object.hasOwn(kProjects, name));
if (unknown) {
  console.error(`try.mjs: there is no project ${unknown}; there are ${Object.keys(kProjects).join(', ')}`);
  process.exit(2);
}
const tarball = pack();
const browser = await launch({webGpu: false});
const story = tern('run', '-m', kDefaultModel, '-b', 'cpu', '-p', 'Once upon a time', '--temp', '0', '-n', '40',
  '--no-display-prompt').replace(/\n$/, '');
let failed = 0;
try {
  for (const name of wanted.length > 0 ? wanted : Object.keys(kProjects)) {
    try {
      await tryProject(name, kProjects[name], {tarball, browser, story});
    } catch (error) {
      ++failed;
      console.error(`${name}: failed: ${error.message}`);
    }
  }
} finally {
  await browser.close();
}
process.exit(failed > 0 ? 1 : 0);
