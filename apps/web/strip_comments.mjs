#!/usr/bin/env node
// usage: strip_comments.mjs FOLDER
//
// Takes comments, indentation and empty lines out of a folder's JavaScript, which pages download; line by line it stays
// the code that was written. Files of the engine are left alone: Emscripten has done it there.
import fs from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {parse} from './acorn.mjs';

/** @param {string} text of a module @returns {string} */
export function stripped(text) {
  const cuts = [];
  const kept = [];  // what is inside of templates
  parse(text, {
    ecmaVersion: 'latest', sourceType: 'module',
    onComment: (isBlock, words, start, end) => cuts.push([start, end, isBlock && words.includes('\n') ? '\n' : ' ']),
    onToken: (token) => {
      if (token.type.label === 'template') kept.push([token.start, token.end]);
    },
  });
  for (const match of text.matchAll(/(?<=\n)[ \t]+|[ \t]+(?=\n)|\n(?=\s*\n)/g)) {
    cuts.push([match.index, match.index + match[0].length, '']);
  }
  const isKept = ([start]) => kept.some(([from, to]) => start >= from && start < to);
  let out = '';
  let at = 0;
  for (const [start, end, instead] of cuts.filter((cut) => !isKept(cut)).sort((a, b) => a[0] - b[0])) {
    if (end <= at) continue;
    out += text.slice(at, Math.max(at, start)) + instead;
    at = end;
  }
  out += text.slice(at);
  return out.replace(/^\s+/, '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  if (!folder) {
    console.error('usage: strip_comments.mjs FOLDER');
    process.exit(2);
  }
  for (const name of fs.readdirSync(folder, {recursive: true})) {
    const file = path.join(folder, name);
    if (!name.endsWith('.js') || path.basename(path.dirname(file)) === 'dist') continue;
    fs.writeFileSync(file, stripped(fs.readFileSync(file, 'utf8')));
  }
}
