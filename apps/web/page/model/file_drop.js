// What is dropped anywhere on the page: a model of one file, several parts, or a folder; or texts for a message.

import {byId} from '../base/dom.js';

const kLargeText = 16e6;  // bytes: more than any text that goes along with a message

/** @param {File} file */
export const mayBeModel = ({name, size}) => /\.(gguf|safetensors|bin)$/i.test(name) || size > kLargeText;

/** @param {(files: File[]) => void} take */
export function acceptDrops(take) {
  const overlay = byId('drop');
  let depth = 0;  // dragenter and dragleave come for every element on the way
  const show = (visible) => {
    depth = visible ? depth : 0;
    overlay.hidden = !visible;
  };
  const hasFiles = (event) => event.dataTransfer?.types.includes('Files');
  addEventListener('dragenter', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth++;
    show(true);
  });
  addEventListener('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
  });
  addEventListener('dragleave', () => {
    if (depth > 0 && --depth === 0) show(false);
  });
  addEventListener('drop', async (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    show(false);
    const files = await droppedFiles(event.dataTransfer);
    if (files.length > 0) take(files);
  });
}

/** @param {DataTransfer} transfer @returns {Promise<File[]>} those of dropped folders too */
async function droppedFiles(transfer) {
  // Entries and files must be taken before the first await: the transfer is empty afterwards.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const files = [...transfer.files];
  if (!entries.some((entry) => entry.isDirectory)) return files;
  return (await Promise.all(entries.map((entry) => entryFiles(entry, 2)))).flat();
}

/** @param {FileSystemEntry} entry @param {number} depth of folders that is still gone into */
async function entryFiles(entry, depth) {
  if (entry.isFile) return [await new Promise((resolve, reject) => entry.file(resolve, reject))];
  if (depth === 0 || entry.name.startsWith('.')) return [];
  const reader = entry.createReader();
  const inside = [];
  for (;;) {
    // A folder is told in batches, the last of which is empty.
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) break;
    inside.push(...batch);
  }
  return (await Promise.all(inside.map((child) => entryFiles(child, depth - 1)))).flat();
}
