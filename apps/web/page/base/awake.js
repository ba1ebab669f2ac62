// The screen stays on while a reply is written: phones stop tabs when it goes off.

/**
 * @param {import('../chat/chat.js').Chat} chat
 * @param {import('./settings.js').Settings} settings
 */
export function stayAwake(chat, settings) {
  if (!('wakeLock' in navigator)) return;
  /** @type {Promise<WakeLockSentinel|null>|null} */
  let lock = null;
  const update = () => {
    const isWanted = chat.state === 'writing' && settings.get('stayAwake') && document.visibilityState === 'visible';
    if (isWanted) {
      // Refused where the battery is low: then the screen goes off as ever.
      lock ??= navigator.wakeLock.request('screen').catch(() => null);
    } else {
      lock?.then((held) => held?.release());
      lock = null;
    }
  };
  chat.addEventListener('state', update);
  settings.addEventListener('change', update);
  document.addEventListener('visibilitychange', update);  // a hidden page loses its lock
}
