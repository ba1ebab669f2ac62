// Light, dark, or as the system has it.

import {announce, byId} from './dom.js';

const kNext = {auto: 'light', light: 'dark', dark: 'auto'};
const kLabels = {auto: 'Theme: as the system has it', light: 'Theme: light', dark: 'Theme: dark'};

/** @param {import('./settings.js').Settings} settings */
export function connectTheme(settings) {
  const button = byId('theme');
  const show = () => {
    const theme = settings.get('theme');
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.setAttribute('aria-label', kLabels[theme]);
    button.title = kLabels[theme];
  };
  button.addEventListener('click', () => {
    settings.set('theme', kNext[settings.get('theme')]);
    show();
    announce(kLabels[settings.get('theme')]);
  });
  show();
}
