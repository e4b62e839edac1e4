// The color theme: light, dark, or the system's.

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'gatehouse.theme';

export const theme = $state<{ chosen: Theme }>({ chosen: stored() });
apply();

export function choose(chosen: Theme): void {
  theme.chosen = chosen;
  try {
    if (chosen === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, chosen);
  } catch {
    // Storage may be disabled. The choice then lasts until the page is closed.
  }
  apply();
}

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system';
  }
}

function apply(): void {
  if (theme.chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.chosen;
}
