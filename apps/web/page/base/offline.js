// Has the service worker keep the page, so that it opens without a network.

import {byId} from './dom.js';

const kReloadedKey = 'tern.reloaded';

/**
 * Loads the page again, once, where the service worker sends the headers for threads that the host does not send.
 * @param {() => boolean} mayReload whether nothing would be lost
 */
function reloadForThreads(mayReload) {
  if (globalThis.crossOriginIsolated || !mayReload()) return;
  try {
    if (sessionStorage.getItem(kReloadedKey)) return;
    sessionStorage.setItem(kReloadedKey, 'yes');
  } catch {
    return;  // without a memory it would never end
  }
  location.reload();
}

/**
 * @param {import('../model/model_host.js').ModelHost} host whose engine is kept, too
 * @param {() => boolean} mayReload whether the page may be loaded again now
 */
export async function keepOffline(host, mayReload) {
  const text = byId('offline');
  if (!('serviceWorker' in navigator)) {
    text.textContent = globalThis.isSecureContext ? 'This browser does not keep the page for offline use.' :
      'Kept for offline use only where the page comes over https or from localhost.';
    return;
  }
  try {
    navigator.serviceWorker.addEventListener('message', ({data}) => show(data));
    await navigator.serviceWorker.register('sw.js');
    const {active} = await navigator.serviceWorker.ready;
    reloadForThreads(mayReload);
    const ask = () => {
      active.postMessage(host.phase === 'ready' ? {engine: `tern/dist/${host.info.engine}.wasm`} : 'state');
    };
    host.addEventListener('phase', () => {
      if (host.phase === 'ready') ask();
    });
    ask();
  } catch (error) {
    text.textContent = `The page is not kept for offline use: ${error.message}`;
  }

  function show({current, next, isWhole}) {
    document.documentElement.dataset.offline = current && isWhole ? 'ready' : 'none';
    text.textContent = next ? 'A new version of this page is there; it comes with the next load.' :
      current && isWhole ? 'This page opens without a network, and so do the models that are stored.' : '';
  }
}
