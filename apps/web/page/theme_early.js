// Before the first paint, so that a chosen theme does not flash in the other one. A classic script for that reason.
try {
  const {theme, panel} = JSON.parse(localStorage.getItem('tern.settings')) ?? {};
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  if (panel === 'open' || panel === 'closed') document.documentElement.dataset.panel = panel;
} catch {
  // No storage or nothing stored: the system's theme.
}
