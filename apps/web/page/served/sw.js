// Stands at sw.js where `tern serve` sends the page. A browser that has kept the page with an engine of its own from
// this address, by that page's sw.js, would go on showing that one: so it is forgotten, and open tabs load this one.

addEventListener('install', () => self.skipWaiting());

addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name.startsWith('tern-shell')).map((name) => caches.delete(name)));
    await registration.unregister();
    for (const tab of await clients.matchAll({type: 'window'})) await tab.navigate(tab.url).catch(() => {});
  })());
});
